package config

import (
	"earshot"
	"earshot/executive/memory"
	"earshot/executive/reason"
	"earshot/executive/remind"
	"earshot/executive/schedule"
	"earshot/executive/task"
	"earshot/participants/agents"
	"earshot/store"
)

// Decisions about what was said: after heeded ones an agent stays silent and has used it
// nevertheless; unheeded ones are about something else.
var (
	heeded   = []string{reason.Commanded, reason.Murmured}
	unheeded = []string{reason.NewVoice}
)

// Journal returns how the journal is opened, by the daemon and by commands while none runs: with the
// views that other packages keep of it.
func (c *Config) Journal() store.Config {
	is := c.Store
	is.Projections, is.Heeded, is.Unheeded = []earshot.Projection{agents.Projection{}, remind.Projection{}, memory.Projection{}, schedule.Projection{}, task.Projection{}}, heeded, unheeded
	return is
}
