package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/remind"
	"earshot/executive/room"
	"earshot/participants"
	"earshot/participants/agents"
)

// A simulation is where a day is performed.
type simulation struct {
	setup   Setup
	record  *record
	names   names
	people  *participants.Registry
	book    agentDirectory
	journal *journal
	rooms   map[earshot.RoomID]*roomStage
	named   atomic.Int64   // how many new things have got a name
	doing   sync.WaitGroup // what is brought in, and waits for something

	by      map[earshot.ParticipantID]earshot.Handle // of everybody, the one that they used last
	erased  int
	revised int
	refused atomic.Int64
}

// next gives what is new now a name that nothing on record has.
func (h *simulation) next() earshot.EventID {
	return earshot.EventID(fmt.Sprintf("again-%06d", h.named.Add(1)))
}

// A roomStage is one of its rooms, and the outlets in it.
type roomStage struct {
	*room.Room
	outlets map[string]func() // by session, of those that are there; each leaves
	left    map[string]string // the sessions of those that are not any more, by outlet
	named   map[string]int    // how many there are of a name
}

// loudspeaker and call are the outlets that can be heard, and satellite is what the name of another
// machine's begins with.
const (
	loudspeaker = "loudspeaker"
	call        = "discord voice"
	satellite   = "satellite "
)

// newSimulation makes the house as it was when the day began.
func (s Setup) newSimulation(d *Day, plan []step) (*simulation, error) {
	h := &simulation{
		setup: s, record: recorded(plan), by: make(map[earshot.ParticipantID]earshot.Handle), rooms: make(map[earshot.RoomID]*roomStage),
	}
	h.names = names{then: make(map[string]string), now: make(map[string]string)}
	h.book.set = identified(s.Agents, d)
	h.book.all = slices.Clone(h.book.set)
	for _, e := range d.Past {
		if a, ok := e.Body.(earshot.Agent); ok {
			h.book.take(a)
		}
	}
	h.journal = newJournal(h, d)
	h.known(d)
	var err error
	if h.people, err = h.registry(d); err != nil {
		return nil, err
	}
	for _, e := range d.Events {
		if h.rooms[e.Room] == nil && !houseWide(e.Body.Kind()) {
			h.rooms[e.Room] = h.room(e.Room, d)
		}
	}
	for id := range h.rooms {
		h.furnish(id, d)
	}
	return h, nil
}

// identified returns the agents of a configuration with the names that those on record have
// which are called the same.
func identified(set []agents.Record, d *Day) []agents.Record {
	set = slices.Clone(set)
	for _, list := range [][]earshot.Event{d.Past, d.Events} {
		for _, e := range list {
			a, ok := e.Body.(earshot.Agent)
			if !ok || !a.Configured || a.Act == earshot.Ended {
				continue
			}
			is := recordOf(a)
			for i := range set {
				if participants.Key(set[i].Name) == participants.Key(is.Name) {
					is.Profile = set[i].Profile
					set[i] = is
				}
			}
		}
	}
	return set
}

// houseWide reports whether what happened is about the house, and no room.
func houseWide(k earshot.Kind) bool { return k == earshot.KindActor || k == earshot.KindAgent }

// known notes by which handles people come.
func (h *simulation) known(d *Day) {
	for _, list := range [][]earshot.Event{d.Past, d.Events} {
		for _, e := range list {
			if foreign(e) && e.Author != "" {
				h.by[e.Author] = e.From
			}
		}
	}
}

// foreign reports whether e came from outside: the house names itself as the provider of
// what it does by itself.
func foreign(e earshot.Event) bool { return e.From.Provider != "" && e.From.Provider != "earshot" }

// registry returns who was known when the day began.
func (h *simulation) registry(d *Day) (*participants.Registry, error) {
	account := h.setup.Account
	if own := base(h.by[participants.Owner]); own.Provider == h.setup.Account.Provider || account == (earshot.Handle{}) {
		account = cmp.Or(own, account)
	}
	r, err := participants.Open(participants.Setup{
		Account: account, AccountName: h.setup.AccountName, Actors: h.setup.Actors, Agents: h.book.participants(),
		Operators: h.setup.Operators, Now: time.Now, NewID: h.next,
	})
	if err != nil {
		return nil, err
	}
	for _, e := range d.Past {
		if a, ok := e.Body.(earshot.Actor); ok {
			r.Apply(a)
		}
	}
	return r, nil
}

// base returns the handle of the account by which somebody came who said who they are.
func base(h earshot.Handle) earshot.Handle {
	h.ID, _, _ = strings.Cut(h.ID, "/")
	return h
}

// room makes a room, as it was.
func (h *simulation) room(id earshot.RoomID, d *Day) *roomStage {
	past := h.past(id, d)
	var agenda remind.Agenda
	for _, e := range d.Past {
		if e.Room == id && e.Body.Kind() == earshot.KindReminder {
			agenda.Apply(e)
		}
	}
	return &roomStage{
		outlets: make(map[string]func()), left: make(map[string]string), named: make(map[string]int),
		Room: room.New(room.Config{
			ID: id, Settings: func() executive.Config { return h.setup.Settings }, People: h.people, Voices: (*voices)(h.record),
			Journal: h.journal, Model: &model{house: h}, Past: past, Agenda: agenda,
			Agents: func() []agents.Record { return h.book.in(id) }, Former: h.book.former, Recipients: recipients,
			Recall: func(_ context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
				return h.journal.recall(id, agent), nil
			},
			Event: func(_ context.Context, of earshot.EventID) (earshot.Event, bool, error) {
				e, ok := h.journal.find(id, of)
				return e, ok, nil
			},
			Tools: h.tools(), Spawner: agentSpawner{h}, Lasts: h.record.lasts[id],
			Now: time.Now, NewID: h.next, Log: quietly,
		}),
	}
}

