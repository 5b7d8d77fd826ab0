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
	"earshot/daemon/engines"
	"earshot/daemon/roomset"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/explain"
	"earshot/executive/record"
	"earshot/executive/remind"
	"earshot/executive/room"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/internal/discord/bot"
	"earshot/internal/transcript"
	"earshot/models/tts"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

const (
	// recallLimit is how many events an agent remembers: its dialogue is fifty messages, and people
	// come and go.
	recallLimit = 256

	// recentLimit is how many of the newest events of a room are searched for those that its agents
	// may see: some are between people, or for agents that are gone.
	recentLimit = 512

	// lostTurns is how long ago an answer may have begun that is given again when the daemon that gave it
	// was lost: the longest are said in that time, and a room has a new owner within four seconds.
	lostTurns = time.Minute

	// editLimit is how many edits of a scene are read, however old: an entry stays as long as it is
	// among the newest of its field.
	editLimit = 4096
)

// sceneEvents is how many events of each kind a scene is made from, however old: it holds sixteen
// of most kinds, and some are between people.
var sceneEvents = map[earshot.Kind]int{
	earshot.KindMessage: recallLimit, earshot.KindUtterance: recallLimit, earshot.KindReply: recentLimit,
	earshot.KindMemo: recallLimit, earshot.KindFinding: recallLimit, earshot.KindEdit: editLimit,
	earshot.KindWhose: recallLimit, earshot.KindSight: recallLimit,
}

// A roomEntry is a room that runs here, and its configuration.
type roomEntry = roomset.Entry[*room.Room]

// A roomList is such rooms, the desk first.
type roomList = roomset.List[*room.Room]

