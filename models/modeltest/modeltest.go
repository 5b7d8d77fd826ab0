// Package modeltest makes tiny models that the real loaders of today's speech programs take, so that
// tests need no weights: a recogniser whose words are tones, and a voice whose letters are. Only
// tests import it.
package modeltest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"earshot/internal/audio"
)

// Words are what the recognisers understand: a sine of each of these frequencies, in Hz, for a
// quarter of a second.
var Words = []struct {
	Text string
	Hz   float64
}{{"one", 400}, {"two", 800}, {"three", 1600}, {"four", 3200}}

// Tones returns the sound of a text of [Words], with silence around each.
func Tones(text string) (pcm []int16) {
	silence := make([]int16, audio.Rate*3/10)
	pcm = append(pcm, silence...)
	for word := range strings.FieldsSeq(text) {
		for _, w := range Words {
			if w.Text != word {
				continue
			}
			for i := range audio.Rate / 4 {
				pcm = append(pcm, int16(9000*math.Sin(2*math.Pi*w.Hz*float64(i)/audio.Rate)))
			}
		}
		pcm = append(pcm, silence[:audio.Rate/10]...)
	}
	return append(pcm, silence...)
}

const (
	bins    = 80 // of a mel spectrum, as Kaldi computes it from 20 to 7600 Hz
	chunk   = 16 // frames of 10 ms that a recogniser takes at once
	pooling = 4  // frames that it makes one of
)

// bin returns the one nearest to a frequency.
func bin(hz float64) int {
	mel := func(f float64) float64 { return 1127 * math.Log(1+f/700) }
	lowest, highest := mel(20), mel(7600)
	return int(math.Round((mel(hz)-lowest)/(highest-lowest)*(bins+1))) - 1
}

// vocabulary is the number of words, with that which is none.
func vocabulary() int { return len(Words) + 1 }

// tokens returns the words of a recogniser, by their numbers.
func tokens() []byte {
	var tokens strings.Builder
	tokens.WriteString("<blk> 0\n")
	for i, w := range Words {
		fmt.Fprintf(&tokens, "▁%s %d\n", w.Text, i+1)
	}
	return []byte(tokens.String())
}

// WriteTransducer writes a streaming recogniser, of the kind of an LSTM transducer of icefall, into
// a folder: encoder.onnx, decoder.onnx, joiner.onnx and tokens.txt. Of the facts that programs read in
// the first, those without are left out.
func WriteTransducer(folder string, without ...string) error {
	return write(folder, map[string][]byte{
		"encoder.onnx": encoder(1, without), "decoder.onnx": decoder(), "joiner.onnx": joiner(), "tokens.txt": tokens(),
	})
}

// WriteSpotter writes a model that seeks keywords into a folder, as that of [WriteTransducer], in which
// each of [Words] is another token, such as a phone. It is surer of them, since what is sought is boosted.
func WriteSpotter(folder string, tokens ...string) error {
	var list strings.Builder
	for i, token := range slices.Insert(slices.Clone(tokens), 0, "<blk>") {
		fmt.Fprintf(&list, "%s %d\n", token, i)
	}
	return errors.Join(WriteTransducer(folder), write(folder, map[string][]byte{"encoder.onnx": encoder(4, nil), "tokens.txt": []byte(list.String())}))
}

// WriteCTC writes a streaming recogniser, of the kind of a FastConformer of NeMo with CTC, into a
// folder: model.onnx and tokens.txt. Of the facts that programs read in it, those without are left
// out.
func WriteCTC(folder string, without ...string) error {
	return write(folder, map[string][]byte{"model.onnx": ctc(without), "tokens.txt": tokens()})
}

// WriteHeavyCTC writes the recogniser of [WriteCTC] with so many matrices of 16 MB in it that are
// multiplied with each frame and change nothing, to see what a model of some size costs.
func WriteHeavyCTC(folder string, matrices int) error {
	return write(folder, map[string][]byte{"model.onnx": heavyCTC(matrices, nil), "tokens.txt": tokens()})
}

// WriteWhole writes a recogniser of whole utterances, of NeMo's kind with CTC, into a folder: as that
// of [WriteCTC], but it writes "One" for "one", so that one can tell who understood.
func WriteWhole(folder string) error {
	var n network
	n.ctc(0)
	text := strings.NewReplacer("▁o", "▁O", "▁t", "▁T", "▁f", "▁F").Replace(string(tokens()))
	return write(folder, map[string][]byte{"tokens.txt": []byte(text), "model.onnx": n.encode(map[string]string{
		"vocab_size": fmt.Sprint(len(Words)), "subsampling_factor": fmt.Sprint(pooling), "normalize_type": "",
	})})
}

// ctc adds what all CTC models have in common.
func (n *network) ctc(matrices int) {
	n.input("audio_signal", float, "N", bins, "T")
	n.input("length", integer, "N")
	n.output("logprobs", float, "N", "T2", vocabulary())
	n.node("Transpose", "x", []string{"audio_signal"}, wholes("perm", 0, 2, 1))
	n.scores("x", 1)
	scores := "scores"
	if matrices > 0 {
		scores = n.ballast("back", scores, matrices)
	}
	n.node("LogSoftmax", "logprobs", []string{scores}, whole("axis", -1))
}

