package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/erase"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/discord/bot"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

type forgetCommand struct {
	identityFlags
	Who        string   `arg:"" optional:"" help:"Who: me, a name, an ID, or a handle such as discord:80351110224678912; everybody by default."`
	ID         []string `name:"id" help:"Only these events, as --json shows them." placeholder:"ID"`
	Since      string   `help:"Only what happened since: 10:00, 2h, 3d, 2027-01-31, or date and time separated by a space." placeholder:"WHEN"`
	Until      string   `help:"Only what happened before then." placeholder:"WHEN"`
	In         string   `help:"Only what happened in this room." placeholder:"ROOM"`
	Everything bool     `help:"Everything that ever happened."`
	DryRun     bool     `help:"Only show what would be forgotten."`
	Yes        bool     `help:"Do not ask for confirmation."`
	JSON       bool     `help:"Print it as JSON."`
}

// Run says what would be forgotten, asks, and forgets it: through the earshot that runs or,
// where none does, in the files themselves.
func (c forgetCommand) Run(a *app) error {
	f, err := c.asks(time.Now())
	if err != nil {
		return &verdict{misused, err}
	}
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	client, _, err := a.visit(cfg, c.identityFlags, "", a.enterAs(""))
	switch {
	case errors.Is(err, server.ErrNotRunning):
		if cfg, err = a.config(); err != nil {
			return err
		}
		return a.write(func(s *store.Store) error { return c.here(a, cfg, s, f) })
	case err != nil:
		return err
	}
	return c.with(a, f, func(f api.EraseRequest) (api.ErasePreview, error) { return client.Forget(a.ctx, f) })
}

// asks returns what is asked for.
func (c forgetCommand) asks(now time.Time) (f api.EraseRequest, err error) {
	f = api.EraseRequest{Who: c.Who, Room: earshot.RoomID(c.In), Everything: c.Everything}
	for _, id := range c.ID {
		f.Events = append(f.Events, earshot.EventID(id))
	}
	if f.From, err = erase.ParseTime(c.Since, now); err != nil {
		return f, err
	}
	f.To, err = erase.ParseTime(c.Until, now)
	return f, err
}

// here forgets in the files that no earshot holds.
func (c forgetCommand) here(a *app, cfg *config.Config, s *store.Store, f api.EraseRequest) error {
	book, err := agents.Read(a.ctx, s)
	if err != nil {
		return err
	}
	h, err := a.desk(cfg, c.identityFlags, book, s.For)
	if err != nil {
		return err
	}
	voices, err := speakers.Open(cfg.Store.Directory, cfg.Speakers)
	if err != nil {
		return err
	}
	o := &erase.Eraser{
		Dir: cfg.Store.Directory, Store: s, People: h.people, Voices: voices, Files: workspaces(cfg), Tokens: token.In(cfg.Store.Directory), NewID: store.NewIDs(), Log: quietly,
		ForgetPosts: func(turns map[earshot.TurnID]bool) error {
			return bot.OpenPostLog(cfg.Store.Directory, quietly).Forget(turns)
		},
		ForgetName: forgetIdentity, OnDiscord: access.IsChannel,
	}
	if err := o.Finish(a.ctx); err != nil {
		return err
	}
	return c.with(a, f, func(f api.EraseRequest) (api.ErasePreview, error) {
		if f.Digest == "" {
			return o.Preview(a.ctx, h.who, f)
		}
		p, err := o.Erase(a.ctx, h.who, f)
		if err == nil {
			err = o.Clean(a.ctx)
		}
		return p, err
	})
}

// with shows what would be forgotten, asks, and has it forgotten.
func (c forgetCommand) with(a *app, f api.EraseRequest, forget func(api.EraseRequest) (api.ErasePreview, error)) error {
	p, err := forget(f)
	if err != nil {
		return err
	}
	switch {
	case !c.JSON:
		fmt.Fprintln(a.printed(), terminal.Safe(erase.PreviewText(p)))
	case c.DryRun || erase.IsEmpty(p):
		if err := a.json(p); err != nil {
			return err
		}
	}
	switch {
	case erase.IsEmpty(p):
		return &verdict{code: notFound}
	case c.DryRun:
		return nil
	case !c.Yes:
		if err := a.agrees("It cannot be undone. Forget that?", "--yes"); err != nil {
			return err
		}
	}
	f.Digest = p.Digest
	if p, err = forget(f); err != nil {
		return err
	}
	if c.JSON {
		return a.json(p)
	}
	_, err = fmt.Fprintln(a.printed(), terminal.Safe(erase.ResultText(p)))
	return err
}

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
	// meant is how long somebody has to say that they mean what was shown.
	meant = 10 * time.Minute

	// mostMeant is how many of these are waited for.
	mostMeant = 64
)

