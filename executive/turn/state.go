// Package turn plays one reply on its outlets, can be cut at any moment, and records truthfully how
// much of the reply was heard.
//
// [State] is the whole logic: a step function without goroutine or clock. [Run] is the plumbing
// around it: one goroutine owns the state, one pumps the text, and one serves each outlet, since an
// outlet may block.
//
// When an outlet is slow, the text may be Ahead pieces ahead of the fastest outlet before the model
// has to wait. Clauses for the other outlets wait in a queue that is bounded by the longest reply.
// Of an outlet's positions, only the latest counts. A cut waits in no queue: the floor passes it
// directly to the outlets.
package turn

import (
	"errors"
	"strings"
	"time"

	"earshot"
	"earshot/interrupt"
)

// MaxReply is the longest reply in bytes. A model that has said this much has lost its way, and the
// turn ends there as if the model had finished.
const MaxReply = 256 << 10

// ErrUnheard is the error of a turn that has lost all its outlets.
var ErrUnheard = errors.New("every outlet was lost")

// A State is the state of one turn. Its zero value has no outlets; see [NewState].
type State struct {
	outlets []outlet
	offered []byte
	closed  bool // the text has ended
	err     error
	cut     *interrupt.Signal
	ended   bool
	acts    []Act // reused from step to step
}

// A DeliveryMode is how an outlet takes a reply.
type DeliveryMode int

// The modes. While a voice is speaking, the other outlets keep its pace: they get what has been
// heard of the reply so far. So people read what they hear, and what a cut leaves unsaid is not
// shown either.
const (
	Clauses DeliveryMode = iota // whole clauses
	Pieces                      // each piece as it comes
	Voice                       // whole clauses, aloud
)

// outlet is what the turn knows of one outlet.
type outlet struct {
	manner   DeliveryMode
	starts   []int // where in offered each clause begins
	said     int   // how much of offered was handed over
	heard    int   // how much of offered came out
	finished bool  // it was told that no more clauses follow
	end      bool  // nothing more will come out
}

// NewState returns the initial state of a turn with one outlet for each of these modes.
func NewState(manners ...DeliveryMode) *State {
	s := &State{outlets: make([]outlet, len(manners))}
	for i, m := range manners {
		s.outlets[i].manner = m
	}
	return s
}

// An EventKind says what happened to a turn.
type EventKind int

// The kinds of events.
const (
	Piece   EventKind = iota // the model said Text
	Closed                   // it will say no more; Err is why, nil at a good end
	Heard                    // Outlet has reached Position
	Lost                     // Outlet broke
	Cut                      // somebody cut in: Signal
	Expired                  // the outlets had long enough to finish
	Late                     // the reply is late: Text is said as a sign that it is coming
)

// An Event is one step of a turn.
type Event struct {
	Kind     EventKind
	Text     string
	Err      error // of Closed
	Outlet   int
	Position earshot.Heard
	Signal   *interrupt.Signal
}

// An ActKind says what a step asks for.
type ActKind int

// The kinds of acts.
const (
	Say    ActKind = iota // hand Clause to Outlet
	Finish                // tell Outlet that no more clauses follow
	Stop                  // stop the model
	Over                  // the turn has ended; nothing follows
)

// An Act is something to do after a step.
type Act struct {
	Kind   ActKind
	Outlet int
	Clause earshot.Clause
}

// Next takes in an event and returns the acts that follow from it, in order. The acts are valid
// until the next call. Next is total: any event may come at any time, and one that comes too late
// does nothing.
func (s *State) Next(e Event) []Act {
	s.acts = s.acts[:0]
	if s.ended {
		return nil
	}
	switch e.Kind {
	case Piece:
		s.piece(e.Text)
	case Closed:
		s.close(e.Err)
	case Heard:
		s.hear(e.Outlet, e.Position)
	case Lost:
		s.lose(e.Outlet)
	case Cut:
		s.interrupt(e.Signal)
	case Expired:
		s.expire()
	case Late:
		s.fill(e.Text)
	}
	s.advance()
	s.settle()
	return s.acts
}

func (s *State) do(a Act) { s.acts = append(s.acts, a) }

func (s *State) piece(text string) {
	if s.closed || s.cut != nil || text == "" {
		return
	}
	// A reply with half a rune could not be recorded truthfully.
	s.offered = append(s.offered, strings.ToValidUTF8(text, "\uFFFD")...)
	if len(s.offered) >= MaxReply {
		s.do(Act{Kind: Stop})
		s.close(nil)
	}
}

func (s *State) close(err error) {
	if !s.closed && s.cut == nil {
		s.closed, s.err = true, err
	}
}

// advance gives every outlet what it may have by now and, at the end of the text, its end.
func (s *State) advance() {
	if s.cut != nil {
		return
	}
	pace := s.pace()
	for i := range s.outlets {
		o := &s.outlets[i]
		if o.end || o.finished {
			continue
		}
		limit := len(s.offered)
		if o.manner != Voice {
			limit = max(pace, o.said)
		}
		last := s.closed && limit == len(s.offered)
		s.hand(i, limit, last && s.err == nil) // half a clause of a broken reply is not worth a breath
		if last {
			s.do(Act{Kind: Finish, Outlet: i})
			o.finished = true
		}
	}
}

