// Package conversation is what is said between participants: the envelope
// that tells a model who said what, whom a message is for, what a model is told
// of those who are there, and how long agents may talk among themselves.
//
// A message reaches a model in an [Envelope], which is made of typed fields when
// the prompt is built. Nothing in a text can stand as another envelope, as a
// section of the prompt, or as a token that steers a model: [Escape] changes
// what looks like one, visibly, and [Unescape] undoes it.
//
// What a model answers comes through four filters, piece by piece: a [Scrubber]
// takes out what only the house writes, a [Tap] what the model says to the house,
// a [CallPrefixer] has an agent call the one whom it answers, and an [Unescaper] gives what
// it repeats of a text its own signs back. Each holds back no more than may become
// what it looks for. What comes out is nobody's prompt: who puts it in one escapes it.
package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

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

const (
	envelopeFrom = "[FROM: "
	envelopeTo   = " TO: "
	envelopeEnd  = "] "
)

// String returns "[FROM: Ann] hello", or "[FROM: Ann TO: Bob, Earshot] hello".
// The text is escaped; from names goes what an envelope is made of.
func (e Envelope) String() string {
	var b strings.Builder
	b.Grow(len(envelopeFrom) + len(e.From) + len(envelopeEnd) + len(e.Text))
	b.WriteString(envelopeFrom)
	b.WriteString(label(e.From))
	for i, to := range e.To {
		if i == 0 {
			b.WriteString(envelopeTo)
		} else {
			b.WriteString(", ")
		}
		b.WriteString(label(to))
	}
	b.WriteString(envelopeEnd)
	b.WriteString(Escape(string(e.Text)))
	return b.String()
}

// Parse returns the envelope that was rendered as text, byte for byte, and
// whether text is one.
func Parse(text string) (e Envelope, ok bool) {
	head, text, closed := strings.Cut(text, envelopeEnd)
	names, opened := strings.CutPrefix(head, envelopeFrom)
	if !opened || !closed {
		return Envelope{}, false
	}
	from, to, addressed := strings.Cut(names, envelopeTo)
	if addressed {
		e.To = strings.Split(to, ", ")
	}
	e.From, e.Text = from, earshot.Text(Unescape(text))
	return e, true
}

// nameless is what a sender is called without a usable name: somebody unknown,
// and never the operator.
const nameless = "unknown"

// Some scripts join letters, or part them, by characters that cannot be seen.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// label returns a name as it stands in an envelope or a list of names. Names
// were checked when they came in; this holds for those as well that were not.
func label(name string) string {
	if simple(name) {
		return name
	}
	name = strings.Map(func(r rune) rune {
		switch _, opens := tame[r]; {
		case opens, strings.ContainsRune(",>|{}", r), unicode.In(r, unicode.Cc, unicode.Cf) && r != joiner && r != nonJoiner:
			return -1
		}
		return r
	}, participants.OneLine(name))
	if name = strings.Join(strings.FieldsFunc(name, unicode.IsSpace), " "); name == "" {
		return nameless
	}
	return name
}

// simple reports whether a name is words of plain letters, as most are.
func simple(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || !letter(rune(c)) && (c != ' ' || i == 0 || name[i-1] == ' ') {
			return false
		}
	}
	return name != "" && len(name) <= mostSimple && name[len(name)-1] != ' '
}

// mostSimple is no longer than any name may be, in bytes.
const mostSimple = 32
