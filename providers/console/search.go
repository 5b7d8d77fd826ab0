package console

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/internal/terminal"
)

// A search looks backwards through the lines that somebody has sent. The current line waits
// meanwhile.
type search struct {
	lines []string // the newest last
	query string
	at    int    // the index of the line that was found
	found string // the line; empty if there is none
}

// find looks for the query from a place on, backwards. Without a match, the last one stays.
func (f *search) find(from int) bool {
	for at := min(from, len(f.lines)-1); at >= 0 && f.query != ""; at-- {
		if f.lines[at] != f.found && strings.Contains(strings.ToLower(f.lines[at]), strings.ToLower(f.query)) {
			f.at, f.found = at, f.lines[at]
			return true
		}
	}
	return false
}

// anew looks for the query in all lines.
func (f *search) anew() bool {
	f.found = ""
	return f.find(len(f.lines) - 1)
}

// prompt returns what is shown in place of the line, and where the cursor is.
func (f *search) prompt() (line string, at int) {
	head := fmt.Sprintf("(search: %s) ", f.query)
	is := strings.Index(strings.ToLower(f.found), strings.ToLower(f.query))
	if f.found == "" || is < 0 || is > len(f.found) || !utf8.RuneStart((f.found + " ")[is]) {
		is = 0
	}
	return head + f.found, len(head) + is
}

// begin begins to search what was sent from here. Private commands are not found. If the sent
// messages are also known from the daemon, only commands are searched here, since nobody here can
// tell whether the rest was kept.
func (s *session) begin(elsewhere bool) {
	s.search = &search{}
	for _, line := range s.line.Past() {
		_, order := earshot.Typed(line).(earshot.Command)
		if !hides(line) && (!elsewhere || order) {
			s.search.lines = append(s.search.lines, line)
		}
	}
}

// add adds sent messages, the newest last, to what is searched.
func (s *session) add(messages []string) {
	if s.search == nil {
		return
	}
	var lines []string
	for _, text := range messages {
		lines = append(lines, earshot.Text(text).Line())
	}
	s.search.lines = append(s.search.lines, lines...)
	s.search.anew()
}

// seek handles k during a search. It returns false if k ends the search and applies to the line
// that was found.
func (s *session) seek(k terminal.Key) (d keyEffect, done bool) {
	f := s.search
	switch k.Does {
	case terminal.Insert, terminal.Paste, terminal.Burst:
		f.query += strings.ReplaceAll(k.Text, "\n", " ")
		if f.found == "" || !strings.Contains(strings.ToLower(f.found), strings.ToLower(f.query)) {
			d.bell = !f.anew()
		}
	case terminal.Rubout:
		_, n := utf8.DecodeLastRuneInString(f.query)
		f.query = f.query[:len(f.query)-n]
		f.anew()
	case terminal.Search:
		d.bell = !f.find(f.at - 1)
	case terminal.Escape, terminal.Interrupt:
		s.search = nil
	case terminal.Unknown, terminal.Clear, terminal.Suspend:
		return keyEffect{also: k.Does}, true
	default:
		s.search = nil
		if f.found != "" {
			s.line.Drop()
			s.line.Step(terminal.Key{Does: terminal.Insert, Text: f.found})
		}
		return keyEffect{}, f.found == ""
	}
	return d, true
}

// prompt returns what is shown where somebody writes, and where the cursor is.
func (s *session) prompt() (line string, at int) {
	if s.search != nil {
		return s.search.prompt()
	}
	return s.line.Text(), s.line.Cursor()
}

// suggesting is how long looking up completions or sent messages may take: after a longer wait the
// person has typed it.
const suggesting = 2 * time.Second
