//go:build cgo

package main

import (
	"runtime"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"

	"earshot/internal/audio"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// mostThreads is how many threads recognise one whole utterance, or speak, for which somebody waits; more
// are slower.
const mostThreads = 4

// A whole recogniser knows the words of an utterance when it has ended.
type whole struct{ r *sherpa.OfflineRecognizer }

// openWhole loads a model for whole utterances.
func openWhole(set catalog.Installed, language string) (*whole, error) {
	m := sherpa.OfflineModelConfig{Tokens: set.File("tokens"), NumThreads: max(1, min(mostThreads, runtime.NumCPU()-1)), Provider: "cpu"}
	needs := []string{"tokens", "model"}
	switch set.Kind {
	case catalog.NemoCTC:
		m.NemoCTC.Model = set.File("model")
	case catalog.SenseVoice:
		m.SenseVoice = sherpa.OfflineSenseVoiceModelConfig{Model: set.File("model"), Language: language, UseInverseTextNormalization: 1}
	case catalog.NemoTransducer:
		needs = []string{"tokens", "encoder", "decoder", "joiner"}
		m.Transducer = sherpa.OfflineTransducerModelConfig{Encoder: set.File("encoder"), Decoder: set.File("decoder"), Joiner: set.File("joiner")}
		m.ModelType = string(set.Kind)
	case catalog.Whisper:
		needs = []string{"tokens", "encoder", "decoder"}
		m.Whisper = sherpa.OfflineWhisperModelConfig{Encoder: set.File("encoder"), Decoder: set.File("decoder"), Language: language, Task: "transcribe"}
	case catalog.Moonshine:
		needs = []string{"tokens", "encoder", "decoder"}
		m.Moonshine = sherpa.OfflineMoonshineModelConfig{Encoder: set.File("encoder"), MergedDecoder: set.File("decoder")}
	default:
		return nil, neural.Unfit(set.Name, "earshot has no loader for %s", set.Kind)
	}
	if err := hasParts(set, needs...); err != nil {
		return nil, err
	}
	r := sherpa.NewOfflineRecognizer(&sherpa.OfflineRecognizerConfig{
		FeatConfig:     sherpa.FeatureConfig{SampleRate: audio.Rate, FeatureDim: melBins},
		ModelConfig:    m,
		DecodingMethod: "greedy_search",
	})
	if r == nil {
		return nil, neural.Unfit(set.Name, "it cannot be loaded")
	}
	return &whole{r}, nil
}

func (w *whole) ready() wire.ReadyHear { return wire.ReadyHear{Whole: true, Concurrent: true} }

func (w *whole) begin() utterance { return &collected{r: w.r} }

// A collected utterance is decoded when it has ended.
type collected struct {
	r   *sherpa.OfflineRecognizer
	pcm []float32
}

func (u *collected) feed(pcm []float32) { u.pcm = append(u.pcm, pcm...) }

func (u *collected) text() (words string, heard int) { return "", 0 }

func (u *collected) finish() (words string, confidence float64) {
	if len(u.pcm) == 0 {
		return "", 1
	}
	stream := sherpa.NewOfflineStream(u.r)
	defer sherpa.DeleteOfflineStream(stream)
	stream.AcceptWaveform(audio.Rate, u.pcm)
	u.r.Decode(stream)
	is := stream.GetResult()
	if is == nil {
		return "", 1
	}
	return is.Text, sureness(is.YsLogProbs)
}

func (u *collected) close() { u.pcm = nil }
