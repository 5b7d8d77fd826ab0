package attach

import (
	"context"
	"errors"
	"slices"
	"sync"

	"earshot"
	"earshot/server/wire"
)

// queue is how many speeches may wait for one that does not end. The daemon opens a speech when
// the one before has ended, or was cut and has not confirmed it for a while; a terminal that is
// held for long may receive a few at once.
const queue = 8

// errFlood is the error of a daemon that says more than was agreed.
var errFlood = errors.New("the daemon sends more than a terminal accepts")

// A line holds the speeches that have not ended, the oldest first. The outlet says one after the
// other.
type line struct {
	mu      sync.Mutex
	open    []*speech
	closed  bool
	playing sync.WaitGroup
}

// open begins a speech behind those that have not ended.
func (s *session) open(ctx context.Context, o earshot.Opening) {
	sp := &speech{opening: o, session: s, changed: make(chan struct{}), over: make(chan struct{})}
	if !s.speeches.play(ctx, sp) {
		sp.heard(earshot.Heard{End: true})
	}
}

// play queues sp and plays it when its turn comes. It returns false if the line is full.
func (l *line) play(ctx context.Context, sp *speech) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.open) >= queue {
		return false
	}
	var before *speech
	if n := len(l.open); n > 0 {
		before = l.open[n-1]
	}
	l.open = append(l.open, sp)
	l.playing.Go(func() {
		defer l.remove(sp)
		sp.play(ctx, before)
	})
	return true
}

func (l *line) remove(sp *speech) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(o *speech) bool { return o == sp })
}

// close accepts no more speeches, and waits for those in the line.
func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.playing.Wait()
}

// find returns the speech of a turn, or nil if it has ended.
func (l *line) find(id earshot.TurnID) *speech {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sp := range l.open {
		if sp.opening.Turn == id {
			return sp
		}
	}
	return nil
}

// say, do and finish pass what the daemon sends to a speech. They ignore what comes for a speech
// that has ended, since it was on its way.

func (l *line) say(f wire.Say) error {
	if sp := l.find(f.Turn); sp != nil {
		return sp.say(f.Clause)
	}
	return nil
}

func (l *line) do(f wire.Do) {
	if sp := l.find(f.Turn); sp != nil {
		sp.do(f.Control)
	}
}

func (l *line) finish(f wire.Finish) {
	if sp := l.find(f.Turn); sp != nil {
		sp.change(func() { sp.finished = true })
	}
}

// A speech is one reply that comes out here. Clauses go through its own goroutine, since an outlet
// may block on them; controls do not.
type speech struct {
	opening earshot.Opening
	session *session
	over    chan struct{} // closed when nothing more will be heard
	end     sync.Once     // closes over

	mu       sync.Mutex
	clauses  []earshot.Clause // not handed to the outlet yet
	bytes    int              // of clauses
	finished bool
	control  *earshot.Control // to apply once the outlet is opened
	cut      bool
	out      earshot.Speaking // once it is opened
	changed  chan struct{}    // closed and made anew whenever anything above changes
}

// play runs the speech: it waits for the one before, opens the outlet, and hands over the clauses
// one by one until there are none.
func (sp *speech) play(ctx context.Context, before *speech) {
	if before != nil {
		<-before.over
	}
	if ctx.Err() != nil || sp.isCut() {
		sp.heard(earshot.Heard{End: true})
		return
	}
	out, err := sp.session.outlet.Open(ctx, sp.opening, sp.heard)
	if err != nil {
		sp.heard(earshot.Heard{End: true})
		return
	}
	sp.opened(out)
	defer context.AfterFunc(ctx, func() { sp.do(earshot.Cut) })()
	for {
		c, ok := sp.next()
		if !ok {
			break
		}
		if out.Say(c) != nil {
			break // the outlet reports the end
		}
	}
	<-sp.over
}

// next returns the next clause, or false if none follows; it has then told a finished speech so.
func (sp *speech) next() (earshot.Clause, bool) {
	for {
		c, ok, changed := sp.poll()
		if changed == nil {
			return c, ok
		}
		select {
		case <-changed:
		case <-sp.over:
			return earshot.Clause{}, false
		}
	}
}

// poll returns the next clause, or that there is none, or a channel to wait for.
func (sp *speech) poll() (c earshot.Clause, ok bool, changed <-chan struct{}) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	switch {
	case sp.cut:
		return c, false, nil
	case len(sp.clauses) > 0:
		c = sp.clauses[0]
		sp.clauses = sp.clauses[1:]
		sp.bytes -= len(c.Text) + len(c.Spoken)
		return c, true, nil
	case sp.finished:
		sp.out.Finish()
		return c, false, nil
	}
	return c, false, sp.changed
}

// opened passes a control that came before the outlet was opened.
func (sp *speech) opened(out earshot.Speaking) {
	sp.change(func() {
		sp.out = out
		if sp.control != nil {
			out.Do(*sp.control)
		}
	})
}

// do passes a control to the outlet, or keeps it until the outlet is opened.
func (sp *speech) do(c earshot.Control) {
	sp.change(func() {
		if c == earshot.Cut {
			sp.cut = true
			sp.clauses, sp.bytes = nil, 0
		}
		if sp.out == nil {
			sp.control = &c
			return
		}
		sp.out.Do(c)
	})
}

// say queues a clause. What the daemon may send ahead is limited to the agreed window, plus one
// clause that begins when everything was heard.
func (sp *speech) say(c earshot.Clause) (err error) {
	sp.change(func() {
		if sp.cut {
			return
		}
		sp.clauses = append(sp.clauses, c)
		sp.bytes += len(c.Text) + len(c.Spoken)
		if sp.bytes > wire.Window+wire.MaxDown {
			err = errFlood
		}
	})
	return err
}

func (sp *speech) change(f func()) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	f()
	close(sp.changed)
	sp.changed = make(chan struct{})
}

func (sp *speech) isCut() bool {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	return sp.cut
}

// heard tells the daemon how far the outlet has come. It replaces a position that has not been
// sent yet.
func (sp *speech) heard(h earshot.Heard) {
	box := sp.session.box
	box.Drop(-1, func(f wire.Frame) bool {
		old, ok := f.(wire.Heard)
		return ok && old.Turn == sp.opening.Turn
	})
	_ = box.Urgent(wire.Heard{Turn: sp.opening.Turn, Heard: h})
	if h.End {
		sp.end.Do(func() { close(sp.over) })
	}
}
