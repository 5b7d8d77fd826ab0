package compose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is kept of what people wrote, in characters.
const (
	LongestRead = 4000 // of a message, the limit for paying users
	LongestLine = 120  // of a line for display
	LongestName = 40   // of a name within a text; Discord's own have 32, channels 100
)

// Clean removes invisible characters that could deceive: those that control a terminal, change the
// direction, or have no width. It keeps line breaks, and joiners of letters and pictures where
// languages need them.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Noncharacter_Code_Point):
			return -1
		}
		return r
	}, s)
}

// CleanLine returns a name for display: one line without invisible characters.
func CleanLine(s string) string {
	return Shorten(strings.Join(strings.Fields(Clean(s)), " "), LongestLine)
}

// CleanName returns the parts of a freely chosen name that may appear in a text: letters, digits and
// what joins them. If nothing is left, it returns or.
func CleanName(s, or string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Letter, unicode.Digit) || strings.ContainsRune("-_.'", r):
			return r
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r):
			return r
		}
		return ' '
	}, Shorten(Clean(s), 4*LongestName))
	if s = Shorten(strings.Join(strings.Fields(s), " "), LongestName); s == "" {
		return or
	}
	return strings.TrimSpace(s)
}

// Shorten returns the first most characters of s, with a mark if there are more.
func Shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
