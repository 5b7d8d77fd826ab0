package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/cluster"
	"earshot/internal/wait"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/reconnect"
)

// takingOver measures how long a room says nothing after kill -9 of the daemon that has it: somebody there, at a
// terminal of another daemon, asks something at that moment. The bare thing is how long the lease still
// lasts that nobody renews, which a client of the database sees who does nothing else.
func takingOver(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutPostgres("takeover"); rows != nil {
		return rows, nil
	}
	t, err := b.startTrio(ctx, 2)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	var all [3][]float64 // until a question is acknowledged, until its answer is read, until the lease ends
	for range min(b.rounds, 30) {
		took, err := t.takeover(ctx, t.rooms[0])
		if err != nil {
			return nil, err
		}
		for i, d := range took {
			all[i] = append(all[i], milliseconds(d))
		}
	}
	note := fmt.Sprintf("%d times, three daemons with servers of the bus; bare: the lease ends that the owner last renewed, of %v", len(all[0]), cluster.TTL)
	bare := spread(all[2])
	return []Row{
		row("kill -9 of an owner → the next question is acknowledged", "ms", spread(all[0]), bare, note),
		row("kill -9 of an owner → its answer is read", "ms", spread(all[1]), bare, note).goal("p99", spread(all[1]).P99, 5000),
	}, nil
}

// takeover kills the daemon that has a room, and returns how long everything took. In the end the daemon is
// there again.
func (t *trio) takeover(ctx context.Context, room earshot.RoomID) (took [3]time.Duration, err error) {
	var owner string
	if err := t.db.QueryRowContext(ctx, "SELECT owner FROM room_leases WHERE room = ?", string(room)).Scan(&owner); err != nil {
		return took, err
	}
	name, _, _ := strings.Cut(owner, ".")
	i := slices.Index(members, name)
	if i < 0 {
		return took, fmt.Errorf("%s belongs to %q", room, owner)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	p := &patron{there: make(chan struct{}), ask: make(chan struct{}), kept: make(chan time.Time, 1), read: make(chan time.Time, 1)}
	ctx, leave := beside(ctx, func(ctx context.Context) error {
		for {
			err := reconnect.Attach(ctx, t.at((i+1)%len(members), room), p, p, new(attach.Names), func(error) {})
			if _, later := errors.AsType[*client.Failure](err); !later { // the room has an owner, and may not have begun
				return err
			}
		}
	})
	defer func() { err = errors.Join(err, leave()) }()
	select {
	case <-p.there:
	case <-ctx.Done():
		return took, context.Cause(ctx)
	}
	if !wait.For(ctx, rand.N(cluster.Every)) { // nothing is in step with the renewals
		return took, context.Cause(ctx)
	}
	killed := time.Now()
	t.kill(i)
	close(p.ask)
	for holds := true; holds; {
		if err := t.db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM room_leases WHERE room = ? AND owner = ? AND until > clock_timestamp()", string(room), owner).Scan(&holds); err != nil {
			return took, err
		}
	}
	took[2] = time.Since(killed)
	for k, at := range []chan time.Time{p.kept, p.read} {
		select {
		case at := <-at:
			took[k] = at.Sub(killed)
		case <-ctx.Done():
			return took, context.Cause(ctx)
		}
	}
	if err := t.start(ctx, i); err != nil {
		return took, err
	}
	return took, t.settle(ctx)
}

// A patron is somebody at a terminal who asks one thing.
type patron struct {
	there, ask chan struct{}
	kept, read chan time.Time
}

// Name implements [earshot.Outlet] and [providers.Provider].
func (*patron) Name() string { return "console" }

// Run implements [providers.Provider].
func (p *patron) Run(ctx context.Context, emit providers.Emit) error {
	close(p.there)
	select {
	case <-p.ask:
	case <-ctx.Done():
		return nil
	}
	question := earshot.Event{ID: newID(), Body: earshot.Message{Text: "how is it?"}}
	for emit(ctx, question) != nil && ctx.Err() == nil { // as a person does who is told that it went wrong
	}
	p.kept <- time.Now()
	<-ctx.Done()
	return nil
}

// Open implements [earshot.Outlet].
func (p *patron) Open(_ context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return &patronsAnswer{sunk{heard: heard}, p}, nil
}

// A patronsAnswer is what the patron reads.
type patronsAnswer struct {
	sunk
	to *patron
}

// Say implements [earshot.Speaking].
func (a *patronsAnswer) Say(c earshot.Clause) error {
	select {
	case a.to.read <- time.Now():
	default: // it is a later clause
	}
	return a.sunk.Say(c)
}
