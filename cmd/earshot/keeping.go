package main

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/server/token"
	"earshot/store"
)

// forgetful gives the house what forgets.
func (d *daemon) forgetful() {
	files := workspaces(d.config())
	files.Closed = func(id earshot.RoomID) bool { r, ok := d.rooms.find(id); return !ok || !r.is.Open() }
	d.oblivion = &eraser{
		dir: d.config().Store.Directory, store: d.store, people: d.Registry, voices: d.voices, files: files,
		tokens: token.In(d.config().Store.Directory), rooms: d.rooms.now, newID: d.id, log: d.log,
		own: func() *sayings {
			if e := d.discordBot.Load(); e != nil {
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

// Of what is decided about something that was said: for heeded an agent keeps silent and has
// heeded it all the same, for unheeded it speaks of something else.
var (
	heeded   = []string{room.Commanded, room.Murmured}
	unheeded = []string{room.NewVoice}
)

// loosens returns what is done before something overheard is erased: the replies that are
// under way, in whose prompt it may stand, are waited for, and files are no longer known to
// rest on it, of what was written for somebody.
func (d *daemon) loosens(ctx context.Context) func([]earshot.EventID) error {
	return func(ids []earshot.EventID) error {
		wait(ctx, longestSpeech, func() bool {
			return !slices.ContainsFunc(d.rooms.now(), func(c roomEntry) bool { return !c.Still() })
		})
		is := make(map[earshot.EventID]bool, len(ids))
		for _, id := range ids {
			is[id] = true
		}
		return d.oblivion.files.Loosen(func(id earshot.EventID) bool { return is[id] })
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
	each := func(some []store.Doomed) {
		all = append(all, some...)
		if err := d.oblivion.unposts(some); err != nil {
			d.log.Warn("what was posted on Discord of something old may be known on", "err", err)
		}
		d.oblivion.tell(ctx, some, nil)
	}
	n, err := d.store.Expire(ctx, keep, time.Now(), each)
	if err == nil && keep.Overheard > 0 {
		var more int
		more, err = d.store.Lapse(ctx, time.Now().Add(-time.Duration(keep.Overheard)*time.Hour), d.loosens(ctx), each)
		n += more
	}
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
