//go:build cgo

package main

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// A kokoro is a voice of the kind of Kokoro or Kitten: a network that speaks in a style, of which each
// speaker has one, or one for each number of sounds.
type kokoro struct {
	network
	espeak
	ids    map[string]int64
	styles [][]float32
	hz     int
	speed  float32
}

// maxSounds is how many sounds Kokoro takes at once.
const maxSounds = 510

func openKokoro(set catalog.Installed, o wire.OpenSay) (_ *kokoro, err error) {
	if err := hasParts(set, "model", "voices", "tokens"); err != nil {
		return nil, err
	}
	k := &kokoro{speed: float32(o.Speed)}
	if k.ids, err = readTokens(set); err != nil {
		return nil, err
	}
	inputs, output := []string{"tokens", "style", "speed"}, "audio"
	if set.Kind == catalog.Kitten {
		inputs[0], output = "input_ids", "waveform"
	}
	if k.network, err = openNetwork(set, output, inputs...); err != nil {
		return nil, err
	}
	names := strings.FieldsFunc(k.fact("speaker_names"), func(r rune) bool { return r == ',' })
	n := k.number("n_speakers")
	speaker, err := speakerOf(set, o.Speaker, names, n)
	if err != nil {
		return nil, err
	}
	if k.styles, err = readStyles(set, k.fact("style_dim"), speaker, n); err != nil {
		return nil, err
	}
	k.hz = k.number("sample_rate")
	k.espeak.voice = "en-us"
	if k.tied = set.Kind == catalog.Kokoro; k.tied && speaker < len(names) && strings.HasPrefix(names[speaker], "b") { // bf_emma, bm_george: British
		k.espeak.voice = "en-gb"
	}
	return k, nil
}

func (k *kokoro) rate() int { return k.hz }

func (k *kokoro) say(ctx context.Context, s *sentence) ([]float32, error) {
	if err := k.spell(ctx, s); err != nil {
		return nil, err
	}
	ids := []int64{0}
	for i, c := range s.clauses {
		sounds := c.phonemes
		if k.tied {
			sounds = kokoroSounds(sounds, k.espeak.voice == "en-gb")
		}
		if sounds += c.mark; i < len(s.clauses)-1 {
			sounds += " "
		}
		for _, r := range sounds {
			if id, known := k.ids[string(r)]; known && len(ids) <= maxSounds {
				ids = append(ids, id)
			}
		}
	}
	n := len(ids) - 1
	if n == 0 {
		return nil, nil
	}
	style := k.styles[min(n, len(k.styles))-1]
	return k.network.run(ctx, row(append(ids, 0)), row(style), vector(k.speed))
}

// readTokens reads the numbers of the sounds.
func readTokens(set catalog.Installed) (map[string]int64, error) {
	text, err := readText(set, "tokens")
	if err != nil {
		return nil, err
	}
	ids, wrong := parseTokens(string(text))
	if wrong != "" {
		return nil, neural.Unfit(set.Name, "its file %s is not a list of sounds: %.40q", set.Files["tokens"].Path, strings.TrimSuffix(wrong, "\n"))
	}
	return ids, nil
}

// parseTokens returns the numbers of the sounds, which have a line each, with the sound, a space and
// its number; or the first line that is none.
func parseTokens(text string) (ids map[string]int64, wrong string) {
	ids = make(map[string]int64)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		at := strings.LastIndexByte(line, ' ')
		id, err := strconv.ParseInt(line[at+1:], 10, 32)
		if at < 1 || err != nil || id < 0 {
			return nil, line + "\n"
		}
		ids[line[:at]] = id
	}
	return ids, ""
}

// readStyles reads the styles of a speaker, of n that stand one after another, each with the
// dimensions that the model says, such as 510,1,256.
func readStyles(set catalog.Installed, dimensions string, speaker, n int) ([][]float32, error) {
	all := strings.Split(dimensions, ",")
	rows, err1 := strconv.Atoi(strings.TrimSpace(all[0]))
	wide, err2 := strconv.Atoi(strings.TrimSpace(all[len(all)-1]))
	if err1 != nil || err2 != nil || rows < 1 || wide < 1 || n < 1 || rows*wide > 1<<20 || n > 1<<10 {
		return nil, neural.Unfit(set.Name, "its model does not say what styles it has: %.40q for %d speakers", dimensions, n)
	}
	f, err := os.Open(set.File("voices"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := 4 * rows * wide
	if about.Size() != int64(n*size) {
		return nil, neural.Unfit(set.Name, "its file %s has %d bytes instead of %d", set.Files["voices"].Path, about.Size(), n*size)
	}
	values := make([]float32, rows*wide)
	if err := binary.Read(io.NewSectionReader(f, int64(speaker*size), int64(size)), binary.LittleEndian, values); err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(values, wide)), nil
}

// Kokoro was trained with other letters for some sounds than espeak-ng has, which puts a ^ into those
// of two letters. What is tried first stands first.
var (
	kokoroLetters = strings.NewReplacer(
		"ʔˌn\u0329", "tᵊn", "ʔn", "tᵊn", "a^ɪ", "I", "a^ʊ", "W", "d^ʒ", "ʤ", "e^ɪ", "A", "t^ʃ", "ʧ", "ɔ^ɪ", "Y", "ə^l", "ᵊl",
		"ʔ", "t", "r", "ɹ", "x", "k", "ç", "k", "ɐ", "ə", "ɚ", "əɹ", "ɬ", "l", "ʲ", "", "\u0303", "", "\u0329", "",
	)
	americanLetters = strings.NewReplacer("o^ʊ", "O", "ɜːɹ", "ɜɹ", "ɜː", "ɜɹ", "ɪə", "iə", "ː", "", "o", "ɔ", "^", "")
	britishLetters  = strings.NewReplacer("e^ə", "ɛː", "iə", "ɪə", "ə^ʊ", "Q", "o", "ɔ", "^", "")
)

// kokoroSounds returns the phonemes of espeak-ng in Kokoro's letters.
func kokoroSounds(phonemes string, british bool) string {
	phonemes = kokoroLetters.Replace(phonemes)
	if british {
		return britishLetters.Replace(phonemes)
	}
	return americanLetters.Replace(phonemes)
}
