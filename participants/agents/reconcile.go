package agents

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"earshot"
	"earshot/participants"
)

// reconcile fills an empty directory from the journal, and reconciles both with the configuration,
// in one step.
func (b *Directory) reconcile(ctx context.Context) error {
	return b.record(ctx, "", func(v earshot.View) ([]earshot.Agent, error) {
		all, err := alive(ctx, v)
		if err != nil {
			return nil, err
		}
		b.load(all)
		if b.former, err = former(ctx, v); err != nil {
			return nil, err
		}
		return b.plan(ctx, v)
	})
}

// plan returns what must change so that the directory matches the configuration.
func (b *Directory) plan(ctx context.Context, v earshot.View) ([]earshot.Agent, error) {
	if b.setup.Follows {
		return nil, nil
	}
	p := reconciliation{Directory: b, view: v, looks: make(map[string]bool), kept: make(map[earshot.ParticipantID]bool)}
	err := p.make(ctx)
	return p.changes, err
}

// Reconfigure reconciles a directory in use, and the journal, with another configuration, as [Open]
// does. It keeps its journal and clock. The caller updates the participant registry with the
// result. If Reconfigure fails, nothing has changed.
func (b *Directory) Reconfigure(ctx context.Context, s Setup) error {
	done, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	was := b.setup
	s.Journal, s.Now, s.NewID = was.Journal, was.Now, was.NewID
	b.setup = s
	if err = b.record(ctx, "", func(v earshot.View) ([]earshot.Agent, error) { return b.plan(ctx, v) }); err != nil {
		b.setup = was
		return fmt.Errorf("bringing the agents in step with the configuration: %w", err)
	}
	return nil
}

// A reconciliation is what must change so that the directory matches the configuration.
type reconciliation struct {
	*Directory
	view    earshot.View
	changes []earshot.Agent
	names   []string                       // that the configuration uses
	fixed   []Record                       // the configured agents, as they will be
	looks   map[string]bool                // of the paths that this plan assigns
	kept    map[earshot.ParticipantID]bool // the agents that are configured, or made now
}

func (p *reconciliation) make(ctx context.Context) error {
	main := Record{ID: participants.Agent, User: participants.Owner, Kind: earshot.PathAgent, Configured: true, Profile: p.setup.Main}
	if err := p.settle(ctx, main, p.ids[participants.Agent]); err != nil {
		return err
	}
	for _, e := range p.setup.Config {
		if err := p.gateway(ctx, e); err != nil {
			return err
		}
	}
	for _, e := range p.setup.Config {
		if err := p.settle(ctx, e.Record(), p.existing(e)); err != nil {
			return err
		}
	}
	p.rest()
	return nil
}

// rest handles the agents that are not in the configuration.
func (p *reconciliation) rest() {
	ended := make(map[earshot.Path]bool)
	for _, r := range p.List() {
		switch {
		case p.kept[r.ID], ended[root(r.Path)]:
		case r.Configured && r.Kind == earshot.PathConnector: // its path could never be used again
			r.Configured, r.Profile = false, earshot.Profile{}
			p.changes = append(p.changes, r.event(earshot.Changed))
		case r.Configured:
			ended[r.Path] = true
			p.changes = append(p.changes, r.event(earshot.Ended))
		default:
			p.give(r)
		}
	}
}

// existing returns the agent that an entry describes: an agent of the same user with the same name,
// even one that somebody made at run time.
func (p *reconciliation) existing(e Entry) *Record {
	if e.Connector != "" {
		return p.live[connectorPath(e.Connector)]
	}
	for _, r := range p.live {
		if r.Kind == earshot.PathAgent && r.ID != participants.Agent && r.User == e.owner() && participants.Key(r.Name) == participants.Key(e.Name) {
			return r
		}
	}
	return nil
}

// settle makes an agent match the configuration: an existing one, or otherwise a new one.
func (p *reconciliation) settle(ctx context.Context, r Record, is *Record) error {
	r.Role = r.Kind.Role()
	p.names = append(p.names, r.Name, r.Username)
	if is == nil {
		return p.create(ctx, r)
	}
	r.ID, r.Path = is.ID, is.Path
	p.kept[r.ID] = true
	p.fixed = append(p.fixed, r)
	if !reflect.DeepEqual(r, *is) {
		p.changes = append(p.changes, r.event(earshot.Changed))
	}
	return nil
}

// create makes a new agent, at a path that was never used.
func (p *reconciliation) create(ctx context.Context, r Record) (err error) {
	if r.ID == "" {
		r.ID = earshot.ParticipantID(p.setup.NewID())
	}
	slug := Slug(r.Name)
	for n := 1; r.Path == "" || p.looks[PathLook(r.Path)]; n++ {
		if r.Path, err = vacant(ctx, p.view, string(r.User), slug, n); err != nil {
			return err
		}
	}
	p.looks[PathLook(r.Path)] = true
	p.kept[r.ID] = true
	p.fixed = append(p.fixed, r)
	p.changes = append(p.changes, r.event(earshot.Created))
	return nil
}

// gateway makes the gateway of the subuser of an entry, if there is none. It stays when the entry
// is removed, so that the entry may come back.
func (p *reconciliation) gateway(ctx context.Context, e Entry) error {
	if e.owner() == participants.Owner {
		return nil
	}
	path, err := subuserPath(e.User)
	if err != nil || p.live[path] != nil || p.looks[PathLook(path)] {
		return err
	}
	if err := free(ctx, p.view, path); err != nil {
		return fmt.Errorf("making the subuser %q, who has an agent in the configuration: %w", e.User, err)
	}
	r := Record{Path: path, User: participants.Owner, Kind: earshot.PathSubuser, Role: earshot.PathSubuser.Role()}
	r.Name, r.AutoReply = gatewayName(e.User), true
	r.Name = p.name(r)
	p.names = append(p.names, r.Name)
	return p.create(ctx, r)
}

// give updates an agent that was made at run time: the configuration takes precedence over it, and
// its prompt is brought up to date.
func (p *reconciliation) give(was Record) {
	r := was
	r.Name = p.name(r)
	if r.Username != "" && p.taken(r.Username) {
		r.Username = ""
	}
	for _, f := range p.fixed {
		if f.User == r.User && f.Workspace == r.Workspace {
			r.Workspace = ""
		}
		r.Main = r.Main && !(f.Main && overlap(f.Rooms, r.Rooms))
	}
	r.Prompt, r.Version = Upgrade(r.Prompt, r.Version)
	if !reflect.DeepEqual(r, was) {
		p.changes = append(p.changes, r.event(earshot.Changed))
	}
	p.names = append(p.names, r.Name, r.Username)
}

// name returns the name of an agent that was made at run time. The name gets a number if the
// configuration has given it to somebody else.
func (p *reconciliation) name(r Record) string {
	name := r.Name
	for n := 2; name != "" && (p.taken(name) || n > 2 && p.had(name)); n++ {
		name = fmt.Sprintf("%s %d", r.Name, n)
	}
	return name
}

// had reports whether an agent with a name like this exists already.
func (p *reconciliation) had(name string) bool {
	for _, r := range p.live {
		if r.Name != "" && participants.Near(name, r.Name) {
			return true
		}
	}
	return false
}

// taken reports whether an agent called name could be mistaken for somebody else.
func (p *reconciliation) taken(name string) bool {
	near := func(other string) bool { return other != "" && participants.Near(name, other) }
	return slices.ContainsFunc(p.names, near) || p.setup.Actors.Collides(name) != nil
}
