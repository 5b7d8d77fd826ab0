package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot/language"
)

const (
	// leastRepeated is how many words of a text that ended with a whole sentence a reply must
	// repeat: fewer may be a coincidence.
	leastRepeated = 3

	// openSigns are the signs that are preceded by a space.
	openSigns = "(\"“‘[*_`"

	// mostRepeated is how many bytes of the end of a text are compared.
	mostRepeated = 4 << 10
)

// A Continuation filters a streamed reply, piece by piece, that continues a text which was already
// said. Many models begin again with the last sentence of that text, or with all of it. The
// Continuation removes what they repeat, and inserts the space between text and reply if they omit
// it. Words are compared without case and punctuation. How the reply is cut into pieces makes no
// difference. Only what may be a repetition is held back, so a reply that repeats nothing comes
// through from its first word.
type Continuation struct {
	said  []string // the last words of the text
	ended bool     // the text ends with a whole sentence
	point bool     // it ends with punctuation
	open  bool     // the space after it is missing
	held  string   // text that may still be a repetition
	done  bool     // no repetition can follow
}

// NewContinuation returns the filter for a reply that continues text.
func NewContinuation(text string) *Continuation {
	trimmed := strings.TrimRightFunc(text, unicode.IsSpace)
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	said, _ := spansOf(strings.ToValidUTF8(trimmed[max(0, len(trimmed)-mostRepeated):], " "))
	return &Continuation{
		said:  said,
		ended: strings.ContainsRune(".!?…。！？:\"'”’)", last),
		point: unicode.IsPunct(last),
		open:  trimmed != "" && trimmed == text && !unspaced(last),
		done:  trimmed == "",
	}
}

// Next returns the part of the reply that may be said after piece has come.
func (c *Continuation) Next(piece string) string {
	if c.done {
		return piece
	}
	c.held += piece
	return c.decide(false)
}

// End returns what was held back and is no repetition.
func (c *Continuation) End() string { return c.decide(true) }

// decide returns what may be said of the held text: nothing as long as it may be a repetition.
func (c *Continuation) decide(last bool) string {
	if c.done || c.held == "" || !last && language.WholeRunes(c.held) != c.held {
		return ""
	}
	words, ends := spansOf(c.held)
	if len(words) == 0 && !last && len(c.held) < mostRepeated {
		return ""
	}
	part := !last && len(ends) > 0 && ends[len(ends)-1] == len(c.held) // the last word may not be complete
	repeated := 0
	for at := range c.said {
		n := sharedWords(c.said[at:], words)
		rest := len(c.said) - at
		switch {
		case n == rest && n > repeated && (n >= leastRepeated || !c.ended):
			if part && n == len(words) {
				return ""
			}
			repeated = n
		case n == len(words) && n < rest, part && n == len(words)-1 && n < rest && strings.HasPrefix(c.said[at+n], words[n]):
			if !last {
				return "" // so far it repeats the text
			}
		}
	}
	if last && repeated == 0 && len(words) >= leastRepeated && endsIn(c.said, words) {
		repeated = len(words)
	}
	c.done = true
	text := c.held
	c.held = ""
	if repeated > 0 {
		text = text[ends[repeated-1]:]
		if c.point { // the reply repeats the punctuation too
			text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsPunct(r) && !strings.ContainsRune(openSigns, r) })
		}
	}
	return c.joint(text)
}

// joint returns text with a missing space in front.
func (c *Continuation) joint(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if text != "" && c.open && (unicode.IsLetter(first) || unicode.IsNumber(first) || strings.ContainsRune(openSigns, first)) && !unspaced(first) {
		return " " + text
	}
	return text
}

// endsIn reports whether words occur together in said, and so are not new.
func endsIn(said, words []string) bool {
	for at := 0; at+len(words) <= len(said); at++ {
		if sharedWords(said[at:], words) == len(words) {
			return true
		}
	}
	return false
}

// sharedWords returns how many words both begin with.
func sharedWords(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// spansOf returns the words of a text, folded, with the offset at which each ends. In scripts
// without spaces each letter is a word.
func spansOf(text string) (words []string, ends []int) {
	var b strings.Builder
	end := func(at int) {
		if b.Len() > 0 {
			words, ends = append(words, b.String()), append(ends, at)
			b.Reset()
		}
	}
	for at, r := range text {
		switch {
		case unspaced(r):
			end(at)
			b.WriteRune(r)
			end(at + utf8.RuneLen(r))
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		case r == '\'' || r == '’': // within a word
		default:
			end(at)
		}
	}
	end(len(text))
	return words, ends
}

// unspaced reports whether r belongs to a script without spaces, or is one of its marks.
func unspaced(r rune) bool {
	return language.Unspaced(r) || strings.ContainsRune("。！？、，；：", r)
}
