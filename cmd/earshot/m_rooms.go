package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/explain"
	"earshot/executive/remind"
	"earshot/executive/room"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/internal/discord/bot"
	"earshot/internal/transcript"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

const (
	// recall is how many events an agent goes on from: its dialogue is fifty
	// messages, and people come and go.
	recall = 256

	// lately is how many of the newest events of a room are looked at for what any
	// of its agents may see: some are between people, or of no agent that is there.
	lately = 512

	// edits is how many of what was changed in a scene are looked at, however old: an
	// entry holds as long as it is among the newest of its field.
	edits = 4096
)

// scenery is of how many events of each kind a scene is made, however old: it holds
// sixteen of most, and some are between people.
var scenery = map[earshot.Kind]int{
	earshot.KindMessage: recall, earshot.KindUtterance: recall, earshot.KindReply: lately,
	earshot.KindMemo: recall, earshot.KindFinding: recall, earshot.KindEdit: edits,
	earshot.KindWhose: recall, earshot.KindSight: recall,
}

// A roomEntry is a room, and what the configuration says of it.
type roomEntry struct {
	*room.Room
	is executive.Room

	*roomLease // of one that was opened while the house runs; else nil
}

// rooms are all there are, the desk first.
type rooms []roomEntry

// find returns the room that is called id; the desk if nothing is.
func (r rooms) find(id earshot.RoomID) (roomEntry, bool) {
	i := slices.IndexFunc(r, func(c roomEntry) bool { return c.is.ID == cmp.Or(id, earshot.Desk) })
	if i < 0 {
		return roomEntry{}, false
	}
	return r[i], true
}

