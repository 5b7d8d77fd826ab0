package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/participants"
)

// A Journal records changes, each in one step with the decision that leads to it. The store is one.
type Journal interface {
	// Do makes a decision and records the events that it returns. Nobody else decides or records in
	// between. Do returns when the events are on disk.
	Do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error)) ([]earshot.Event, error)

	Viewer
}

// A Viewer gives access to the tables that are made from the journal.
type Viewer interface {
	Look(ctx context.Context, f func(earshot.View) error) error
}

// A Setup is what a directory starts from.
type Setup struct {
	Journal Journal
	Follows bool // another daemon brings the journal in step with the configuration

	Main   earshot.Profile     // the profile of the main agent
	Config Config              // the section agents, already validated
	Actors participants.Config // the section external_actors, whose names no agent can have

	Rooms   []earshot.RoomID // that exist
	Engines []string         // by name

	Now   func() time.Time
	NewID func() earshot.EventID
}

// A Directory holds all agents of the program. It is safe for concurrent use.
type Directory struct {
	setup  Setup
	viewer Viewer
	change chan struct{} // holds one while a change is being recorded

	people *participants.Registry // see Join
	owner  earshot.ParticipantID

	// dead looks up the former name of an agent that is not alive.
	dead func(earshot.ParticipantID) (string, bool)

	mu     sync.RWMutex
	live   map[earshot.Path]*Record
	ids    map[earshot.ParticipantID]*Record
	below  map[earshot.Path]map[earshot.Path]bool // the children of each path
	seats  []*Record                              // those that may sit in a room: the main agent first, then the oldest first
	labels map[earshot.ParticipantID]string
	former []string // see Former
}

// Open returns the directory from the journal, after reconciling both with the configuration:
// configured agents are made and changed, and agents that are no longer configured are ended.
// Prompts that were made from an older built-in prompt are brought up to date.
//
// Other participants learn the agents' names after [Directory.Join].
func Open(ctx context.Context, s Setup) (*Directory, error) {
	b := open(ctx, s.Journal)
	b.setup = s
	if err := b.reconcile(ctx); err != nil {
		return nil, fmt.Errorf("opening the directory of agents: %w", err)
	}
	return b, nil
}

// Read returns the directory from a journal that another process writes. The directory cannot be
// changed.
func Read(ctx context.Context, v Viewer) (*Directory, error) {
	b := open(ctx, v)
	err := v.Look(ctx, func(v earshot.View) error {
		all, err := alive(ctx, v)
		b.load(all)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the directory of agents: %w", err)
	}
	return b, nil
}

func open(ctx context.Context, v Viewer) *Directory {
	b := &Directory{
		viewer: v, change: make(chan struct{}, 1),
		live: make(map[earshot.Path]*Record), ids: make(map[earshot.ParticipantID]*Record),
		below: make(map[earshot.Path]map[earshot.Path]bool), labels: make(map[earshot.ParticipantID]string),
	}
	always := context.WithoutCancel(ctx) // the caller that asks for a name has no context
	b.dead = func(id earshot.ParticipantID) (string, bool) { return b.wasCalled(always, id) }
	return b
}

// load puts live agents into an empty directory.
func (b *Directory) load(all []Record) {
	for i := range all {
		b.add(&all[i])
	}
}

// Join connects the directory with the participant registry: from then on, the names of agents are
// taken and given up in people. The result of Participants must already be registered there. owner
// is the person whose account it is. Join is called once, before any change.
func (b *Directory) Join(people *participants.Registry, owner earshot.ParticipantID) {
	b.people, b.owner = people, owner
}

// Participants returns the agents that can be called by name: the main agent first, then the oldest
// first.
func (b *Directory) Participants() (all []participants.Participant) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, r := range b.ids {
		if r.Name != "" && r.ID != participants.Agent {
			all = append(all, r.participant())
		}
	}
	slices.SortFunc(all, func(x, y participants.Participant) int { return strings.Compare(string(x.ID), string(y.ID)) })
	if main := b.ids[participants.Agent]; main != nil {
		all = slices.Insert(all, 0, main.participant())
	}
	return all
}

