// Package conversation is what is said between participants: the envelope
// that tells a model who said what, and whom a message is for.
package conversation

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"earshot"
	"earshot/participants"
)

// An Envelope is a message as a model sees it, with its sender in front. Sender
// and addressees come from the registry and never from the text.
type Envelope struct {
	From string
	To   []string // named only where it matters who is meant
	Text earshot.Text
}

// String returns "[FROM: Ann] hello", or "[FROM: Ann TO: Bob, Earshot] hello".
// Whatever in the text looks like an envelope is defused.
func (e Envelope) String() string {
	var b strings.Builder
	b.WriteString("[FROM: ")
	b.WriteString(label(e.From))
	for i, to := range e.To {
		if i == 0 {
			b.WriteString(" TO: ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(label(to))
	}
	b.WriteString("] ")
	b.WriteString(Defuse(string(e.Text)))
	return b.String()
}

// label returns a name as it stands in an envelope.
func label(name string) string { return participants.OneLine(name) }

// Defuse returns text in which nothing looks like an envelope: the bracket of
// "[FROM:" and of "[TO:" is made round, however they are written, with
// invisible characters in between, wide letters, or those of other alphabets.
func Defuse(text string) string {
	if !strings.ContainsFunc(text, bracket) {
		return text
	}
	folded, at := fold(text)
	out := []byte(text)
	for _, i := range lookalike.FindAllStringIndex(folded, -1) {
		_, n := utf8.DecodeRuneInString(text[at[i[0]]:])
		out[at[i[0]]] = '('
		for k := 1; k < n; k++ {
			out[at[i[0]]+k] = 0 // the rest of a wide bracket
		}
	}
	return strings.ReplaceAll(string(out), "\x00", "")
}

// lookalike is the opening of an envelope, folded.
var lookalike = regexp.MustCompile(`\[(from|to):`)

func bracket(r rune) bool { return norm.NFKC.String(string(r)) == "[" }

// fold returns text as it looks: without space and what cannot be seen, in
// lower case and plain letters; and where in text each byte of it comes from.
func fold(text string) (folded string, at []int) {
	var b strings.Builder
	for i, r := range text {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) || r < ' ' {
			continue
		}
		for _, c := range strings.ToLower(norm.NFKC.String(string(r))) {
			if plain, ok := confusable[c]; ok {
				c = plain
			}
			for n := utf8.RuneLen(c); n > 0; n-- {
				at = append(at, i)
			}
			b.WriteRune(c)
		}
	}
	return b.String(), at
}

// confusable has the letters of other alphabets that look like those of an
// envelope, in lower case.
var confusable = map[rune]rune{
	'а': 'a', 'о': 'o', 'м': 'm', 'т': 't', 'г': 'r', 'ғ': 'f', // Cyrillic
	'ο': 'o', 'μ': 'm', 'τ': 't', 'ϝ': 'f', 'ρ': 'r', // Greek
	'օ': 'o', 'ո': 'n', 'ƒ': 'f', 'ꞙ': 'f', 'ᴏ': 'o', 'ᴍ': 'm', 'ᴛ': 't', 'ʀ': 'r', 'ꜰ': 'f',
	'ɡ': 'g', '։': ':', '׃': ':', 'ː': ':', '∶': ':', '꞉': ':', '⁅': '[', '〔': '[', '【': '[', '［': '[',
}

// longestEnvelope is how much of a reply is held back to see whether it is an
// envelope: the longest name and what stands around it.
const longestEnvelope = 96

// A Scrubber takes envelopes out of a reply, piece by piece: a model that has
// seen "[FROM: Ann] " a hundred times likes to begin like that. The zero value
// is ready.
type Scrubber struct {
	Own string // the name of the agent that replies

	// Foreign counts the envelopes that bore another's name.
	Foreign int

	held string // what may become an envelope
	trim bool   // the space after an envelope goes with it
	open bool   // a bracket was let through and not closed since
}

// Next returns what of the reply may be said after piece has come.
func (s *Scrubber) Next(piece string) string {
	s.held += piece
	var out strings.Builder
	for s.held != "" {
		if s.trim {
			s.held = strings.TrimLeft(s.held, " ")
			if s.held == "" {
				break
			}
			s.trim = false
		}
		open := strings.IndexByte(s.held, '[')
		if open < 0 {
			s.pass(&out, len(s.held))
			break
		}
		s.pass(&out, open)
		n, whole := envelope(s.held)
		if !whole && n > 0 {
			break // it may still become one
		}
		if n == 0 {
			s.pass(&out, 1)
			continue
		}
		if s.open { // what stands around must not become one by its going
			out.WriteByte(']')
			s.open = false
		}
		s.drop(s.held[:n])
		s.held = s.held[n:]
	}
	return out.String()
}

// End returns what was held back and has become nothing.
func (s *Scrubber) End() string {
	rest := s.held
	s.held = ""
	return rest
}

// pass lets n bytes through.
func (s *Scrubber) pass(out *strings.Builder, n int) {
	out.WriteString(s.held[:n])
	if i := strings.LastIndexAny(s.held[:n], "[]\n"); i >= 0 {
		s.open = s.held[i] == '['
	}
	s.held = s.held[n:]
}

func (s *Scrubber) drop(envelope string) {
	_, name, _ := strings.Cut(strings.TrimSuffix(envelope, "]"), ":")
	if !strings.EqualFold(strings.TrimSpace(name), s.Own) {
		s.Foreign++
	}
	s.trim = true
}

// envelope returns the length of the envelope that text begins with and true,
// a positive length and false if it may become one, or 0.
func envelope(text string) (n int, whole bool) {
	const opening = "[from:"
	cut := len(text) > longestEnvelope
	text = text[:min(len(text), longestEnvelope)]
	rest := 0
	for _, c := range []byte(opening) {
		for rest < len(text) && text[rest] == ' ' {
			rest++
		}
		if rest == len(text) {
			return maybe(rest, cut), false
		}
		if lower(text[rest]) != c {
			return 0, false
		}
		rest++
	}
	end := strings.IndexAny(text[rest:], "]\n")
	switch {
	case end < 0:
		return maybe(len(text), cut), false
	case text[rest+end] == ']':
		return rest + end + 1, true
	}
	return 0, false
}

// maybe returns n, or 0 if the text went on without becoming an envelope.
func maybe(n int, cut bool) int {
	if cut {
		return 0
	}
	return n
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
