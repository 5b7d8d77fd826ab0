package main

import (
	"fmt"

	"earshot/config"
	"earshot/daemon"
)

type reloadCommand struct {
	identityFlags
	JSON bool `help:"Print what has changed as JSON."`
}

// Run has the earshot that runs read its configuration again.
func (c reloadCommand) Run(a *app) error {
	find := a.config // whose error is what the other would say
	if a.API != "" {
		find = func() (*config.Config, error) { return a.asking() }
	}
	cfg, err := find()
	if err != nil {
		return err
	}
	client, _, err := a.visit(cfg, c.identityFlags, "", a.enterAs(""))
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
