package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/participants"
)

// Resolve returns the agent that lives at a path, and never makes one. The error is [ErrDead] if
// there was an agent, and [ErrUnknown] if there never was. The table is only read if no agent lives
// there.
func (b *Directory) Resolve(ctx context.Context, path earshot.Path) (Record, error) {
	b.mu.RLock()
	r := b.live[path]
	b.mu.RUnlock()
	if r != nil {
		return *r, nil
	}
	var was row
	var known bool
	err := b.viewer.Look(ctx, func(v earshot.View) (err error) {
		was, known, err = at(ctx, v, path)
		return err
	})
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("resolving a path: %w", err)
	case known && was.dead:
		return Record{}, dead(path)
	}
	return Record{}, unknown(path)
}

func dead(path earshot.Path) error {
	return participants.Refuse(ErrDead, fmt.Sprintf("the agent %q has ended, and its path is never used again", shown(path)), "make another one, under another name")
}

func unknown(path earshot.Path) error {
	return participants.Refuse(ErrUnknown, fmt.Sprintf("there is no agent at %q", shown(path)), "list the agents: earshot agents")
}

// shown returns a path, which may come from anybody, in a form that can be part of a line.
func shown(path earshot.Path) string {
	const most = 80
	if len(path) > most {
		return strings.ToValidUTF8(string(path[:most]), "") + "…"
	}
	return string(path)
}

// ByID returns the live agent with an ID.
func (b *Directory) ByID(id earshot.ParticipantID) (Record, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if r := b.ids[id]; r != nil {
		return *r, true
	}
	return Record{}, false
}

// List returns all live agents, sorted by path.
func (b *Directory) List() []Record {
	b.mu.RLock()
	all := make([]Record, 0, len(b.live))
	for _, r := range b.live {
		all = append(all, *r)
	}
	b.mu.RUnlock()
	slices.SortFunc(all, func(x, y Record) int { return strings.Compare(string(x.Path), string(y.Path)) })
	return all
}

// In returns the agents that have a seat in a room: its main agent first, then the main agent of
// the program, then the others, oldest first.
func (b *Directory) In(room earshot.RoomID) (sit []Record) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	main := b.main(room)
	if main != nil {
		sit = append(sit, *main)
	}
	for _, r := range b.seats {
		if r != main && r.SitsIn(room) {
			sit = append(sit, *r)
		}
	}
	return sit
}

// Main returns the agent that answers what is addressed to nobody in particular in a room: the
// agent with a seat there that is configured as a main one, or otherwise the main agent of the
// program.
func (b *Directory) Main(room earshot.RoomID) Record {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if r := b.main(room); r != nil {
		return *r
	}
	return Record{}
}

func (b *Directory) main(room earshot.RoomID) *Record {
	for _, r := range b.seats {
		if r.Main && r.SitsIn(room) {
			return r
		}
	}
	return b.ids[participants.Agent]
}

// Label returns the present or former name of an agent, in one line, for people and for old lines:
// "Coder", "Coder's helper 0". It is empty for an ID that never belonged to an agent.
func (b *Directory) Label(id earshot.ParticipantID) string {
	b.mu.RLock()
	label, known := b.labels[id]
	if r := b.ids[id]; r != nil {
		label, known = b.label(r), true
	}
	b.mu.RUnlock()
	if known {
		return label
	}
	if label, known = b.dead(id); known {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.remember(id, label)
	}
	return label
}

// mostFormer is how many names of ended agents are kept in memory, so that somebody who still calls
// one is understood.
const mostFormer = 256

// Former returns the names of ended agents. Others may have these names by now.
func (b *Directory) Former() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Clone(b.former)
}

// label returns the label of a live agent. The caller holds mu.
func (b *Directory) label(r *Record) string {
	name := r.Name
	if first := b.live[root(r.Path)]; first != nil {
		name = first.Name
	}
	return PathLabel(r.Path, name)
}

// root returns the path of the topmost ancestor of the agent at path; path itself if it has none.
func root(path earshot.Path) earshot.Path {
	for up := ParentPath(path); up != ""; up = ParentPath(path) {
		path = up
	}
	return path
}

// mostLabels is how many labels of dead agents are kept in memory: those of the lines on the screen
// and in the prompts.
const mostLabels = 1024

// remember keeps the label of a dead agent. The caller holds mu.
func (b *Directory) remember(id earshot.ParticipantID, label string) {
	if len(b.labels) >= mostLabels {
		clear(b.labels)
	}
	b.labels[id] = label
}

// wasCalled looks up the label of a dead agent. If the table cannot be read, the label is not
// known.
func (b *Directory) wasCalled(ctx context.Context, id earshot.ParticipantID) (label string, known bool) {
	err := b.viewer.Look(ctx, func(v earshot.View) error {
		r, is, err := called(ctx, v, id)
		if err != nil || !is {
			return err
		}
		first, _, err := at(ctx, v, root(r.Path))
		label, known = PathLabel(r.Path, first.Name), err == nil
		return err
	})
	return label, err == nil && known
}

// Target returns the handle by which a message reaches the user of the agent at a path through a
// connector such as discord. Only a handle that somebody has recorded for that user counts; none is
// guessed. If there is none, or there are several, the error wraps [ErrTarget].
func (b *Directory) Target(ctx context.Context, path earshot.Path, connector string) (earshot.Handle, error) {
	r, err := b.Resolve(ctx, path)
	if err != nil {
		return earshot.Handle{}, err
	}
	user := r.User
	if user == participants.Owner {
		user = b.owner
	}
	var found []earshot.Handle
	for _, h := range b.people.Handles(user) {
		if h.Provider == connector {
			found = append(found, h)
		}
	}
	switch len(found) {
	case 0:
		return earshot.Handle{}, participants.Refuse(ErrTarget, fmt.Sprintf("no handle is known for %s on %s", r.User, participants.OneLine(connector)),
			"add it to handles of external_actors.actors, such as "+participants.OneLine(connector)+":ID")
	case 1:
		return found[0], nil
	}
	return earshot.Handle{}, participants.Refuse(ErrTarget, fmt.Sprintf("%s has %d handles on %s", r.User, len(found), participants.OneLine(connector)),
		"leave only one of them in external_actors.actors, so that it is clear which is meant")
}
