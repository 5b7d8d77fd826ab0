// Package tts turns text into sound. [Normalise] says how a voice says a text;
// a [Synthesiser] has it said by the role say of earshot-speech, a process that
// may die at any time without a word being lost.
//
// Normalising is pure: nobody waits for anybody, and nothing is dropped but
// what [Speech.Skipped] names. When the reader of a sound is slow, the voice
// waits for it, some seconds of sound ahead, and nothing is dropped either.
package tts

import (
	"sort"

	"earshot"
)

// A Speech is how a voice says a text.
type Speech struct {
	Spoken string         // printable ASCII; empty if there is nothing to say
	Marks  []earshot.Mark // where Spoken and the text meet, ascending; the last is the end of both

	// Skipped is what kinds of things were left out, each once, whether Spoken
	// says so or not.
	Skipped []string
}

// Text returns how much of the text has been said when the first n bytes of
// Spoken have. It does not fall as n rises, knows every n, and stands on the
// edge of a rune. What became several words, such as a number, is said when
// the last of them is.
func (s Speech) Text(n int) int {
	i := sort.Search(len(s.Marks), func(i int) bool { return s.Marks[i].Spoken > n })
	if i == 0 {
		return 0
	}
	return s.Marks[i-1].Text
}

// Normalise returns how a voice says text, for an English voice that knows
// nothing but ASCII: without markup, addresses and pictures, numbers and what
// goes with them in words. What a voice cannot say it says to be left out.
//
// Any text will do, also one that is no UTF-8. Spoken is at most some twenty
// times as long.
func Normalise(text string) Speech { return new(Reader).Next(text) }

// A Reader normalises a text that comes in pieces: code that was begun in one
// is still code in the next. The zero value begins a text. It must not be used
// from several goroutines at once.
type Reader struct {
	inLine bool     // the piece before did not end with its line
	ends   byte     // the pause that the end of this line is, beside what it ends with
	fence  string   // what closes the block of code; empty outside of one
	left   leftover // the last thing that was said, if it was to be left out
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

// instead is what is said in the place of what is left out. Nobody wants to be
// told of a smile.
var instead = map[leftover]string{
	code:   "code left out",
	script: "some words in another script left out",
	link:   "a link",
	gibber: "a long code left out",
}

// skip leaves the text from s.at out, and says so, but not again as long as
// nothing else is said, nor twice in one piece.
func (s *scanner) skip(kind leftover) {
	if fresh := s.out.skip(kind); fresh && s.left != kind && instead[kind] != "" {
		s.out.pause(',')
		s.out.say(s.at, instead[kind])
		s.out.pause(',')
		s.left = kind
	}
}

// say says words in the place of the text from s.at.
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

// pause makes a pause before the next word, or a longer one of the one that is
// there already.
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

// skip notes that something was left out, and reports whether that is new.
func (o *speechBuilder) skip(kind leftover) bool {
	for _, k := range o.skipped {
		if k == string(kind) {
			return false
		}
	}
	o.skipped = append(o.skipped, string(kind))
	return true
}

// speech returns what was made of a text of n bytes.
func (o *speechBuilder) speech(n int) Speech {
	o.breathe()
	marks := append(o.marks, earshot.Mark{Spoken: len(o.text), Text: n})
	return Speech{Spoken: string(o.text), Marks: marks, Skipped: o.skipped}
}
