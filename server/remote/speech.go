package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/server/wire"
)

// frame is what a clause weighs beside its text, so that a thousand clauses of one byte each do
// not count as a kilobyte.
const frame = 64

// deaf is how long a terminal that has been given a whole speech may make no progress before it is
// asked whether it is alive, and then how long it may take to answer. A terminal whose screen is
// held answers; a stopped process does not, and no turn waits for it.
const deaf = 3 * time.Second

// errOver is the error of a clause for a speech that has ended.
var errOver = errors.New("the speech is over")

// A speech is one reply on its way to a terminal.
type speech struct {
	box   *wire.Outbox
	turn  earshot.TurnID
	pulse *pulse
	over  func() // called once, after the end was reported

	telling sync.Mutex // held while tell is called, so that calls do not overlap
	tell    func(earshot.Heard)

	mu      sync.Mutex
	unheard []earshot.Clause // said and not wholly heard; the first may be partly heard
	bytes   int              // of unheard
	next    int              // number of the next clause
	at      earshot.Heard    // the last position; End is set on the last one
	cut     bool
	moved   chan struct{} // closed and made anew whenever anything above changes
	stops   []func() bool // to be called at the end
	alive   *time.Timer   // asks whether the terminal is; nil before Finish
}

// follow cuts the speech when ctx ends.
func (s *speech) follow(ctx context.Context) {
	s.atEnd(context.AfterFunc(ctx, func() { s.Do(earshot.Cut) }))
}

// atEnd has stop called at the end, or at once if the speech has ended.
func (s *speech) atEnd(stop func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.End {
		stop()
		return
	}
	s.stops = append(s.stops, stop)
}

// Say implements [earshot.Speaking]. It blocks while the terminal is a whole window behind.
func (s *speech) Say(c earshot.Clause) error {
	if !utf8.ValidString(string(c.Text)) { // JSON would change its length, and thereby every position
		return fmt.Errorf("clause %d is not UTF-8", c.N)
	}
	for {
		moved, err := s.put(c)
		if moved == nil || err != nil {
			return err
		}
		<-moved
	}
}

// put sends c if there is room. If not, it returns a channel to wait for.
func (s *speech) put(c earshot.Clause) (moved <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cut || s.at.End:
		return nil, errOver
	case c.N != s.next:
		return nil, fmt.Errorf("clause %d was said in place of clause %d", c.N, s.next)
	case s.bytes > 0 && s.bytes+weight(c) > wire.Window:
		return s.moved, nil
	}
	if err := s.box.Put(wire.Say{Turn: s.turn, Clause: c}); err != nil {
		return nil, err
	}
	s.unheard = append(s.unheard, c)
	s.bytes += weight(c)
	s.next++
	return nil, nil
}

func weight(c earshot.Clause) int { return len(c.Text) + len(c.Spoken) + frame }

// Do implements [earshot.Speaking]. It replaces a control that has not been sent yet.
func (s *speech) Do(c earshot.Control) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut || s.at.End {
		return
	}
	s.box.Drop(-1, s.isDo)
	if c == earshot.Cut {
		s.cut = true
		s.box.Drop(-1, s.isPart)
		s.stops = append(s.stops, time.AfterFunc(silence, s.end).Stop)
		s.wake()
	}
	_ = s.box.Urgent(wire.Do{Turn: s.turn, Control: c})
}

// Finish implements [earshot.Speaking].
func (s *speech) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cut && !s.at.End {
		_ = s.box.Put(wire.Finish{Turn: s.turn})
		wait, before := deaf, int64(-1)
		if n := s.pulse.asleep.Load(); n == s.pulse.frames.Load() { // and has not woken since
			wait, before = 0, n
		}
		s.alive = time.AfterFunc(wait, func() { s.ask(before) })
		s.stops = append(s.stops, func() bool { return s.alive.Stop() })
	}
}

// A pulse records whether a terminal is alive.
type pulse struct {
	frames atomic.Int64 // received from the terminal
	asleep atomic.Int64 // the value of frames when it did not answer, or -1
}

// ask ends the speech if the terminal has sent nothing since it had sent before frames, when it
// was asked. Otherwise it asks again.
func (s *speech) ask(before int64) {
	n := s.pulse.frames.Load()
	if n == before {
		s.pulse.asleep.Store(n)
		s.end()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.End {
		_ = s.box.Urgent(wire.Beat{})
		s.alive = time.AfterFunc(deaf, func() { s.ask(n) })
	}
}

func (s *speech) isDo(f wire.Frame) bool {
	d, ok := f.(wire.Do)
	return ok && d.Turn == s.turn
}

func (s *speech) isPart(f wire.Frame) bool {
	switch f := f.(type) {
	case wire.Say:
		return f.Turn == s.turn
	case wire.Finish:
		return f.Turn == s.turn
	}
	return false
}

// heardUpTo moves to the position h, unless the speech has ended. A position that goes back, or
// lies where nothing was said, is an error.
func (s *speech) heardUpTo(h earshot.Heard) error {
	return s.move(func() (earshot.Heard, error) { return h, s.check(h) })
}

// end ends the speech at its current position.
func (s *speech) end() {
	_ = s.move(func() (earshot.Heard, error) {
		return earshot.Heard{Clause: s.at.Clause, Byte: s.at.Byte, End: true}, nil
	})
}

// move moves to the position that to returns, and reports it. To is called with the lock held.
func (s *speech) move(to func() (earshot.Heard, error)) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	if s.at.End {
		s.mu.Unlock()
		return nil
	}
	h, err := to()
	if err != nil {
		s.mu.Unlock()
		return err
	}
	s.advance(h)
	s.mu.Unlock()

	s.tell(h)
	if h.End {
		s.over()
	}
	return nil
}

// check reports whether the position may move to h. The caller holds the lock.
func (s *speech) check(h earshot.Heard) error {
	switch {
	case h.Clause < s.at.Clause || h.Clause == s.at.Clause && h.Byte < s.at.Byte:
		return errors.New("the terminal reported less as heard than before")
	case h.Clause == s.at.Clause && h.Byte == s.at.Byte:
		return nil
	case h.Clause == s.next && h.Byte == 0:
		return nil
	}
	i := slices.IndexFunc(s.unheard, func(c earshot.Clause) bool { return c.N == h.Clause })
	if i < 0 || h.Byte < 0 || h.Byte > len(s.unheard[i].Text) {
		return errors.New("the terminal reported as heard what was never said")
	}
	if text := s.unheard[i].Text; h.Byte < len(text) && !utf8.RuneStart(text[h.Byte]) {
		return errors.New("the terminal reported a part of a character as heard")
	}
	return nil
}

// advance moves the position to h. The caller holds the lock.
func (s *speech) advance(h earshot.Heard) {
	s.at = h
	n := 0
	for _, c := range s.unheard {
		if c.N > h.Clause || c.N == h.Clause && h.Byte < len(c.Text) {
			break
		}
		s.bytes -= weight(c)
		n++
	}
	s.unheard = slices.Delete(s.unheard, 0, n)
	if h.End {
		for _, stop := range s.stops {
			stop()
		}
		s.unheard, s.stops = nil, nil
	}
	s.wake()
}

// wake wakes everybody who waits for a change. The caller holds the lock.
func (s *speech) wake() {
	close(s.moved)
	s.moved = make(chan struct{})
}
