package agents

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"earshot"
	"earshot/internal/field"
	"earshot/participants"
)

// Config is the section agents of the configuration: the agents besides the main one, which the
// section executive describes.
type Config []Entry

// An Entry is one agent of the configuration.
type Entry struct {
	Name        string           `yaml:"name"`
	Username    string           `yaml:"username"`    // a further name by which it is called in writing
	Description string           `yaml:"description"` // its purpose, for people, other agents and itself
	Prompt      string           `yaml:"prompt"`      // empty means the built-in one
	Engine      string           `yaml:"engine"`      // the name of an engine; empty means the one in executive.llm
	Model       string           `yaml:"model"`       // empty means the model in executive.llm
	Workspace   string           `yaml:"workspace"`   // the folder of its files; empty means the one at its path
	Rooms       []earshot.RoomID `yaml:"rooms"`       // where it sits; empty means everywhere
	Main        bool             `yaml:"main"`        // it answers there what is addressed to nobody in particular
	AutoReply   bool             `yaml:"auto_reply"`  // its replies call the agent that it answers
	User        string           `yaml:"user"`        // the subuser it belongs to; empty means the owner
	Connector   string           `yaml:"connector"`   // it answers there who calls nobody; see [Connectors]
}

// SetDefaults sets the defaults of an entry. It is called before the entry is read.
func (e *Entry) SetDefaults() { e.AutoReply = true }

func (e Entry) profile() earshot.Profile {
	p := earshot.Profile{
		Name: e.Name, Username: e.Username, Description: e.Description, Prompt: earshot.Text(e.Prompt), Engine: e.Engine, Model: e.Model,
		Workspace: e.Workspace, Main: e.Main, AutoReply: e.AutoReply,
	}
	p.Rooms = append(p.Rooms, e.Rooms...) // nil if there are none
	return p
}

// Record returns the agent of an entry, without an ID and a path, which a [Directory] gives it.
func (e Entry) Record() Record {
	r := Record{User: e.owner(), Kind: earshot.PathAgent, Configured: true, Profile: e.profile()}
	if e.Connector != "" {
		r.Kind, r.Path = earshot.PathConnector, connectorPath(e.Connector)
	}
	return r
}

func (e Entry) owner() earshot.ParticipantID {
	return cmp.Or(earshot.ParticipantID(e.User), participants.Owner)
}

// Names are the agents and people that other parts of the configuration name, and the rooms and
// engines to which an entry can refer.
type Names struct {
	Main    string              // the main agent: executive.name
	Actors  participants.Config // external_actors
	Rooms   []earshot.RoomID    // that exist
	Engines []string            // of executive.llm
}

// Validate reports every fault in c.
func (c Config) Validate(n Names) error {
	faults := []error{
		field.Check(len(c) < mostNamed, "agents", "has %d entries; must have at most %d, because each is part of every prompt", len(c), mostNamed-1),
	}
	for i, e := range c {
		faults = append(faults, field.Under(fmt.Sprintf("agents[%d]", i), errors.Join(
			c.checkName(i, "name", e.Name, n),
			c.checkName(i, "username", e.Username, n),
			profileScope{n.Rooms, n.Engines}.check(e.profile()),
			e.checkUser(),
			c.checkConnector(i),
			c.checkWorkspace(i),
			c.checkMain(i),
		)))
	}
	return errors.Join(faults...)
}

// checkName checks that the agent could not be mistaken for anybody else by its name or username.
func (c Config) checkName(i int, key, name string, n Names) error {
	if name == "" {
		return field.Check(key != "name", key, "is empty; an agent needs a name to be called by")
	}
	if _, err := participants.CheckAgent(name); err != nil {
		return field.Errorf(key, "cannot be used: %v", err)
	}
	faults := []error{field.Check(!participants.NearMain(name, n.Main), key, "is %q, which could be mistaken for the main agent, %q", name, n.Main)}
	for j, e := range c[:i] {
		for _, other := range []string{e.Name, e.Username} {
			if _, err := participants.CheckAgent(other); err == nil && participants.Near(name, other) {
				faults = append(faults, field.Errorf(key, "is %q, which could be mistaken for that of agents[%d], %q", name, j, other))
			}
		}
	}
	for _, e := range c {
		if e.User != "" && participants.Near(name, gatewayName(e.User)) {
			faults = append(faults, field.Errorf(key, "is %q, which is the name of the gateway of the subuser %q", name, e.User))
			break
		}
	}
	return errors.Join(append(faults, field.Check(n.Actors.Collides(name) == nil, key, "is %q, which could be mistaken for a name in external_actors", name))...)
}

// checkUser checks that the subuser's ID, if there is one, can be part of a path.
func (e Entry) checkUser() error {
	if e.User == "" || e.User == string(participants.Owner) {
		return nil
	}
	path, err := subuserPath(e.User)
	if err != nil {
		return field.Errorf("user", "cannot be used: %v", err)
	}
	at, err := ParsePath(path)
	if _, odd := participants.CheckAgent(gatewayName(e.User)); odd != nil || err != nil || at.Name != e.User {
		return field.Errorf("user", "is %q; must be one word of small letters, digits and - . _, such as family", participants.OneLine(e.User))
	}
	return homeless(e.owner(), e.profile())
}

// checkConnector checks that the agent is the only one that is met by its connector.
func (c Config) checkConnector(i int) error {
	is := c[i].Connector
	return errors.Join(
		field.Check(is == "" || slices.Contains(Connectors, is) && c[i].owner() == participants.Owner, "connector", "is %q; %s, for an agent of the owner", participants.OneLine(is), choose("where it is met", Connectors)),
		field.Check(is == "" || !slices.ContainsFunc(c[:i], func(e Entry) bool { return e.Connector == is }), "connector", "is %q, as for an agent before; one agent is met there", participants.OneLine(is)),
	)
}

// checkWorkspace checks that the agent is the only one of its user with its workspace.
func (c Config) checkWorkspace(i int) error {
	is := c[i]
	shares := func(e Entry) bool { return e.Workspace == is.Workspace && e.owner() == is.owner() }
	return field.Check(is.Workspace == "" || !slices.ContainsFunc(c[:i], shares), "workspace", "is %q, as for an agent before; each has its own files", participants.OneLine(is.Workspace))
}

// checkMain checks that no room has two main agents.
func (c Config) checkMain(i int) error {
	for j, other := range c[:i] {
		if c[i].Main && other.Main && overlap(c[i].Rooms, other.Rooms) {
			return field.Errorf("main", "is true, but agents[%d] is the main agent of the same room already; a room has one main agent", j)
		}
	}
	return nil
}
