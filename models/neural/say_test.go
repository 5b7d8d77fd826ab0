package neural_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
	"earshot/models/neural"
	"earshot/models/tts"
	"earshot/models/wire"
)

// A kindOfVoice is how a voice of a test is made.
type kindOfVoice struct {
	write func(dir string) error
	kind  catalog.Kind
	rate  int
}

var voices = map[string]kindOfVoice{
	"piper":  {modeltest.WritePiperSet, catalog.Piper, modeltest.PiperRate},
	"kokoro": {func(dir string) error { return modeltest.WriteKokoro(dir) }, catalog.Kokoro, modeltest.KokoroRate},
	"vits":   {func(dir string) error { return modeltest.WriteVITS(dir) }, catalog.VITS, modeltest.VITSRate},
}

// shelf returns a library with these voices.
func shelf(t testing.TB, names ...string) neural.Library {
	t.Helper()
	l := neural.Library{Dir: t.TempDir(), Log: quiet}
	for _, name := range names {
		dir := filepath.Join(l.Dir, name)
		if err := errors.Join(voices[name].write(dir), modeltest.Describe(dir, catalog.Say, voices[name].kind)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// mouth returns a voice that is started again at once whenever it has ended, until the test ends.
func mouth(t testing.TB, dial helper.Dialer) *tts.Synthesiser {
	s := tts.New(tts.Config{Dial: dial, Log: quiet})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := s.Run(ctx); errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		testkit.Receive(t, testkit.Patience, "the end of the voice", done)
	})
	testkit.Await(t, testkit.Patience, "a voice", func() bool { ready, _ := s.Ready(); return ready })
	return s
}

// voiceOf returns the voice of a set.
func voiceOf(t testing.TB, l neural.Library, name, speaker string) *tts.Synthesiser {
	set := find(t, l, name)
	check := func(ctx context.Context) error { _, err := l.Check(ctx, set); return err }
	return mouth(t, l.Say(set, speaker, 1, check))
}

// say returns the sound of a text, and where its words begin.
func say(t testing.TB, s *tts.Synthesiser, text string) (pcm []int16, words []tts.Word) {
	t.Helper()
	for c, err := range s.Say(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		pcm, words = append(pcm, c.PCM...), append(words, c.Words...)
	}
	return pcm, words
}

// tones returns the numbers of the sounds of a voice at a rate.
func tones(pcm []int16, rate int) (numbers []int) {
	for tone := range slices.Chunk(pcm, rate/20) {
		rises := 0
		for i := range len(tone) - 1 {
			if tone[i] < 0 && tone[i+1] >= 0 {
				rises++
			}
		}
		numbers = append(numbers, int(math.Round((float64(rises)+0.5)*20/modeltest.Step)))
	}
	return numbers
}

// spelt returns the numbers of the sounds that espeak-ng has for some clauses, each with the sign that
// ends it.
func spelt(t testing.TB, voice string, clauses ...string) (numbers []int) {
	t.Helper()
	number := func(sound string) int { return slices.Index(modeltest.Sounds(), sound) }
	for i, c := range clauses {
		out, err := exec.Command("espeak-ng", "-q", "--ipa", "-v", voice, c[:len(c)-1]).Output()
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			numbers = append(numbers, number(" "))
		}
		for _, r := range strings.TrimSpace(string(out)) {
			numbers = append(numbers, number(string(r)))
		}
		numbers = append(numbers, number(c[len(c)-1:]))
	}
	return numbers
}

