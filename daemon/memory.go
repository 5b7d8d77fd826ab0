package daemon

import (
	"context"
	"math"
	"slices"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/executive/memory"
	"earshot/executive/recall"
	"earshot/internal/transcript"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// loadMemory reads what is remembered in a room.
func (d *Daemon) loadMemory(ctx context.Context, room earshot.RoomID) error {
	var all []earshot.Event
	for _, kind := range []earshot.Kind{earshot.KindFact, earshot.KindSummary} {
		some, err := d.store.Lately(ctx, room, kind, math.MaxInt32, d.audiences(room)...)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	d.memory.Load(room, all, time.Now())
	return nil
}

// find returns those of some events that everybody in an audience may see.
func (d *Daemon) find(ctx context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error) {
	return d.store.For(a).Find(ctx, ids)
}

// keepMemory reads what is new in quiet rooms, until ctx ends.
func (d *Daemon) keepMemory(ctx context.Context) {
	k := memory.Consolidator{
		Index: d.memory, Find: d.find, Model: &d.llm, Settings: d.settings, NewID: d.id, Now: time.Now, Log: d.log,
		Rests: d.rests, Agents: d.agents.In, Reader: d.memoryOf, Name: d.people.Name,
		Unread: func(ctx context.Context, room earshot.RoomID, since time.Time, n int) (ids [][]earshot.EventID, err error) {
			err = d.store.Look(ctx, func(v earshot.View) (err error) {
				ids, err = memory.Unread(ctx, v, room, since, n)
				return err
			})
			return ids, err
		},
		Room: func(id earshot.RoomID) (memory.Room, bool) {
			r, ok := d.rooms.Find(id)
			return r.Room, ok
		},
		IsPerson: func(id earshot.ParticipantID) bool {
			p, _ := d.people.Get(id)
			return p.Type != participants.Internal && p.Type != participants.AIAssistant
		},
	}
	k.Run(ctx)
}

// rests reports whether nothing more is to be thought unasked today, or on battery.
func (d *Daemon) rests() bool {
	p := d.Config().Executive.Parallel
	return p.RestsOnBattery && d.costs.OnBattery() || p.TokensPerDay > 0 && d.costs.UnaskedToday() >= int64(p.TokensPerDay)
}

// memoryOf returns the memory agent of an agent, and makes it if there is none. If that cannot be, the
// agent itself counts as the one that asks.
func (d *Daemon) memoryOf(ctx context.Context, of agents.Record) earshot.ParticipantID {
	path, err := agents.ChildPath(of.Path, earshot.PathMemory, 0)
	if err != nil {
		return of.ID
	}
	if r, err := d.agents.Resolve(ctx, path); err == nil {
		return r.ID
	}
	r, err := d.agents.Spawn(ctx, of.ID, of.Path, earshot.PathMemory, earshot.Profile{})
	if err != nil {
		d.log.Debug("an agent has no memory agent", "agent", of.ID, "err", err)
		return of.ID
	}
	return r.ID
}

// remembered is how people and agents get at what is remembered.
func (d *Daemon) remembered() memory.Access {
	return memory.Access{
		Index: d.memory, Name: d.people.Name, Find: d.find, NewID: d.id, Now: time.Now,
		Keep: d.keepIn,
	}
}

// keepIn puts an event on record in its room.
func (d *Daemon) keepIn(ctx context.Context, e earshot.Event) error {
	r, ok := d.rooms.Find(e.Room)
	if !ok {
		return access.NoRoom(e.Room, nil)
	}
	return r.Room.Keep(ctx, e)
}

// searcher answers the questions of agents from what is on record.
func (d *Daemon) searcher() recall.Searcher {
	return recall.Searcher{
		Journal: recollection{d.store}, Facts: d.memory, Files: d.eraser.Files, Nearest: d.nearest, Model: &d.llm, Settings: d.settings,
		Agents: d.agents, Name: d.people.Name, Now: time.Now, Log: d.log,
	}
}

// nearest returns what means nearly what a question says and everybody in an audience may see.
func (d *Daemon) nearest(ctx context.Context, a earshot.Audience, question string, n int) ([]earshot.Event, error) {
	of := d.settings().Recall.Embedding
	if of.Model == "" {
		return nil, nil
	}
	to, err := d.llm.Embed(ctx, of.Engine, of.Model, llm.ForTool, []string{question})
	if err != nil {
		return nil, err
	}
	r := d.store.For(a)
	found, err := r.Nearest(ctx, of.Key(), to[0], n)
	if err != nil {
		return nil, err
	}
	known, err := transcript.ReadAttributions(ctx, r)
	return known.Apply(found), err
}

// indexer makes the vectors by which searches find what means the same.
func (d *Daemon) indexer() *recall.Indexer {
	return &recall.Indexer{
		Settings: d.settings, Rests: func() bool {
			return !d.hasDesk() || d.Config().Executive.Parallel.RestsOnBattery && d.costs.OnBattery()
		},
		Still: func() bool {
			return !slices.ContainsFunc(d.rooms.Now(), func(c roomEntry) bool { return !c.Room.Still() })
		},
		Grown: d.store.Grown, Pending: d.store.Unembedded, Embed: d.llm.Embed, Keep: d.store.SetVectors, Log: d.log,
	}
}
