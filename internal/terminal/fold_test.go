package terminal_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/internal/terminal"
)

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		want       string
	}{
		{"what fits", "one two\n", 7, "one two\n"},
		{"between words", "one two three", 8, "one two\nthree"},
		{"with indentation", "  one two three four five six", 26, "  one two three four five\n  six"},
		{"behind a gap", "  ✗ camera         there is none that could be opened", 40, "  ✗ camera         there is none that\n                   could be opened"},
		{"a question", "a number, a new name, anonymous [Ann Lee]: ", 40, "a number, a new name, anonymous [Ann\nLee]: "},
		{"a long word behind a gap", "  ✓ journal        ~/.local/state/earshot/journal", 40, "  ✓ journal\n          ~/.local/state/earshot/journal"},
		{"a word longer than a row", "see /a/path/that/is/quite/long/indeed.txt", 20, "see /a/path/that/is/\nquite/long/\nindeed.txt"},
		{"and no slash in it", "0123456789012345678901234", 20, "01234567890123456789\n01234"},
		{"wide signs", "日本 日本 日本", 10, "日本 日本\n日本"},
		{"several lines", "one two three four five\n\n  one two three four five\n", 22, "one two three four\nfive\n\n  one two three four\n  five\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := terminal.Fold(tt.text, tt.width); got != tt.want {
				t.Errorf("folded\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestFoldBreaksNoWord: folding breaks no word that fits in a row, makes no row too wide, and loses
// nothing.
func TestFoldBreaksNoWord(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "word", "microphone:", "~/.local/state/earshot/journal", "日本語", "👩\u200d💻", strings.Repeat("long", 15), "/very/long/path/to/some/place/on/a/disk", "", ""})
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(40, 120).Draw(t, "width")
		text := rapid.SampledFrom([]string{"", "  ", "  ✗ camera         ", "17:39:46  you        "}).Draw(t, "margin") +
			strings.Join(rapid.SliceOf(words).Draw(t, "words"), " ")
		folded := terminal.Fold(text, width)
		for row := range strings.SplitSeq(folded, "\n") {
			if n := terminal.Columns(strings.TrimRight(row, " ")); n > width {
				t.Errorf("a row of %d has %d columns: %q", width, n, row)
			}
		}
		if strings.Join(strings.Fields(folded), "") != strings.Join(strings.Fields(text), "") {
			t.Errorf("%q became %q", text, folded)
		}
		is := make(map[string]int)
		for _, word := range strings.Fields(folded) {
			is[word]++
		}
		for _, word := range strings.Fields(text) {
			if terminal.Columns(word) <= width && is[word] == 0 {
				t.Errorf("%q is broken in\n%s", word, folded)
			}
			is[word]--
		}
	})
}
