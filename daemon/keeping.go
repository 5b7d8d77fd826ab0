package daemon

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/daemon/erase"
	"earshot/executive/decision"
	"earshot/executive/unasked"
	"earshot/internal/discord/bot"
	"earshot/server/token"
)

// openEraser makes the eraser of the daemon.
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
			return bot.OpenPostLog(d.Config().Store.Directory, d.log).Forget(turns) // left by an earlier run with a bot
		},
		ForgetName: d.options.ForgetName, OnDiscord: access.IsChannel,
	}
}

// erasable returns the rooms in the form that the eraser uses.
func (d *Daemon) erasable() (all []erase.Room) {
	for _, c := range d.rooms.now() {
		all = append(all, erase.Room{Room: c.Room, ID: c.is.ID, Name: c.is.Name})
	}
	return all
}

// erased removes from the files of agents what was made of events that were taken back.
func (d *Daemon) erased(gone []earshot.EventID) {
	if _, err := d.eraser.Files.Forget(erase.Among(gone)); err != nil {
		d.log.Warn("files of an agent may still contain something made from a message that was taken back", "err", err)
	}
}

// expires is how often expired events are looked for.
const expires = time.Hour

// expire completes an interrupted request to forget, and then forgets what is older than the
// configuration allows, until ctx ends.
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

// Decisions about what was said: after heeded ones an agent stays silent and has used it
// nevertheless; unheeded ones are about something else.
var (
	heeded   = []string{decision.Commanded, decision.Murmured}
	unheeded = []string{unasked.NewVoice}
)

// loosenFiles returns a function that is called before an overheard event is erased: it waits for
// running replies whose prompt may contain the event, and removes the event as a source of files
// that were written for somebody.
func (d *Daemon) loosenFiles(ctx context.Context) func([]earshot.EventID) error {
	return func(ids []earshot.EventID) error {
		await(ctx, longestSpeech, func() bool {
			return !slices.ContainsFunc(d.rooms.now(), func(c roomEntry) bool { return !c.Still() })
		})
		return d.eraser.Files.Loosen(erase.Among(ids))
	}
}
