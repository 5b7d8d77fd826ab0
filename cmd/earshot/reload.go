package main

import (
	"fmt"

	"earshot/daemon"
)

type reloadCommand struct {
	identityFlags
	JSON bool `help:"Print what has changed as JSON."`
}

// Run has the earshot that runs read its configuration again.
func (c reloadCommand) Run(a *app) error {
	if a.API == "" {
		if _, err := a.config(); err != nil { // which is what the other would say
			return err
		}
	}
	client, _, err := a.reach(c.identityFlags, "")
	if err != nil {
		return err
	}
	is, err := client.Reload(a.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(is)
	}
	_, err = fmt.Fprintln(a.out, daemon.ReloadText(is))
	return err
}
