package console

import (
	"strings"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/internal/terminal"
)

const (
	// twice is the time within which a second ^C confirms the first.
	twice = 2 * time.Second

	// goesOn is how often the room is told, on a key press, that somebody is still typing: it takes
	// a person who is silent for two minutes to have left.
	goesOn = 10 * time.Second
)

// What the person who types is told.
const (
	howToLeave = "(^C again, ^D or /exit to leave)"
	tooMuch    = "(too long to paste: a message can have at most 64 KiB, so send it in parts; your line is unchanged)"
	tooMany    = "(not sent: a message can have at most 64 KiB, so send them in parts)"
	noCommand  = "(a command needs a name, such as /help; to begin a message with a slash, write //)"
)

// A session is the line being typed, and the recent keys. It has no clock: the caller steps it.
// The zero value is ready.
type session struct {
	line   terminal.Editor
	back   string    // the beginning of the line, if it was not sent and came back
	key    time.Time // when a letter was typed after that
	typing bool      // the room was told so
	told   time.Time // when the room was told
	full   bool      // the last key did not fit, and that was reported
	search *search   // in what was sent; nil if nobody searches
	asked  time.Time // when ^C last had nothing else to do
}

// A keyEffect is the effect of one key, in the order of the fields.
type keyEffect struct {
	say  []earshot.Body
	echo string
	hint string
	bell bool
	also terminal.Stroke // Clear, Suspend, Complete or Search
	over bool            // the person leaves
}

// step handles k at now. Busy says that there is a reply that could be stopped.
func (s *session) step(now time.Time, k terminal.Key, busy bool) keyEffect {
	if s.search != nil {
		if d, done := s.seek(k); done {
			return d
		}
	}
	switch k.Does {
	case terminal.Enter:
		return s.enter(now)
	case terminal.Interrupt:
		return s.interrupt(now, busy)
	case terminal.Clear, terminal.Suspend, terminal.Complete, terminal.Search:
		return keyEffect{also: k.Does}
	case terminal.Unknown, terminal.Escape:
		return keyEffect{}
	case terminal.EOF:
		if s.line.Text() == "" {
			return keyEffect{over: true}
		}
		k.Does = terminal.Delete
	}
	s.replace(now, k)
	if !s.line.Step(k) {
		return s.refuse(k)
	}
	s.full = false
	if k.Send {
		return s.enter(now)
	}
	return keyEffect{say: s.tell(now)}
}

// split returns the keys that k stands for: several, if it is an unmarked paste of lines.
func (s *session) split(k terminal.Key) (keys []terminal.Key) {
	if k.Does != terminal.Burst || s.line.Cursor() < len(s.line.Text()) {
		return []terminal.Key{k}
	}
	parts := split(s.line.Text(), k.Text)
	for i, part := range parts {
		one := k
		one.Text, one.Send = part, k.Send || i < len(parts)-1
		keys = append(keys, one)
	}
	return keys
}

// replace removes the text that came back to the line when a program continues with its next one,
// which shows by two letters that come faster than anybody types. A person continues the line.
func (s *session) replace(now time.Time, k terminal.Key) {
	text, at := s.line.Text(), s.key
	typed, is := strings.CutPrefix(text, s.back)
	s.key = now
	switch {
	case s.back == "":
	case !is || k.Does != terminal.Insert && k.Does != terminal.Burst || s.line.Cursor() < len(text):
		s.back = ""
	case k.Does == terminal.Burst || utf8.RuneCountInString(k.Text) > 1 || typed != "" && now.Sub(at) < terminal.Typist:
		s.line.Drop()
		s.line.Step(terminal.Key{Does: terminal.Insert, Text: typed})
		s.back = ""
	case typed != "":
		s.back = ""
	}
}

// refuse says that the line is full: once in words, then only by the bell. The first line of an
// unmarked paste is in the input already, and must not be joined to what comes next.
func (s *session) refuse(k terminal.Key) keyEffect {
	if k.Does == terminal.Burst {
		s.line.Drop()
		return keyEffect{bell: true, hint: tooMany}
	}
	if s.full {
		return keyEffect{bell: true}
	}
	s.full = true
	return keyEffect{bell: true, hint: tooMuch}
}

// enter sends the line.
func (s *session) enter(now time.Time) keyEffect {
	text := strings.TrimRight(s.line.Text(), "\n") // a paste may end with them
	if strings.TrimSpace(text) == "" {
		s.line.Drop()
		return keyEffect{say: s.tell(now)}
	}
	body := earshot.Typed(text)
	command, is := body.(earshot.Command)
	switch {
	case is && command.Name == "":
		return keyEffect{bell: true, hint: noCommand}
	case is && (command.Name == "exit" || command.Name == "quit"):
		s.line.Take()
		return keyEffect{say: s.tell(now), echo: text, over: true}
	case is:
		s.line.Take()
		return keyEffect{say: append([]earshot.Body{body}, s.tell(now)...), echo: text}
	}
	s.line.Take()
	s.typing = false // the message announces it
	return keyEffect{say: []earshot.Body{body}, echo: text}
}

// interrupt does the first of these that applies: empty the line, stop the reply, ask for a second
// ^C, leave.
func (s *session) interrupt(now time.Time, busy bool) keyEffect {
	switch {
	case s.line.Text() != "":
		s.line.Drop()
		return keyEffect{say: s.tell(now)}
	case busy:
		return keyEffect{say: []earshot.Body{stop}}
	case !s.asked.IsZero() && now.Sub(s.asked) < twice:
		return keyEffect{over: true}
	}
	s.asked = now
	return keyEffect{hint: howToLeave}
}

// stop is the event for ^C.
var stop = earshot.Command{Name: "stop"}

// tell returns what to tell the room about whether somebody is typing a message.
func (s *session) tell(now time.Time) []earshot.Body {
	began := talks(s.line.Text())
	if began == s.typing && !(began && now.Sub(s.told) >= goesOn) {
		return nil
	}
	s.typing, s.told = began, now
	return []earshot.Body{earshot.Typing{Began: began}}
}

// restore puts back what was not sent, and returns false if it had to leave the line alone. The
// room is told only when a key is pressed.
func (s *session) restore(text string) bool {
	is := s.line.Restore(text)
	if is {
		s.back = text
	}
	return is
}

// hides reports whether a line is a command that keeps something from others, or from being
// stored.
func hides(line string) bool {
	c, is := earshot.Typed(line).(earshot.Command)
	return is && (strings.EqualFold(c.Name, "msg") || strings.EqualFold(c.Name, "offrecord"))
}

// split splits text, which continues a line and came at once, at its commands: each command is
// given by itself, and all lines between two of them are one message.
func split(before, text string) (parts []string) {
	from, was := 0, orders(before+firstLine(text))
	for i := range len(text) {
		if text[i] != '\n' {
			continue
		}
		is := orders(firstLine(text[i+1:]))
		if was || is {
			parts = append(parts, text[from:i])
			from = i + 1
		}
		was = is
	}
	return append(parts, text[from:])
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// orders reports whether a line is a command, and not a path; a private command counts even after
// spaces.
func orders(line string) bool { return terminal.Orders(line) || hides(line) }

// talks reports whether a line being typed is talk, for which agents yield from its first key. A
// command is not, unless it says something.
func talks(line string) bool {
	command, is := earshot.Typed(line).(earshot.Command)
	return line != "" && (!is || strings.EqualFold(command.Name, "msg") || strings.EqualFold(command.Name, earshot.OwnWords))
}
