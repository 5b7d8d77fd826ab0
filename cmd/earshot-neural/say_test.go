//go:build cgo

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/models/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drawn returns sentences with a bar between words, the sign that ends each clause, and a slash
// between sentences.
func drawn(all []sentence) string {
	var texts []string
	for _, s := range all {
		b := ""
		for _, c := range s.clauses {
			b += strings.ReplaceAll(c.text, " ", "|") + c.mark
		}
		texts = append(texts, b)
	}
	return strings.Join(texts, "/")
}

func TestDivide(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" ", ""},
		{"... - !", ""},
		{"hello", "hello"},
		{"hello there ", "hello|there"},
		{"one, two. three", "one,two./three"},
		{`"Stop," he said (softly). Why?`, "Stop,he|said|softly./Why?"},
		{"it's 3 o'clock - isn't it?", "it's|3|o'clock|isn't|it?"},
		{"wait... what", "wait./what"},
		{strings.Repeat("word ", 80), strings.Repeat("word|", 60) + "word/" + strings.TrimSuffix(strings.Repeat("word|", 19), "|")},
	} {
		if got := drawn(divide(tt.text)); got != tt.want {
			t.Errorf("%q is divided into %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestDivideLosesNothing: every word of a text is in a sentence, where it stands in the text, and its
// mark is within the sound.
func TestDivideLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z'"(\-]{0,9}[.,!?)"]{0,3} ?`), 0, 120).Draw(t, "tokens"), " ")
		var words []string
		for token := range strings.FieldsSeq(text) {
			if strings.ContainsFunc(token, unicode.IsLetter) {
				words = append(words, strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) }))
			}
		}
		var got []string
		last, from := wire.Mark{}, 0
		for _, s := range divide(text) {
			n := 0
			for _, w := range s.words {
				if !strings.HasPrefix(text[w.at:], w.text) {
					t.Fatalf("%q does not stand at %d", w.text, w.at)
				}
				got = append(got, w.text)
			}
			for _, c := range s.clauses {
				n += len(strings.Fields(c.text))
			}
			if n != len(s.words) || len(s.text) > longSentence+20 {
				t.Fatalf("a sentence of %d bytes has %d words, and %d in its clauses", len(s.text), len(s.words), n)
			}
			const samples = 1000
			for i, m := range s.marks(from, samples) {
				if m.Byte < last.Byte || m.Sample < last.Sample || int(m.Sample) < from || int(m.Sample) >= from+samples || i == 0 && int(m.Sample) != from {
					t.Fatalf("a mark at %+v after %+v, in sound from %d", m, last, from)
				}
				last = m
			}
			from += samples
		}
		if !slices.Equal(got, words) {
			t.Fatalf("%q has the words %q, not %q", text, got, words)
		}
	})
}

// TestKokoroSounds: the letters of espeak-ng become those that Kokoro was trained with.
func TestKokoroSounds(t *testing.T) {
	for _, tt := range []struct {
		british bool
		from    string
		want    string
	}{
		{false, "həlˈo^ʊ ðˈɛɹ", "həlˈO ðˈɛɹ"},
		{false, "maɪ", "maɪ"},
		{false, "ma^ɪ t^ʃˈɔ^ɪs", "mI ʧˈYs"},
		{false, "d^ʒˈʌd^ʒ bˈɜːd", "ʤˈʌʤ bˈɜɹd"},
		{false, "dˈoːɹ fˈɑːðɚ", "dˈɔɹ fˈɑðəɹ"},
		{false, "sˈe^ɪ lˈɪɾə^l", "sˈA lˈɪɾᵊl"},
		{true, "ɡˈə^ʊ ðˈe^ə", "ɡˈQ ðˈɛː"},
		{true, "na^ʊ hˈiə", "nW hˈɪə"},
	} {
		if got := kokoroSounds(tt.from, tt.british); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.from, got, tt.want)
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add("a 1\n  3\nˈ 4\r\n")
	f.Add("a")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		ids, wrong := parseTokens(text)
		if (wrong == "") != (ids != nil) || len(ids) > strings.Count(text, "\n")+1 {
			t.Errorf("%q has the sounds %v, and %q is wrong", text, ids, wrong)
		}
		for sound, id := range ids {
			if sound == "" || id < 0 || !strings.Contains(text, sound+" ") {
				t.Errorf("%q has no sound %q", text, fmt.Sprint(sound, id))
			}
		}
	})
}

func FuzzDivide(f *testing.F) {
	f.Add("hello there, you. And?")
	f.Add("\xff a\u00a0b")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range divide(text) {
			for _, w := range s.words {
				if w.at < 0 || w.at+len(w.text) > len(text) || text[w.at:w.at+len(w.text)] != w.text {
					t.Errorf("%q has no word %q at %d", text, w.text, w.at)
				}
			}
			s.marks(0, 1)
		}
	})
}
