package daemon

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/daemon/erase"
	"earshot/executive/room"
	"earshot/internal/discord/bot"
	"earshot/server/token"
)

// openEraser gives the daemon what forgets.
func (d *Daemon) openEraser() {
	files := Workspaces(d.Config())
	files.Closed = func(id earshot.RoomID) bool { r, ok := d.rooms.find(id); return !ok || !r.is.Open() }
	d.eraser = &erase.Eraser{
		Dir: d.Config().Store.Directory, Store: d.store, People: d.people, Voices: d.voices.Registry, Files: files,
		Tokens: token.In(d.Config().Store.Directory), Rooms: d.erasable, NewID: d.id, Log: d.log,
		ForgetPosts: func(turns map[earshot.TurnID]bool) error {
			if e := d.discordBot.Load(); e != nil {
				return e.Forget(turns)
			}
			return bot.OpenPostLog(d.Config().Store.Directory, d.log).Forget(turns) // of when there was one
		},
		ForgetName: d.options.ForgetName, OnDiscord: access.IsChannel,
	}
}

// erasable returns the rooms as the eraser wants them.
func (d *Daemon) erasable() (all []erase.Room) {
	for _, c := range d.rooms.now() {
		all = append(all, erase.Room{Room: c.Room, ID: c.is.ID, Name: c.is.Name})
	}
	return all
}

// erased takes out of the files of agents what was made of events that somebody has taken
// back.
func (d *Daemon) erased(gone []earshot.EventID) {
	is := make(map[earshot.EventID]bool, len(gone))
	for _, id := range gone {
		is[id] = true
	}
	if _, err := d.eraser.Files.Forget(func(id earshot.EventID) bool { return is[id] }); err != nil {
		d.log.Warn("files of an agent may still contain something made from a message that was taken back", "err", err)
	}
}

// expires is how often it is looked for what is to be kept no longer.
const expires = time.Hour

// expire finishes what an earlier earshot was to forget, and from then on forgets what is
// older than the configuration says, until ctx ends.
func (d *Daemon) expire(ctx context.Context) {
	if err := d.eraser.Finish(ctx); err != nil && ctx.Err() == nil {
		d.report(earshot.Notice{Key: "forgetting", Text: "a deletion is not complete: " + err.Error(), Cure: "restart earshot"})
	}
	for {
		d.eraser.Expire(ctx, d.Config().Store.Retention, d.loosenFiles(ctx))
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

// loosenFiles returns what is done before something overheard is erased: the replies that are
// under way, in whose prompt it may stand, are waited for, and files are no longer known to
// rest on it, of what was written for somebody.
func (d *Daemon) loosenFiles(ctx context.Context) func([]earshot.EventID) error {
	return func(ids []earshot.EventID) error {
		await(ctx, longestSpeech, func() bool {
			return !slices.ContainsFunc(d.rooms.now(), func(c roomEntry) bool { return !c.Still() })
		})
		is := make(map[earshot.EventID]bool, len(ids))
		for _, id := range ids {
			is[id] = true
		}
		return d.eraser.Files.Loosen(func(id earshot.EventID) bool { return is[id] })
	}
}
