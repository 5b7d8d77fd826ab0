//go:build cgo

package main

import (
	"encoding/json"
	"math"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"

	"earshot/internal/audio"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// melBins is how many values a frame of 10 ms has that the models are given.
const melBins = 80

// A streaming recogniser knows the words while somebody speaks.
type streaming struct {
	r           *sherpa.OnlineRecognizer
	chunk, tail int  // in samples; see wire.ReadyHear
	sure        bool // it says how sure it is of each word
}

// openStreaming loads a streaming model.
func openStreaming(set catalog.Installed) (*streaming, error) {
	m, needs := sherpa.OnlineModelConfig{Tokens: set.File("tokens"), NumThreads: 1, Provider: "cpu"}, []string{"tokens", "model"}
	var err error
	switch set.Kind {
	case catalog.NemoCTC:
		m.NemoCtc.Model = set.File("model")
	case catalog.Zipformer2CTC:
		m.Zipformer2Ctc.Model = set.File("model")
	default:
		needs = nil
		m, err = transducer(set)
	}
	if err == nil {
		err = hasParts(set, needs...)
	}
	if err != nil {
		return nil, err
	}
	r := sherpa.NewOnlineRecognizer(&sherpa.OnlineRecognizerConfig{
		FeatConfig:     sherpa.FeatureConfig{SampleRate: audio.Rate, FeatureDim: melBins},
		ModelConfig:    m,
		DecodingMethod: "greedy_search", // others write letters into silence, and CTC has none
	})
	if r == nil {
		return nil, neural.Unfit(set.Name, "it cannot be loaded")
	}
	s := &streaming{r: r, sure: needs == nil}
	if s.tail, s.chunk = s.measure(); s.chunk == 0 {
		return nil, neural.Unfit(set.Name, "it waits for more sound for ever")
	}
	return s, nil
}

// transducer returns what loads a streaming transducer: by the kind of the set, since the library would
// follow a null pointer if the file does not name it.
func transducer(set catalog.Installed) (m sherpa.OnlineModelConfig, err error) {
	m = sherpa.OnlineModelConfig{Tokens: set.File("tokens"), NumThreads: 1, Provider: "cpu", Transducer: sherpa.OnlineTransducerModelConfig{
		Encoder: set.File("encoder"), Decoder: set.File("decoder"), Joiner: set.File("joiner"),
	}}
	switch set.Kind {
	case catalog.Zipformer, catalog.Zipformer2, catalog.LSTM, catalog.Conformer:
		m.ModelType = string(set.Kind)
	case catalog.NemoTransducer: // which is known by its decoder
	default:
		return m, neural.Unfit(set.Name, "earshot has no loader for %s", set.Kind)
	}
	return m, hasParts(set, "tokens", "encoder", "decoder", "joiner")
}

// measure returns how many samples of silence a fresh stream needs until it decodes for the first
// time, and how many more until the second. A word that is followed by as many as the first needs is
// surely decoded.
func (s *streaming) measure() (first, next int) {
	const most = 5 * audio.Rate
	u := s.begin().(*streamed)
	defer u.close()
	still := make([]float32, audio.Samples/2)
	for n := len(still); n <= most; n += len(still) {
		u.stream.AcceptWaveform(audio.Rate, still)
		if !s.r.IsReady(u.stream) {
			continue
		}
		s.r.Decode(u.stream)
		if first > 0 {
			return first, n - first
		}
		first = n
	}
	return first, 0
}

func (s *streaming) ready() wire.ReadyHear {
	return wire.ReadyHear{Chunk: s.chunk, Tail: s.tail, Concurrent: true}
}

func (s *streaming) begin() utterance { return &streamed{of: s, stream: sherpa.NewOnlineStream(s.r)} }

// A streamed utterance is decoded while it comes.
type streamed struct {
	of     *streaming
	stream *sherpa.OnlineStream
	fed    int // samples
	steps  int // how often something was decoded
}

func (u *streamed) feed(pcm []float32) {
	u.stream.AcceptWaveform(audio.Rate, pcm)
	u.fed += len(pcm)
	u.decode()
}

func (u *streamed) decode() {
	for u.of.r.IsReady(u.stream) {
		u.of.r.Decode(u.stream)
		u.steps++
	}
}

func (u *streamed) text() (words string, heard int) {
	if u.steps == 0 {
		return "", 0
	}
	return u.of.r.GetResult(u.stream).Text, min(u.fed, u.of.tail+(u.steps-1)*u.of.chunk)
}

// finish implements utterance. Silence follows, without which the last word would be lost.
func (u *streamed) finish() (words string, confidence float64) {
	u.stream.AcceptWaveform(audio.Rate, make([]float32, u.of.tail))
	u.stream.InputFinished()
	u.decode()
	is := u.of.r.GetResult(u.stream)
	var said struct {
		Tokens []float32 `json:"ys_probs"`
	}
	if !u.of.sure || json.Unmarshal([]byte(is.Json), &said) != nil {
		return is.Text, 1
	}
	return is.Text, sureness(said.Tokens)
}

// sureness returns the geometric mean of probabilities, from their logarithms; 1 if there is none.
func sureness(logs []float32) float64 {
	sum := 0.0
	for _, l := range logs {
		sum += float64(l)
	}
	if p := math.Exp(sum / float64(len(logs))); p < 1 { // it may be no number
		return p
	}
	return 1
}

func (u *streamed) close() { sherpa.DeleteOnlineStream(u.stream) }