// ballast adds matrices that are multiplied with x and add nothing to scores, and returns the sum's
// name.
func (n *network) ballast(x, scores string, matrices int) string {
	const wide = 2048
	matrix := func(name string, rows, columns int, seed float32) {
		values := make([]float32, rows*columns)
		for i := range values {
			values[i] = 1e-6 * float32(i%101)
		}
		values[0] = seed // so that no two are the same
		n.floats(name, []int64{int64(rows), int64(columns)}, values)
	}
	matrix("in", bins, wide, 0)
	n.node("MatMul", "heavy0", []string{x, "in"})
	for i := range matrices {
		matrix(fmt.Sprintf("matrix%d", i), wide, wide, float32(i))
		n.node("MatMul", fmt.Sprintf("heavy%d", i+1), []string{fmt.Sprintf("heavy%d", i), fmt.Sprintf("matrix%d", i)})
	}
	n.floats("out", []int64{wide, int64(vocabulary())}, make([]float32, wide*vocabulary()))
	n.node("MatMul", "nothing", []string{fmt.Sprintf("heavy%d", matrices), "out"})
	n.node("Add", "sum", []string{scores, "nothing"})
	return "sum"
}

// ctc returns the network of [WriteCTC].
func ctc(without []string) []byte { return heavyCTC(0, without) }

// heavyCTC returns the network of [WriteHeavyCTC]. What it remembers between chunks is nothing.
func heavyCTC(matrices int, without []string) []byte {
	var n network
	n.ctc(matrices)
	n.output("encoded_lengths", integer, "N")
	n.node("Identity", "encoded_lengths", []string{"length"})
	facts := map[string]string{
		"window_size": fmt.Sprint(chunk), "chunk_shift": fmt.Sprint(chunk), "subsampling_factor": fmt.Sprint(pooling),
		"vocab_size": fmt.Sprint(len(Words)), // NeMo does not count that which is none
	}
	for _, cache := range []string{"cache_last_channel", "cache_last_time"} {
		n.input(cache, float, "N", 1, 1, 1)
		n.output(cache+"_next", float, "N", 1, 1, 1)
		n.node("Identity", cache+"_next", []string{cache})
		for _, dimension := range []string{"_dim1", "_dim2", "_dim3"} {
			facts[cache+dimension] = "1"
		}
	}
	n.input("cache_last_channel_len", integer, "N")
	n.output("cache_last_channel_next_len", integer, "N")
	n.node("Identity", "cache_last_channel_next_len", []string{"cache_last_channel_len"})
	for _, fact := range without {
		delete(facts, fact)
	}
	return n.encode(facts)
}

// scores adds what scores the words in four frames of x each, as "scores": a word is likelier than
// none where its bin stands out of the mean of all by 4 nats; surely so, the more sure is.
func (n *network) scores(x string, sure float32) {
	v := vocabulary()
	weights, bias := make([]float32, bins*v), make([]float32, v)
	for i, w := range Words {
		for b := range bins {
			weights[b*v+i+1] = sure * -2.0 / bins
		}
		for near := -1; near <= 1; near++ {
			weights[(bin(w.Hz)+near)*v+i+1] += sure * 2.0 / 3
		}
		bias[i+1] = sure * -8
	}
	n.floats("weights", []int64{bins, int64(v)}, weights)
	n.floats("bias", []int64{int64(v)}, bias)
	n.node("Transpose", "turned", []string{x}, wholes("perm", 0, 2, 1))
	n.node("AveragePool", "pooled", []string{"turned"}, wholes("kernel_shape", pooling), wholes("strides", pooling))
	n.node("Transpose", "back", []string{"pooled"}, wholes("perm", 0, 2, 1))
	n.node("MatMul", "product", []string{"back", "weights"})
	n.node("Add", "scores", []string{"product", "bias"})
}

// encoder returns the network of a transducer that scores the words.
func encoder(sure float32, without []string) []byte {
	v := vocabulary()
	var n network
	n.input("x", float, "N", "T", bins)
	n.input("h", float, 1, "N", 1)
	n.input("c", float, 1, "N", 1)
	n.output("encoder_out", float, "N", "T2", v)
	n.output("next_h", float, 1, "N", 1)
	n.output("next_c", float, 1, "N", 1)
	n.scores("x", sure)
	n.node("Identity", "encoder_out", []string{"scores"})
	n.node("Identity", "next_h", []string{"h"})
	n.node("Identity", "next_c", []string{"c"})
	facts := map[string]string{
		"model_type": "lstm", "num_encoder_layers": "1", "T": fmt.Sprint(chunk), "decode_chunk_len": fmt.Sprint(chunk),
		"rnn_hidden_size": "1", "d_model": "1",
	}
	for _, fact := range without {
		delete(facts, fact)
	}
	return n.encode(facts)
}

// decoder returns the network that forbids to say a word again at once, as a tone lasts longer than
// four frames.
func decoder() []byte {
	v := vocabulary()
	forbidden := make([]float32, v*v)
	for i := 1; i < v; i++ {
		forbidden[i*v+i] = -1000
	}
	var n network
	n.input("y", integer, "N", 2)
	n.output("decoder_out", float, "N", v)
	n.floats("forbidden", []int64{int64(v), int64(v)}, forbidden)
	n.ints("last", nil, 1)
	n.node("Gather", "before", []string{"y", "last"}, whole("axis", 1))
	n.node("Gather", "decoder_out", []string{"forbidden", "before"}, whole("axis", 0))
	return n.encode(map[string]string{"vocab_size": fmt.Sprint(v), "context_size": "2"})
}

// joiner returns the network that adds the two.
func joiner() []byte {
	v := vocabulary()
	var n network
	n.input("encoder_out", float, "N", v)
	n.input("decoder_out", float, "N", v)
	n.output("logit", float, "N", v)
	n.node("Add", "logit", []string{"encoder_out", "decoder_out"})
	return n.encode(map[string]string{"joiner_dim": fmt.Sprint(v)})
}

// write writes the files of a model.
func write(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
