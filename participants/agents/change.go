package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"earshot"
	"earshot/participants"
)

// The limits of live agents. Each named agent is in every prompt; each of the others is a line in
// memory.
const (
	mostNamed = 100
	mostAlive = 200_000
)

// Create makes an agent of a user. Its path is made from its name, with a number if that path was
// ever used. Only somebody who may operate the daemon may do it. An empty user means the owner.
func (b *Directory) Create(ctx context.Context, by participants.Participant, user earshot.ParticipantID, p earshot.Profile) (Record, error) {
	if err := operates(by, "make an agent"); err != nil {
		return Record{}, err
	}
	r := Record{User: cmp.Or(user, participants.Owner), Kind: earshot.PathAgent, Profile: p}
	return b.birth(ctx, by.ID, r, func(ctx context.Context, v earshot.View) (earshot.Path, error) {
		return vacant(ctx, v, string(r.User), Slug(p.Name), 1)
	})
}

// Ensure returns the agent that lives at a path, and makes one if there never was any;
// [Directory.Resolve] never makes one. Only somebody who may operate the daemon may make one. Paths
// with a number are made only by [Directory.Spawn].
func (b *Directory) Ensure(ctx context.Context, by participants.Participant, path earshot.Path, p earshot.Profile) (Record, error) {
	if r, err := b.Resolve(ctx, path); err == nil || !errors.Is(err, ErrUnknown) {
		return r, err
	}
	at, err := ParsePath(path)
	switch {
	case err != nil:
		return Record{}, err
	case at.Kind.Indexed():
		return Record{}, participants.Refuse(ErrUnknown, fmt.Sprintf("there is no agent at %q, and numbers are assigned automatically", shown(path)), "spawn one below "+shown(at.Parent))
	case at.Kind == earshot.PathSubuser && at.User != string(participants.Owner):
		return Record{}, participants.Refuse(ErrNotYours, "a subuser has no subusers of its own", "make it one of the owner's")
	case at.Kind == earshot.PathSubuser:
		if _, err := subuserPath(at.Name); err != nil {
			return Record{}, err
		}
	}
	if err := operates(by, "make an agent"); err != nil {
		return Record{}, err
	}
	if p.Name == "" && at.Kind == earshot.PathAgent {
		p.Name = at.Name
	}
	if p.Name == "" && at.Kind == earshot.PathSubuser {
		p.Name = gatewayName(at.Name)
	}
	r, err := b.birth(ctx, by.ID, Record{User: earshot.ParticipantID(at.User), Kind: at.Kind, Profile: p}, exactly(path))
	if errors.Is(err, ErrTaken) { // somebody else may have been quicker
		if quicker, lives := b.Resolve(ctx, path); lives == nil {
			return quicker, nil
		}
	}
	return r, err
}

// Spawn makes an agent below another, for the benefit of that one: a sub or a search, each with the
// next number, or its only memory. by is who requests it, usually the parent agent itself. The new
// agent has no name of its own; it is labelled after its parent.
func (b *Directory) Spawn(ctx context.Context, by earshot.ParticipantID, parent earshot.Path, kind earshot.PathKind, p earshot.Profile) (Record, error) {
	if !kind.Below() {
		return Record{}, participants.Refuse(ErrProfile, fmt.Sprintf("an agent of kind %q cannot be below another agent", kind), "spawn a sub, a search or a memory")
	}
	up, err := b.Resolve(ctx, parent)
	if err != nil {
		return Record{}, err
	}
	p.Name, p.Username, p.Workspace, p.Main = "", "", "", false
	return b.birth(ctx, by, Record{User: up.User, Kind: kind, Profile: p}, func(ctx context.Context, v earshot.View) (earshot.Path, error) {
		above, known, err := at(ctx, v, parent)
		switch {
		case err != nil:
			return "", err
		case !known:
			return "", unknown(parent)
		case above.dead:
			return "", dead(parent)
		}
		return ChildPath(parent, kind, above.next[kind])
	})
}

// EnsureWorker returns the agent at a path that does a task or works by the clock for by, or helps one that does,
// and makes one if there never was any. It has no name and takes no part in talk.
func (b *Directory) EnsureWorker(ctx context.Context, by earshot.ParticipantID, path earshot.Path) (Record, error) {
	r, err := b.Resolve(ctx, path)
	at, _ := ParsePath(path)
	if !errors.Is(err, ErrUnknown) || !isWorker(path) {
		return r, err
	}
	return b.birth(ctx, by, Record{User: earshot.ParticipantID(at.User), Kind: at.Kind}, exactly(path))
}

// isWorker reports whether the agent at a path goes on with its work when the program starts again: it does a
// task, works by the clock, or helps one that does.
func isWorker(path earshot.Path) bool {
	at, err := ParsePath(path)
	if err == nil && at.Kind == earshot.PathSub {
		at, err = ParsePath(at.Parent)
	}
	return err == nil && (at.Kind == earshot.PathTask || at.Kind == earshot.PathCron)
}

