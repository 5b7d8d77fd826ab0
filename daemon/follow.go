package daemon

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/internal/wait"
)

const (
	// peopleKey is the key of the lock in the database under which one daemon at a time decides who there
	// is: "people" in ASCII.
	peopleKey = 0x70656f706c65

	// longestExclusion is how long somebody waits for other daemons that decide who there is.
	longestExclusion = 5 * time.Second

	// reloadEvery is the shortest time between two readings of all people.
	reloadEvery = time.Second
)

// excludeOthers takes the lock. A machine that is switched off with it has lost it after 20 s, rather than the two hours
// after which the database would notice by itself.
const excludeOthers = `SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '5', false),
	set_config('tcp_keepalives_count', '3', false), pg_advisory_lock(?)`

// exclude implements [participants.Setup.Exclude].
func (d *Daemon) exclude(ctx context.Context) (release func(), err error) {
	if d.cluster == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, longestExclusion, errors.New("another daemon is deciding who there is, or the database does not answer; try again"))
	defer cancel()
	select { // of many who wait here one needs a connection, or they would keep the leases from being renewed
	case d.cluster.deciding <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	conn, err := d.cluster.DB.Conn(ctx)
	if err != nil {
		<-d.cluster.deciding
		return nil, err
	}
	if _, err = conn.ExecContext(ctx, excludeOthers, int64(peopleKey)); err == nil {
		err = d.store.CatchUp(ctx)
	}
	release = func() {
		defer func() { <-d.cluster.deciding }()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestExclusion)
		defer cancel()
		_, err := conn.ExecContext(bounded, "SELECT pg_advisory_unlock_all()")
		if err != nil { // a connection that has the lock must not be used again
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close()
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// followOthers has what is kept in memory follow what other daemons put on record, until ctx ends.
func (d *Daemon) followOthers(ctx context.Context) {
	var reloading sync.WaitGroup
	defer reloading.Wait()
	named := make(chan struct{}, 1)
	reload := func() {
		select {
		case named <- struct{}{}:
		default:
		}
	}
	reloading.Go(func() { d.reloadPeople(ctx, named, reload) })
	reloading.Go(func() { d.peers.Hear(ctx) })
	reloading.Go(func() { d.peers.Run(ctx, reload) })
	d.store.Follow(ctx, func(events []earshot.Event) {
		if d.take(events) {
			reload()
		}
	}, d.peers.Add)
}

// followed are the kinds of events of other daemons that matter here.
var followed = []earshot.Kind{earshot.KindActor, earshot.KindAgent, earshot.KindTask, earshot.KindStep, earshot.KindSchedule}

// take takes in events that another daemon has put on record, and reports whether agents have got other
// names.
func (d *Daemon) take(events []earshot.Event) (named bool) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case earshot.Actor:
			d.people.Apply(b)
		case earshot.Agent:
			named = d.agents.Take(b) || named
		case earshot.Task, earshot.Step:
			d.tasks.Wake()
		case earshot.Schedule:
			d.schedules.Wake()
		}
	}
	return named
}

// reloadPeople reads anew who there is whenever agents have got other names, until ctx ends. If that fails, it
// calls again.
func (d *Daemon) reloadPeople(ctx context.Context, named <-chan struct{}, again func()) {
	for {
		select {
		case <-named:
		case <-ctx.Done():
			return
		}
		err := d.eraser.ReviewPeople(func() error { return d.reconfigurePeople(ctx, d.Config()) })
		if err != nil && ctx.Err() == nil {
			d.log.Warn("who there is at other daemons is not known yet", "err", err)
			again()
		}
		for _, c := range d.rooms.Now() {
			c.Room.Reseat()
		}
		wait.For(ctx, reloadEvery)
	}
}
