package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot/bus"
)

const (
	// tick is how often a member looks for rooms that it should take: often enough to add little to the
	// time of a take-over.
	tick = 250 * time.Millisecond

	// lookAround is for how long a member listens who is there before it takes its first room.
	lookAround = Every + 2*tick

	// maxHandovers is how many rooms a member gives away at a time, so that few pause at once.
	maxHandovers = 8
)

var (
	// ErrLost is why a room must fall silent at once: the lease is lost.
	ErrLost = errors.New("the lease of the room is lost")

	// ErrHandover is why a room should come to an end in good order: another member takes it on.
	ErrHandover = errors.New("the room is handed over")
)

// A Status is how it looks at a member.
type Status struct {
	Rooms  []string       // that the cluster has; every member should know the same
	Senses map[string]int // how many senses and outlets of each room are here
	Load   float64        // from 0 to 1
	Drains bool           // it should give its rooms away
}

// A Member is one of several daemons. Its exported fields are set before it runs, which it must not twice at once.
type Member struct {
	Leases *Leases // whose owner is the member's ID
	Bus    bus.Bus
	Build  string
	Log    *slog.Logger

	// Status returns how it looks here. It must not wait.
	Status func() Status

	// Serve does what a room does until ctx ends, or by itself for any reason, after which it is called
	// again soon. The cause is [ErrLost], after which nothing may be heard of it or be written;
	// [ErrHandover], after which it holds the lease until it returns; or that of the member's end,
	// for which the same holds.
	Serve func(ctx context.Context, lease *Lease)

	// TakenOver, if not nil, is called when a room was taken that another member had, with how long ago
	// that member said so last: for at most that long nobody had the room.
	TakenOver func(after time.Duration)

	away      atomic.Bool // the database does not answer, which was logged
	acquiring sync.Mutex  // held while a lease is acquired, since a second one would end the first

	mu      sync.Mutex
	began   time.Time
	view    View // of the others
	number  uint64
	renewed time.Time            // when the database last answered
	late    time.Time            // when it last did not in time
	echoed  time.Time            // when what this member says last came back
	twin    time.Time            // when another member with its name was last heard of
	drains  []string             // the names of members that are to drain
	owned   map[string]time.Time // when another member last said that it had a room
	serving map[string]*service
	retry   map[string]time.Time // when a room may be free that somebody else held
	changed bool                 // since the last beat
	wake    chan struct{}
	begin   func(lease *Lease, asked bool) // serves a room; nil if the member does not run
	rooms   sync.WaitGroup
}

// A service is a room that is served.
type service struct {
	lease *Lease
	end   context.CancelCauseFunc
	asked bool // for by Take: it is not placed
	ends  bool
}

// errNotRunning says that a member cannot take a room.
var errNotRunning = errors.New("cluster: this member takes no rooms: it is not running, or ending")

// Run serves rooms until ctx ends, and then gives them up.
func (m *Member) Run(ctx context.Context) error {
	m.mu.Lock()
	m.serving, m.retry, m.wake = make(map[string]*service), make(map[string]time.Time), make(chan struct{}, 1)
	m.begin, m.owned = func(l *Lease, asked bool) { m.serve(ctx, l, asked) }, make(map[string]time.Time)
	if m.began.IsZero() {
		m.began = time.Now()
	}
	m.mu.Unlock()
	stop, err := m.Bus.Subscribe(ctx, HeartbeatPattern, m.hear)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer stop()
	renewing, stopRenewing := context.WithCancel(context.WithoutCancel(ctx)) // while rooms come to their end
	var renewal sync.WaitGroup
	renewal.Go(func() { m.renew(renewing) })
	defer func() {
		m.acquiring.Lock()
		m.mu.Lock()
		m.begin = nil
		m.mu.Unlock()
		m.acquiring.Unlock()
		m.rooms.Wait()
		stopRenewing()
		renewal.Wait()
		m.beat(Status{Drains: true})
	}()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for began, last := time.Now(), time.Now().Add(-Every); ; {
		status := m.Status()
		if time.Since(began) >= lookAround {
			m.step(ctx, status)
		}
		if m.news() || time.Since(last) >= Every {
			last = time.Now()
			m.beat(status)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks.C:
		case <-m.wake:
		}
	}
}

