// Package conversation deals with what participants say to each other: the envelope that tells a
// model who said what, for whom a message is, and what a model is told about the people present.
//
// A message reaches a model in an [Envelope], which is made from typed fields when the prompt is
// built. Nothing in a text can pass for another envelope, for a section of the prompt, or for a
// token that steers a model: [Escape] visibly changes anything that looks like one, and [Unescape]
// undoes that.
//
// A model's answer passes four filters, piece by piece. An [EnvelopeFilter] removes what only the
// program writes, a [ControlTagFilter] removes what the model says to the program, a [CallPrefixer]
// makes an agent call the one whom it answers, and an [Unescaper] restores escaped text that the
// model repeats. Each holds back no more than may become what it looks for. Their output is not
// escaped; whoever puts it into a prompt must escape it.
package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/participants"
)

// An Envelope is a message as a model sees it, preceded by its sender. Sender and addressees come
// from the registry, and never from the text.
type Envelope struct {
	From string
	To   []string // given only where it matters who is meant
	Text earshot.Text
}

const (
	envelopeFrom = "[FROM: "
	envelopeTo   = " TO: "
	envelopeEnd  = "] "
)

// String returns "[FROM: Ann] hello", or "[FROM: Ann TO: Bob, Earshot] hello". The text is escaped;
// the characters of an envelope are removed from names.
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

// Parse returns the envelope that String renders as text, byte for byte, and reports whether there
// is one.
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

// nameless is the name for a sender without a usable name: somebody unknown, and never the
// operator.
const nameless = "unknown"

// Some scripts join or separate letters by invisible characters.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// label returns a name as it appears in an envelope or a list of names. Names are checked when they
// come in; label also makes unchecked names safe.
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

// simple reports whether a name consists of words of plain letters, as most names do.
func simple(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || !letter(rune(c)) && (c != ' ' || i == 0 || name[i-1] == ' ') {
			return false
		}
	}
	return name != "" && len(name) <= mostSimple && name[len(name)-1] != ' '
}

// mostSimple is no more bytes than any name may have.
const mostSimple = 32
