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

// idle is how long a recogniser of a pool rests before its helper is ended: longer than
// the pauses of a talk, of which each would cost the second in which a model loads.
const idle = 3 * time.Minute

// A PoolConfig is what a pool is made of.
type PoolConfig struct {
	// Each is what its recognisers are. Phrases are sought by none of them: see
	// [Listener.Spot].
	Each Config

	// Most is how many there are, at least 1: how many people are understood while they
	// speak at the same time. Whoever is one too many is understood when somebody else
	// has finished.
	Most int

	// Name is what they are called in what Report is told; "" is "recognition".
	Name   string
	Report func(earshot.Notice)

	// Restarts says how patiently helpers are started again; its Report is not used.
	Restarts supervise.Config
}

// A Pool is some recognisers for several people who may speak at the same time, each
// with a track of their own. The first helper lives as long as the pool runs, the
// others from when they are needed until nobody has needed them for some minutes. Its
// methods may be called from any goroutine, before it runs and between its runs.
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

// Run keeps the helpers running until ctx ends, which is no error, or until it is known that none
// can run here, which is an [errors.ErrUnsupported]. It must not be called twice at a time.
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
		rested := supervise.Run(life, m.name, m.Run, p.cfg.Restarts) == nil // what the first says of a fault is enough
		end()
		watch.Wait()
		if rested {
			m.again()
		}
	}
}

// again has a helper wanted if somebody has begun to speak since the last one was ended,
// and only then: who spoke while it lived has said so, too.
func (m *member) again() {
	select {
	case <-m.wanted:
	default:
	}
	if m.load() > 0 {
		m.wake()
	}
}

// rest returns when nobody has needed m for a while, or ctx ends.
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

// wake has a helper started for m, if there is none because nobody needed it, and has
// who speaks wait for that.
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

// Listener returns what one person is understood by.
func (p *Pool) Listener() *Listener { return &Listener{of: p} }

// A Listener is a pool as one person has it: it keeps to the recogniser that understood
// them last, which knows how their microphone sounds, as long as that has nothing else
// to do. It may be used from many goroutines.
type Listener struct {
	of *Pool

	mu   sync.Mutex
	last *member // nil at first
}

// Begin begins an utterance, as [Recogniser.Begin] does, by a recogniser that it stays
// with to its end.
func (l *Listener) Begin(on func(Result)) *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = l.of.choose(l.last)
	s := l.last.Begin(on)
	l.last.wake()
	return s
}

// Spot does nothing. Phrases are sought while the agent speaks, in sound in which it is
// heard itself; nobody hears it in somebody's track of a call. There the words of an
// utterance say the same as soon, and a helper seeks phrases in one sound only.
func (l *Listener) Spot(*audio.Frame) {}

// choose returns the recogniser with the least to do: of several the one that was used
// last, and then the first.
func (p *Pool) choose(last *member) *member {
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
