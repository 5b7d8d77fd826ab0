package daemon

import (
	"cmp"
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/daemon/devices"
	"earshot/daemon/erase"
	"earshot/executive/record"
	"earshot/internal/discord/bot"
	"earshot/internal/wait"
	"earshot/server"
	"earshot/server/token"
)

// Forget implements [server.Admin].
func (h backend) Forget(ctx context.Context, by server.Principal, f api.EraseRequest) (api.ErasePreview, error) {
	if f.Digest == "" {
		return h.daemon.eraser.Preview(ctx, by.Participant, f)
	}
	p, err := h.daemon.eraser.Erase(ctx, by.Participant, f)
	if err == nil {
		err = h.daemon.eraser.Clean(ctx)
	}
	return p, err
}

func (d *Daemon) openEraser() {
	files := Workspaces(d.Config())
	files.Closed = func(id earshot.RoomID) bool {
		is, found := d.findRoom(cmp.Or(id, earshot.Desk))
		return !found || !is.Open()
	}
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
	d.forget.Eraser = d.eraser
}

// erasable returns the rooms in the form that the eraser uses, once those are among them that are beginning:
// they may have read already what is erased by now.
func (d *Daemon) erasable() (all []erase.Room) {
	d.beginning.Lock()
	defer d.beginning.Unlock()
	for _, c := range d.rooms.Now() {
		all = append(all, erase.Room{Room: c.Room, ID: c.Is.ID, Name: c.Is.Name})
	}
	return all
}

// erased removes from the files of agents what was made of events that were taken back.
func (d *Daemon) erased(gone []earshot.EventID) {
	if _, err := d.eraser.Files.Forget(record.Among(gone)); err != nil {
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
		if d.hasDesk() {
			d.eraser.Expire(ctx, d.Config().Store.Retention, d.loosenFiles(ctx))
		}
		if !wait.For(ctx, expires) {
			return
		}
	}
}

// loosenFiles returns a function that is called before an overheard event is erased: it waits for
// running replies whose prompt may contain the event, and removes the event as a source of files
// that were written for somebody.
func (d *Daemon) loosenFiles(ctx context.Context) func([]earshot.EventID) error {
	return func(ids []earshot.EventID) error {
		wait.Until(ctx, devices.LongestSpeech, func() bool {
			return !slices.ContainsFunc(d.rooms.Now(), func(c roomEntry) bool { return !c.Room.Still() })
		})
		return d.eraser.Files.Loosen(record.Among(ids))
	}
}
