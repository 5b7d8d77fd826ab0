// Package config places the sections that the other packages own, and reads
// them from one YAML file and the environment: [Load].
//
// Whatever is wrong is said at once, each fault with its file, line and key;
// a file that is wrong in one place is not used at all.
package config

import (
	"errors"
	"fmt"
	"slices"

	"earshot/bus"
	"earshot/cluster"
	"earshot/executive"
	"earshot/internal/field"
	"earshot/internal/logfile"
	"earshot/models/engine"
	speaking "earshot/outlets/discord"
	"earshot/outlets/loudspeaker"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/providers/discord"
	"earshot/providers/microphone"
	"earshot/providers/webcam"
	"earshot/server"
	"earshot/speakers"
	"earshot/store"
)

// Config is the whole configuration.
type Config struct {
	// File is where it was read from; empty if there was no file.
	File string `yaml:"-"`

	Executive      executive.Config    `yaml:"executive"`
	ExternalActors participants.Config `yaml:"external_actors"`
	Agents         agents.Config       `yaml:"agents"`
	Rooms          executive.Rooms     `yaml:"rooms"`
	Providers      Providers           `yaml:"providers"`
	Outlets        Outlets             `yaml:"outlets"`
	Speech         engine.Config       `yaml:"speech"`
	Speakers       speakers.Config     `yaml:"speakers"`
	Store          store.Config        `yaml:"store"`
	Server         server.Config       `yaml:"server"`
	Bus            bus.Config          `yaml:"bus"`
	Cluster        cluster.Config      `yaml:"cluster"`
	Log            logfile.Config      `yaml:"log"`
}

// Providers places the section of each sense.
type Providers struct {
	Console    Part              `yaml:"console"`
	Microphone microphone.Config `yaml:"microphone"`
	Webcam     webcam.Config     `yaml:"webcam"`
	Discord    discord.Config    `yaml:"discord"`
}

// Outlets places the section of each place where a reply comes out.
type Outlets struct {
	Console     Part               `yaml:"console"`
	Loudspeaker loudspeaker.Config `yaml:"loudspeaker"`
	Discord     speaking.Config    `yaml:"discord"`
}

// A Part is the section of a sense or an outlet that can only be there or not.
type Part struct {
	Enabled bool `yaml:"enabled"`
}

// Default returns the configuration of somebody who wrote none.
func Default() *Config {
	c := &Config{
		Executive:      executive.DefaultConfig(),
		ExternalActors: participants.DefaultConfig(),
		Providers:      Providers{Console: Part{Enabled: true}, Microphone: microphone.DefaultConfig(), Webcam: webcam.DefaultConfig(), Discord: discord.DefaultConfig()},
		Outlets:        Outlets{Console: Part{Enabled: true}, Loudspeaker: loudspeaker.DefaultConfig(), Discord: speaking.DefaultConfig()},
		Speech:         engine.DefaultConfig(),
		Speakers:       speakers.DefaultConfig(),
		Store:          store.DefaultConfig(),
		Server:         server.DefaultConfig(),
		Cluster:        cluster.DefaultConfig(),
		Log:            logfile.DefaultConfig(),
	}
	c.Executive.Parallel.ReasoningContinuous = false // until somebody allows it, as they must a microphone
	c.Executive.Memory.Enabled = false               // likewise
	return c
}

// Validate reports every fault in c, not only the first.
func (c *Config) Validate() error {
	return errors.Join(
		field.Under("executive", c.Executive.Validate()),
		field.Under("external_actors", c.ExternalActors.Validate()),
		field.Under("external_actors", c.ExternalActors.Collides(c.Executive.Name)),
		c.Agents.Validate(c.names()),
		c.Rooms.Validate(),
		c.strangers(),
		field.Under("providers.microphone", c.Providers.Microphone.Validate()),
		field.Under("providers.webcam", c.Providers.Webcam.Validate()),
		field.Under("providers.discord", c.Providers.Discord.Validate()),
		field.Under("outlets.loudspeaker", c.Outlets.Loudspeaker.Validate()),
		field.Under("outlets.discord", c.Outlets.Discord.Validate()),
		field.Under("speech", c.Speech.Validate()),
		field.Under("speakers", c.Speakers.Validate()),
		field.Under("store", c.Store.Validate()),
		field.Under("server", c.Server.Validate()),
		field.Under("bus", c.Bus.Validate()),
		field.Under("cluster", c.Cluster.Validate()),
		c.sharesCluster(),
		field.Under("log", c.Log.Validate()),
	)
}

// names returns what the section agents can speak of.
func (c *Config) names() agents.Names {
	n := agents.Names{Main: c.Executive.Name, Actors: c.ExternalActors, Engines: c.Executive.LLM.Names()}
	for _, r := range c.Rooms.All() {
		n.Rooms = append(n.Rooms, r.ID)
	}
	return n
}

// strangers reports who is let into a room and is not known beforehand: anybody
// could come and take their name.
func (c *Config) strangers() error {
	known := []string{string(participants.Owner)}
	for _, a := range c.ExternalActors.Actors {
		known = append(known, string(a.ID))
	}
	var faults []error
	for i, r := range c.Rooms {
		for j, id := range r.Actors {
			if !slices.Contains(known, string(id)) {
				faults = append(faults, field.Errorf(fmt.Sprintf("rooms[%d].actors[%d]", i, j),
					"is %q, but external_actors.actors has no such actor_id; add them there", id))
			}
		}
	}
	return errors.Join(faults...)
}

// sharesCluster reports what daemons that share their rooms lack.
func (c *Config) sharesCluster() error {
	switch {
	case c.Cluster.Name == "":
		return nil
	case c.Store.URL == "":
		return field.Errorf("cluster.name", "is set, but not store.url; several daemons need one database, so write it there")
	case !c.Bus.Enabled():
		return field.Errorf("cluster.name", "is set, but there is no bus, by which daemons hear of each other; set bus.listen or bus.servers")
	}
	return nil
}
