package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/field"
	"earshot/internal/login"
	"earshot/internal/transcript"
	"earshot/participants"
	"earshot/server"
	"earshot/store"
)

// A reading is as whom somebody reads, and which room.
type reading struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
}

type historyCommand struct {
	reading
	Number int  `short:"n" default:"20" help:"How many messages, replies and announcements."`
	JSON   bool `help:"Print the events as JSON, one per line."`
}

// Run shows what was said of late.
func (h historyCommand) Run(a *app) error {
	return a.read(h.reading, func(r searcher, name func(earshot.ParticipantID) string) error {
		events, err := r.Last(a.ctx, transcript.Told, max(1, h.Number))
		if err != nil {
			return err
		}
		seen, err := r.Last(a.ctx, []earshot.Kind{earshot.KindSight}, max(1, h.Number))
		if err != nil {
			return err
		}
		events = transcript.MergeSeen(events, seen, max(1, h.Number))
		return a.transcript(r, slices.DeleteFunc(events, transcript.IsHousekeeping), h.JSON, name, "Nothing has been said yet.")
	})
}

// read reads what has happened as somebody may see it: in the journal, whether or not earshot
// runs, or from an earshot that is asked.
func (a *app) read(as reading, use func(r searcher, name func(earshot.ParticipantID) string) error) error {
	ask := func() error {
		there, _, err := a.away(as)
		if err != nil {
			return err
		}
		return use(there, there.names.Name)
	}
	if a.asks() {
		return ask()
	}
	return overDamage(a.journal(as, func(r journalPast) error { return use(r, r.people.Name) }), ask)
}

// overDamage returns err of who has read the journal, unless the earshot that runs can be asked
// the same where it is damaged: it knows of no damage but what it comes upon itself, and mends
// the file then.
func overDamage(err error, ask func() error) error {
	if errors.Is(err, store.ErrDamaged) && ask() == nil {
		return nil
	}
	return err
}

// journal opens the journal as somebody may see it.
func (a *app) journal(as reading, use func(journalPast) error) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	archive, err := a.archive(cfg)
	if err != nil {
		return err
	}
	defer archive.Close()
	people, around, err := a.reader(cfg, archive, as)
	if err != nil {
		return err
	}
	return use(journalPast{archive.For(around), people, around.Members[0]})
}

// archive opens the journal for reading.
func (a *app) archive(cfg *config.Config) (*store.Archive, error) {
	archive, err := store.OpenReader(a.ctx, cfg.Store)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &verdict{notFound, fmt.Errorf("there is no journal yet in %s; the first run creates it: earshot run", config.ShortPath(cfg.Store.Place()))}
	}
	return archive, err
}

// reader returns who exists, and who reads.
func (a *app) reader(cfg *config.Config, archive *store.Archive, as reading) (*participants.Registry, earshot.Audience, error) {
	read := *cfg // whoever reads is somebody who is known
	read.ExternalActors.AllowDynamicCreation, read.ExternalActors.AllowAnonymous = false, false
	account, user := access.Self()
	people, err := access.RegistryBuilder{Config: &read, Account: account, Name: user, NewID: store.NewIDs()}.BuildFrom(a.ctx, archive)
	if err != nil {
		return nil, earshot.Audience{}, err
	}
	g := access.NewGate(cfg, people)
	p := login.Prompt{Known: people.Known(), Own: people.Resolve(account).ID}
	var around earshot.Audience
	p.Claim = func(ctx context.Context, name string, secret field.Secret) error {
		_, around, err = g.Identify(ctx, account, server.Claim{Name: name, Room: as.Room, Token: secret})
		return err
	}
	_, _, err = a.enterAs("")(a.ctx, as.identityFlags, p)
	return people, around, err
}

// later returns whose voices turned out to be whose after events, and what answers them. None says
// that there are no events, which is an error.
func (a *app) later(r transcript.Source, events []earshot.Event, none string) (known transcript.Attributions, answered transcript.Citations, err error) {
	if len(events) == 0 {
		return nil, nil, &verdict{notFound, errors.New(none)}
	}
	if known, err = transcript.ReadAttributions(a.ctx, r); err == nil {
		answered, err = transcript.ReadCitations(a.ctx, r, events)
	}
	return known, answered, err
}

// transcript prints events, for people or for programs: of what was said aloud also whose
// it turned out to be later.
func (a *app) transcript(r transcript.Source, events []earshot.Event, asJSON bool, name func(earshot.ParticipantID) string, none string) error {
	known, answered, err := a.later(r, events, none)
	if err != nil {
		return err
	}
	beside := transcript.FindOverlaps(known.Apply(events))
	for _, e := range transcript.InOrder(events) {
		later, revised := known[e.ID]
		switch {
		case asJSON && revised:
			err = errors.Join(json.NewEncoder(a.out).Encode(e), json.NewEncoder(a.out).Encode(later))
		case asJSON:
			err = json.NewEncoder(a.out).Encode(e)
		default:
			transcript.Print(a.printed(), answered.Mark(beside.Mark(known.Mark(e, name), name), name), name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
