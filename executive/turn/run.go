package turn

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/internal/mailbox"
	"earshot/interrupt"
)

// stall is how long an outlet may make no progress, without being paused, after the last word was
// handed to it. It is then given up: a terminal that somebody has stopped for longer has been
// forgotten.
const stall = 30 * time.Second

// A Spec is what a turn needs in order to run.
type Spec struct {
	earshot.Opening

	Floor   *interrupt.Floor
	Since   interrupt.Ticket // drawn when the question was asked: a cut after it cuts this turn
	Outlets []earshot.Outlet

	// Text yields the reply as it may be heard: no thinking, no envelope. It
	// ends when ctx ends, yields an error at most once and last, and releases
	// what it holds before the range statement completes.
	Text func(ctx context.Context) iter.Seq2[string, error]

	Ahead int  // how many pieces the text may be ahead of the fastest outlet; at least 1
	Whole bool // hand whole clauses to every outlet, also to those that can show pieces

	// Drain is how long the outlets may take after a cut to report where they stopped. An outlet
	// that reports nothing until then counts as stopped at its last reported position.
	Drain time.Duration

	// Filler, if set, is said where a voice has nothing to say yet.
	Filler *Filler

	// Lost, if set, is called for an outlet that broke; the turn continues with the others.
	Lost func(outlet string, err error)

	Tracker *Tracker // if set, shows the turn as it goes on
}

// A Filler is a short sign that a late reply is coming.
type Filler struct {
	After time.Duration // from when the turn begins; at once if it is not positive
	Sign  func() string // what is said; nothing if it is empty
}

// fillers are what is said while a reply is late, and lookups what is said instead while the agent
// uses a tool for the reply. All are words, because the built-in voice spells "hm".
var (
	fillers = []string{"Let me see.", "One moment.", "Let me think."}
	lookups = []string{"Let me look.", "I am looking.", "One moment."}
)

// leastWait is the least time that a model has for its first words, even if the question has waited
// long: most models on the same machine need less.
const leastWait = 300 * time.Millisecond

// NewFiller returns the filler of a turn, due after a time, but not before most models have begun
// to answer. working reports whether the agent is using a tool at that moment. The words depend
// only on the turn, so that a recorded day can be replayed.
func NewFiller(id earshot.TurnID, after time.Duration, working func() (tool, spoken bool)) *Filler {
	return &Filler{
		After: max(leastWait, after),
		Sign: func() string {
			some := fillers
			if tool, _ := working(); tool {
				some = lookups
			}
			n := 0
			for _, b := range []byte(id) {
				n += int(b)
			}
			return some[n%len(some)]
		},
	}
}

// Run runs the turn, and returns when it has ended and everything it started has stopped. The error
// says why the turn failed; being cut is no failure. Ending ctx cuts the turn. Run panics if the
// floor is taken, because a room has one turn at a time.
func Run(ctx context.Context, spec Spec) (earshot.Reply, error) {
	spec.Tracker = cmp.Or(spec.Tracker, new(Tracker))
	r := newRunning(spec)
	model, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.stop = stop
	spec.Tracker.begin(r.state, r.names)

	hold, free := spec.Floor.Take(spec.Since, interrupt.Terms{Aloud: slices.Contains(r.manners, Voice), Protected: spec.Protected}, r.control)
	if !free {
		panic("turn: the floor of the room is taken")
	}
	// The outlets outlive ctx until they have reported where they stopped.
	outlets, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()

	var parts sync.WaitGroup
	parts.Go(func() { r.pump(model) })
	for i := range spec.Outlets {
		parts.Go(func() { r.speak(outlets, i) })
	}
	r.own(ctx)
	hold.Release()
	r.hush()
	stop(nil)
	leave()
	parts.Wait()

	reply := r.state.Reply(r.names)
	reply.Turn, reply.About = spec.Turn, spec.About
	return reply, r.state.Err()
}

// A runner is what the goroutines of a turn share.
type runner struct {
	spec    Spec
	state   *State // used only by own
	names   []string
	manners []DeliveryMode
	pieces  chan string
	end     error                 // of the text; set before pieces is closed
	queues  []*mailbox.Queue[Act] // one for each outlet
	stop    context.CancelCauseFunc

	// wake signals that one of the following has changed.
	wake chan struct{}

	sound    sync.Mutex // held while the outlets are told what to do
	told     earshot.Control
	speaking []earshot.Speaking

	desk   sync.Mutex // guards the following; never held while anything outside is called
	cut    *interrupt.Signal
	turned bool // the outlets were given another command
	heard  []outletNews

	// The following belong to own.
	seen  []outletNews
	gone  []bool // outlet i broke
	moved bool   // an outlet has made progress, or may continue, since the last look
}

