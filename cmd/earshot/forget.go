package main

import (
	"fmt"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon"
	"earshot/daemon/access"
	"earshot/daemon/erase"
	"earshot/internal/discord/bot"
	"earshot/internal/login"
	"earshot/internal/terminal"
	"earshot/participants/agents"
	"earshot/server/client"
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
	return a.either(c.identityFlags, func(running *client.Client) error {
		return c.with(a, f, func(f api.EraseRequest) (api.ErasePreview, error) { return running.Forget(a.ctx, f) })
	}, func(cfg *config.Config) error {
		return a.write(func(s *store.Store) error { return c.here(a, cfg, s, f) })
	})
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
		Dir: cfg.Store.Directory, Store: s, People: h.people, Voices: voices, Files: daemon.Workspaces(cfg), Tokens: token.In(cfg.Store.Directory), NewID: store.NewIDs(), Log: quietly,
		ForgetPosts: func(turns map[earshot.TurnID]bool) error {
			return bot.OpenPostLog(cfg.Store.Directory, quietly).Forget(turns)
		},
		ForgetName: login.Forget, OnDiscord: access.IsChannel,
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
