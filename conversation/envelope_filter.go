package conversation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"earshot/participants"
)

// An EnvelopeFilter removes from a reply, piece by piece, what only the program writes: a model
// that has seen "[FROM: Ann] " a hundred times tends to begin in the same way. It removes
// envelopes, wherever they are and however they are written, the agent's own name at the beginning,
// and echoes of the sections of the prompt. How the reply is cut into pieces makes no difference.
// The zero value is ready to use.
type EnvelopeFilter struct {
	Own string // the name of the replying agent

	// Foreign counts the envelopes in somebody else's name.
	Foreign int

	held   string // text that may have to be removed
	within bool   // a line has begun; false at the start
	spoken bool   // something was released
	trim   bool   // the space after an envelope is removed with it
	open   bool   // a released bracket has not been closed
	skip   bool   // the rest of the line is removed
	echo   bool   // the previous line was part of a section
}

// The greatest number of bytes that are held back: the longest envelope, with many names, and the
// part of one that precedes the names.
const (
	mostEnvelope = 512
	mostOpening  = 128
)

// Correction returns what tells the model, in its next prompt, that it wrote in other participants'
// names; empty if it did not.
func Correction(foreign int, agent string) string {
	if foreign == 0 {
		return ""
	}
	often := "once"
	if foreign > 1 {
		often = fmt.Sprintf("%d times", foreign)
	}
	return fmt.Sprintf("In your last reply you put somebody else's name in front of your words (%s). It was taken out. "+
		"You are %s: write your own words only, without a sender in front.", often, label(agent))
}

// Next returns the part of the reply that may be said after piece has come.
func (s *EnvelopeFilter) Next(piece string) string {
	s.held += piece
	return s.run(false)
}

// End returns text that was held back and turned out to be plain.
func (s *EnvelopeFilter) End() string { return s.run(true) }

// run processes the held text as far as it can be decided.
func (s *EnvelopeFilter) run(last bool) string {
	var out strings.Builder
	for s.held != "" && s.step(&out, last) {
	}
	return out.String()
}

// step decides about the held text, or reports that it needs more.
func (s *EnvelopeFilter) step(out *strings.Builder, last bool) bool {
	if !last && !utf8.FullRuneInString(s.held) {
		return false
	}
	r, size := utf8.DecodeRuneInString(s.held)
	switch {
	case s.trim && r == ' ':
		s.held = s.held[size:]
		return true
	case s.skip && r != '\n':
		s.held = s.held[size:]
		return true
	case r == '\n':
		s.newline(out)
		return true
	}
	s.trim = false
	if !s.within {
		n, more := s.heading(last)
		if more {
			return false
		}
		if n > 0 {
			s.held = s.held[n:]
			return true
		}
	}
	if openers[r] {
		return s.bracket(out, r, size, last)
	}
	s.pass(out, size)
	return true
}

// newline processes the end of a line. It removes the end of a removed line too.
func (s *EnvelopeFilter) newline(out *strings.Builder) {
	s.trim = false
	if s.skip {
		s.held = s.held[1:]
	} else {
		s.pass(out, 1)
	}
	s.echo = s.echo && s.skip
	s.skip, s.within = false, false
}

// pass releases the next n bytes.
func (s *EnvelopeFilter) pass(out *strings.Builder, n int) {
	c := s.held[:n]
	out.WriteString(c)
	s.held = s.held[n:]
	s.trim = false
	switch {
	case c == "]":
		s.open = false
	case c != " " && c != "\n":
		s.within, s.spoken, s.echo = true, true, false
	}
}

// bracket decides about a bracket: it removes an envelope, and replaces the bracket of one that is
// not closed by a round one.
func (s *EnvelopeFilter) bracket(out *strings.Builder, r rune, size int, last bool) bool {
	held := s.held[:min(len(s.held), mostOpening)]
	var v skeleton
	v.scan(held, size, true)
	n, may := opening(v.seen())
	switch {
	case n > 0:
		return s.envelope(out, v.from[n-1], n > len("to:"), last)
	case may && v.more && len(held) == mostOpening: // nobody writes such a thing
		s.round(out, r, size)
	case may && v.more && !last:
		return false
	default:
		s.pass(out, size)
		s.open = true
	}
	return true
}