// past returns what a room goes on from.
func (h *simulation) past(id earshot.RoomID, d *Day) (all []earshot.Event) {
	for _, e := range d.Past {
		seen := func(a agents.Record) bool { return e.Visibility.Allows(earshot.Audience{Room: id}.With(a.ID)) }
		if e.Room == id && (e.Visibility.Allows(earshot.Audience{Room: id}) || slices.ContainsFunc(h.book.in(id), seen)) {
			all = append(all, e)
		}
	}
	return all
}

// furnish brings in the outlets that were there when the day began, and those who were:
// who went without having come, and who wrote.
func (h *simulation) furnish(id earshot.RoomID, d *Day) {
	came := make(map[string]bool) // sessions, and outlets of people who had come
	for _, e := range d.Events {
		if e.Room != id {
			continue
		}
		switch b := e.Body.(type) {
		case earshot.Presence:
			if !b.Here && !came[b.Session] && h.outside(e, b) {
				h.comes(e, b.Session)
				h.here(e, b, true)
			}
			came[b.Session], came[h.outletOf(e)] = true, true
		case earshot.Message, earshot.Utterance:
			if comesIn(e) && foreign(e) && e.Via != "" && e.Author != "" && !came[e.Via] {
				came[e.Via] = true
				h.comes(e, e.Via)
			}
		}
	}
	r := h.rooms[id]
	for _, name := range h.record.outlets[id] {
		if r.named[name] == 0 && !came[name] {
			h.enter(id, "outlet "+name, name, earshot.Audience{Unknown: true})
		}
	}
}

// outside reports whether somebody came or went who was not merely heard.
func (h *simulation) outside(e earshot.Event, p earshot.Presence) bool {
	return e.Author != "" && !(participants.OfVoice(e.Author) && p.Session == string(e.Author))
}

// here notes that somebody is in a room, whose coming is on record before that day.
func (h *simulation) here(e earshot.Event, p earshot.Presence, is bool) {
	if is {
		who, _ := h.people.Get(e.Author)
		h.people.Come(e.Room, who.Reader(), p.Session)
	}
}

// outletOf returns the outlet of somebody who comes.
func (h *simulation) outletOf(e earshot.Event) string {
	if e.Via != "" {
		return e.Via
	}
	return h.record.via[e.Author]
}

// handle returns the handle by which somebody came.
func (h *simulation) handle(e earshot.Event) earshot.Handle {
	if foreign(e) {
		return e.From
	}
	return h.by[e.Author]
}

// comes lets somebody into a room, with an outlet of theirs if they have one.
func (h *simulation) comes(e earshot.Event, session string) {
	from, outlet := h.handle(e), h.outletOf(e)
	r := h.rooms[e.Room]
	if r.outlets[session] != nil || from == (earshot.Handle{}) {
		return
	}
	who, known := h.people.Get(e.Author)
	if !known {
		return
	}
	if h.people.Resolve(from).ID != who.ID || strings.Contains(from.ID, "/") {
		h.people.Attach(participants.Session{
			ID: session, Room: e.Room, Participant: who.ID, Account: base(from), Outlet: outlet, Connection: "terminal", Since: time.Now(),
		})
	}
	if outlet == "" || participants.VouchedFor(from) {
		r.outlets[session] = func() {}
		return
	}
	h.enter(e.Room, session, outlet, earshot.Audience{Members: []earshot.ParticipantID{who.Reader()}})
}

// enter brings an outlet into a room.
func (h *simulation) enter(id earshot.RoomID, session, name string, a earshot.Audience) {
	r := h.rooms[id]
	leave := r.Enter(&outlet{house: h, name: name}, a)
	r.named[name]++
	r.outlets[session] = func() { leave(); r.named[name]-- }
}

// goes lets them leave.
func (h *simulation) goes(id earshot.RoomID, session string) {
	r := h.rooms[id]
	if leave := r.outlets[session]; leave != nil {
		leave()
		delete(r.outlets, session)
		h.people.Detach(session)
	}
}

// An agentSpawner makes the agents that were made for a task.
type agentSpawner struct{ *simulation }

var errNobody = errors.New("nobody was made for that")

// Spawn implements [exchange.Spawner].
func (s agentSpawner) Spawn(_ context.Context, _ earshot.ParticipantID, _ earshot.Path, _ earshot.PathKind, p earshot.Profile) (agents.Record, error) {
	a, ok := s.record.spawned()
	if !ok {
		return agents.Record{}, errNobody
	}
	is := recordOf(a)
	if is.Prompt == "" {
		is.Prompt = p.Prompt
	}
	return is, nil
}

// Finish implements [exchange.Spawner].
func (agentSpawner) Finish(context.Context, earshot.ParticipantID, earshot.ParticipantID) error {
	return nil
}
