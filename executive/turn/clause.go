package turn

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// A shorter clause is not worth a breath of its own: "Dr. ", "1. " and "Yes, " wait for what
	// follows.
	shortest = 12

	// A voice should not wait longer than this for the next comma: the clause then ends at a space.
	longest = 240
)

// clause returns the length of the first clause of text, or 0 if it is not complete yet. If all is
// set, the rest of the text counts as a clause too.
func clause(text []byte, all bool) int {
	space := 0 // the end of the last word within bounds
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		next := i + n
		switch {
		case r == '\n', wide(r):
			if next >= shortest || wide(r) {
				return spaces(text, next)
			}
		case unicode.IsSpace(r):
			if i > 0 && stop(text[i-1]) && i >= shortest {
				return spaces(text, next)
			}
			space = next
		}
		if next >= longest {
			if space > 0 {
				return space
			}
			return next
		}
		i = next
	}
	if all {
		return len(text)
	}
	return 0
}

// stop reports whether a voice takes a breath after b when a space follows.
func stop(b byte) bool { return strings.IndexByte(`.!?;:,)"`, b) >= 0 }

// wide reports whether r ends a clause by itself, as in scripts without spaces.
func wide(r rune) bool { return strings.ContainsRune("。！？；：，、…", r) }

// spaces returns the end of the white space at i: it belongs to the clause
// before it.
func spaces(text []byte, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if !unicode.IsSpace(r) {
			return i
		}
		i += n
	}
	return i
}

// edge returns i, moved back to the beginning of the rune that it points into.
func edge(text []byte, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
