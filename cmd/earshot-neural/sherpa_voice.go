//go:build cgo

package main

import (
	"context"
	"fmt"
	"math"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"

	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// A sherpaVoice is a voice that sherpa-onnx has the text of, because that needs no espeak-ng.
type sherpaVoice struct {
	set catalog.Installed
	tts *sherpa.OfflineTts
	how sherpa.GenerationConfig
}

func openSherpaVoice(set catalog.Installed, o wire.OpenSay) (_ *sherpaVoice, err error) {
	v := &sherpaVoice{set: set, how: sherpa.GenerationConfig{Speed: float32(o.Speed), SilenceScale: 0.2, NumSteps: 5}}
	m := sherpa.OfflineTtsModelConfig{NumThreads: 1, Provider: "cpu"}
	var needs []string
	switch set.Kind {
	case catalog.VITS:
		needs = []string{"model", "tokens"}
		m.Vits = sherpa.OfflineTtsVitsModelConfig{
			Model: set.File("model"), Tokens: set.File("tokens"), NoiseScale: 0.667, LengthScale: 1,
			NoiseScaleW: math.SmallestNonzeroFloat32, // 0 is the library's default, by which lengths vary
		}
	case catalog.Supertonic:
		needs = []string{"duration_predictor", "text_encoder", "vector_estimator", "vocoder", "config", "unicode_indexer", "voice"}
		m.Supertonic = sherpa.OfflineTtsSupertonicModelConfig{
			DurationPredictor: set.File("duration_predictor"), TextEncoder: set.File("text_encoder"), VectorEstimator: set.File("vector_estimator"),
			Vocoder: set.File("vocoder"), TtsJson: set.File("config"), UnicodeIndexer: set.File("unicode_indexer"), VoiceStyle: set.File("voice"),
		}
		v.how.Extra = []byte(`{"lang":"en"}`)
	case catalog.Pocket:
		needs = []string{"lm_flow", "lm_main", "encoder", "decoder", "text_conditioner", "vocab", "token_scores", "reference"}
		m.Pocket = sherpa.OfflineTtsPocketModelConfig{
			LmFlow: set.File("lm_flow"), LmMain: set.File("lm_main"), Encoder: set.File("encoder"), Decoder: set.File("decoder"),
			TextConditioner: set.File("text_conditioner"), VocabJson: set.File("vocab"), TokenScoresJson: set.File("token_scores"),
			VoiceEmbeddingCacheCapacity: 1, // there is one reference
		}
		v.how.Extra = []byte(`{"max_reference_audio_len":10,"seed":1}`) // without a seed, lengths vary
	}
	if err := hasParts(set, needs...); err != nil {
		return nil, err
	}
	if set.Kind == catalog.Pocket {
		w := sherpa.ReadWave(set.File("reference"))
		if w == nil {
			return nil, neural.Unfit(set.Name, "its file %s is no recording of a voice", set.Files["reference"].Path)
		}
		v.how.ReferenceAudio, v.how.ReferenceSampleRate = w.Samples, w.SampleRate
	}
	if v.tts = sherpa.NewOfflineTts(&sherpa.OfflineTtsConfig{Model: m, MaxNumSentences: 1}); v.tts == nil {
		return nil, neural.Unfit(set.Name, "it cannot be loaded")
	}
	v.how.Sid, err = speakerOf(set, o.Speaker, nil, v.tts.NumSpeakers())
	return v, err
}

func (v *sherpaVoice) name() string { return v.set.Name }

func (v *sherpaVoice) rate() int { return v.tts.SampleRate() }

func (v *sherpaVoice) say(ctx context.Context, s *sentence) ([]float32, error) {
	made := v.tts.GenerateWithConfig(s.text, &v.how, func([]float32, float32) bool { return ctx.Err() == nil })
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case made == nil:
		return nil, nil
	case made.SampleRate != v.rate():
		return nil, fmt.Errorf("the voice %s made sound at %d samples a second instead of %d", v.set.Name, made.SampleRate, v.rate())
	}
	return made.Samples, nil
}
