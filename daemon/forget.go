package daemon

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/daemon/erase"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/discord/bot"
	"earshot/participants"
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

const (
	// previewLifetime is how long a preview can be confirmed.
	previewLifetime = 10 * time.Minute

	// mostPreviews is how many unconfirmed previews are kept.
	mostPreviews = 64
)

// forgetPreviews holds the previews that people were shown, by the word that confirms each.
type forgetPreviews struct {
	mu  sync.Mutex
	all map[string]forgetPreview
}

// A forgetPreview is a preview that somebody was shown.
type forgetPreview struct {
	by    earshot.ParticipantID
	at    time.Time
	asked api.EraseRequest
}

// waits records a preview, and returns the word that confirms it.
func (s *forgetPreviews) waits(by earshot.ParticipantID, f api.EraseRequest, digest string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ string, m forgetPreview) bool { return now.Sub(m.at) > previewLifetime || m.by == by })
	if s.all == nil || len(s.all) >= mostPreviews {
		s.all = make(map[string]forgetPreview)
	}
	_, word, _ := strings.Cut(digest, "-")
	f.Digest = digest
	s.all[word] = forgetPreview{by, now, f}
	return word
}

// take returns the preview that a word confirms.
func (s *forgetPreviews) take(by earshot.ParticipantID, word string, now time.Time) (api.EraseRequest, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[word]
	if !ok || m.by != by || now.Sub(m.at) > previewLifetime {
		return api.EraseRequest{}, false
	}
	delete(s.all, word)
	return m.asked, true
}

const forgetForms = "/forget me | last | NAME | ID | since 10:00 | from 10:00 to 11:00, each with: here, or everywhere"

// forgetTable is the command of a room that forgets.
func (d *Daemon) forgetTable(is executive.Room) command.Table {
	return command.Table{{
		Group: "What is kept", Name: "forget", Args: "me | last | …", Help: "forget what you said, or a time span; shows first what would go",
		Do: func(ctx context.Context, c command.Call) (string, error) { return d.forget(ctx, is, c) },
	}}
}

// forget answers /forget.
func (d *Daemon) forget(ctx context.Context, is executive.Room, c command.Call) (string, error) {
	words := strings.Fields(string(c.Args))
	now := time.Now()
	switch {
	case len(words) == 0:
		return "Write " + forgetForms + ". It first shows what would be forgotten.", nil
	case strings.EqualFold(words[0], "yes"):
		f, ok := d.previews.take(c.By.ID, strings.ToLower(strings.Join(words[1:], "")), now)
		if !ok {
			return "", errors.New("there is nothing to confirm: nothing was shown to you recently; write /forget and what, to see what would go")
		}
		p, err := d.eraser.Erase(ctx, c.By, f)
		if err != nil {
			return "", err
		}
		return erase.ResultText(p) + " The last traces will be gone from the files in a moment.", nil
	}
	f, err := d.parseForget(ctx, is, c, words, now)
	if err != nil {
		return "", err
	}
	p, err := d.eraser.Preview(ctx, c.By, f)
	if err != nil {
		return "", err
	}
	if erase.IsEmpty(p) {
		return erase.PreviewText(p), nil
	}
	return erase.PreviewText(p) + "\nIt cannot be undone. If you mean it, write /forget yes " + d.previews.waits(c.By.ID, f, p.Digest, now), nil
}

func (d *Daemon) parseForget(ctx context.Context, is executive.Room, c command.Call, words []string, now time.Time) (f api.EraseRequest, err error) {
	text := strings.Join(words, " ")
	for _, where := range []string{"here", "everywhere"} {
		if rest, ok := strings.CutSuffix(" "+text, " "+where); ok {
			text = strings.TrimSpace(rest)
			if where == "here" {
				f.Room = is.ID
			}
			break
		}
	}
	text, from, to := erase.CutSpan(text)
	if f.From, err = erase.ParseTime(from, now); err != nil {
		return f, err
	}
	if f.To, err = erase.ParseTime(to, now); err != nil {
		return f, err
	}
	text = strings.Trim(text, `"`)
	switch {
	case text == "everything":
		f.Everything = true
	case text == "last":
		f.Who = "me"
		last, err := d.lastOf(ctx, is.ID, c.By)
		f.Events = []earshot.EventID{last}
		return f, err
	case text == "" && f.From.IsZero() && f.To.IsZero() && f.Room == "":
		return f, errors.New("write " + forgetForms)
	case text == "":
		if f.Room == "" && !strings.HasSuffix(strings.Join(words, " "), "everywhere") { // a time means what happened in the person's own room
			f.Room = is.ID
		}
	case d.isEvent(ctx, is.ID, text):
		f.Events = []earshot.EventID{earshot.EventID(text)}
	default:
		f.Who = text
	}
	return f, nil
}

func (d *Daemon) isEvent(ctx context.Context, in earshot.RoomID, id string) bool {
	_, known, err := d.store.Event(ctx, in, earshot.EventID(id))
	return err == nil && known
}

// lastOf returns the last event that somebody wrote or said in a room.
func (d *Daemon) lastOf(ctx context.Context, in earshot.RoomID, who participants.Participant) (earshot.EventID, error) {
	people := d.people.Identities(who.ID)
	all, err := d.store.For(earshot.Audience{Room: in, Members: []earshot.ParticipantID{who.Reader()}}).Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindUtterance}, recallLimit)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(all) {
		if slices.Contains(people, e.Author) {
			return e.ID, nil
		}
	}
	return "", errors.New("you have said nothing here recently")
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
	if d.Config().Cluster.Name != "" {
		d.eraser.Tell = d.tellErased
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
		if d.hasDesk() {
			d.eraser.Expire(ctx, d.Config().Store.Retention, d.loosenFiles(ctx))
		}
		select {
		case <-time.After(expires):
		case <-ctx.Done():
			return
		}
	}
}

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