// begin waits until no other change is being recorded. The caller calls done once its own is
// recorded.
func (b *Directory) begin(ctx context.Context) (done func(), err error) {
	select {
	case b.change <- struct{}{}:
		return func() { <-b.change }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// record lets decide make a decision, records the result as done by by, and applies it. It ignores
// the end of ctx, so that the directory always matches the journal. The caller has called begin.
func (b *Directory) record(ctx context.Context, by earshot.ParticipantID, decide func(earshot.View) ([]earshot.Agent, error)) error {
	ctx = context.WithoutCancel(ctx)
	kept, err := b.setup.Journal.Do(ctx, func(v earshot.View) (events []earshot.Event, err error) {
		changes, err := decide(v)
		for _, c := range changes {
			events = append(events, b.event(by, c))
		}
		return events, err
	})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range kept {
		if a, ok := e.Body.(earshot.Agent); ok {
			b.take(a)
		}
	}
	return nil
}

// event returns an event that only the owner may see: an agent's profile does not concern guests or
// other agents. They learn who is in a room from those who keep the room.
func (b *Directory) event(by earshot.ParticipantID, a earshot.Agent) earshot.Event {
	return earshot.Event{
		ID: b.setup.NewID(), At: b.setup.Now(), Room: earshot.Desk, From: earshot.Handle{Provider: "earshot", ID: string(a.Kind())},
		Author: by, Body: a,
		Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{cmp.Or(b.owner, participants.Owner)}},
	}
}

// Take applies a change that another program has recorded in the same journal. It reports whether the
// agent has a name, which the participant registry does not know yet.
func (b *Directory) Take(a earshot.Agent) (named bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.live[a.Path]
	b.take(a)
	is := b.live[a.Path]
	return was != nil && was.Name != "" || is != nil && is.Name != ""
}

// take applies a change. The caller holds mu.
func (b *Directory) take(a earshot.Agent) {
	switch a.Act {
	case earshot.Created, earshot.Changed:
		if r := recorded(a); a.Act == earshot.Created || b.live[a.Path] != nil {
			b.add(&r)
		}
	case earshot.Ended:
		b.remove(a.Path)
	}
}

// add puts an agent, or a new version of it, into the directory.
func (b *Directory) add(r *Record) {
	_, again := b.live[r.Path]
	b.live[r.Path], b.ids[r.ID] = r, r
	if up := ParentPath(r.Path); up != "" && !again {
		if b.below[up] == nil {
			b.below[up] = make(map[earshot.Path]bool)
		}
		b.below[up][r.Path] = true
	}
	b.seat(r)
}

// seat updates whether an agent may have a seat in a room.
func (b *Directory) seat(r *Record) {
	i := slices.IndexFunc(b.seats, func(s *Record) bool { return s.ID == r.ID })
	switch may := len(r.Rooms) > 0 || r.SitsIn(""); {
	case i >= 0 && may:
		b.seats[i] = r
	case i >= 0:
		b.seats = slices.Delete(b.seats, i, i+1)
	case r.ID == participants.Agent:
		b.seats = slices.Insert(b.seats, 0, r)
	case may:
		b.seats = append(b.seats, r)
	}
}

// remove removes an agent and all agents below it from the directory.
func (b *Directory) remove(path earshot.Path) {
	r := b.live[path]
	if r == nil {
		return
	}
	b.remember(r.ID, b.label(r))
	if r.Name != "" {
		b.former = append(b.former, r.Name)
		b.former = slices.Delete(b.former, 0, max(0, len(b.former)-mostFormer))
	}
	for child := range b.below[path] {
		b.remove(child)
	}
	delete(b.live, path)
	delete(b.ids, r.ID)
	delete(b.below, path)
	if up := ParentPath(path); up != "" {
		delete(b.below[up], path)
	}
	b.seats = slices.DeleteFunc(b.seats, func(s *Record) bool { return s == r })
}
