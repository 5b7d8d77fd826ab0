package console

import (
	"strings"
	"time"

	"earshot"
	"earshot/internal/terminal"
)

const (
	// twice is within what time a second ^C means it.
	twice = 2 * time.Second

	// goesOn is how long after it was told so a room is told with the next key that
	// somebody still types: it takes who is silent for two minutes to have left.
	goesOn = 10 * time.Second
)

// What is said to the person who types.
const (
	howToLeave = "(^C again, ^D or /exit to leave)"
	tooMuch    = "(that does not fit: a message has 64 KiB at most; what you have is unchanged)"
	noCommand  = "(a command has a name, such as /help; // begins a message with a slash)"
)

// A session is the line that is being typed, and what keys have done lately.
// It has no clock: the caller steps it. The zero value is ready.
type session struct {
	line   terminal.Editor
	typing bool      // the room was told so
	told   time.Time // when it was
	full   bool      // the last key did not fit, and that was said
	asked  time.Time // of the last ^C that had nothing else to do
}

// A doing is what one key makes happen, in the order of the fields.
type doing struct {
	say  []earshot.Body
	echo string
	hint string
	bell bool
	also terminal.Stroke // Clear or Suspend
	over bool            // the person leaves
}

// step does what k means at now. Busy says that there is a reply that could be
// stopped.
func (s *session) step(now time.Time, k terminal.Key, busy bool) doing {
	switch k.Does {
	case terminal.Enter:
		return s.enter(now)
	case terminal.Interrupt:
		return s.interrupt(now, busy)
	case terminal.Clear, terminal.Suspend:
		return doing{also: k.Does}
	case terminal.Unknown, terminal.Escape:
		return doing{}
	case terminal.EOF:
		if s.line.Text() == "" {
			return doing{over: true}
		}
		k.Does = terminal.Delete
	}
	if !s.line.Step(k) {
		return s.refuse()
	}
	s.full = false
	return doing{say: s.tell(now)}
}

// refuse says that the line is full: once in words, then only by the bell.
func (s *session) refuse() doing {
	if s.full {
		return doing{bell: true}
	}
	s.full = true
	return doing{bell: true, hint: tooMuch}
}

// enter sends the line.
func (s *session) enter(now time.Time) doing {
	text := s.line.Text()
	if strings.TrimSpace(text) == "" {
		s.line.Drop()
		return doing{say: s.tell(now)}
	}
	body := parse(text)
	command, is := body.(earshot.Command)
	switch {
	case is && command.Name == "":
		return doing{bell: true, hint: noCommand}
	case is && (command.Name == "exit" || command.Name == "quit"):
		s.line.Take()
		return doing{say: s.tell(now), echo: text, over: true}
	case is:
		s.line.Take()
		return doing{say: append([]earshot.Body{body}, s.tell(now)...), echo: text}
	}
	s.line.Take()
	s.typing = false // the message says so
	return doing{say: []earshot.Body{body}, echo: text}
}

// interrupt does the first of these that there is: empty the line, stop the
// reply, ask for a second ^C, leave.
func (s *session) interrupt(now time.Time, busy bool) doing {
	switch {
	case s.line.Text() != "":
		s.line.Drop()
		return doing{say: s.tell(now)}
	case busy:
		return doing{say: []earshot.Body{stop}}
	case !s.asked.IsZero() && now.Sub(s.asked) < twice:
		return doing{over: true}
	}
	s.asked = now
	return doing{hint: howToLeave}
}

// stop is what ^C says.
var stop = earshot.Command{Name: "stop"}

// tell returns what the room must be told of whether somebody types something that
// is said.
func (s *session) tell(now time.Time) []earshot.Body {
	began := talks(s.line.Text())
	if began == s.typing && !(began && now.Sub(s.told) >= goesOn) {
		return nil
	}
	s.typing, s.told = began, now
	return []earshot.Body{earshot.Typing{Began: began}}
}

// restore puts back what was not sent, and reports false if it had to leave
// the line alone. The room is not told until a key is pressed.
func (s *session) restore(text string) bool { return s.line.Restore(text) }

// hides reports whether a line begins with a command that keeps something from
// others, or from being kept. By a slip nobody may make public what they meant
// to hide.
func hides(line string) bool {
	for word := range strings.FieldsSeq(line) {
		return strings.EqualFold(word, "/msg") || strings.EqualFold(word, "/offrecord")
	}
	return false
}

// talks reports whether a line that is being typed is talk, to which those who are
// there give way from its first key. A command is none, unless it says something.
func talks(line string) bool {
	command, is := parse(line).(earshot.Command)
	return line != "" && (!is || strings.EqualFold(command.Name, "msg"))
}

// parse returns what a line says: a message, or a command if it begins with
// one slash; one that hides something also behind space.
func parse(line string) earshot.Body {
	if hides(line) {
		line = strings.TrimSpace(line)
	}
	rest, slash := strings.CutPrefix(line, "/")
	if !slash {
		return earshot.Message{Text: earshot.Text(line)}
	}
	if strings.HasPrefix(rest, "/") {
		return earshot.Message{Text: earshot.Text(rest)}
	}
	name, args := rest, ""
	if i := strings.IndexAny(rest, " \t\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	return earshot.Command{Name: name, Args: earshot.Text(args)}
}