// outletNews is what one outlet has reported since the last look.
type outletNews struct {
	at    earshot.Heard
	fresh bool  // at is new
	broke error // it takes no more, but may still report where it stopped
	lost  bool  // it will report nothing more
}

func newRunning(spec Spec) *runner {
	n := len(spec.Outlets)
	r := &runner{
		spec: spec, pieces: make(chan string), wake: make(chan struct{}, 1),
		speaking: make([]earshot.Speaking, n), heard: make([]outletNews, n),
		seen: make([]outletNews, n), gone: make([]bool, n),
	}
	for _, o := range spec.Outlets {
		r.manners = append(r.manners, manner(o, spec.Whole))
		r.names = append(r.names, o.Name())
		r.queues = append(r.queues, mailbox.New[Act](nil)) // see full
	}
	r.state = NewState(r.manners...)
	return r
}

// manner returns how o takes a reply. With whole set, an outlet that could show pieces takes whole
// clauses too.
func manner(o earshot.Outlet, whole bool) DeliveryMode {
	if a, ok := o.(earshot.Audible); ok && a.Audible() {
		return Voice
	}
	if f, ok := o.(earshot.Flowing); ok && f.Flows() && !whole {
		return Pieces
	}
	return Clauses
}

// own steps the state until the turn is over.
func (r *runner) own(ctx context.Context) {
	pieces, done := r.pieces, ctx.Done()
	var drain, late <-chan time.Time
	if f := r.spec.Filler; f != nil {
		late = time.After(f.After)
	}
	var stalled <-chan time.Time // begins once the text is complete
	for !r.state.Ended() {
		next := pieces
		if r.full() {
			next = nil // an outlet that takes something wakes us
		}
		select {
		case text, more := <-next:
			r.gather() // a cut that has arrived takes precedence over what the model said
			if more {
				r.step(Event{Kind: Piece, Text: text})
				break
			}
			pieces = nil
			if ctx.Err() != nil {
				r.shutdown() // this is why the text has ended
			}
			r.step(Event{Kind: Closed, Err: r.end})
			r.moved = true
		case <-r.wake:
			r.gather()
		case <-done:
			done = nil
			r.shutdown()
		case <-late:
			if r.gather(); !r.held() {
				r.step(Event{Kind: Late, Text: r.spec.Filler.Sign()})
			}
		case <-drain:
			r.step(Event{Kind: Expired})
		case <-stalled:
			held := r.held()
			if r.gather(); !held && !r.moved { // it may have been let go on just now
				r.step(Event{Kind: Expired})
			}
			r.moved = true
		}
		if drain == nil && r.state.cut != nil {
			drain = time.After(r.spec.Drain)
		}
		if r.moved && r.state.closed {
			stalled = time.After(stall)
		}
		r.moved = false
	}
}

// shutdown cuts the turn because the program ends.
func (r *runner) shutdown() {
	r.control(earshot.Cut, &interrupt.Signal{Kind: interrupt.Shutdown, From: house, At: time.Now()})
	r.gather()
}

// held reports whether somebody holds the outlets back.
func (r *runner) held() bool {
	r.sound.Lock()
	defer r.sound.Unlock()
	return r.told == earshot.Pause
}

// hush makes sure that no outlet gives out anything any more, not even one that was given up.
func (r *runner) hush() {
	r.desk.Lock()
	copy(r.seen, r.heard)
	r.desk.Unlock()
	r.sound.Lock()
	defer r.sound.Unlock()
	r.told = earshot.Cut
	for i, speaking := range r.speaking {
		if speaking != nil && !r.seen[i].at.End {
			speaking.Do(earshot.Cut)
		}
	}
}

// full reports whether the text is as far ahead as it may be. An outlet that takes nothing delays
// nobody while another one keeps taking. Outlets that keep the pace of a voice do not count. The
// queue of the fastest outlet exceeds Spec.Ahead by one piece at most, and the bound of the others
// is the longest reply, because every act carries at least a byte of it.
func (r *runner) full() bool {
	least, some := 0, false
	voices := r.voices()
	for i, q := range r.queues {
		if r.gone[i] || voices && r.manners[i] != Voice {
			continue
		}
		if n := q.Len(); !some || n < least {
			least, some = n, true
		}
	}
	return some && r.state.cut == nil && least >= max(r.spec.Ahead, 1)
}

