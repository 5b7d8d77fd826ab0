package turn

import (
	"context"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/interrupt"
)

// A Spec is a turn to be taken.
type Spec struct {
	earshot.Opening

	Floor   *interrupt.Floor
	Outlets []earshot.Outlet

	// Text yields the reply as it may be heard: no thinking, no envelope. It
	// ends when ctx ends, yields an error at most once and last, and releases
	// what it holds before the range statement completes.
	Text func(ctx context.Context) iter.Seq2[string, error]

	Ahead int  // how many pieces the text may run ahead of the turn
	Whole bool // hand every outlet whole clauses, also one that flows

	// Drain is how long the outlets may take after a cut to say where they
	// stopped. One that says nothing until then has stopped where it was last
	// heard of.
	Drain time.Duration

	// Lost, if set, is told of an outlet that broke, while the turn goes on
	// with the others.
	Lost func(outlet string, err error)
}

// Run takes the turn, and returns when it has ended and everything it started
// is still. The error is why the turn failed; being cut is none. Ending ctx
// cuts the turn. It panics if the floor is taken: a room has one turn at a
// time.
func Run(ctx context.Context, spec Spec) (earshot.Reply, error) {
	r := newRunning(spec)
	model, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.stop = stop

	hold, free := spec.Floor.Take(r.control)
	if !free {
		panic("turn: the floor of the room is taken")
	}
	// The outlets outlive ctx until they have said where they stopped.
	outlets, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()

	var parts sync.WaitGroup
	parts.Go(func() { r.pump(model) })
	for i := range spec.Outlets {
		parts.Go(func() { r.speak(outlets, i) })
	}
	r.own(ctx)
	hold.Release()
	stop(nil)
	leave()
	for _, q := range r.queues {
		q.close()
	}
	parts.Wait()

	reply := r.state.Reply(r.names)
	reply.Turn, reply.About = spec.Turn, spec.About
	return reply, r.state.Err()
}

// running is what the goroutines of a turn share.
type running struct {
	spec   Spec
	state  *State // touched by own alone
	names  []string
	pieces chan string
	end    error // of the text; set before pieces is closed
	queues []*queue
	stop   context.CancelCauseFunc

	// wake says that one of the following has changed.
	wake chan struct{}

	sound    sync.Mutex // held while the outlets are told what to do
	told     earshot.Control
	speaking []earshot.Speaking

	news  sync.Mutex // never held while anything is called
	cut   *interrupt.Signal
	heard []earshot.Heard
	fresh []bool // heard[i] has not been seen by own
	lost  []error
}

func newRunning(spec Spec) *running {
	n := len(spec.Outlets)
	r := &running{
		spec: spec, pieces: make(chan string, spec.Ahead), wake: make(chan struct{}, 1),
		speaking: make([]earshot.Speaking, n), heard: make([]earshot.Heard, n),
		fresh: make([]bool, n), lost: make([]error, n),
	}
	flows := make([]bool, n)
	for i, o := range spec.Outlets {
		f, ok := o.(earshot.Flowing)
		flows[i] = ok && f.Flows() && !spec.Whole
		r.names = append(r.names, o.Name())
		r.queues = append(r.queues, newQueue())
	}
	r.state = NewState(flows...)
	return r
}

// own steps the state until the turn is over.
func (r *running) own(ctx context.Context) {
	pieces, done := r.pieces, ctx.Done()
	var drain <-chan time.Time
	for !r.state.Ended() {
		select {
		case text, more := <-pieces:
			r.gather() // a cut that has come goes before what the model said
			if more {
				r.step(Event{Kind: Piece, Text: text})
			} else {
				pieces = nil
				r.step(Event{Kind: Closed, Err: r.end})
			}
		case <-r.wake:
			r.gather()
		case <-done:
			done = nil
			r.control(earshot.Cut, &interrupt.Signal{Kind: interrupt.Shutdown, From: house, At: time.Now()})
		case <-drain:
			r.step(Event{Kind: Expired})
		}
		if drain == nil && r.state.cut != nil {
			drain = time.After(r.spec.Drain)
		}
	}
}

// house is who ends a turn when the program ends.
var house = earshot.Handle{Provider: "earshot", ID: "shutdown"}

// step takes in e and does what follows from it.
func (r *running) step(e Event) {
	for _, a := range r.state.Next(e) {
		switch a.Kind {
		case Say, Finish:
			r.queues[a.Outlet].put(a)
		case Stop:
			r.stop(context.Canceled)
		}
	}
}

