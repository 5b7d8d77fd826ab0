package main

import (
	"context"
	"time"

	"earshot"
	"earshot/store"
)

// forgetful gives the house what forgets.
func (d *daemon) forgetful() {
	files := workspaces(d.config())
	files.Closed = func(id earshot.RoomID) bool { r, ok := d.rooms.find(id); return !ok || !r.is.Open() }
	d.oblivion = &oblivion{
		dir: d.config().Store.Directory, store: d.store, people: d.Registry, voices: d.voices, files: files,
		tokens: tokensOf(d.config()), rooms: d.rooms.now, newID: d.id, log: d.log,
		own: func() *sayings {
			if e := d.embassy.Load(); e != nil {
				return e.own
			}
			return openSayings(d.config().Store.Directory, d.log) // of when there was one
		},
	}
}

// erased takes out of the files of agents what was made of events that somebody has taken
// back.
func (d *daemon) erased(gone []earshot.EventID) {
	is := make(map[earshot.EventID]bool, len(gone))
	for _, id := range gone {
		is[id] = true
	}
	if _, err := d.oblivion.files.Forget(func(id earshot.EventID) bool { return is[id] }); err != nil {
		d.log.Warn("what was made of something that was taken back may be left in the files of an agent", "err", err)
	}
}

// expires is how often it is looked for what is to be kept no longer.
const expires = time.Hour

// keeping finishes what an earlier earshot was to forget, and from then on forgets what is
// older than the configuration says, until ctx ends.
func (d *daemon) keeping(ctx context.Context) {
	if err := d.oblivion.finishes(ctx); err != nil && ctx.Err() == nil {
		d.report(earshot.Notice{Key: "forgetting", Text: "what was to be forgotten is not all forgotten: " + err.Error(), Cure: "restart earshot"})
	}
	for {
		d.expire(ctx)
		select {
		case <-time.After(expires):
		case <-ctx.Done():
			return
		}
	}
}

// expire forgets what is older than the configuration says, until somebody wants something
// forgotten at once; the rest goes the next time.
func (d *daemon) expire(ctx context.Context) {
	keep := d.config().Store.Retention
	if keep.Always() {
		return
	}
	ctx, yield := context.WithCancel(ctx)
	defer yield()
	d.oblivion.doing.Lock()
	defer d.oblivion.doing.Unlock()
	d.oblivion.yields.Store(&yield)
	defer d.oblivion.yields.Store(nil)
	var all []store.Doomed
	n, err := d.store.Expire(ctx, keep, time.Now(), func(some []store.Doomed) {
		all = append(all, some...)
		if err := d.oblivion.unposts(some); err != nil {
			d.log.Warn("what was posted on Discord of something old may be known on", "err", err)
		}
		d.oblivion.tell(ctx, some, nil)
	})
	if len(all) > 0 {
		if bad := d.oblivion.beside(all); err == nil {
			err = bad
		}
	}
	switch {
	case err != nil && ctx.Err() == nil:
		d.log.Warn("what is old could not all be forgotten", "err", err)
	case n > 0:
		d.log.Info("what is old is forgotten", "events", n)
	}
}
