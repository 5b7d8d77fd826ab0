package revision

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/language"
)

// Respelt reports whether two texts differ at most in spelling: in punctuation, in capitals and,
// within long words, in one letter or two swapped ones. In numbers and short words every letter
// counts: "now" is no spelling of "not".
func Respelt(a, b earshot.Text) bool {
	x, y := language.Words(string(a)), language.Words(string(b))
	return slices.EqualFunc(x, y, mistyped)
}

// longWord is the number of letters from which a wrong one may be a slip: in English few words of
// that length differ in one letter, while most of four do.
const longWord = 6

// mistyped reports whether two words may be the same one.
func mistyped(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	if strings.ContainsFunc(a+b, unicode.IsDigit) {
		return false
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	from := 0
	for from < len(x) && x[from] == y[from] {
		from++
	}
	x, y = x[from:], y[from:]
	for len(x) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	swapped := len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
	return swapped || len(y) <= 1 && max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) >= longWord
}
