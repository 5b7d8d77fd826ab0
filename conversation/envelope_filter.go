package conversation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"earshot/participants"
)

// An EnvelopeFilter takes out of a reply, piece by piece, what only the house writes:
// a model that has seen "[FROM: Ann] " a hundred times likes to begin like that.
// Envelopes go wherever they stand, however they are written; so does the
// agent's own name in front, and what is an echo of the sections of the prompt.
// How the reply is cut into pieces makes no difference. The zero value is
// ready.
type EnvelopeFilter struct {
	Own string // the name of the agent that replies

	// Foreign counts the envelopes that bore another's name.
	Foreign int

	held   string // what may become something that goes
	within bool   // a line has begun; at first none has
	spoken bool   // something was let through
	trim   bool   // the space after an envelope goes with it
	open   bool   // a bracket was let through and not closed since
	skip   bool   // the rest of the line goes
	echo   bool   // the line before was part of a section
}

// The most that is held back, in bytes: the longest envelope, with the names of
// many, and what stands before the names in one.
const (
	mostEnvelope = 512
	mostOpening  = 128
)

// Correction tells the model, in its next prompt, that it wrote in the name of
// others; empty if it did not.
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

// Next returns what of the reply may be said after piece has come.
func (s *EnvelopeFilter) Next(piece string) string {
	s.held += piece
	return s.run(false)
}

// End returns what was held back and has become nothing.
func (s *EnvelopeFilter) End() string { return s.run(true) }

// run takes what is held as far as it can be decided about.
func (s *EnvelopeFilter) run(last bool) string {
	var out strings.Builder
	for s.held != "" && s.step(&out, last) {
	}
	return out.String()
}

// step decides about what is held, or reports that more of it is needed.
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

// newline takes the end of a line; that of one which went goes too.
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

// pass lets the next n bytes through.
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

// bracket decides about a bracket: an envelope goes, and one that is not closed
// is made round.
func (s *EnvelopeFilter) bracket(out *strings.Builder, r rune, size int, last bool) bool {
	held := s.held[:min(len(s.held), mostOpening)]
	var v skeleton
	v.scan(held, size, true)
	n, may := opening(v.seen())
	switch {
	case n > 0:
		return s.envelope(out, v.from[n-1], n > len("to:"), last)
	case may && v.more && len(held) == mostOpening: // nobody writes so
		s.round(out, r, size)
	case may && v.more && !last:
		return false
	default:
		s.pass(out, size)
		s.open = true
	}
	return true
}

// openings are how envelopes begin, as they look.
var openings = []string{"from:", "fr0m:", "to:"}

// opening returns the length of the opening that seen begins with, or whether
// it may begin with one when there is more of it.
func opening(seen []byte) (n int, may bool) {
	for _, o := range openings {
		if begins(seen, o) {
			return len(o), false
		}
		may = may || len(seen) < len(o) && o[:len(seen)] == string(seen)
	}
	return 0, may
}

// envelope takes out an envelope, if it is closed. What follows the colon names
// its sender, or those whom it is for.
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
	if s.open { // what stands around must not become one by its going
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

// own reports whether the name that follows a colon is the agent's.
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

// heading returns how much of what is held, at the beginning of a line, only
// the house writes, and whether more is needed to know.
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

// prefixes are what the agent may write before its words, the first only where
// the reply begins.
func (s *EnvelopeFilter) prefixes() []string {
	if s.Own == "" {
		return nil
	}
	return []string{s.Own + ":", "from " + s.Own + ":", "from: " + s.Own + ":"}
}

// opens reports whether text begins with a prefix, in any case, and whether it
// may, when there is more of it.
func opens(text, prefix string) (is, may bool) {
	if n := len(text); n < len(prefix) {
		return false, strings.EqualFold(text, prefix[:n])
	}
	return strings.EqualFold(text[:len(prefix)], prefix), false
}

// echoes are how the lines begin that tell a model who it is and who is there;
// some of them only after another.
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

// closers are the brackets with which an envelope may seem to end.
var closers = set("]］⁆〕】〗〙〛⟧⟭❳﹞︺︼︘﹈⦌⦎⦐⎤⎦⌉⌋")
