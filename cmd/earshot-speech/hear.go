//go:build cgo

package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

const (
	// partialEvery is how many samples pass between two interim results: 100 ms, about a syllable.
	partialEvery = audio.Rate / 10

	// sure and enough are how clear an utterance must be, and how many words it must have, for
	// learning the microphone from it. Noise, which often is one word without an alternative, would
	// make the next sentences unintelligible.
	sure, enough = 0.5, 3

	// opens and steps are how long the library may take to load the models, and for anything else.
	// On a machine under load both take ten times as long as on an idle one, which is less than a
	// tenth of these; and the daemon waits 20 seconds for a helper to open.
	opens = 15 * time.Second
	steps = 10 * time.Second
)

// hear recognises; see package wire. The models are sought in the folders args, or in the usual
// ones. When it is slow, the pipe to it fills.
func hear(ctx context.Context, s *helper.Server, args []string) error {
	ctx, stop := context.WithCancel(ctx)
	h := &recogniser{s: s, Requests: wire.NewRequests[wire.OpenHear]()}
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	ended := make(chan error, 1)
	parts.Go(func() { ended <- s.Controls(h.Control) })
	select {
	case <-h.Opened:
	case err := <-ended:
		return err
	}
	watchLibrary(func(err error) {
		s.Send(wire.FaultName, helper.NewFault(err))
		<-ended
	})
	if err := h.open(args); err != nil {
		s.Send(wire.FaultName, helper.NewFault(err))
		return <-ended // the fault is in a pipe, which must stay open until it was read
	}
	defer h.words.close()
	phraseSpotter, err := newPhraseSpotter(s, h.words, append(h.Config.Phrases, h.Config.Names...), args)
	if err != nil {
		s.Send(wire.FaultName, helper.NewFault(err))
		return <-ended
	}
	h.phraseSpotter = phraseSpotter
	parts.Go(func() { phraseSpotter.run(ctx) })
	if err := s.Send(wire.ReadyName, nil); err != nil {
		return err
	}
	return s.Sounds(func(m helper.Sound) error { return h.take(ctx, m) })
}

// A recogniser turns streams into words. All of it but its requests belongs to one goroutine.
type recogniser struct {
	*wire.Requests[wire.OpenHear]
	s *helper.Server

	phraseSpotter *phraseSpotter
	words         *decoder
	means         []float32 // as the last clear utterance left them
	stream        uint32    // the utterance
	hearing       bool      // it is being heard
	heard         int       // samples of it
	said          string    // the last partial result
}

// open loads the recognition models.
func (h *recogniser) open(in []string) (err error) {
	defer h.s.Guard(opens)()
	h.means = h.Config.Means
	if h.words, err = openWords(in); err != nil {
		return err
	}
	if err = h.words.hear(h.Config.Names, in); err != nil {
		h.words.close()
	}
	return err
}

// take handles sound. A stream other than the previous one begins an utterance.
func (h *recogniser) take(ctx context.Context, m helper.Sound) error {
	if m.Stream&wire.Spot != 0 {
		return h.phraseSpotter.take(ctx, m)
	}
	defer h.s.Guard(steps)()
	if m.Stream <= h.Cancelled.Load() {
		return h.abandon()
	}
	if m.Stream != h.stream {
		if err := h.begin(m.Stream); err != nil {
			return err
		}
	}
	switch {
	case !h.hearing: // it has ended
		return nil
	case len(m.Data) == 0:
		return h.finish()
	}
	return h.hear(samples(m.Data))
}

// samples decodes sound.
func samples(data []byte) []int16 {
	pcm := make([]int16, len(data)/2)
	audio.DecodePCM(pcm, data)
	return pcm
}

// abandon ends the current utterance, if there is one, without a result.
func (h *recogniser) abandon() error {
	if !h.hearing {
		return nil
	}
	h.hearing = false
	return h.words.end()
}

func (h *recogniser) begin(stream uint32) error {
	if err := h.abandon(); err != nil {
		return err
	}
	h.stream, h.hearing, h.heard, h.said = stream, true, 0, ""
	return h.words.start(h.means)
}

// hear processes more of the utterance, and sends an interim result if it has changed.
func (h *recogniser) hear(pcm []int16) error {
	for piece := range slices.Chunk(pcm, audio.Samples) {
		if h.stream <= h.Cancelled.Load() {
			return h.abandon()
		}
		if err := h.words.feed(piece); err != nil {
			return err
		}
		before := h.heard / partialEvery
		if h.heard += len(piece); h.heard/partialEvery == before {
			continue
		}
		text := h.words.text()
		if text == h.said || text == "" {
			continue
		}
		h.said = text
		if err := h.s.Send(wire.PartialName, wire.Hypothesis{Stream: h.stream, Text: earshot.Text(text), Heard: h.heard}); err != nil {
			return err
		}
	}
	return nil
}

// finish sends the final result.
func (h *recogniser) finish() error {
	if err := h.abandon(); err != nil {
		return err
	}
	words, confidence := h.words.words()
	if confidence >= sure && len(words) >= enough {
		h.means = h.words.means()
	}
	text := earshot.Text(strings.Join(words, " "))
	return h.s.Send(wire.FinalName, wire.Hypothesis{Stream: h.stream, Text: text, Confidence: confidence, Means: h.means})
}

// checkHear tests what hear needs. A library that would end the process is blocked for ever
// instead; the process ends soon, with all findings.
func checkHear(in []string) helper.RoleCheck {
	tried := make(chan error, 1)
	watchLibrary(func(err error) {
		tried <- err
		select {}
	})
	go func() { tried <- tryHear(in) }()
	if err := <-tried; err != nil {
		f := helper.NewFault(err)
		return helper.RoleCheck{Text: f.Text, Cure: f.Cure}
	}
	return helper.RoleCheck{Works: true, Text: "pocketsphinx recognises clean English"}
}

func tryHear(in []string) error {
	d, err := openWords(in)
	if err != nil {
		return err
	}
	defer d.close()
	return d.hear([]string{"earshot"}, in)
}