// fill makes the voices that have nothing to say yet say a sign that the reply is coming. The sign
// is a clause without text, so it counts as neither offered nor heard.
func (s *State) fill(sign string) {
	if s.cut != nil || s.closed || sign == "" {
		return
	}
	for i := range s.outlets {
		if o := &s.outlets[i]; o.manner == Voice && !o.end && len(o.starts) == 0 {
			s.do(Act{Kind: Say, Outlet: i, Clause: earshot.Clause{Spoken: earshot.Text(sign)}})
			o.starts = append(o.starts, 0)
		}
	}
}

// pace returns how much of the reply the outlets that are not voices may have.
func (s *State) pace() int {
	heard, live := 0, false
	for _, o := range s.outlets {
		if o.manner == Voice && !o.end {
			heard, live = max(heard, o.heard), true
		}
	}
	if !live {
		return len(s.offered)
	}
	return heard
}

// hand gives outlet i what it can take of the reply up to limit. If all is set, the rest of that
// counts as a clause too.
func (s *State) hand(i, limit int, all bool) {
	o := &s.outlets[i]
	for o.said < limit {
		n := limit - o.said
		if o.manner != Pieces {
			n = clause(s.offered[o.said:limit], all)
		}
		if n == 0 {
			return
		}
		s.do(Act{Kind: Say, Outlet: i, Clause: earshot.Clause{
			N:    len(o.starts),
			Text: earshot.Text(s.offered[o.said : o.said+n]),
		}})
		o.starts = append(o.starts, o.said)
		o.said += n
	}
}

// hear moves outlet i to a position. A position comes from a device or over a socket, so it may be
// wrong; it is never taken to lie before the last one, nor beyond what was handed over.
func (s *State) hear(i int, p earshot.Heard) {
	if i < 0 || i >= len(s.outlets) || s.outlets[i].end {
		return
	}
	o := &s.outlets[i]
	if p.Clause >= 0 && p.Clause < len(o.starts) {
		end := o.said
		if p.Clause+1 < len(o.starts) {
			end = o.starts[p.Clause+1]
		}
		at := min(o.starts[p.Clause]+max(p.Byte, 0), end)
		o.heard = max(o.heard, edge(s.offered, at))
	}
	o.end = p.End
}

func (s *State) lose(i int) {
	if i >= 0 && i < len(s.outlets) {
		s.outlets[i].end = true
	}
}

func (s *State) interrupt(by *interrupt.Signal) {
	if s.cut == nil {
		s.cut = by
		s.do(Act{Kind: Stop})
	}
}

// expire gives up every outlet that has not ended.
func (s *State) expire() {
	all := false
	for i := range s.outlets {
		s.outlets[i].end = true
		all = all || s.outlets[i].heard == len(s.offered)
	}
	if s.closed && s.err == nil && s.cut == nil && !all {
		s.err = ErrUnheard
	}
}

// settle ends the turn when nothing is left to wait for.
func (s *State) settle() {
	for i := range s.outlets {
		if !s.outlets[i].end {
			return
		}
	}
	if !s.closed && s.cut == nil {
		if len(s.outlets) == 0 {
			return // nobody listens, but the text is kept all the same
		}
		s.closed, s.err = true, ErrUnheard
		s.do(Act{Kind: Stop})
	}
	s.ended = true
	s.do(Act{Kind: Over})
}

// Ended reports whether the turn is over.
func (s *State) Ended() bool { return s.ended }

// Err returns why the turn failed, or nil.
func (s *State) Err() error { return s.err }

// Reply returns what is true of the turn so far; names are those of the outlets. It is final once
// the turn has ended.
func (s *State) Reply(names []string) earshot.Reply {
	r := earshot.Reply{Outcome: s.outcome(), Offered: earshot.Text(s.offered)}
	for i, o := range s.outlets {
		r.Heard = append(r.Heard, earshot.Delivery{Outlet: names[i], Bytes: o.heard})
	}
	if r.Outcome == earshot.Interrupted {
		r.Cut = &earshot.Interruption{By: s.cut.By, Signal: s.cut.Kind.String(), At: s.cut.At.Round(time.Microsecond)}
		r.Unfinished = !s.closed
	}
	return r
}

func (s *State) outcome() earshot.Outcome {
	all := s.closed && s.err == nil
	for _, o := range s.outlets {
		if all && o.heard == len(s.offered) && len(s.offered) > 0 {
			return earshot.Completed // a cut after the last word has cut nothing
		}
	}
	switch {
	case s.cut != nil:
		return earshot.Interrupted
	case s.err != nil, len(s.outlets) > 0 && len(s.offered) > 0:
		return earshot.Failed // broken off, or lost before all was heard
	case len(s.offered) == 0:
		return earshot.Suppressed
	}
	return earshot.Completed
}