// Change applies edit to an agent's profile. Only somebody who may operate the daemon may do it,
// and not to an agent from the configuration.
func (b *Directory) Change(ctx context.Context, by participants.Participant, id earshot.ParticipantID, edit func(*earshot.Profile)) (Record, error) {
	if err := operates(by, "change an agent"); err != nil {
		return Record{}, err
	}
	done, err := b.begin(ctx)
	if err != nil {
		return Record{}, err
	}
	defer done()
	was, err := b.changeable(id)
	if err != nil {
		return Record{}, err
	}
	r := was
	r.Rooms = slices.Clone(r.Rooms)
	edit(&r.Profile)
	if r.Profile, err = b.profile(r); err != nil || reflect.DeepEqual(r, was) {
		return r, err
	}
	keep := func() error {
		return b.record(ctx, by.ID, func(earshot.View) ([]earshot.Agent, error) {
			return []earshot.Agent{r.event(earshot.Changed)}, nil
		})
	}
	switch {
	case b.people == nil || r.Name == "" && was.Name == "":
		err = keep()
	case was.Name == "":
		err = b.people.Introduce(ctx, r.participant(), keep)
	default:
		err = b.people.Redescribe(ctx, r.participant(), keep)
	}
	return r, err
}

// changeable returns the live agent with an ID, if people may change it here.
func (b *Directory) changeable(id earshot.ParticipantID) (Record, error) {
	r, ok := b.ByID(id)
	switch {
	case !ok:
		return r, participants.Refuse(ErrUnknown, "there is no such agent, or it has ended", "list the agents: earshot agents")
	case r.ID == participants.Agent:
		return r, participants.Refuse(ErrConfigured, fmt.Sprintf("%s is the main agent, which is set in the configuration", r.Name), "change it in the section executive of the configuration, and start earshot again")
	case r.Kind == earshot.PathSystem:
		return r, participants.Refuse(ErrConfigured, fmt.Sprintf("%s is a part of earshot itself", b.Label(r.ID)), "change what earshot may do in the configuration; see: earshot agents show "+string(r.Path))
	case r.Configured:
		return r, participants.Refuse(ErrConfigured, fmt.Sprintf("%s is set in the configuration", r.Name), "change it in the section agents of the configuration, and start earshot again")
	}
	return r, nil
}

// birth makes an agent at the path that choose determines within the step.
func (b *Directory) birth(ctx context.Context, by earshot.ParticipantID, r Record, choose func(context.Context, earshot.View) (earshot.Path, error)) (Record, error) {
	done, err := b.begin(ctx)
	if err != nil {
		return Record{}, err
	}
	defer done()
	r.ID, r.Role = earshot.ParticipantID(b.setup.NewID()), r.Kind.Role()
	if r.Profile, err = b.profile(r); err == nil {
		err = b.space(r)
	}
	if err != nil {
		return Record{}, err
	}
	keep := func() error {
		return b.record(ctx, by, func(v earshot.View) ([]earshot.Agent, error) {
			path, err := choose(ctx, v)
			if err == nil {
				err = free(ctx, v, path)
			}
			r.Path = path
			return []earshot.Agent{r.event(earshot.Created)}, err
		})
	}
	if b.people == nil || r.Name == "" {
		err = keep()
	} else {
		err = b.people.Introduce(ctx, r.participant(), keep)
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// space says why there is no room for one more agent; nil if there is.
func (b *Directory) space(r Record) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	named := 0
	if r.Name != "" {
		for _, other := range b.live {
			if other.Name != "" {
				named++
			}
		}
	}
	if len(b.live) >= mostAlive || named >= mostNamed {
		return participants.Refuse(ErrFull, fmt.Sprintf("there are %d agents already, %d of them with a name", len(b.live), named), "end agents that nobody needs: earshot agents")
	}
	if gate, _ := PathOf(string(participants.Owner), earshot.PathSubuser, string(r.User)); r.User != "" && r.User != participants.Owner && b.live[gate] == nil {
		return participants.Refuse(ErrUnknown, fmt.Sprintf("there is no user %q", r.User), "make it a subuser first")
	}
	return nil
}

// exactly returns a function that chooses this one path.
func exactly(path earshot.Path) func(context.Context, earshot.View) (earshot.Path, error) {
	return func(context.Context, earshot.View) (earshot.Path, error) { return path, nil }
}

// vacant returns the first unused path for an agent of user: the one for slug, or for slug with a
// number. It begins with the number n, where 1 means no number.
func vacant(ctx context.Context, v earshot.View, user, slug string, n int) (earshot.Path, error) {
	for ; ; n++ {
		name := slug
		if n > 1 {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		path, err := PathOf(user, earshot.PathAgent, name)
		if err != nil {
			return "", err
		}
		if _, is, err := used(ctx, v, path); err != nil || !is {
			return path, err
		}
	}
}

// free says why no agent can be made at a path; nil if one can.
func free(ctx context.Context, v earshot.View, path earshot.Path) error {
	other, is, err := used(ctx, v, path)
	if err != nil || !is {
		return err
	}
	was, _, err := at(ctx, v, other)
	switch {
	case err != nil:
		return err
	case was.dead:
		return dead(other)
	case other != path:
		return participants.Refuse(ErrTaken, fmt.Sprintf("the path %q could be mistaken for %q", shown(path), other), "choose another")
	}
	return participants.Refuse(ErrTaken, fmt.Sprintf("there is an agent at %q already", path), "choose another path")
}

// operates returns an error if somebody may not operate the daemon; what says what they wanted to
// do.
func operates(by participants.Participant, what string) error {
	if by.Can(participants.Operate) {
		return nil
	}
	return participants.Refuse(ErrNotYours, "only the owner may "+what, "ask them")
}