// TestVoices: the sounds of a text come in their order, at the voice's own rate, and its words begin
// where they should, or are one off.
func TestVoices(t *testing.T) {
	program(t)
	l := shelf(t, "piper", "kokoro", "vits")
	const text = "we need, some bread. no milk!"
	padded := func(numbers []int) (all []int) { // as Piper wants it
		all = append(all, slices.Index(modeltest.Sounds(), "^"))
		for _, n := range append(numbers, slices.Index(modeltest.Sounds(), "$")) {
			all = append(all, 0, n)
		}
		return all
	}
	spaced := func(text string) (numbers []int) { // as VITS wants it
		for _, r := range " " + text + " " {
			numbers = append(numbers, strings.IndexRune(modeltest.Letters, r))
		}
		return numbers
	}
	american := func(sentence func([]int) []int) []int {
		return append(sentence(spelt(t, "en-us", "we need,", "some bread.")), sentence(spelt(t, "en-us", "no milk!"))...)
	}
	for _, tt := range []struct {
		set, speaker string
		want         []int
	}{
		{"piper", "", american(padded)},
		{"vits", "", append(spaced("we need, some bread."), spaced("no milk!")...)},
		{"kokoro", "1", nil}, // in letters of its own: see TestKokoroSounds
		{"kokoro", "af_one", nil},
	} {
		t.Run(tt.set+" "+tt.speaker, func(t *testing.T) {
			s := voiceOf(t, l, tt.set, tt.speaker)
			rate := voices[tt.set].rate
			if s.Rate() != rate {
				t.Errorf("it speaks at %d samples a second, want %d", s.Rate(), rate)
			}
			pcm, words := say(t, s, text)
			got := tones(pcm, rate)
			if tt.want != nil && !slices.Equal(got, tt.want) {
				t.Errorf("its sounds are\n%v, want\n%v", got, tt.want)
			}
			if tt.want == nil && (len(got) < 20 || got[0] != 0 || got[len(got)-1] != 0) {
				t.Errorf("its sounds are %v", got)
			}
			at := 0
			for i, w := range strings.Fields(text) {
				at += strings.Index(text[at:], w)
				if i >= len(words) || words[i].Byte != at || words[i].Sample >= len(pcm) || i > 0 && words[i].Sample <= words[i-1].Sample {
					t.Fatalf("word %d is at %+v", i, words)
				}
			}
			if again, _ := say(t, s, text); !slices.Equal(again, pcm) {
				t.Error("the same text does not sound the same again")
			}
		})
	}
}

// TestWordsBegin: each word of a voice begins where the model says it, to a word.
func TestWordsBegin(t *testing.T) {
	program(t)
	s := voiceOf(t, shelf(t, "vits"), "vits", "")
	const text = "most of these words are longer than others, and a few are short. all begin somewhere"
	pcm, words := say(t, s, text)
	var begins []int
	for i := range text {
		if i == 0 || text[i-1] == ' ' {
			begins = append(begins, i*modeltest.VITSRate/20)
		}
	}
	for i, w := range words {
		earliest, latest := 0, len(pcm)
		if i > 0 {
			earliest = begins[i-1]
		}
		if i+1 < len(begins) {
			latest = begins[i+1]
		}
		if w.Sample < earliest || w.Sample > latest {
			t.Errorf("word %d begins at %d, and is said to begin at %d", i, begins[i], w.Sample)
		}
	}
	if len(words) != len(begins) {
		t.Errorf("%d words of %d", len(words), len(begins))
	}
}

// TestOddTexts: what has no word in it makes no sound; a long text is said whole; and a text that is
// left is over at once, so that the next one comes.
func TestOddTexts(t *testing.T) {
	program(t)
	l := shelf(t, "piper", "vits")
	for _, name := range []string{"piper", "vits"} {
		s := voiceOf(t, l, name, "")
		for _, text := range []string{"", " ", "...", "- ?!", `"`} {
			if pcm, words := say(t, s, text); len(pcm) > 0 || len(words) > 0 {
				t.Errorf("%s says %q in %d samples", name, text, len(pcm))
			}
		}
		long := strings.Repeat("word after word ", 200)
		if pcm, words := say(t, s, long); len(words) != 600 || len(pcm) < 600*voices[name].rate/20 {
			t.Errorf("%s says %d words of 600", name, len(words))
		}
		for range 20 {
			for range s.Say(t.Context(), long) {
				break
			}
		}
		if pcm, _ := say(t, s, "(over) 'there'"); len(pcm) == 0 {
			t.Errorf("%s says nothing any more", name)
		}
	}
}

