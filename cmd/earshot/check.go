package main

import (
	"errors"
	"fmt"

	"earshot/config"
	"earshot/internal/probe"
	"earshot/internal/terminal"
)

type checkCommand struct {
	Sample bool `help:"Print a configuration file with every key, its default and what it does."`
	JSON   bool `help:"Print the faults as JSON."`
}

// Run checks the configuration and changes nothing. What only a server can know is asked of
// it, if it answers, and is no fault.
func (c checkCommand) Run(a *app) error {
	if c.Sample {
		_, err := fmt.Fprint(a.out, config.Sample())
		return err
	}
	cfg, err := a.config()
	var wrong *config.Error
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	warnings := []probe.CheckedFault{}
	if err == nil {
		warnings = probe.UnlistedModels(a.ctx, cfg)
	} else {
		cfg, _ = config.Salvage(a.file) // whose error is the same
	}
	wrong = probe.WithScripts(wrong, probe.AbsentScripts(cfg))
	if c.JSON {
		all := []probe.CheckedFault{}
		if wrong != nil {
			for _, f := range wrong.Faults {
				all = append(all, probe.CheckedFault{Fault: f})
			}
		}
		if bad := a.json(append(all, warnings...)); bad != nil {
			return bad
		}
		if wrong != nil {
			return &verdict{code: misused}
		}
		return nil
	}
	for _, w := range warnings {
		fmt.Fprintf(a.printed(), "! %s\n", terminal.Safe(w.String()))
	}
	if wrong != nil {
		return wrong
	}
	if cfg.File == "" {
		fmt.Fprintf(a.printed(), "There is no configuration file, so every key has its default.\nTo create one: earshot check --sample > %s\n", config.ShortPath(config.Places()[0]))
		return nil
	}
	fmt.Fprintf(a.printed(), "%s is valid.\n", config.ShortPath(cfg.File))
	return nil
}
