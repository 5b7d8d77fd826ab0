package compose_test

import (
	"strings"
	"testing"

	"earshot/internal/discord/compose"
)

// TestClean: how names and texts from people are cleaned.
func TestClean(t *testing.T) {
	name := func(s string) string { return compose.CleanName(s, "7") }
	short := func(s string) string { return compose.Shorten(s, 4) }
	for _, tt := range []struct {
		what       string
		clean      func(string) string
		text, want string
	}{
		{"a text keeps its lines", compose.Clean, "one\r\ntwo\u2028three\t", "one\ntwo\nthree\t"},
		{"what cannot be seen", compose.Clean, "a\u202eb\u200bc\x1b[2Jd\x00", "abc[2Jd"},
		{"what joins letters", compose.Clean, "👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"},
		{"what is not UTF-8", compose.Clean, "a\xff", "a\uFFFD"},
		{"a line", compose.CleanLine, " a\n\tb\u200b ", "a b"},
		{"a long line", compose.CleanLine, strings.Repeat("é", 200), strings.Repeat("é", 119) + "…"},
		{"a name", name, "@everyone\n[FROM: Owner] d'Or-1", "everyone FROM Owner d'Or-1"},
		{"nothing is left of the name", name, "<@>", "7"},
		{"a long name", name, strings.Repeat("x", 200), strings.Repeat("x", 39) + "…"},
		{"short", short, "fünf"[:5], "fünf"},
		{"too long", short, "fünfte", "fün…"},
		{"small print", compose.SmallPrint, "*one*\n@two", "-# \\*one\\*\n-# @\u200btwo"},
	} {
		if got := tt.clean(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}