// TestBadVoices: whatever is wrong with a voice, that is one sentence with a cure, and nobody's
// process ends but that which tried it.
func TestBadVoices(t *testing.T) {
	program(t)
	const html = "<!DOCTYPE html><html><body>Please log in</body></html>"
	kokoro := func(without ...string) func(string) error {
		return func(dir string) error { return modeltest.WriteKokoro(dir, without...) }
	}
	vits := func(without ...string) func(string) error {
		return func(dir string) error { return modeltest.WriteVITS(dir, without...) }
	}
	broken := "its file model.onnx is damaged or of another kind ("
	other := "it is not a model of the kind that its description says"
	for _, tt := range []struct {
		name   string
		write  func(dir string) error
		kind   catalog.Kind
		before func(dir string) error
		says   string // "" if it works
	}{
		{"piper", modeltest.WritePiperSet, catalog.Piper, nil, ""},
		{"piper: missing", modeltest.WritePiperSet, catalog.Piper, gone("model.onnx"), "a piper has a file model, and its description names none"},
		{"piper: empty", modeltest.WritePiperSet, catalog.Piper, put("model.onnx", ""), broken},
		{"piper: garbage", modeltest.WritePiperSet, catalog.Piper, put("model.onnx", strings.Repeat("garbage", 999)), broken},
		{"piper: a page", modeltest.WritePiperSet, catalog.Piper, put("model.onnx", html), broken},
		{"piper: cut", modeltest.WritePiperSet, catalog.Piper, cut("model.onnx"), broken},
		{"piper: another model", modeltest.WritePiperSet, catalog.Piper, func(dir string) error {
			return errors.Join(modeltest.WriteVITS(dir), gone("tokens.txt")(dir))
		}, broken},
		{"piper: no config", modeltest.WritePiperSet, catalog.Piper, gone("config.json"), "a piper has a file config, and its description names none"},
		{"piper: a page as config", modeltest.WritePiperSet, catalog.Piper, put("config.json", html), "its file config.json is not the description of a Piper voice: "},
		{"piper: config without sounds", modeltest.WritePiperSet, catalog.Piper, put("config.json", "{}"), "its file config.json names no sounds of espeak-ng"},
		{"piper: unknown letters", modeltest.WritePiperSet, catalog.Piper, put("config.json", `{"audio":{"sample_rate":22050},"espeak":{"voice":"en-us"},"phoneme_id_map":{"_":[0],"^":[1],"$":[2]}}`), "it makes no sound of words"},
		{"piper: odd rate", modeltest.WritePiperSet, catalog.Piper, put("config.json", `{"audio":{"sample_rate":22051},"espeak":{"voice":"en-us"},"phoneme_id_map":{"_":[0],"^":[1],"$":[2]}}`), "it speaks at 22051 samples a second"},
		{"kokoro", kokoro(), catalog.Kokoro, nil, ""},
		{"kokoro: garbage", kokoro(), catalog.Kokoro, put("model.onnx", html), broken},
		{"kokoro: short voices", kokoro(), catalog.Kokoro, cut("voices.bin"), "its file voices.bin has 48 bytes instead of 96"},
		{"kokoro: no styles", kokoro("style_dim"), catalog.Kokoro, nil, "its model does not say what styles it has: "},
		{"kokoro: no speakers", kokoro("n_speakers"), catalog.Kokoro, nil, "its model does not say what styles it has: "},
		{"kokoro: no rate", kokoro("sample_rate"), catalog.Kokoro, nil, "it speaks at 0 samples a second"},
		{"kokoro: malformed tokens", kokoro(), catalog.Kokoro, put("tokens.txt", "hello\nworld foo bar\n"), `its file tokens.txt is not a list of sounds: "hello"`},
		{"kokoro: no tokens", kokoro(), catalog.Kokoro, put("tokens.txt", ""), "it makes no sound of words"},
		{"kokoro: as kitten", kokoro(), catalog.Kitten, nil, broken},
		{"vits", vits(), catalog.VITS, nil, ""},
		{"vits: garbage", vits(), catalog.VITS, put("model.onnx", html), "it is damaged (Load model from "},
		{"vits: empty", vits(), catalog.VITS, put("model.onnx", ""), "it is damaged (Load model from "},
		{"vits: without a fact", vits("sample_rate"), catalog.VITS, nil, other + " ('sample_rate' does not exist in the metadata)"},
		{"vits: another model", kokoro("n_speakers"), catalog.VITS, nil, other},
		{"vits: unknown letters", vits(), catalog.VITS, put("tokens.txt", "x 1\n"), "it "},
		{"supertonic: without its parts", vits(), catalog.Supertonic, nil, "a supertonic has a file duration_predictor, and its description names none"},
		{"pocket: without its parts", vits(), catalog.Pocket, nil, "a pocket has a file lm_flow, and its description names none"},
		{"no kind of ours", vits(), "telepathy", nil, "earshot has no loader for telepathy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := neural.Library{Dir: t.TempDir(), Log: quiet}
			dir := filepath.Join(l.Dir, "it")
			err := tt.write(dir)
			if tt.before != nil {
				err = errors.Join(err, tt.before(dir))
			}
			if err := errors.Join(err, modeltest.Describe(dir, catalog.Say, tt.kind)); err != nil {
				t.Fatal(err)
			}
			r, err := l.Check(t.Context(), find(t, l, "it"))
			if tt.says == "" {
				if err != nil || r.Rate == 0 || r.First <= 0 || r.Speed <= 0 || r.Start <= 0 {
					t.Errorf("it runs like %+v, %v", r, err)
				}
				return
			}
			var curable interface{ Cure() string }
			if err == nil || !errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &curable) || curable.Cure() != "fetch it again: earshot models get it" {
				t.Fatalf("the error is %v", err)
			}
			if said := err.Error(); !strings.HasPrefix(said, "the model it cannot be used: "+tt.says) || strings.Contains(said, "\n") || len(said) > 400 {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// TestWrongOrders: a speaker that a voice does not have, and a program that it needs and is not
// there, are said with what mends it.
func TestWrongOrders(t *testing.T) {
	path := program(t)
	l := shelf(t, "piper", "kokoro", "vits")
	for _, tt := range []struct{ set, speaker, says, cure string }{
		{"kokoro", "Ann", `the voice kokoro has no speaker "Ann"`, "set speech.say.neural.speaker to one of af_one, bm_two"},
		{"kokoro", "2", `the voice kokoro has no speaker "2"`, "set speech.say.neural.speaker to one of af_one, bm_two"},
		{"vits", "-1", `the voice vits has no speaker "-1"`, "set speech.say.neural.speaker to a number from 0 to 0"},
		{"piper", "", "the voice needs the program espeak-ng, which is not installed", "sudo apt-get install espeak-ng"},
	} {
		t.Run(tt.set+" "+tt.speaker, func(t *testing.T) {
			if tt.set == "piper" {
				t.Setenv("PATH", filepath.Dir(path))
			}
			s := tts.New(tts.Config{Dial: l.Say(find(t, l, tt.set), tt.speaker, 1, func(context.Context) error { return nil }), Log: quiet})
			err := s.Run(t.Context())
			var curable interface{ Cure() string }
			if err == nil || !strings.HasSuffix(err.Error(), ": "+tt.says) || !errors.As(err, &curable) || curable.Cure() != tt.cure || !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A mortalVoice dials a helper that can be killed.
type mortalVoice struct {
	path string
	set  catalog.Installed

	mu   sync.Mutex
	last *helper.Process
}

// A sayer is a process that is told which set to open.
type sayer struct {
	*helper.Process
	set catalog.Installed
}

// Send implements [helper.Link].
func (o sayer) Send(name string, body any) error {
	if name == wire.OpenName {
		body = wire.OpenSay{Set: o.set.Dir, Speed: 1}
	}
	return o.Process.Send(name, body)
}

func (m *mortalVoice) dial() (helper.Link, error) {
	p, err := helper.Start(helper.Command{Name: helper.NeuralProgram, Path: m.path, Args: []string{"say"}, Log: quiet})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = p
	return sayer{p, m.set}, nil
}

func (m *mortalVoice) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, err := os.FindProcess(m.last.Pid()); err == nil {
		p.Kill()
	}
}

// TestKilledVoice: whenever the helper is killed in the middle of a text, the text goes on with
// nothing lost and nothing doubled, to the sample.
func TestKilledVoice(t *testing.T) {
	kills := 10
	if os.Getenv("EARSHOT_PROOF") != "" {
		kills = 1000
	}
	l := shelf(t, "piper")
	m := &mortalVoice{path: program(t), set: find(t, l, "piper")}
	s := mouth(t, m.dial)
	text := strings.Repeat("one sentence of some words. ", 5)
	want, wantWords := say(t, s, text)
	for n := range kills {
		var got []int16
		var words []tts.Word
		killed := false
		for c, err := range s.Say(t.Context(), text) {
			if err != nil {
				t.Fatal(err)
			}
			got, words = append(got, c.PCM...), append(words, c.Words...)
			if at := len(want) * (n%kills + 1) / (kills + 2); !killed && len(got) >= at {
				m.kill()
				killed = true
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(words, wantWords) {
			t.Fatalf("killed for the %d. time, it says %d samples of %d, %d words of %d", n+1, len(got), len(want), len(words), len(wantWords))
		}
	}
}

// TestFallsBack: when a voice is killed in the middle of a text and one with another rate takes its
// place, the text goes on at the word.
func TestFallsBack(t *testing.T) {
	l := shelf(t, "kokoro", "vits")
	path := program(t)
	first, next := &mortalVoice{path: path, set: find(t, l, "kokoro")}, &mortalVoice{path: path, set: find(t, l, "vits")}
	var lives atomic.Int32
	s := mouth(t, func() (helper.Link, error) {
		if lives.Add(1) == 1 {
			return first.dial()
		}
		return next.dial()
	})
	const text = "some words that are said by two voices. and more words of the other one."
	var after []int16
	var words []tts.Word
	given := 0
	for c, err := range s.Say(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Rate == modeltest.VITSRate {
			after, words = append(after, c.PCM...), append(words, c.Words...)
		} else if given += len(c.PCM); given > modeltest.KokoroRate && lives.Load() == 1 {
			first.kill()
		}
	}
	if len(words) == 0 {
		t.Fatal("the other one says no word")
	}
	from := words[0].Byte
	sentence := text[from : strings.Index(text, ".")+1]
	if from == 0 || text[from-1] != ' ' || !strings.HasPrefix(letters(tones(after, modeltest.VITSRate)), " "+sentence) {
		t.Errorf("it goes on at byte %d with %q, and not with %q", from, letters(tones(after, modeltest.VITSRate)), sentence)
	}
	if begins := given * modeltest.VITSRate / modeltest.KokoroRate; words[0].Sample < begins-1 || words[0].Sample > begins+1 {
		t.Errorf("it goes on at sample %d, want %d", words[0].Sample, begins)
	}
}

// letters returns what a voice of [modeltest.WriteVITS] has said.
func letters(numbers []int) string {
	var b strings.Builder
	for _, n := range numbers {
		if n < len(modeltest.Letters) {
			b.WriteByte(modeltest.Letters[n])
		}
	}
	return b.String()
}