// openRooms makes the rooms, each with its history. Those of a cluster come with their leases.
func (d *Daemon) openRooms(ctx context.Context) (roomList, error) {
	var all roomList
	if d.cluster != nil {
		return nil, nil
	}
	for _, is := range d.Config().Rooms.All() {
		c, err := d.newRoomEntry(ctx, is, d.store)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// newRoomEntry makes a room with its history.
func (d *Daemon) newRoomEntry(ctx context.Context, is executive.Room, journal room.Journal) (roomEntry, error) {
	read := func(events []earshot.Event, err error) ([]earshot.Event, error) { return events, err }
	var lost time.Time
	var sealer *record.Sealer
	var owned func() bool
	if j, leased := journal.(leasedJournal); leased {
		read = func(events []earshot.Event, err error) ([]earshot.Event, error) {
			return shiftTimes(events, -j.ahead()), err
		}
		lost, sealer, owned = time.Now().Add(-lostTurns), record.NewSealer(d.bus.Key("receipts"), j.lease.Fence), j.lease.Valid
	}
	past, err := read(d.past(ctx, is.ID))
	if err != nil {
		return roomEntry{}, fmt.Errorf("reading the history of the room %s: %w", is.ID, err)
	}
	now := func() executive.Room { // its name and its people may change
		if c, ok := d.rooms.Now().Find(is.ID); ok {
			return c.Is
		}
		return is
	}
	if err := d.loadMemory(ctx, is.ID); err != nil {
		return roomEntry{}, fmt.Errorf("reading what is remembered in the room %s: %w", is.ID, err)
	}
	agenda, err := d.agenda(ctx, is.ID)
	if err != nil {
		return roomEntry{}, fmt.Errorf("reading what is still to be said in the room %s: %w", is.ID, err)
	}
	return roomEntry{Is: is, Room: room.New(room.Config{
		Cameras: d.cameras.In(is.ID), // those of this machine for the rooms of executive.sight.rooms
		ID:      is.ID, Settings: d.settings,
		People: d.people, Voices: d.voices.Registry, Journal: journal, Model: &d.llm, Past: past, Lost: lost, Sealer: sealer, Owned: owned, Agenda: agenda, Works: d.working, Parts: d.health.List, Took: d.countLatency, Dropped: d.counts.Dropped,
		Agents: func() []agents.Record { return d.agents.In(is.ID) }, Order: d.order, Former: d.agents.Former, Tools: d.tools(), Spawner: d.agents,
		Reach: func(who earshot.ParticipantID, e earshot.Event) { d.notifyElsewhere(now(), who, e) },
		Recall: func(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
			return read(d.recall(ctx, is.ID, agent))
		},
		Event: func(ctx context.Context, id earshot.EventID) (earshot.Event, bool, error) {
			return d.store.Event(ctx, is.ID, id)
		},
		Scenery:   func(ctx context.Context) ([]earshot.Event, error) { return read(d.readScene(ctx, is.ID)) },
		Corrected: d.corrected,
		Memory:    d.memory,
		Erased:    d.erased,
		Enters:    func(p participants.Participant) error { return d.gate.MayBeIn(p, now()) },
		Recipients: func(ctx context.Context, by participants.Participant, address string) ([]agents.Record, error) {
			return d.gate.Recipients(ctx, d.agents, by, address, is.ID, d.Config().Executive.MultiParty.TurnLimit)
		},
		Lasts:    is.Provider == access.Discord,
		Commands: d.commandsIn(is),
		Decided:  func(a earshot.Audience) explain.Journal { return d.store.For(a) },
		Reader:   tts.NewReader, Now: time.Now, NewID: d.id, Log: d.log.With("room", is.ID),
	})}, nil
}

// past returns the history that a room starts from: the newest events, its last mode, the contents
// of its scene, and the dialogue of the main agent. The other agents read theirs when they wake,
// so that many of them cost nothing.
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

// audiences returns each agent of a room as an audience, and an empty one: what is public stays
// public when an agent is gone.
func (d *Daemon) audiences(id earshot.RoomID) []earshot.Audience {
	all := []earshot.Audience{{Room: id}}
	for _, a := range d.agents.In(id) {
		all = append(all, earshot.Audience{Room: id}.With(a.ID))
	}
	return all
}

// readScene returns the events from which the scene of a room is made.
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

// corrected is called when somebody has corrected what a part of the daemon noticed.
func (d *Daemon) corrected(source string, _ earshot.Event) {
	d.log.Info("something that a sense reported was corrected", "part", source)
}

// agenda returns the reminders that are still due in a room, even if the agent that set one is
// gone.
func (d *Daemon) agenda(ctx context.Context, id earshot.RoomID) (a remind.Agenda, err error) {
	err = d.store.Look(ctx, func(v earshot.View) (err error) {
		a, err = remind.Read(ctx, v, id)
		return err
	})
	return a, err
}

// recall returns what an agent remembers of a room: what it has heard and said there. Spoken
// events are counted separately, since people talk all day.
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
	replies, err := reader.Last(ctx, []earshot.Kind{earshot.KindReply}, recallLimit) // one may have been cut off
	if err != nil {
		return nil, err
	}
	whose, err := reader.Last(ctx, []earshot.Kind{earshot.KindWhose}, recallLimit)
	return store.Merge(slices.Concat(written, heard, replies, whose)), err
}

// tools are the tools of agents besides those that a room provides.
func (d *Daemon) tools() tool.Table {
	return append(d.eraser.Files.Tools(), tool.Recall(recollection{d.store}, d.people.Name), d.remembered().Tool(), d.tasks.Tool(), d.schedules.Tool(), d.searcher().Tool())
}

// Workspaces returns the workspaces of all agents.
func Workspaces(cfg *config.Config) *workspace.Store {
	return &workspace.Store{Dir: cmp.Or(cfg.Executive.Tools.Workspace, filepath.Join(filepath.Dir(cfg.Store.Directory), "workspaces"))}
}

// A recollection makes a journal searchable for tools.
type recollection struct{ *store.Store }

// Search implements [tool.Memory].
func (m recollection) Search(ctx context.Context, a earshot.Audience, query string, limit int) ([]earshot.Event, error) {
	r := m.For(a)
	found, err := r.Search(ctx, query, limit)
	if err != nil {
		return nil, err
	}
	known, err := transcript.ReadAttributions(ctx, r)
	return known.Apply(found), err
}

// notifyElsewhere shows somebody, in the other rooms they are in, what an agent says to them in a
// room where they are not. It is shown only at terminals where nobody else is, since it may be
// private, and belongs to another room.
func (d *Daemon) notifyElsewhere(from executive.Room, who earshot.ParticipantID, e earshot.Event) {
	reply, ok := e.Body.(earshot.Reply)
	said := cmp.Or(reply.Delivered(), reply.Offered) // in an empty room nobody heard it
	if !ok || said == "" || !e.Visibility.Allows(earshot.Audience{Room: from.ID, Members: []earshot.ParticipantID{who}}) {
		return
	}
	if p, known := d.people.Get(who); !known || p.Arrived() || d.gate.MayEnter(p, from.ID) != nil {
		return // a participant known only by a provider is there
	}
	n := earshot.Notice{
		Text: fmt.Sprintf("%s calls you in the room %s: %s", d.people.Name(e.Author), cmp.Or(from.Name, string(from.ID)), strings.TrimSpace(string(said))),
		Cure: "earshot chat --room " + string(from.ID),
	}
	for _, r := range d.rooms.Now() {
		if r.Is.ID != from.ID {
			r.Room.TellAlone(who, n)
		}
	}
}

// commandsIn returns the commands that a room has besides its own.
func (d *Daemon) commandsIn(is executive.Room) command.Table {
	kept := slices.Concat(d.forget.Table(is), command.Table{d.remembered().Command(is.ID), d.tasks.Command(is.ID), d.schedules.Command(is.ID)}, d.costTable(), engines.Command(d.loadConfig, func(ctx context.Context) error { _, err := d.Reload(ctx); return err }), d.reloadTable())
	if is.Provider != access.Discord {
		return kept
	}
	return append(kept, bot.Commands(d.discordBot.Load)...)
}

// Admit passes an event to its room, as a [providers.Emit] does; one without a room goes to the
// desk.
func (d *Daemon) Admit(ctx context.Context, e earshot.Event) error {
	r, ok := d.rooms.Find(e.Room)
	if !ok {
		return d.noRoom(e.Room)
	}
	return moved(r.Room.Admit(ctx, e))
}
