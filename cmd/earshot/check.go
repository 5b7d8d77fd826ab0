package main

import (
	"errors"
	"fmt"

	"earshot/config"
)

type checkCommand struct {
	Sample bool `help:"Print a configuration file with every key, its default and what it does."`
	JSON   bool `help:"Print the faults as JSON."`
}

// Run checks the configuration and changes nothing.
func (c checkCommand) Run(a *app) error {
	if c.Sample {
		_, err := fmt.Fprint(a.out, config.Sample())
		return err
	}
	cfg, err := a.config()
	var wrong *config.Error
	if c.JSON && (err == nil || errors.As(err, &wrong)) {
		faults := []config.Fault{}
		if wrong != nil {
			faults = append(faults, wrong.Faults...)
		}
		if bad := a.json(faults); bad != nil {
			return bad
		}
		if len(faults) > 0 {
			return &verdict{code: misused}
		}
		return nil
	}
	if err != nil {
		return err
	}
	if cfg.File == "" {
		fmt.Fprintf(a.out, "There is no configuration file; everything has its default.\nTo begin one: earshot check --sample > %s\n", short(config.Places()[0]))
		return nil
	}
	fmt.Fprintf(a.out, "%s is right.\n", short(cfg.File))
	return nil
}
