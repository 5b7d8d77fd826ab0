package modeltest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// The rates of the voices, in samples per second.
const (
	PiperRate  = 22050
	KokoroRate = 24000
	VITSRate   = 16000
)

// Step is by how many Hz the tones of two sounds differ whose numbers follow each other: each sound of
// a voice is a tone of its number times as many, for a twentieth of a second.
const Step = 40

// sounds are those of espeak-ng, which the voices know, after what is none.
const sounds = "!',-.:;?abcdefhijklmnopqrstuvwxyzæçðøħŋœǀǁǂǃɐɑɒɓɔɕɖɗɘəɚɛɜɞɟɠɡɢɣɤɥɦɧɨɪɫɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʄʈʉʊʋʌʍʎʏʐʑʒʔʕʘʙʛʜʝʟʡʢʲˈˌːˑ˞βθχᵻⱱ"

// Sounds returns what the voices of Piper's and Kokoro's kind know, each at its number: the first is
// silence.
func Sounds() []string {
	return append([]string{"_", "^", "$", " "}, strings.Split(sounds, "")...)
}

// WritePiper writes a voice of Piper's kind into a folder: NAME.onnx and NAME.onnx.json. Each phoneme
// of espeak-ng is a tone.
func WritePiper(folder, name string) error {
	return writePiper(folder, name+".onnx", name+".onnx.json")
}

// WritePiperSet does so with the names that [Describe] wants.
func WritePiperSet(folder string) error { return writePiper(folder, "model.onnx", "config.json") }

func writePiper(folder, model, config string) error {
	ids := make(map[string][]int)
	for i, s := range Sounds() {
		ids[s] = []int{i}
	}
	about, err := json.Marshal(map[string]any{
		"audio": map[string]any{"sample_rate": PiperRate, "quality": "low"}, "espeak": map[string]any{"voice": "en-us"},
		"phoneme_type": "espeak", "num_symbols": len(ids), "num_speakers": 1, "speaker_id_map": map[string]int{},
		"inference":      map[string]any{"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
		"phoneme_id_map": ids, "phoneme_map": map[string]any{},
		"language": map[string]any{
			"code": "en_US", "family": "en", "region": "US", "name_native": "English", "name_english": "English", "country_english": "United States",
		},
		"dataset": "tiny", "piper_version": "1.0.0",
	})
	if err != nil {
		return err
	}
	var n network
	n.input("input", integer, "N", "L")
	n.input("input_lengths", integer, "N")
	n.input("scales", float, 3)
	n.output("output", float, "N", 1, 1, "T")
	n.tones("input", "output", PiperRate, 1, 1, 1, -1)
	return write(folder, map[string][]byte{config: about, model: n.encode(map[string]string{
		"model_type": "vits", "sample_rate": fmt.Sprint(PiperRate), "n_speakers": "1", "language": "English", "comment": "piper",
		"voice": "en-us", "has_espeak": "1",
	})})
}

// Speakers are those of [WriteKokoro].
var Speakers = []string{"af_one", "bm_two"}

// styleRows and styleWide are the dimensions of a speaker's styles.
const styleRows, styleWide = 3, 4

// WriteKokoro writes a voice of Kokoro's kind, with two speakers, into a folder: model.onnx, voices.bin
// and tokens.txt. Each sound is a tone. Of the facts that programs read in it, those without are left
// out.
func WriteKokoro(folder string, without ...string) error {
	var tokens strings.Builder
	for i, s := range Sounds() {
		fmt.Fprintf(&tokens, "%s %d\n", s, i)
	}
	var styles []byte
	for i := range len(Speakers) * styleRows * styleWide {
		styles = binary.LittleEndian.AppendUint32(styles, math.Float32bits(float32(i)))
	}
	var n network
	n.input("tokens", integer, 1, "L")
	n.input("style", float, 1, styleWide)
	n.input("speed", float, 1)
	n.output("audio", float, "T")
	n.tones("tokens", "audio", KokoroRate, -1)
	facts := map[string]string{
		"model_type": "kokoro", "sample_rate": fmt.Sprint(KokoroRate), "n_speakers": fmt.Sprint(len(Speakers)), "speaker_names": strings.Join(Speakers, ","),
		"style_dim": fmt.Sprintf("%d,1,%d", styleRows, styleWide), "has_espeak": "1", "voice": "en-us", "version": "2",
	}
	for _, fact := range without {
		delete(facts, fact)
	}
	return write(folder, map[string][]byte{"model.onnx": n.encode(facts), "voices.bin": styles, "tokens.txt": []byte(tokens.String())})
}

// Letters are the sounds of [WriteVITS], each at its number.
const Letters = " abcdefghijklmnopqrstuvwxyz,.!?'"

// WriteVITS writes a voice whose letters are sounds into a folder: model.onnx and tokens.txt.
func WriteVITS(folder string, without ...string) error {
	var tokens strings.Builder
	for i, r := range Letters {
		fmt.Fprintf(&tokens, "%c %d\n", r, i)
	}
	var n network
	n.input("x", integer, "N", "L")
	n.input("x_length", integer, "N")
	for _, scale := range []string{"noise_scale", "length_scale", "noise_scale_w"} {
		n.input(scale, float, 1)
	}
	n.output("y", float, "N", 1, "T")
	n.tones("x", "y", VITSRate, 1, 1, -1)
	facts := map[string]string{
		"model_type": "vits", "sample_rate": fmt.Sprint(VITSRate), "add_blank": "0", "n_speakers": "1", "language": "English", "comment": "ljspeech",
		"punctuation": ", . ! ?", "frontend": "characters",
	}
	for _, fact := range without {
		delete(facts, fact)
	}
	return write(folder, map[string][]byte{"model.onnx": n.encode(facts), "tokens.txt": []byte(tokens.String())})
}

// tones adds what makes a tone of each number of an input, as an output of that shape.
func (n *network) tones(input, output string, rate int, shape ...int64) {
	per := rate / 20
	phase := make([]float32, per)
	for i := range phase {
		phase[i] = float32(2 * math.Pi * float64(i) * Step / float64(rate))
	}
	n.floats("phase", []int64{1, 1, int64(per)}, phase)
	n.floats("volume", []int64{1}, []float32{0.2})
	n.ints("shape", []int64{int64(len(shape))}, shape...)
	n.ints("axis", []int64{1}, 2)
	n.node("Cast", "number", []string{input}, whole("to", float))
	n.node("Unsqueeze", "column", []string{"number", "axis"})
	n.node("Mul", "angle", []string{"column", "phase"})
	n.node("Sin", "sine", []string{"angle"})
	n.node("Mul", "sound", []string{"sine", "volume"})
	n.node("Reshape", output, []string{"sound", "shape"})
}
