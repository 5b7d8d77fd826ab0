//go:build cgo

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// boost makes keywords likelier than other words: with 1, which is usual, users of these models found
// fewer than 10 % of rare names (sherpa-onnx #2678), and the 3 mended it.
const boost = 3

// threshold returns how likely the tokens of a keyword must be, 0 to 1. The usual 0.25 is for few, which
// are parts of other words, too; users of these models found more with 0.05.
func threshold(tokens int) float64 {
	if tokens <= 4 { // "Mia"
		return 0.25
	}
	return 0.15
}

// wake seeks names and phrases with the set of models that the daemon names; see package wire. It takes
// one message after the other: when it is slow, sound waits in the pipe.
func wake(_ context.Context, s *helper.Server, _ []string) error {
	w := &spotterSession{s: s, Requests: wire.NewRequests[wire.OpenHear]()}
	return w.Serve(s, w.Control, w.open, w.take)
}

// A spotterSession is all that is sought by one process, in one goroutine.
type spotterSession struct {
	*wire.Requests[wire.OpenHear]
	s       *helper.Server
	spotter *spotter
	number  uint32 // of the stream
	stream  *sherpa.OnlineStream
	heard   int // samples of it
}

// open loads the set.
func (w *spotterSession) open() (ready any, err error) {
	defer w.s.Guard(opens)()
	set, err := openSet(w.Config.Set)
	if err != nil {
		return nil, err
	}
	keywords, err := neural.Keywords(set, append(w.Config.Names, w.Config.Phrases...))
	if err == nil {
		w.spotter, err = openSpotter(set, keywords)
	}
	return nil, err
}

// take handles sound.
func (w *spotterSession) take(m helper.Sound) error {
	if m.Stream&wire.Spot == 0 {
		return nil // it recognises nothing
	}
	defer w.s.Guard(steps)()
	if m.Stream != w.number {
		if w.stream != nil {
			sherpa.DeleteOnlineStream(w.stream)
		}
		w.stream, w.number, w.heard = sherpa.NewKeywordStream(w.spotter.k), m.Stream, 0
	}
	samples := make([]int16, len(m.Data)/2)
	audio.DecodePCM(samples, m.Data)
	pcm := make([]float32, len(samples))
	for i, s := range samples {
		pcm[i] = float32(s) / (1 << 15)
	}
	w.heard += len(pcm)
	return w.spotter.feed(w.stream, pcm, func(phrase string) error {
		return w.s.Send(wire.PhraseName, wire.Phrase{Stream: w.number, Text: earshot.Text(phrase), Sample: w.heard})
	})
}

// A spotter finds keywords.
type spotter struct {
	k        *sherpa.KeywordSpotter
	keywords []neural.Keyword
}

// openSpotter loads a set that seeks keywords, at least one. Their tokens must be of the set: of others
// the library dies.
func openSpotter(set catalog.Installed, keywords []neural.Keyword) (*spotter, error) {
	if set.Role != catalog.Wake {
		return nil, neural.Unfit(set.Name, "it is not made to seek names")
	}
	m, err := transducer(set)
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	for i, k := range keywords { // found by their numbers, since their names may have any letters
		fmt.Fprintf(&list, "%s :%d #%g @%d\n", strings.Join(k.Tokens, " "), boost, threshold(len(k.Tokens)), i)
	}
	s := &spotter{keywords: keywords, k: sherpa.NewKeywordSpotter(&sherpa.KeywordSpotterConfig{
		FeatConfig:  sherpa.FeatureConfig{SampleRate: audio.Rate, FeatureDim: melBins},
		ModelConfig: m, MaxActivePaths: 8, // 4 is usual, for one spelling of few keywords
		KeywordsBuf: list.String(), KeywordsBufSize: list.Len(), KeywordsScore: boost, KeywordsThreshold: 0.25,
	})}
	if s.k == nil {
		return nil, neural.Unfit(set.Name, "it cannot be loaded")
	}
	return s, nil
}

// feed adds samples to a stream, and calls found with each phrase in it.
func (s *spotter) feed(stream *sherpa.OnlineStream, pcm []float32, found func(phrase string) error) error {
	stream.AcceptWaveform(audio.Rate, pcm)
	for s.k.IsReady(stream) {
		s.k.Decode(stream)
		is := s.k.GetResult(stream).Keyword
		if is == "" {
			continue
		}
		s.k.Reset(stream) // or it stays found
		if i, err := strconv.Atoi(is); err == nil && i >= 0 && i < len(s.keywords) {
			if err := found(s.keywords[i].Phrase); err != nil {
				return err
			}
		}
	}
	return nil
}
