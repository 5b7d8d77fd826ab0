package console

import (
	"context"
	"strings"
	"sync"

	"earshot"
	"earshot/internal/terminal"
)

// cutMark marks where a reply was cut.
const cutMark = " [cut off]"

// A speech is one reply on its way to the terminal. Only Say moves its position, and the last to
// act, Say or what ended the speech, reports the end. So heard is called by one goroutine at a
// time. A Say that waits while s is paused moves nothing: a cut then ends s at once, before the
// terminal shows who cut it.
type speech struct {
	term  *terminal.Terminal
	heard func(earshot.Heard)
	over  chan struct{} // closed when the end has been reported

	mu       sync.Mutex
	changed  chan struct{} // closed, and replaced, by every control
	paused   bool
	cut      bool
	finished bool
	saying   bool
	waiting  bool // Say waits while the speech is paused
	ended    bool
	pos      earshot.Heard // what has been heard
	all      earshot.Heard // what has been said
	spaced   bool          // the last rune that is shown is a space
	release  func() bool   // releases the context

	held earshot.Text // the beginning of a rune or of a call at the end of a clause; Say's own
	whom string       // who is shown at the left, so that a call of them at the beginning is not shown; likewise
}

// endWith ends s when ctx ends.
func (s *speech) endWith(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = context.AfterFunc(ctx, func() { s.Do(earshot.Cut) })
}

// Say implements [earshot.Speaking]. It returns when the clause has been shown, except for an
// incomplete rune or line end at its end, and for the call of a recipient who is shown at the
// left.
func (s *speech) Say(c earshot.Clause) error {
	s.mu.Lock()
	if s.cut || s.finished || s.ended {
		s.mu.Unlock()
		return nil
	}
	s.saying = true
	s.all = earshot.Heard{Clause: c.N, Byte: len(c.Text)}
	s.mu.Unlock()

	err := s.print(c)

	s.mu.Lock()
	s.saying = false
	s.cut = s.cut || err != nil
	s.unlock()
	return err
}

// Do implements [earshot.Speaking].
func (s *speech) Do(c earshot.Control) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	switch c {
	case earshot.Pause:
		s.paused = true
	case earshot.Resume, earshot.Duck:
		s.paused = false
	case earshot.Cut:
		s.cut = true
	}
	close(s.changed)
	s.changed = make(chan struct{})
	s.unlock()
}

// Finish implements [earshot.Speaking].
func (s *speech) Finish() {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.finished = true
	s.unlock()
}

// unlock unlocks s, and ends it if nothing more can be heard.
func (s *speech) unlock() {
	over := !s.ended && (s.cut && (!s.saying || s.waiting) || s.finished && !s.saying)
	s.ended = s.ended || over
	pos, mark := s.all, ""
	if s.cut {
		pos, mark = s.pos, cutMark
		if s.spaced {
			mark = strings.TrimLeft(mark, " ")
		}
	}
	s.mu.Unlock()
	if over {
		s.end(pos, mark)
	}
}

// end reports that s has ended at pos, and marks the place. The held rest of the last clause is
// not shown, and counts as heard if it was not cut.
func (s *speech) end(pos earshot.Heard, mark string) {
	s.release()
	s.term.End(mark)
	pos.End = true
	s.heard(pos)
	close(s.over)
}

// print shows c from where the clause before it ended.
func (s *speech) print(c earshot.Clause) error {
	lead, text := len(s.held), string(s.held+c.Text)
	done, ok := s.uncalled(text)
	if !ok {
		s.held = earshot.Text(text)
		return nil
	}
	whole := terminal.Whole(text)
	s.held = earshot.Text(text[whole:])
	for done < whole {
		stop, ok := s.turn()
		if !ok {
			return nil
		}
		n, err := s.term.Print(stop, text[done:whole])
		done += n
		if n > 0 {
			s.mu.Lock()
			s.spaced = text[done-1] == ' '
			s.mu.Unlock()
		}
		if n > 0 && done >= lead {
			s.reach(earshot.Heard{Clause: c.N, Byte: done - lead})
		}
		if err != nil {
			return err
		}
	}
	if whole == lead {
		s.reach(earshot.Heard{Clause: c.N})
	}
	return nil
}

// uncalled returns how many bytes at the beginning of s are not shown, as soon as that is known.
func (s *speech) uncalled(text string) (n int, ok bool) {
	if s.whom == "" {
		return 0, true
	}
	n, open := callIn(text, s.whom)
	if open {
		return 0, false
	}
	s.whom = ""
	return n, true
}

// turn waits while s is paused, and returns false when it has been cut. Stop is closed when that
// may have changed.
func (s *speech) turn() (stop <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.paused && !s.cut {
		stop := s.changed
		s.waiting = true
		s.mu.Unlock()
		<-stop
		s.mu.Lock()
		s.waiting = false
	}
	return s.changed, !s.cut
}

// reach records that everything up to pos has been heard.
func (s *speech) reach(pos earshot.Heard) {
	s.mu.Lock()
	s.pos = pos
	s.mu.Unlock()
	s.heard(pos)
}

// lastSpeech is the speech that was opened last.
type lastSpeech struct {
	mu sync.Mutex
	s  *speech
}

// replace waits until the previous speech has ended, begins s, and makes it the last: nobody can
// cut it before it has begun. If ctx ends first, the previous one stays.
func (l *lastSpeech) replace(ctx context.Context, s *speech, begin func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.s != nil {
		l.s.Do(earshot.Cut)
		select {
		case <-l.s.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	begin()
	l.s = s
	return nil
}

// callIn returns how many bytes of text the call of a name takes with which it may begin, such as
// "@Bob, ", and whether it may continue in the text that follows.
func callIn(text, name string) (n int, open bool) {
	at := "@" + name
	if len(text) <= len(at) {
		return 0, strings.EqualFold(text, at[:len(text)])
	}
	if !strings.EqualFold(text[:len(at)], at) || text[len(at)] != ',' && text[len(at)] != ':' {
		return 0, false
	}
	rest := strings.TrimLeft(text[len(at)+1:], " \t")
	return len(text) - len(rest), rest == ""
}

// Uncalled returns text without the call of name with which it may begin. Use it where the
// recipient is already shown.
func Uncalled(text, name string) string {
	n, _ := callIn(text, name)
	return text[n:]
}