// openings are the looks of how envelopes begin.
var openings = []string{"from:", "fr0m:", "to:"}

// opening returns the length of the opening with which seen begins, or whether seen may become one
// with more text.
func opening(seen []byte) (n int, may bool) {
	for _, o := range openings {
		if begins(seen, o) {
			return len(o), false
		}
		may = may || len(seen) < len(o) && o[:len(seen)] == string(seen)
	}
	return 0, may
}

// envelope removes an envelope, if it is closed. The words after the colon name its sender or its
// addressees.
func (s *EnvelopeFilter) envelope(out *strings.Builder, colon int, sender, last bool) bool {
	held := s.held[:min(len(s.held), mostEnvelope)]
	end := strings.IndexFunc(held, func(r rune) bool { return newline(r) || closers[r] })
	if end < 0 && len(held) < mostEnvelope && !last {
		return false
	}
	if end < 0 || !closers[first(held[end:])] {
		s.round(out, first(held), utf8.RuneLen(first(held)))
		return true
	}
	if s.open { // the text around it must not become an envelope when this one is removed
		out.WriteByte(']')
		s.open = false
	}
	if sender && !s.own(held[colon:end]) {
		s.Foreign++
	}
	s.held = s.held[end+utf8.RuneLen(first(held[end:])):]
	s.trim = true
	return true
}

// own reports whether the name after a colon is the agent's.
func (s *EnvelopeFilter) own(after string) bool {
	name, _, _ := strings.Cut(after[utf8.RuneLen(first(after)):], envelopeTo)
	return participants.Key(name) == participants.Key(s.Own)
}

func (s *EnvelopeFilter) round(out *strings.Builder, r rune, size int) {
	out.WriteRune(tame[r])
	s.held = s.held[size:]
	s.within, s.spoken, s.echo = true, true, false
}

func first(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// heading returns how much of the held text, at the beginning of a line, only the program writes,
// and whether more text is needed to decide.
func (s *EnvelopeFilter) heading(last bool) (n int, more bool) {
	for _, h := range echoes {
		if h.after && !s.echo {
			continue
		}
		is, may := opens(s.held, h.text)
		if is {
			s.skip, s.echo = true, true
			return len(h.text), false
		}
		more = more || may
	}
	for i, p := range s.prefixes() {
		if i == 0 && s.spoken {
			continue
		}
		is, may := opens(s.held, p)
		if is {
			n = len(p)
		}
		more = more || may
	}
	if more && !last {
		return 0, true
	}
	s.trim = n > 0
	return n, false
}

// prefixes are what the agent may write before its words. The first counts only at the beginning of
// the reply.
func (s *EnvelopeFilter) prefixes() []string {
	if s.Own == "" {
		return nil
	}
	return []string{s.Own + ":", "from " + s.Own + ":", "from: " + s.Own + ":"}
}

// opens reports whether text begins with a prefix, in any case, and whether it may do so with more
// text.
func opens(text, prefix string) (is, may bool) {
	if n := len(text); n < len(prefix) {
		return false, strings.EqualFold(text, prefix[:n])
	}
	return strings.EqualFold(text[:len(prefix)], prefix), false
}

// echoes are the beginnings of the lines that tell a model who it is and who is present. Some of
// them count only after another.
var echoes = []struct {
	text  string
	after bool
}{
	{"=== CURRENT PARTICIPANTS", false}, {"UNDERSTANDING PARTICIPANTS", false}, {"EXTERNAL ACTORS (outside", false},
	{"INTERNAL AGENTS (inside", false}, {"Every message begins with its sender", false},
	{"External: ", true}, {"Internal: ", true}, {"- ", true}, {"They read or hear", true},
	{"Use message_agent()", true}, {"Never use message_agent()", true}, {"To let another agent speak next", true},
	{"To leave the floor to people", true},
}

// closers are the brackets that may seem to end an envelope.
var closers = set("]］⁆〕】〗〙〛⟧⟭❳﹞︺︼︘﹈⦌⦎⦐⎤⎦⌉⌋")