// voices reports whether a voice is still speaking.
func (r *runner) voices() bool {
	for i, m := range r.manners {
		if m == Voice && !r.gone[i] && !r.seen[i].at.End {
			return true
		}
	}
	return false
}

// house is the author of the cut that ends a turn when the program ends.
var house = earshot.Handle{Provider: "earshot", ID: "shutdown"}

// step passes e to the state and carries out the acts that follow from it.
func (r *runner) step(e Event) {
	for _, a := range r.spec.Tracker.step(r.state, e) {
		switch a.Kind {
		case Say, Finish:
			r.queues[a.Outlet].Put(a)
		case Stop:
			r.stop(context.Canceled)
		}
	}
}

// gather takes in what the floor and the outlets have reported since the last time, as of one
// moment: a cut that came before a position is passed on before it.
func (r *runner) gather() {
	r.desk.Lock()
	cut := r.cut
	r.moved, r.turned = r.moved || r.turned, false
	copy(r.seen, r.heard)
	for i := range r.heard {
		r.heard[i].fresh, r.heard[i].broke, r.heard[i].lost = false, nil, false
	}
	r.desk.Unlock()
	if cut != nil {
		r.step(Event{Kind: Cut, Signal: cut})
	}
	for i, n := range r.seen {
		if n.fresh {
			r.moved = true
			r.step(Event{Kind: Heard, Outlet: i, Position: n.at})
		}
		if n.broke != nil {
			r.gone[i] = true
			if r.spec.Lost != nil {
				r.spec.Lost(r.names[i], n.broke)
			}
		}
		if n.lost {
			r.step(Event{Kind: Lost, Outlet: i})
		}
	}
}

// tell changes the news and wakes the owner.
func (r *runner) tell(change func()) {
	r.desk.Lock()
	change()
	r.desk.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// control passes a command of the floor to the outlets first, so that the sound stops, and then to
// the model. A cut is noted before the outlets can report that they have stopped; otherwise they
// would seem to be lost. Commands after a cut have no effect.
func (r *runner) control(c earshot.Control, s *interrupt.Signal) {
	r.sound.Lock()
	if r.told == earshot.Cut {
		r.sound.Unlock()
		return
	}
	r.desk.Lock()
	if c == earshot.Cut {
		r.cut = s
	}
	r.turned = true // an outlet that continues gets the full time again
	r.desk.Unlock()
	r.told = c
	r.spec.Tracker.told(c)
	for _, speaking := range r.speaking {
		if speaking != nil {
			speaking.Do(c)
		}
	}
	r.sound.Unlock()
	if c == earshot.Cut {
		r.stop(s)
	}
	r.tell(func() {}) // the owner looks at it now
}

// pump brings the text to the owner.
func (r *runner) pump(ctx context.Context) {
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

// speak serves outlet i, which may block.
func (r *runner) speak(ctx context.Context, i int) {
	speaking, err := r.spec.Outlets[i].Open(ctx, r.spec.Opening, func(h earshot.Heard) {
		r.tell(func() {
			if n := &r.heard[i]; !n.at.End {
				n.at, n.fresh = h, true
			}
		})
	})
	if err != nil {
		r.tell(func() { r.heard[i].broke, r.heard[i].lost = err, true })
		return
	}
	r.sound.Lock()
	r.speaking[i] = speaking
	if r.told != earshot.Resume {
		speaking.Do(r.told) // the command came before the outlet was open
	}
	r.sound.Unlock()
	for a, more := r.queues[i].Take(ctx); more; a, more = r.queues[i].Take(ctx) {
		r.tell(func() {})
		if a.Kind == Finish {
			speaking.Finish()
			return
		}
		if err := speaking.Say(a.Clause); err != nil {
			r.broke(ctx, i, speaking, err)
			return
		}
	}
	speaking.Do(earshot.Cut) // the turn is over without this outlet
}

// broke ends the speech of an outlet that takes no more, and gives it time to report where it
// stopped. An outlet that was cut has not failed.
func (r *runner) broke(ctx context.Context, i int, speaking earshot.Speaking, err error) {
	r.sound.Lock()
	cut := r.told == earshot.Cut
	r.sound.Unlock()
	if cut {
		return
	}
	speaking.Do(earshot.Cut)
	r.tell(func() { r.heard[i].broke = err })
	select {
	case <-time.After(r.spec.Drain):
		r.tell(func() { r.heard[i].lost = true })
	case <-ctx.Done(): // the turn is over
	}
}
