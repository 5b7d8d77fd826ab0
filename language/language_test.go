package language_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"earshot/language"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct{ text, words, plain, folded string }{
		{"", "", "", ""},
		{" \t.,!", "", "", ""},
		{"Stop talking!", "stop|talking", "stop|talking", "stop talking"},
		{"Don't, I won’t.", "don't|i|won't", "dont|i|wont", "dont i wont"},
		{"It's 5 p.m.", "it's|5|p|m", "its|5|p|m", "its 5 pm"},
		{"a well-known and/or, maybe", "a|well|known|and|or|maybe", "a|well|known|and|or|maybe", "a well known and or maybe"},
		{"ÄRGER в Москве", "ärger|в|москве", "ärger|в|москве", "ärger в москве"},
		{"'' ' '", "''|'|'", "", ""},
		{"東京は", "東京は", "東京は", "東京は"},
	} {
		if got := strings.Join(language.Words(tt.text), "|"); got != tt.words {
			t.Errorf("%q has the words %s, want %s", tt.text, got, tt.words)
		}
		if got := strings.Join(language.Plain(tt.text), "|"); got != tt.plain {
			t.Errorf("%q has the plain words %s, want %s", tt.text, got, tt.plain)
		}
		if got := language.Fold(tt.text); got != tt.folded {
			t.Errorf("%q is folded to %q, want %q", tt.text, got, tt.folded)
		}
	}
}

func TestSet(t *testing.T) {
	if s := language.Set(" no  nope\nnever"); len(s) != 3 || !s["no"] || !s["nope"] || !s["never"] {
		t.Errorf("the set is %v", s)
	}
}

func TestSameWords(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"The tide is high.", "the TIDE is: high", true}, {"well-known", "well known", true}, {"", "", true}, {"?", "?", true},
		{"the tide", "a tide", false}, {"the tide", "the", false}, {"?", "!", false}, {"?", "", false},
	} {
		if got := language.SameWords(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestWholeRunes(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "Är": "Är", "r\xc3": "r", "🙂": "🙂", "a🙂"[:4]: "a", "a🙂"[:2]: "a", "a\xff": "a\xff", "\x80": "\x80"} {
		if got := language.WholeRunes(text); got != want {
			t.Errorf("%q is whole as %q, want %q", text, got, want)
		}
	}
}

// FuzzWords: whatever the text, words have no space and no capitals, and folding twice is the same.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "Don't", "a-b/c", "İstanbul", "ǅ", "\xff’", strings.Repeat("x ", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range slices.Concat(language.Words(text), language.Plain(text)) {
			if w == "" || strings.ContainsAny(w, " \t\n.,’") {
				t.Errorf("%q has the word %q", text, w)
			}
		}
		once := language.Fold(text)
		if !utf8.ValidString(once) || language.Fold(once) != once || strings.Contains(once, "  ") || strings.TrimSpace(once) != once {
			t.Errorf("%q is folded to %q, and then to %q", text, once, language.Fold(once))
		}
	})
}

func TestEditsAndSwaps(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"same", "same", 0},
		{"modle", "model", 1}, {"hots", "host", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	} {
		if got := language.EditsAndSwaps([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("from %q to %q it is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
