package daemon

import (
	"context"
	"sync"
	"time"

	"earshot"
	"earshot/internal/wait"
)

// reloadEvery is the shortest time between two readings of all people.
const reloadEvery = time.Second

// exclude implements [participants.Setup.Exclude].
func (d *Daemon) exclude(ctx context.Context) (release func(), err error) {
	if d.cluster == nil {
		return func() {}, nil
	}
	return d.cluster.ExcludeOthers(ctx, d.store.CatchUp)
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
