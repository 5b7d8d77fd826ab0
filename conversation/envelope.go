// Package conversation is what is said between participants: the envelope
// that tells a model who said what, and whom a message is for.
package conversation

import (
	"regexp"
	"strings"

	"earshot"
	"earshot/participants"
)

// Envelope returns text as a model sees it, with its sender in front:
// "[FROM: Ann] hello". The sender comes from the registry and never from the
// text; whatever in the text looks like an envelope is defused.
func Envelope(sender string, text earshot.Text) string {
	return "[FROM: " + participants.OneLine(sender) + "] " + lookalike.ReplaceAllString(string(text), "($1:")
}

// lookalike is the opening of an envelope, as somebody could write it: in any
// case, with space or invisible characters in between.
var lookalike = regexp.MustCompile(`(?i)\[[\s\p{Cf}]*(f[\p{Cf}]*r[\p{Cf}]*o[\p{Cf}]*m|t[\p{Cf}]*o)[\s\p{Cf}]*:`)

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
			out.WriteString(s.held)
			s.held = ""
			break
		}
		out.WriteString(s.held[:open])
		s.held = s.held[open:]
		n, whole := envelope(s.held)
		if !whole && n > 0 {
			break // it may still become one
		}
		if n == 0 {
			out.WriteByte('[')
			s.held = s.held[1:]
			continue
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
