package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Safe returns text as it may be shown: nothing in it makes a terminal act,
// turns the direction of what follows, or cannot be seen. A control character
// becomes its picture, such as ␛; whatever else is unfit becomes U+FFFD, as do
// marks that stand on nothing, or on a letter that has several already: they
// would be written over what others said. The end of a line and the tab stay, and "\r\n" is one end of
// a line. The two selectors of a symbol's shape, U+FE0E and U+FE0F, stay too.
//
// U+200C and U+200D stay between letters and between emoji, where Persian, Hindi
// and 👩‍💻 need them: one at a time, and at most mostJoiners in one emoji. Anywhere
// else they are left out, as are all controls of direction, what has no width, and the
// soft hyphen, which are in text that was copied: they do nothing. After 🏴 the tags that
// make another flag of it stay.
//
// The price is that two words can look the same and differ by a joiner.
func Safe(text string) string { return new(runeFilter).safe(text) }

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

const (
	// mostMarks is how many marks a letter may have, or an emoji that is joined of
	// several. Some languages need four; what has dozens is meant to be written over
	// what others said.
	mostMarks = 6

	// mostJoiners is how many joiners an emoji may have. A family of four has three.
	mostJoiners = 4

	// mostTags is how many tags may stand after 🏴, with the one that ends them. That of
	// Scotland has six.
	mostTags = 6

	nonJoiner, joiner = '\u200c', '\u200d'

	flag, tagsEnd = '\U0001f3f4', '\U000e007f'

	// virama is the combining class of the sign that joins consonants in the scripts
	// of India. A joiner right after it also shapes a letter that ends a word.
	virama = 9
)

// A runeFilter decides for one rune after the other how it is shown. A joiner is shown
// together with what it joins. The zero value is ready.
type runeFilter struct {
	letter  bool // there is one right before
	marks   int  // on it
	joins   bool // a joiner may come
	virama  bool // there is one right before
	joiner  rune // waits for what it joins; 0 if none does
	joiners int  // in the emoji
	tags    int  // so many more may come of a flag
}

// safe returns the next text as it may be shown.
func (g *runeFilter) safe(text string) string {
	if g.joiner == 0 && plain(text) {
		if text != "" {
			last := rune(text[len(text)-1])
			g.pass(last, 0)
			g.joins, g.virama, g.tags = joinable(last), false, 0
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

// pass notes that r, which is no mark, goes through, and after which joiner. What is
// joined to an emoji is a part of it.
func (g *runeFilter) pass(r, after rune) {
	if after == joiner && unicode.IsSymbol(r) {
		g.joiners++
	} else {
		g.marks, g.joiners = 0, 0
	}
	g.letter = !unicode.IsSpace(r)
}

// trace is safe, and says for each byte of what is shown where the rune of text
// ends that it stands for.
func (g *runeFilter) trace(text string) (string, []int) {
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
func (g *runeFilter) fit(text string) (show string, size int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == nonJoiner || r == joiner:
		return g.join(r), size
	case unicode.Is(unicode.Bidi_Control, r) || unseen(r):
		return "", size
	case g.tags > 0 && g.joiner == 0 && isTag(r):
		if g.tags--; r == tagsEnd {
			g.tags = 0
		}
		g.joins = false
		return text[:size], size
	}
	after, mark := g.joiner, unicode.In(r, unicode.Mn, unicode.Me)
	g.joiner, g.joins, g.virama, g.tags = 0, false, false, 0
	if !mark {
		g.pass(r, after)
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
	if r == flag {
		g.tags = mostTags
	}
	g.joins = joinable(r)
	g.virama = mark && norm.NFC.PropertiesString(text).CCC() == virama
	if after != 0 && g.joins {
		return string(after) + text[:size], size
	}
	return text[:size], size
}

// joinable reports whether a joiner may stand beside r.
func joinable(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S) }

// join returns what stands for the joiner r. Unless it shapes the letter before, it
// waits for the next one.
func (g *runeFilter) join(r rune) string {
	switch {
	case !g.joins || g.joiners == mostJoiners:
		return ""
	case g.virama:
		g.joins = false // one is enough
		return string(r)
	}
	g.joiner, g.joins = r, false
	return ""
}

// unseen reports whether r is never seen and stands in text that nobody means ill with: the
// soft hyphen, and the spaces and joiners of words that have no width.
func unseen(r rune) bool { return r == 0xad || r == 0x200b || r == 0x2060 || r == 0xfeff }

// isTag reports whether r is one of the tags that stand for letters and numbers after a
// flag, or ends them.
func isTag(r rune) bool {
	return r >= 0xe0061 && r <= 0xe007a || r >= 0xe0030 && r <= 0xe0039 || r == tagsEnd
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
