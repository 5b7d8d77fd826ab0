package llm

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Thoughts separates a model's thoughts from its words, where both come as one text with the
// thinking in tags: <think>, <thinking> or <reasoning>, in any case. It is for one reply and one
// goroutine; the zero value is ready.
//
// Everything between the tags is thinking, even when tags are nested, and so is everything after a
// tag that is never closed: a reply that is not said at all is a smaller mistake than a thought
// that is said aloud. A closing tag with nothing to close is dropped. White space between the
// thinking and the first word is dropped too, since models put blank lines there.
//
// The output does not depend on how the text was split into pieces. A piece that may be the
// beginning of a tag, or of a rune, is kept until that is known; a byte that is not part of a rune
// becomes U+FFFD.
type Thoughts struct {
	// Opened says that the prompt itself ended in the opening tag, so that the reply begins in the
	// middle of a thought. A model may repeat the tag nevertheless.
	Opened bool

	// Leading says that the model thinks only before its first word. What follows is not prose, and
	// tags in it are left alone. See [ToolChoiceReader].
	Leading bool

	begun bool   // the thought that the prompt opened has begun
	depth int    // of nested tags
	mused bool   // something was thought
	spoke bool   // something was said
	trim  bool   // drop white space until something is said
	held  string // perhaps the beginning of a tag or of a rune
	out   []Delta
}

// Next takes the next piece of the reply and returns what is certain by now. The result is valid
// until the next call.
func (s *Thoughts) Next(piece string) []Delta {
	s.begin()
	if s.held != "" {
		piece, s.held = s.held+piece, ""
	}
	from, at := 0, 0
	for !s.Leading || !s.spoke {
		i := strings.IndexByte(piece[at:], '<')
		if i < 0 {
			break
		}
		at += i
		kind, n := tagAt(piece[at:])
		if kind == noTag {
			at++
			continue
		}
		s.give(piece[from:at])
		if s.Leading && s.spoke {
			from = at
			break
		}
		if kind == partTag {
			s.held = piece[at:]
			return s.out
		}
		s.turn(kind)
		at += n
		from = at
	}
	end := len(piece) - unfinished(piece[from:])
	s.give(piece[from:end])
	s.held = piece[end:]
	return s.out
}

// End says that the reply is over, and returns what was kept. The result is valid as long as that
// of Next, which must not be called any more.
func (s *Thoughts) End() []Delta {
	s.begin()
	s.give(s.held)
	s.held = ""
	return s.out
}

// rest returns what was kept after out, the last result of Next.
func (s *Thoughts) rest(out []Delta) []Delta { return append(slices.Clone(out), s.End()...) }

// begin prepares for a call, and before the first one for the reply.
func (s *Thoughts) begin() {
	s.out = s.out[:0]
	if s.Opened && !s.begun {
		s.depth, s.begun = 1, true
	}
}

// turn enters or leaves a thought.
func (s *Thoughts) turn(kind tagKind) {
	switch {
	case kind == openTag && s.Opened && s.depth == 1 && !s.mused:
		s.mused = true // the tag of the prompt, repeated
	case kind == openTag:
		s.depth++
	case s.depth > 0:
		s.depth--
		s.trim = !s.spoke
	}
}

// give adds text to the result, as thinking or as words.
func (s *Thoughts) give(text string) {
	if s.depth == 0 && s.trim {
		text = strings.TrimLeft(text, space)
	}
	if text == "" {
		return
	}
	text = valid(text)
	if s.depth > 0 {
		s.mused = s.mused || strings.Trim(text, space) != ""
		s.out = append(s.out, Delta{Thinking: text})
		return
	}
	s.trim = false
	s.spoke = s.spoke || strings.Trim(text, space) != ""
	s.out = append(s.out, Delta{Text: text})
}

// space is the white space that models put around tags.
const space = " \t\r\n"

// A tagKind is what a "<" turned out to be.
type tagKind int

const (
	noTag    tagKind = iota
	partTag          // the beginning of one, perhaps
	openTag          // <think>
	closeTag         // </think>
)

// tagNames are the names of the tags that models think in, each before its own prefixes.
var tagNames = [...]string{"thinking", "think", "reasoning"}

// maxTag bounds what is kept of a tag with spaces before its end: no model was
// seen to write more than one.
const maxTag = 24

// tagAt says what text, which begins with "<", begins with, and how long a complete tag is.
func tagAt(text string) (kind tagKind, n int) {
	at, kind := 1, openTag
	if at < len(text) && text[at] == '/' {
		at, kind = 2, closeTag
	}
	for _, name := range tagNames {
		rest := text[at:]
		if len(rest) < len(name) && strings.EqualFold(rest, name[:len(rest)]) {
			return partTag, 0
		}
		if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			return tagEnd(text, at+len(name), kind)
		}
	}
	return noTag, 0
}

// tagEnd looks for the end of a tag of the given kind whose name ends at byte
// at.
func tagEnd(text string, at int, kind tagKind) (tagKind, int) {
	for at < min(len(text), maxTag) && strings.IndexByte(space, text[at]) >= 0 {
		at++
	}
	switch {
	case at == maxTag:
		return noTag, 0
	case at == len(text):
		return partTag, 0
	case text[at] == '>':
		return kind, at + 1
	}
	return noTag, 0
}

// unfinished returns how many bytes at the end of text may be the beginning of a rune.
func unfinished(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// valid returns text with each byte that is not part of a rune replaced.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