// gather takes in what the floor and the outlets have told since the last
// time. A cut that came before a position goes before it.
func (r *running) gather() {
	for i := range r.heard {
		r.news.Lock()
		cut, at, fresh, lost := r.cut, r.heard[i], r.fresh[i], r.lost[i]
		r.fresh[i], r.lost[i] = false, nil
		r.news.Unlock()
		if cut != nil {
			r.step(Event{Kind: Cut, Signal: cut})
		}
		if fresh {
			r.step(Event{Kind: Heard, Outlet: i, Position: at})
		}
		if lost != nil {
			r.step(Event{Kind: Lost, Outlet: i})
			if r.spec.Lost != nil {
				r.spec.Lost(r.names[i], lost)
			}
		}
	}
	if len(r.heard) == 0 && r.signalled() != nil {
		r.step(Event{Kind: Cut, Signal: r.signalled()})
	}
}

func (r *running) signalled() *interrupt.Signal {
	r.news.Lock()
	defer r.news.Unlock()
	return r.cut
}

// tell changes the news and wakes the owner.
func (r *running) tell(change func()) {
	r.news.Lock()
	change()
	r.news.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// control passes what the floor says to the outlets: the sound first, the
// model second. That it is a cut is noted before the outlets can say that they
// have stopped, or they would seem to be lost.
func (r *running) control(c earshot.Control, s *interrupt.Signal) {
	if c == earshot.Cut {
		r.news.Lock()
		if r.cut == nil {
			r.cut = s
		}
		r.news.Unlock()
	}
	r.sound.Lock()
	r.told = c
	for _, speaking := range r.speaking {
		if speaking != nil {
			speaking.Do(c)
		}
	}
	r.sound.Unlock()
	if c == earshot.Cut {
		r.stop(s)
		r.tell(func() {})
	}
}

// pump brings the text to the owner.
func (r *running) pump(ctx context.Context) {
	defer close(r.pieces)
	for text, err := range r.spec.Text(ctx) {
		if err != nil {
			if ctx.Err() == nil {
				r.end = err
			}
			return
		}
		select {
		case r.pieces <- text:
		case <-ctx.Done():
			return
		}
	}
}

// speak stands before outlet i, which may block.
func (r *running) speak(ctx context.Context, i int) {
	speaking, err := r.spec.Outlets[i].Open(ctx, r.spec.Opening, func(h earshot.Heard) {
		r.tell(func() {
			if !r.heard[i].End {
				r.heard[i], r.fresh[i] = h, true
			}
		})
	})
	if err != nil {
		r.tell(func() { r.lost[i] = err })
		return
	}
	r.sound.Lock()
	r.speaking[i] = speaking
	if r.told != earshot.Resume {
		speaking.Do(r.told) // it was told before it was open
	}
	r.sound.Unlock()
	for a, more := r.queues[i].take(); more; a, more = r.queues[i].take() {
		if a.Kind == Finish {
			speaking.Finish()
			return
		}
		if err := speaking.Say(a.Clause); err != nil {
			r.broke(i, err)
			return
		}
	}
	speaking.Do(earshot.Cut) // the turn is over without this outlet
}

// broke notes that outlet i failed. One that was cut has not failed: it still
// has to say where it stopped.
func (r *running) broke(i int, err error) {
	r.sound.Lock()
	cut := r.told == earshot.Cut
	r.sound.Unlock()
	if !cut {
		r.tell(func() { r.lost[i] = err })
	}
}

// A queue holds acts until an outlet takes them. Its bound is the longest
// reply: an act that is put carries at least a byte of it.
type queue struct {
	mu     sync.Mutex
	acts   []Act
	closed bool
	some   chan struct{}
}

func newQueue() *queue { return &queue{some: make(chan struct{}, 1)} }

func (q *queue) put(a Act) {
	q.mu.Lock()
	q.acts = append(q.acts, a)
	q.mu.Unlock()
	q.nudge()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed, q.acts = true, nil
	q.mu.Unlock()
	q.nudge()
}

func (q *queue) nudge() {
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// take waits for the next act; it reports false once the queue is closed.
func (q *queue) take() (Act, bool) {
	for {
		q.mu.Lock()
		if len(q.acts) > 0 {
			a := q.acts[0]
			q.acts = q.acts[1:]
			q.mu.Unlock()
			return a, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return Act{}, false
		}
		<-q.some
	}
}
