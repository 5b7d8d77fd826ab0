// Package tts turns text into sound. [Normalise] says how a voice says a text; a [Synthesiser] has
// it said by the role say of earshot-speech, a process that may die at any time without a word
// being lost.
//
// Normalising is pure: it never blocks, and drops only what [Speech.Skipped] names. When the
// reader of a sound is slow, the voice waits for it, some seconds of sound ahead, and nothing is
// dropped either.
package tts

import (
	"slices"
	"sort"

	"earshot"
)

// A Speech is how a voice says a text.
type Speech struct {
	Spoken string         // printable ASCII; empty if there is nothing to say
	Marks  []earshot.Mark // where Spoken and the text meet, ascending; the last is the end of both

	// Skipped lists the kinds of things that were left out, each once, whether Spoken mentions them
	// or not.
	Skipped []string
}

// Text returns how much of the text has been said when the first n bytes of Spoken have. It does
// not fall as n rises, accepts every n, and returns the edge of a rune. A number that became
// several words is said when the last of them is.
func (s Speech) Text(n int) int {
	i := sort.Search(len(s.Marks), func(i int) bool { return s.Marks[i].Spoken > n })
	if i == 0 {
		return 0
	}
	return s.Marks[i-1].Text
}

// Normalise returns how an English voice that knows only ASCII says text: without markup,
// addresses and pictures, and with numbers and their units in words. It says that something was
// left out.
//
// Any text is accepted, even invalid UTF-8. Spoken is at most about twenty times as long.
func Normalise(text string) Speech { return new(Reader).Next(text) }

// A Reader normalises a text that comes in pieces: code that was begun in one is still code in the
// next. The zero value begins a text. It must not be used from several goroutines at once.
type Reader struct {
	inLine bool     // the previous piece did not end with its line
	ends   byte     // the pause at the end of this line, besides its own punctuation
	fence  string   // what closes the block of code; empty outside of one
	left   leftover // the last thing said, if it announces an omission
}

// NewReader returns what adds to the clauses of one speech how a voice reads them out. Even what it does not
// say has a mark.
func NewReader() func(earshot.Clause) earshot.Clause {
	var r Reader
	return func(c earshot.Clause) earshot.Clause {
		s := r.Next(string(c.Text))
		c.Spoken, c.Marks = earshot.Text(s.Spoken), s.Marks
		if len(c.Marks) == 0 {
			c.Marks = []earshot.Mark{{}}
		}
		return c
	}
}

// Next returns how a voice says text, which follows what the reader was given
// before.
func (r *Reader) Next(text string) Speech {
	s := scanner{Reader: r, text: text}
	for s.at < len(text) {
		s.step()
	}
	return s.out.speech(len(text))
}

// A leftover is a kind of thing that is left out.
type leftover string

const (
	code     leftover = "code"
	script   leftover = "another script"
	pictures leftover = "emoji"
	link     leftover = "a link"
	gibber   leftover = "a long code"
)

// instead is what is said in place of what is left out. Nobody wants to hear about a smile.
var instead = map[leftover]string{
	code:   "code left out",
	script: "some words in another script left out",
	link:   "a link",
	gibber: "a long code left out",
}

// skip leaves out the text from s.at, and says so, but not again before something else is said,
// nor twice in one piece.
func (s *scanner) skip(kind leftover) {
	if fresh := s.out.skip(kind); fresh && s.left != kind && instead[kind] != "" {
		s.out.pause(',')
		s.out.say(s.at, instead[kind])
		s.out.pause(',')
		s.left = kind
	}
}

// say says words in place of the text from s.at.
func (s *scanner) say(words string) {
	if words != "" {
		s.left = ""
		s.out.say(s.at, words)
	}
}

// A speechBuilder is a Speech that is being made.
type speechBuilder struct {
	text    []byte
	marks   []earshot.Mark
	skipped []string
	next    byte // the pause before the next word
}

// say appends words, which stand for the text from byte at on.
func (o *speechBuilder) say(at int, words string) {
	if len(o.text) > 0 {
		o.breathe()
		o.text = append(o.text, ' ')
	} else {
		at = 0 // whatever comes before the first word is heard with it
	}
	o.next = 0
	o.marks = append(o.marks, earshot.Mark{Spoken: len(o.text), Text: at})
	o.text = append(o.text, words...)
}

// pause makes a pause before the next word, or a longer one if there is one already.
func (o *speechBuilder) pause(c byte) {
	if len(o.text) > 0 && (o.next == 0 || o.next == ',') {
		o.next = c
	}
}

func (o *speechBuilder) breathe() {
	if o.next != 0 {
		o.text = append(o.text, o.next)
	}
}

// skip records that something was left out, and reports whether that is new.
func (o *speechBuilder) skip(kind leftover) bool {
	if slices.Contains(o.skipped, string(kind)) {
		return false
	}
	o.skipped = append(o.skipped, string(kind))
	return true
}

// speech returns the result for a text of n bytes.
func (o *speechBuilder) speech(n int) Speech {
	o.breathe()
	marks := append(o.marks, earshot.Mark{Spoken: len(o.text), Text: n})
	return Speech{Spoken: string(o.text), Marks: marks, Skipped: o.skipped}
}
