package terminal

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"earshot"
)

// A Question is one line of what is read, or of a terminal that is not read by keys
// several that came faster than anybody types.
type Question struct {
	Line int    // its number, or that of the first, from 1
	Text string // valid UTF-8, without the end of the last line
	Over bool   // it was longer than [earshot.MaxText]; Text is empty
}

// A Splitter makes lines of bytes. It keeps no more than one line of the
// longest kind, and skips the rest of one that is longer. The zero value is
// ready.
type Splitter struct {
	line int
	held []byte
	over bool
}

// Add returns the lines that are complete. It does not keep in.
func (s *Splitter) Add(in []byte) []Question {
	var qs []Question
	for {
		i := bytes.IndexByte(in, '\n')
		if i < 0 {
			s.keep(in)
			return qs
		}
		s.keep(in[:i])
		qs = append(qs, s.take())
		in = in[i+1:]
	}
}

// End returns the last line if it was begun.
func (s *Splitter) End() (Question, bool) {
	if len(s.held) == 0 && !s.over {
		return Question{}, false
	}
	return s.take(), true
}

func (s *Splitter) keep(b []byte) {
	if s.over || len(s.held)+len(b) > earshot.MaxText+len("\r") {
		s.over, s.held = true, nil
		return
	}
	s.held = append(s.held, b...)
}

func (s *Splitter) take() Question {
	s.line++
	q := Question{Line: s.line, Over: s.over}
	q.Text = strings.ToValidUTF8(string(bytes.TrimSuffix(s.held, []byte("\r"))), string(utf8.RuneError))
	if len(q.Text) > earshot.MaxText {
		q.Text, q.Over = "", true
	}
	s.held, s.over = s.held[:0], false
	return q
}

// join appends what came at once to what came before, as one question as far as a message
// goes.
func (q Question) join(qs []Question) []Question {
	n := len(qs) - 1
	if n < 0 || q.Over || qs[n].Over || len(qs[n].Text)+len("\n")+len(q.Text) > earshot.MaxText {
		return append(qs, q)
	}
	qs[n].Text += "\n" + q.Text
	return qs
}