// hear takes in the beat of another member.
func (m *Member) hear(msg bus.Message) {
	b, err := ParseHeartbeat(msg.Subject, msg.Data)
	if err != nil {
		m.Log.Warn("a member says something that cannot be", "err", err)
		return
	}
	now := time.Now()
	m.mu.Lock()
	if b.ID == m.Leases.owner {
		m.echoed = now
		m.mu.Unlock()
		return
	}
	if b.Name() == m.name() && now.Sub(m.began) >= TTL { // or it may be the last words of an earlier process
		m.twin = now
	}
	moves := b.Drains || len(b.Rooms) != len(m.view.members[b.ID].beat.Rooms)
	changed := m.view.Step(now, &b)
	for room := range b.Rooms {
		m.owned[room] = now
	}
	m.mu.Unlock()
	if changed {
		m.Log.Info("a member came or went", "member", b.Name())
	}
	if moves { // there may be something to take
		m.poke()
	}
}

// news reports whether the others should know something at once.
func (m *Member) news() (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed, m.changed = m.changed, false
	return changed
}

func (m *Member) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// own returns what this member says of itself. m.mu must be held once it runs.
func (m *Member) own(status Status, now time.Time) Heartbeat {
	if !(status.Load >= 0 && status.Load <= 1) {
		status.Load = 1
	}
	b := Heartbeat{ID: m.Leases.owner, Number: m.number, Build: m.Build, Load: status.Load, Senses: status.Senses, Rooms: make(map[string]Tenure)}
	if !m.began.IsZero() {
		b.Age = int(now.Sub(m.began) / time.Second)
	}
	b.Drains = status.Drains || slices.Contains(m.drains, b.Name()) || now.Sub(m.renewed) >= TTL // it could hold no lease
	b.Late = !m.late.IsZero() && now.Sub(m.late) < Stay
	for room, s := range m.serving {
		b.Rooms[room] = Tenure{s.lease.Fence, int(now.Sub(s.lease.since) / time.Second)}
	}
	return b
}

// beat tells the others how this member is.
func (m *Member) beat(status Status) {
	m.mu.Lock()
	m.number++
	own := m.own(status, time.Now())
	m.mu.Unlock()
	data, err := json.Marshal(own)
	if err == nil {
		err = m.Bus.Publish(HeartbeatSubject(m.name()), data)
	}
	if err != nil {
		m.Log.Warn("the other members do not hear of this one", "err", err)
	}
}

// renew renews the leases until ctx ends.
func (m *Member) renew(ctx context.Context) {
	ticks := time.NewTicker(Every)
	defer ticks.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, Every)
		err := m.Leases.Renew(bounded)
		now, drains := time.Now(), []string(nil)
		if err == nil {
			drains, err = m.Leases.Drains(bounded)
			m.mu.Lock()
			if err == nil {
				m.drains = drains
			}
			if err == nil || !m.renewed.IsZero() { // who does not know yet whether it drains takes nothing
				m.renewed = now
			}
			m.mu.Unlock()
		}
		cancel()
		if err != nil {
			m.mu.Lock()
			m.late = now
			m.mu.Unlock()
		}
		switch was := m.away.Swap(err != nil); {
		case err != nil && !was && ctx.Err() == nil:
			m.Log.Warn("the database does not answer, without which no room can be had", "err", err)
		case err == nil && was:
			m.Log.Info("the database answers again")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// step takes the rooms that this member should have and that are free, and begins to give away those
// that others should have.
func (m *Member) step(ctx context.Context, status Status) {
	began := time.Now()
	for _, room := range m.decide(status, began) {
		if ctx.Err() != nil || time.Since(began) >= Every/2 { // the rest has time until the next step
			return
		}
		_, err := m.acquire(ctx, room, false)
		if held, is := errors.AsType[*HeldError](err); is {
			m.mu.Lock()
			m.retry[room] = time.Now().Add(held.Left)
			m.mu.Unlock()
		} else if err != nil {
			if !m.away.Load() {
				m.Log.Warn("a room could not be taken", "err", err)
			}
			return
		}
	}
}

// acquire takes a room and serves it, unless it is served already.
func (m *Member) acquire(ctx context.Context, room string, asked bool) (*Lease, error) {
	m.acquiring.Lock()
	defer m.acquiring.Unlock()
	m.mu.Lock()
	s, begin := m.serving[room], m.begin
	m.mu.Unlock()
	switch {
	case begin == nil:
		return nil, errNotRunning
	case s == nil:
	case s.lease.Valid():
		return s.lease, nil
	default:
		return nil, &HeldError{Room: room, Owner: m.Leases.owner} // until it has come to its end
	}
	bounded, cancel := context.WithTimeout(ctx, Every)
	defer cancel()
	lease, err := m.Leases.Acquire(bounded, room)
	if err == nil {
		m.mu.Lock()
		last, had := m.owned[room]
		delete(m.owned, room)
		m.mu.Unlock()
		if had && m.TakenOver != nil {
			m.TakenOver(time.Since(last))
		}
		begin(lease, asked)
	}
	return lease, err
}

// Take takes a room at once and serves it, whether or not it is one of [Status.Rooms], until Serve
// returns. It returns the lease that there is already if the member serves the room, and a [HeldError]
// while somebody else has it.
func (m *Member) Take(ctx context.Context, room string) (*Lease, error) {
	return m.acquire(ctx, room, true)
}

// Lease returns the lease of a room that is served here, or nil if it is not, or the lease is lost.
func (m *Member) Lease(room string) *Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.serving[room]; s != nil && s.lease.Valid() {
		return s.lease
	}
	return nil
}

