package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe returns text as it may be shown: nothing in it makes a terminal act,
// turns the direction of what follows, or cannot be seen. A control character
// becomes its picture, such as ␛; whatever else is unfit becomes U+FFFD, as do
// marks that stand on nothing, or on a letter that has several already: they
// would be written over what others said. The end of a line and the tab stay, and "\r\n" is one end of
// a line. The two selectors of a symbol's shape, U+FE0E and U+FE0F, stay too.
//
// The price is that what joins letters or emoji invisibly is shown as well,
// since the same bytes can hide words from the person who reads them.
func Safe(text string) string { return new(gate).safe(text) }

// Whole returns how many bytes of text can be shown without knowing what
// follows: all but a rune, or the end of a line, that has only begun.
func Whole(text string) int {
	if strings.HasSuffix(text, "\r") {
		return len(text) - 1
	}
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// mostMarks is how many marks a letter may have. Some languages need four; what
// has dozens is meant to be written over what others said.
const mostMarks = 6

// A gate decides for one rune after the other how it is shown. The zero value
// is ready.
type gate struct {
	letter bool // there is one right before
	marks  int  // on it
}

// safe returns the next text as it may be shown.
func (g *gate) safe(text string) string {
	if plain(text) {
		if text != "" {
			g.pass(rune(text[len(text)-1]))
		}
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		show, size := g.fit(text)
		b.WriteString(show)
		text = text[size:]
	}
	return b.String()
}

// pass notes that r, which is no mark, goes through.
func (g *gate) pass(r rune) { g.letter, g.marks = !unicode.IsSpace(r), 0 }

// trace is safe, and says for each byte of what is shown where the rune of text
// ends that it stands for.
func (g *gate) trace(text string) (string, []int) {
	safe, ends := make([]byte, 0, len(text)), make([]int, 0, len(text))
	for done := 0; done < len(text); {
		show, size := g.fit(text[done:])
		done += size
		for i := range len(show) {
			safe, ends = append(safe, show[i]), append(ends, done)
		}
	}
	return string(safe), ends
}

// plain reports whether text is printable ASCII and ends of lines, as most is.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// fit returns what stands for the first rune of text, and the rune's size.
func (g *gate) fit(text string) (show string, size int) {
	r, size := utf8.DecodeRuneInString(text)
	if !unicode.In(r, unicode.Mn, unicode.Me) {
		g.pass(r)
	} else if g.marks++; !g.letter || g.marks > mostMarks {
		return string(utf8.RuneError), size
	}
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return "\n", 2
	case r == '\n' || r == '\t':
		return text[:size], size
	case r < 0x20:
		return string('␀' + r), size
	case r == 0x7f:
		return "␡", size
	case r == utf8.RuneError || hidden(r):
		return string(utf8.RuneError), size
	}
	return text[:size], size
}

// hidden reports whether r is a control character or leaves no mark of its
// own where it stands.
func hidden(r rune) bool {
	switch {
	case r == 0xfe0e || r == 0xfe0f:
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // format characters by name, and yet signs that one sees
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
