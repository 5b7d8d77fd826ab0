package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

const (
	// recall is how many events a room goes on from: the dialogue of a seat is
	// fifty messages, each with a decision beside it. What is part of dialogues
	// counts for itself: a turn may use many tools, and people who talk to each
	// other say much.
	recall = 256

	// memos is how many of what an agent is to keep in mind a room goes on
	// from, however old: as many as a scene holds.
	memos = 16

	// reminders is how many events about reminders a room goes on from, however
	// old: each is set, and said or given up, within a year.
	reminders = 4096
)

// A chamber is a room, and what the configuration says of it.
type chamber struct {
	*room.Room
	is executive.Room
}

// rooms are all there are, the desk first.
type rooms []chamber

// find returns the room that is called id; the desk if nothing is.
func (r rooms) find(id earshot.RoomID) (chamber, bool) {
	i := slices.IndexFunc(r, func(c chamber) bool { return c.is.ID == cmp.Or(id, earshot.Desk) })
	if i < 0 {
		return chamber{}, false
	}
	return r[i], true
}

// furnish makes the rooms, each with what was said there before.
func (d *daemon) furnish(ctx context.Context) (rooms, error) {
	var all rooms
	tools := d.tools()
	for _, is := range d.cfg.Rooms.All() {
		past, err := d.past(ctx, is.ID)
		if err != nil {
			return nil, fmt.Errorf("remembering what was said in the room %s: %w", is.ID, err)
		}
		all = append(all, chamber{is: is, Room: room.New(room.Config{
			ID: is.ID, Settings: func() executive.Config { return d.cfg.Executive },
			People: d.Registry, Journal: d.store, Model: d.llm, Past: past, Works: d.working,
			Agents: func() []agents.Record { return d.book.In(is.ID) }, Order: d.order, Tools: tools, Staff: d.book,
			Reach: func(who earshot.ParticipantID, e earshot.Event) { d.reach(is, who, e) },
			Recall: func(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
				return d.recall(ctx, is.ID, agent)
			},
			Enters: func(p participants.Participant) error { return d.gate.enters(p, is.ID) },
			Reader: reader, Now: time.Now, NewID: d.id, Log: d.log.With("room", is.ID),
		})})
	}
	return all, nil
}

// past returns what a room goes on from: what its agents do, the newest events, the
// mode that it was left in, what they are to keep in mind, and what people are to be
// reminded of, also if the agent is gone that set it.
func (d *daemon) past(ctx context.Context, id earshot.RoomID) (events []earshot.Event, err error) {
	var more []earshot.Event
	last := func(a earshot.Audience, most int, kinds ...earshot.Kind) {
		if err == nil {
			more, err = d.store.For(a).Last(ctx, kinds, most)
			events = append(events, more...)
		}
	}
	here := earshot.Audience{Room: id}
	last(here, recall) // what no agent is kept from
	for _, a := range d.book.In(id) {
		last(here.With(a.ID), recall)
		last(here.With(a.ID), 1, earshot.KindMode)
		last(here.With(a.ID), memos, earshot.KindMemo)
		last(here.With(a.ID), reminders, earshot.KindReminder)
		if err == nil {
			more, err = d.recall(ctx, id, a.ID)
			events = append(events, more...)
		}
	}
	for _, p := range d.Everybody() {
		last(earshot.Audience{Room: id, Members: []earshot.ParticipantID{p.ID}}, reminders, earshot.KindReminder)
	}
	return once(events), err
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
	return once(append(written, heard...)), err
}

// once returns events in their order, each once.
func once(events []earshot.Event) []earshot.Event {
	slices.SortFunc(events, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return slices.CompactFunc(events, func(a, b earshot.Event) bool { return a.Sequence == b.Sequence })
}

// tools are what agents may have done besides what a room does for them.
func (d *daemon) tools() tool.Table {
	dir := cmp.Or(d.cfg.Executive.Tools.Workspace, filepath.Join(filepath.Dir(d.cfg.Store.Directory), "workspaces"))
	closed := func(id earshot.RoomID) bool { r, ok := d.rooms.find(id); return !ok || !r.is.Open() }
	files := &workspace.Store{Dir: dir, Closed: closed}
	return append(files.Tools(), tool.Recall(memory{d.store}, d.Name))
}

// A memory is a journal that can be searched.
type memory struct{ *store.Store }

// Search implements [tool.Memory].
func (m memory) Search(ctx context.Context, a earshot.Audience, query string, limit int) ([]earshot.Event, error) {
	return m.For(a).Search(ctx, query, limit)
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
	if p, known := d.Get(who); !known || d.gate.enters(p, from.ID) != nil {
		return
	}
	n := earshot.Notice{
		Text: fmt.Sprintf("%s calls you in the room %s: %s", d.Name(e.Author), cmp.Or(from.Name, string(from.ID)), strings.TrimSpace(string(said))),
		Cure: "earshot chat --room " + string(from.ID),
	}
	for _, r := range d.rooms {
		if r.is.ID != from.ID {
			r.TellAlone(who, n)
		}
	}
}

// Admit brings an event into its room, as a [providers.Emit] does; one that
// names none is the desk's.
func (d *daemon) Admit(ctx context.Context, e earshot.Event) error {
	r, ok := d.rooms.find(e.Room)
	if !ok {
		return noRoom(e.Room, nil)
	}
	return r.Admit(ctx, e)
}