// Owner returns the ID of the member that has a room, as far as is known here; "" if nobody has it. A
// room that is here may still be about to open, or to be handed over.
func (m *Member) Owner(room string) (id string, here bool) {
	if m.Lease(room) != nil {
		return m.Leases.owner, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	highest := int64(0)
	for _, b := range m.view.Present() {
		if fence := b.Rooms[room].Fence; fence > highest {
			id, highest = b.ID, fence
		}
	}
	return id, false
}

// Members returns the members that are present, this one among them, by their IDs.
func (m *Member) Members() []Heartbeat {
	status := m.Status()
	m.mu.Lock()
	defer m.mu.Unlock()
	all := append(m.view.Present(), m.own(status, time.Now()))
	slices.SortFunc(all, func(a, b Heartbeat) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (m *Member) name() string { return Heartbeat{ID: m.Leases.owner}.Name() }

// A Condition says whether a member has what it needs. While it does not run because it has no bus, the
// database counts as there.
type Condition struct {
	Database bool     // it answered in the last [TTL]
	Bus      bool     // what the member says came back in that time
	SameName bool     // in that time another member was heard of that has its name
	Drains   []string // the names of the members that are to drain, present or not
}

// Condition returns how this member is.
func (m *Member) Condition() Condition {
	m.mu.Lock()
	defer m.mu.Unlock()
	lately := func(t time.Time) bool { return time.Since(t) < TTL }
	return Condition{Database: m.begin == nil || lately(m.renewed), Bus: lately(m.echoed), SameName: lately(m.twin), Drains: m.drains}
}

// decide returns the rooms to take, and begins to give others away.
func (m *Member) decide(status Status, now time.Time) (take []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.view.Step(now, nil)
	own := m.own(status, now)
	ending := 0
	for room, s := range m.serving {
		if !s.asked && !slices.Contains(status.Rooms, room) {
			s.hand()
		}
		if s.ends {
			ending++
		}
	}
	maps.DeleteFunc(m.owned, func(_ string, last time.Time) bool { return now.Sub(last) >= Stay })
	for _, move := range Place(append(m.view.Present(), own), status.Rooms) {
		s := m.serving[move.Room]
		switch {
		case s != nil && !s.ends && move.To != own.ID && ending < maxHandovers:
			s.hand()
			ending++
		case s == nil && move.From == "" && move.To == own.ID && !now.Before(m.retry[move.Room]):
			take = append(take, move.Room)
		}
	}
	return take
}

// hand has a room come to its end, for another member to take. The mutex of the member must be held.
func (s *service) hand() {
	s.ends = true
	s.end(ErrHandover)
}

// serve serves a room.
func (m *Member) serve(ctx context.Context, lease *Lease, asked bool) {
	inner, end := context.WithCancelCause(ctx)
	s := &service{lease: lease, end: end, asked: asked}
	m.mu.Lock()
	m.serving[lease.Room], m.changed = s, true
	delete(m.retry, lease.Room)
	m.mu.Unlock()
	m.rooms.Go(func() {
		defer m.poke()
		var watching sync.WaitGroup
		watching.Go(func() {
			select {
			case <-lease.Lost():
				end(ErrLost)
			case <-inner.Done():
			}
		})
		m.Serve(inner, lease)
		end(nil)
		watching.Wait()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), Every)
		defer cancel()
		if err := m.Leases.Release(bounded, lease); err != nil {
			m.Log.Warn("a room could not be given up; its lease ends by itself", "err", err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.serving, lease.Room)
		m.changed = true
	})
}
