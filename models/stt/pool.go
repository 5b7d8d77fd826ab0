package stt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/supervise"
)

// idle is how long an unused recogniser of a pool keeps its helper: longer than the pauses of a
// conversation, each of which would cost the second that loading a model takes.
const idle = 3 * time.Minute

// A PoolConfig configures a pool.
type PoolConfig struct {
	// Each configures its recognisers. None of them seeks phrases: see [Listener.Spot].
	Each Config

	// Most is how many there are, at least 1: how many people are recognised while they speak at
	// the same time. Anybody beyond that is recognised when another has finished.
	Most int

	// Name is the name used for Report; "" is "recognition".
	Name   string
	Report func(earshot.Notice)

	// Restarts says how patiently helpers are started again; its Report is not used.
	Restarts supervise.Config
}

// A Pool is several recognisers for people who may speak at the same time, each with a track of
// their own. If the first can hear all of them, the others have nothing to do. The first helper lives as long as the pool runs, the others from when they are needed
// until they were unused for some minutes. Its methods may be called from any goroutine, before it
// runs and between its runs.
type Pool struct {
	cfg     PoolConfig
	members []*member
}

// A member is one recogniser of a pool.
type member struct {
	*Recogniser
	name   string
	lent   bool          // its helper is there only when it is needed
	wanted chan struct{} // of capacity 1: a session has begun
}

// NewPool returns a pool that hears once it runs.
func NewPool(cfg PoolConfig) *Pool {
	cfg.Each.Phrases = nil
	cfg.Restarts.Report = cfg.Report
	p := &Pool{cfg: cfg}
	for i := range max(1, cfg.Most) {
		name := cmp.Or(cfg.Name, "recognition")
		if i > 0 {
			name = fmt.Sprintf("%s %d", name, i+1)
		}
		p.members = append(p.members, &member{New(cfg.Each), name, i > 0, make(chan struct{}, 1)})
	}
	return p
}

// Run keeps the helpers running until ctx ends, which is not an error, or until it is known that
// none can run here, which is an [errors.ErrUnsupported]. It must not be called twice at a time.
// Failures of a helper go to Report.
func (p *Pool) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for _, m := range p.members {
		all.Go(func() {
			if m.lent {
				p.lend(ctx, m)
			} else if err := supervise.Run(ctx, m.name, m.Run, p.cfg.Restarts); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// lend keeps a helper for m while it is needed.
func (p *Pool) lend(ctx context.Context, m *member) {
	for {
		select {
		case <-m.wanted:
		case <-ctx.Done():
			return
		}
		life, end := context.WithCancel(ctx)
		var watch sync.WaitGroup
		watch.Go(func() { m.rest(life); end() })
		rested := supervise.Run(life, m.name, m.Run, p.cfg.Restarts) == nil // the first helper reports faults for all
		end()
		watch.Wait()
		if rested {
			m.again()
		}
	}
}

// again requests a helper if somebody has begun to speak since the last one was ended, and only
// then: those who spoke while it lived have requested it, too.
func (m *member) again() {
	select {
	case <-m.wanted:
	default:
	}
	if m.load() > 0 {
		m.wake()
	}
}

// rest returns when m has been unused for a while, or ctx ends.
func (m *member) rest(ctx context.Context) {
	t := time.NewTimer(idle)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		left := m.needed(time.Now())
		if left <= 0 {
			return
		}
		t.Reset(left)
	}
}

// needed returns for how long r is still to be kept, at least.
func (r *Recogniser) needed(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sessions) > 0 {
		return idle
	}
	return r.used.Add(idle).Sub(now)
}

// load returns how many utterances r has to understand.
func (r *Recogniser) load() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// wake has a helper started for m, if it has none because it was unused, and lets the speaker wait
// for it.
func (m *member) wake() {
	if !m.lent {
		return
	}
	m.mu.Lock()
	if m.life == nil && m.loaded.IsZero() {
		m.since = time.Now()
	}
	m.mu.Unlock()
	select {
	case m.wanted <- struct{}{}:
	default:
	}
}

// Listener returns the listener for one person.
func (p *Pool) Listener() *Listener { return &Listener{of: p} }

// A Listener is the pool for one person: it prefers the recogniser that recognised them last,
// which knows how their microphone sounds, as long as that is idle. It may be used from many
// goroutines.
type Listener struct {
	of *Pool

	mu   sync.Mutex
	last *member // nil at first
}

// Begin begins an utterance, as [Recogniser.Begin] does, on a recogniser that it stays with to its
// end.
func (l *Listener) Begin(on func(Result)) *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = l.of.choose(l.last)
	s := l.last.Begin(on)
	l.last.wake()
	return s
}

// Spot does nothing. Phrases are sought while the agent speaks, in sound that contains the agent;
// in somebody's track of a call nobody else is heard. There the words of an utterance come just as
// soon, and a helper seeks phrases in one sound only.
func (l *Listener) Spot(*audio.Frame) {}

// choose returns the first recogniser if it hears everybody at once, or else the one with the least to
// do: among equals the last one used, and then the first.
func (p *Pool) choose(last *member) *member {
	if p.members[0].Ready().Concurrent {
		return p.members[0]
	}
	best, least := p.members[0], p.members[0].load()
	for _, m := range p.members[1:] {
		if n := m.load(); n < least {
			best, least = m, n
		}
	}
	if last != nil && last.load() == least {
		return last
	}
	return best
}
