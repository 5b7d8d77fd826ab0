package main

import (
	"time"

	"earshot/daemon/health"
)

type statusCommand struct {
	identityFlags
	JSON bool `help:"Print it as JSON."`
}

// Run says how it stands with the earshot that runs.
func (c statusCommand) Run(a *app) error {
	_, s, err := a.reach(c.identityFlags, "")
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(s)
	}
	return health.PrintStatus(a.printed(), s, time.Now())
}