// furnish makes the rooms, each with what was said there before.
func (d *daemon) furnish(ctx context.Context) (rooms, error) {
	var all rooms
	for _, is := range d.config().Rooms.All() {
		c, err := d.newRoomEntry(ctx, is)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// newRoomEntry makes a room, with what was said there before.
func (d *daemon) newRoomEntry(ctx context.Context, is executive.Room) (roomEntry, error) {
	past, err := d.past(ctx, is.ID)
	if err != nil {
		return roomEntry{}, fmt.Errorf("reading the history of the room %s: %w", is.ID, err)
	}
	now := func() executive.Room { // it may be called otherwise, and be for others
		if c, ok := d.rooms.now().find(is.ID); ok {
			return c.is
		}
		return is
	}
	agenda, err := d.agenda(ctx, is.ID)
	if err != nil {
		return roomEntry{}, fmt.Errorf("reading what is still to be said in the room %s: %w", is.ID, err)
	}
	return roomEntry{is: is, Room: room.New(room.Config{
		Cameras: &d.eyes, // for the rooms of executive.sight.rooms
		ID:      is.ID, Settings: d.settings,
		People: d.people, Voices: d.voices.Registry, Journal: d.store, Model: &d.llm, Past: past, Agenda: agenda, Works: d.working, Parts: d.health.List, Took: d.took, Dropped: d.counts.Dropped,
		Agents: func() []agents.Record { return d.book.In(is.ID) }, Order: d.order, Former: d.book.Former, Tools: d.tools(), Spawner: d.book,
		Reach: func(who earshot.ParticipantID, e earshot.Event) { d.reach(now(), who, e) },
		Recall: func(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
			return d.recall(ctx, is.ID, agent)
		},
		Event: func(ctx context.Context, id earshot.EventID) (earshot.Event, bool, error) {
			return d.store.Event(ctx, is.ID, id)
		},
		Scenery:   func(ctx context.Context) ([]earshot.Event, error) { return d.scenery(ctx, is.ID) },
		Corrected: d.corrected,
		Erased:    d.erased,
		Enters:    func(p participants.Participant) error { return d.gate.MayBeIn(p, now()) },
		Lasts:     is.Provider == access.Discord,
		Commands:  d.commandsIn(is),
		Decided:   func(a earshot.Audience) explain.Journal { return d.store.For(a) },
		Reader:    reader, Now: time.Now, NewID: d.id, Log: d.log.With("room", is.ID),
	})}, nil
}

// past returns what a room goes on from: the newest events, the mode that it was
// left in, what its scene is made of, and the dialogue of the main agent.
// The others read theirs when they wake, so that it costs nothing that they are many.
func (d *daemon) past(ctx context.Context, id earshot.RoomID) ([]earshot.Event, error) {
	var all []earshot.Event
	var faults []error
	take := func(some []earshot.Event, err error) { all, faults = append(all, some...), append(faults, err) }
	take(d.store.Lately(ctx, id, "", lately, d.anybody(id)...))
	take(d.scenery(ctx, id))
	take(d.store.For(earshot.Audience{Room: id}).Last(ctx, []earshot.Kind{earshot.KindMode}, 1))
	take(d.store.For(earshot.Audience{Room: id}).Last(ctx, []earshot.Kind{earshot.KindSnooze}, 1))
	take(d.recall(ctx, id, d.book.Main(id).ID))
	return store.Merge(all), errors.Join(faults...)
}

// anybody returns each of the agents of a room as an audience, and nobody: what is
// public is so although an agent is gone.
func (d *daemon) anybody(id earshot.RoomID) []earshot.Audience {
	all := []earshot.Audience{{Room: id}}
	for _, a := range d.book.In(id) {
		all = append(all, earshot.Audience{Room: id}.With(a.ID))
	}
	return all
}

// scenery returns what the scene of a room is made of.
func (d *daemon) scenery(ctx context.Context, id earshot.RoomID) (all []earshot.Event, err error) {
	for kind, many := range scenery {
		some, err := d.store.Lately(ctx, id, kind, many, d.anybody(id)...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return store.Merge(all), nil
}

// corrected is told that somebody has corrected what a part of the house noticed.
func (d *daemon) corrected(source string, _ earshot.Event) {
	d.log.Info("something that a sense reported was corrected", "part", source)
}

// agenda returns what is still to be said in a room, also if the agent is gone that
// set it.
func (d *daemon) agenda(ctx context.Context, id earshot.RoomID) (a remind.Agenda, err error) {
	err = d.store.Look(ctx, func(v earshot.View) (err error) {
		a, err = remind.Read(ctx, v, id)
		return err
	})
	return a, err
}

// recall returns what an agent goes on from in a room: what it has heard and said
// there. What is said aloud is counted apart, since people talk all day.
func (d *daemon) recall(ctx context.Context, id earshot.RoomID, agent earshot.ParticipantID) ([]earshot.Event, error) {
	reader := d.store.For(earshot.Audience{Room: id}.With(agent))
	written, err := reader.Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindReply, earshot.KindPresence}, recall)
	if err != nil {
		return nil, err
	}
	heard, err := reader.Last(ctx, []earshot.Kind{earshot.KindUtterance}, recall)
	if err != nil {
		return nil, err
	}
	replies, err := reader.Last(ctx, []earshot.Kind{earshot.KindReply}, recall) // one of which was cut off, perhaps
	if err != nil {
		return nil, err
	}
	whose, err := reader.Last(ctx, []earshot.Kind{earshot.KindWhose}, recall)
	return store.Merge(slices.Concat(written, heard, replies, whose)), err
}

// tools are what agents may have done besides what a room does for them.
func (d *daemon) tools() tool.Table {
	return append(d.eraser.Files.Tools(), tool.Recall(memory{d.store}, d.people.Name))
}

// workspaces are those of all agents.
func workspaces(cfg *config.Config) *workspace.Store {
	return &workspace.Store{Dir: cmp.Or(cfg.Executive.Tools.Workspace, filepath.Join(filepath.Dir(cfg.Store.Directory), "workspaces"))}
}

// A memory is a journal that can be searched.
type memory struct{ *store.Store }

// Search implements [tool.Memory].
func (m memory) Search(ctx context.Context, a earshot.Audience, query string, limit int) ([]earshot.Event, error) {
	r := m.For(a)
	found, err := r.Search(ctx, query, limit)
	if err != nil {
		return nil, err
	}
	known, err := transcript.ReadAttributions(ctx, r)
	return known.Apply(found), err
}

// reach shows somebody, in whichever other rooms they are, what an agent says to
// them in a room where they are not. What only they may see is for the terminals
// at which nobody else is, and so is all of it: it is of another room.
func (d *daemon) reach(from executive.Room, who earshot.ParticipantID, e earshot.Event) {
	reply, ok := e.Body.(earshot.Reply)
	said := cmp.Or(reply.Delivered(), reply.Offered) // nobody heard it where nobody is
	if !ok || said == "" || !e.Visibility.Allows(earshot.Audience{Room: from.ID, Members: []earshot.ParticipantID{who}}) {
		return
	}
	if p, known := d.people.Get(who); !known || p.Arrived() || d.gate.MayEnter(p, from.ID) != nil {
		return // whoever is known by a provider alone is where that is
	}
	n := earshot.Notice{
		Text: fmt.Sprintf("%s calls you in the room %s: %s", d.people.Name(e.Author), cmp.Or(from.Name, string(from.ID)), strings.TrimSpace(string(said))),
		Cure: "earshot chat --room " + string(from.ID),
	}
	for _, r := range d.rooms.now() {
		if r.is.ID != from.ID {
			r.TellAlone(who, n)
		}
	}
}

// commandsIn returns the commands that a room has beside those of its own.
func (d *daemon) commandsIn(is executive.Room) command.Table {
	kept := slices.Concat(d.forgetting(is), d.costTable(), d.modelTable(), d.reloading())
	if is.Provider != access.Discord {
		return kept
	}
	return append(kept, bot.Commands(d.discordBot.Load)...)
}

// Admit brings an event into its room, as a [providers.Emit] does; one that
// names none is the desk's.
func (d *daemon) Admit(ctx context.Context, e earshot.Event) error {
	r, ok := d.rooms.find(e.Room)
	if !ok {
		return access.NoRoom(e.Room, nil)
	}
	return r.Admit(ctx, e)
}

// StoreConfig returns how the journal of cfg is opened, for a daemon and for commands while none
// runs: with the views of it that packages besides the store keep.
func StoreConfig(cfg *config.Config) store.Config {
	c := cfg.Store
	c.Projections, c.Heeded, c.Unheeded = []earshot.Projection{agents.Projection{}, remind.Projection{}}, heeded, unheeded
	return c
}