// Previews are what people were shown that would be forgotten, by the word that says that it is
// meant.
type previews struct {
	mu  sync.Mutex
	all map[string]meaning
}

// A meaning is what somebody was shown.
type meaning struct {
	by    earshot.ParticipantID
	at    time.Time
	asked api.EraseRequest
}

// waits notes what somebody was shown, and returns the word that says that it is meant.
func (s *previews) waits(by earshot.ParticipantID, f api.EraseRequest, digest string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ string, m meaning) bool { return now.Sub(m.at) > meant || m.by == by })
	if s.all == nil || len(s.all) >= mostMeant {
		s.all = make(map[string]meaning)
	}
	_, word, _ := strings.Cut(digest, "-")
	f.Digest = digest
	s.all[word] = meaning{by, now, f}
	return word
}

// take returns what somebody means by a word.
func (s *previews) take(by earshot.ParticipantID, word string, now time.Time) (api.EraseRequest, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.all[word]
	if !ok || m.by != by || now.Sub(m.at) > meant {
		return api.EraseRequest{}, false
	}
	delete(s.all, word)
	return m.asked, true
}

const forgetForms = "/forget me | last | NAME | ID | since 10:00 | from 10:00 to 11:00, each with: here, or everywhere"

// forgetting is the command of a room that forgets.
func (d *daemon) forgetting(is executive.Room) command.Table {
	return command.Table{{
		Group: "What is kept", Name: "forget", Args: "me | last | …", Help: "forget what you said, or a time span; shows first what would go",
		Do: func(ctx context.Context, c command.Call) (string, error) { return d.forgets(ctx, is, c) },
	}}
}

// forgets answers /forget.
func (d *daemon) forgets(ctx context.Context, is executive.Room, c command.Call) (string, error) {
	words := strings.Fields(string(c.Args))
	now := time.Now()
	switch {
	case len(words) == 0:
		return "Write " + forgetForms + ". It first shows what would be forgotten.", nil
	case strings.EqualFold(words[0], "yes"):
		f, ok := d.shown.take(c.By.ID, strings.ToLower(strings.Join(words[1:], "")), now)
		if !ok {
			return "", errors.New("there is nothing to confirm: nothing was shown to you recently; write /forget and what, to see what would go")
		}
		p, err := d.eraser.Erase(ctx, c.By, f)
		if err != nil {
			return "", err
		}
		return erase.ResultText(p) + " The last traces will be gone from the files in a moment.", nil
	}
	f, err := d.meant(ctx, is, c, words, now)
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
	return erase.PreviewText(p) + "\nIt cannot be undone. If you mean it, write /forget yes " + d.shown.waits(c.By.ID, f, p.Digest, now), nil
}

// meant returns what somebody asks for in words.
func (d *daemon) meant(ctx context.Context, is executive.Room, c command.Call, words []string, now time.Time) (f api.EraseRequest, err error) {
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
		if f.Room == "" && !strings.HasSuffix(strings.Join(words, " "), "everywhere") { // of a time, what happened before their eyes
			f.Room = is.ID
		}
	case d.isEvent(ctx, is.ID, text):
		f.Events = []earshot.EventID{earshot.EventID(text)}
	default:
		f.Who = text
	}
	return f, nil
}

// isEvent reports whether an event of a room has an ID.
func (d *daemon) isEvent(ctx context.Context, in earshot.RoomID, id string) bool {
	_, known, err := d.store.Event(ctx, in, earshot.EventID(id))
	return err == nil && known
}

// lastOf returns what somebody wrote or said last in a room.
func (d *daemon) lastOf(ctx context.Context, in earshot.RoomID, who participants.Participant) (earshot.EventID, error) {
	people := d.people.Identities(who.ID)
	all, err := d.store.For(earshot.Audience{Room: in, Members: []earshot.ParticipantID{who.Reader()}}).Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindUtterance}, recall)
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
