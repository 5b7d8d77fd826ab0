package daemon

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
	// recallLimit is how many events an agent goes on from: its dialogue is fifty
	// messages, and people come and go.
	recallLimit = 256

	// recentLimit is how many of the newest events of a room are looked at for what any
	// of its agents may see: some are between people, or of no agent that is there.
	recentLimit = 512

	// editLimit is how many of what was changed in a scene are looked at, however old: an
	// entry holds as long as it is among the newest of its field.
	editLimit = 4096
)

// sceneEvents is of how many events of each kind a scene is made, however old: it holds
// sixteen of most, and some are between people.
var sceneEvents = map[earshot.Kind]int{
	earshot.KindMessage: recallLimit, earshot.KindUtterance: recallLimit, earshot.KindReply: recentLimit,
	earshot.KindMemo: recallLimit, earshot.KindFinding: recallLimit, earshot.KindEdit: editLimit,
	earshot.KindWhose: recallLimit, earshot.KindSight: recallLimit,
}

// A roomEntry is a room, and what the configuration says of it.
type roomEntry struct {
	*room.Room
	is executive.Room

	*roomLease // of one that was opened while the daemon runs; else nil
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

// openRooms makes the rooms, each with what was said there before.
func (d *Daemon) openRooms(ctx context.Context) (rooms, error) {
	var all rooms
	for _, is := range d.Config().Rooms.All() {
		c, err := d.newRoomEntry(ctx, is)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// newRoomEntry makes a room, with what was said there before.
func (d *Daemon) newRoomEntry(ctx context.Context, is executive.Room) (roomEntry, error) {
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
		Cameras: &d.cameras, // for the rooms of executive.sight.rooms
		ID:      is.ID, Settings: d.settings,
		People: d.people, Voices: d.voices.Registry, Journal: d.store, Model: &d.llm, Past: past, Agenda: agenda, Works: d.working, Parts: d.health.List, Took: d.countLatency, Dropped: d.counts.Dropped,
		Agents: func() []agents.Record { return d.agents.In(is.ID) }, Order: d.order, Former: d.agents.Former, Tools: d.tools(), Spawner: d.agents,
		Reach: func(who earshot.ParticipantID, e earshot.Event) { d.notifyElsewhere(now(), who, e) },
		Recall: func(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
			return d.recall(ctx, is.ID, agent)
		},
		Event: func(ctx context.Context, id earshot.EventID) (earshot.Event, bool, error) {
			return d.store.Event(ctx, is.ID, id)
		},
		Scenery:   func(ctx context.Context) ([]earshot.Event, error) { return d.readScene(ctx, is.ID) },
		Corrected: d.corrected,
		Erased:    d.erased,
		Enters:    func(p participants.Participant) error { return d.gate.MayBeIn(p, now()) },
		Lasts:     is.Provider == access.Discord,
		Commands:  d.commandsIn(is),
		Decided:   func(a earshot.Audience) explain.Journal { return d.store.For(a) },
		Reader:    newReader, Now: time.Now, NewID: d.id, Log: d.log.With("room", is.ID),
	})}, nil
}

// past returns what a room goes on from: the newest events, the mode that it was
// left in, what its scene is made of, and the dialogue of the main agent.
// The others read theirs when they wake, so that it costs nothing that they are many.
func (d *Daemon) past(ctx context.Context, id earshot.RoomID) ([]earshot.Event, error) {
	var all []earshot.Event
	var faults []error
	take := func(some []earshot.Event, err error) { all, faults = append(all, some...), append(faults, err) }
	take(d.store.Lately(ctx, id, "", recentLimit, d.audiences(id)...))
	take(d.readScene(ctx, id))
	take(d.store.For(earshot.Audience{Room: id}).Last(ctx, []earshot.Kind{earshot.KindMode}, 1))
	take(d.store.For(earshot.Audience{Room: id}).Last(ctx, []earshot.Kind{earshot.KindSnooze}, 1))
	take(d.recall(ctx, id, d.agents.Main(id).ID))
	return store.Merge(all), errors.Join(faults...)
}

// audiences returns each of the agents of a room as an audience, and nobody: what is
// public is so although an agent is gone.
func (d *Daemon) audiences(id earshot.RoomID) []earshot.Audience {
	all := []earshot.Audience{{Room: id}}
	for _, a := range d.agents.In(id) {
		all = append(all, earshot.Audience{Room: id}.With(a.ID))
	}
	return all
}

// readScene returns what the scene of a room is made of.
func (d *Daemon) readScene(ctx context.Context, id earshot.RoomID) (all []earshot.Event, err error) {
	for kind, many := range sceneEvents {
		some, err := d.store.Lately(ctx, id, kind, many, d.audiences(id)...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return store.Merge(all), nil
}

// corrected is told that somebody has corrected what a part of the daemon noticed.
func (d *Daemon) corrected(source string, _ earshot.Event) {
	d.log.Info("something that a sense reported was corrected", "part", source)
}

// agenda returns what is still to be said in a room, also if the agent is gone that
// set it.
func (d *Daemon) agenda(ctx context.Context, id earshot.RoomID) (a remind.Agenda, err error) {
	err = d.store.Look(ctx, func(v earshot.View) (err error) {
		a, err = remind.Read(ctx, v, id)
		return err
	})
	return a, err
}

// recall returns what an agent goes on from in a room: what it has heard and said
// there. What is said aloud is counted apart, since people talk all day.
func (d *Daemon) recall(ctx context.Context, id earshot.RoomID, agent earshot.ParticipantID) ([]earshot.Event, error) {
	reader := d.store.For(earshot.Audience{Room: id}.With(agent))
	written, err := reader.Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindReply, earshot.KindPresence}, recallLimit)
	if err != nil {
		return nil, err
	}
	heard, err := reader.Last(ctx, []earshot.Kind{earshot.KindUtterance}, recallLimit)
	if err != nil {
		return nil, err
	}
	replies, err := reader.Last(ctx, []earshot.Kind{earshot.KindReply}, recallLimit) // one of which was cut off, perhaps
	if err != nil {
		return nil, err
	}
	whose, err := reader.Last(ctx, []earshot.Kind{earshot.KindWhose}, recallLimit)
	return store.Merge(slices.Concat(written, heard, replies, whose)), err
}

// tools are what agents may have done besides what a room does for them.
func (d *Daemon) tools() tool.Table {
	return append(d.eraser.Files.Tools(), tool.Recall(memory{d.store}, d.people.Name))
}

// Workspaces are those of all agents.
func Workspaces(cfg *config.Config) *workspace.Store {
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

// notifyElsewhere shows somebody, in whichever other rooms they are, what an agent says to
// them in a room where they are not. What only they may see is for the terminals
// at which nobody else is, and so is all of it: it is of another room.
func (d *Daemon) notifyElsewhere(from executive.Room, who earshot.ParticipantID, e earshot.Event) {
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
func (d *Daemon) commandsIn(is executive.Room) command.Table {
	kept := slices.Concat(d.forgetTable(is), d.costTable(), d.modelTable(), d.reloadTable())
	if is.Provider != access.Discord {
		return kept
	}
	return append(kept, bot.Commands(d.discordBot.Load)...)
}

// Admit brings an event into its room, as a [providers.Emit] does; one that
// names none is the desk's.
func (d *Daemon) Admit(ctx context.Context, e earshot.Event) error {
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
