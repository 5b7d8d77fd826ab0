package main

import (
	"errors"

	"earshot/config"
	"earshot/internal/probe"
)

type doctorCommand struct {
	JSON bool `help:"Print the findings as JSON."`
}

// Run looks at everything that earshot needs.
func (d doctorCommand) Run(a *app) error {
	cfg, err := config.Salvage(a.file)
	config.Place(cfg)
	findings := append(probe.Configuration(cfg, err), probe.Journal(a.ctx, cfg), probe.Disk(cfg), probe.Log(cfg), probe.Daemon(a.ctx, cfg))
	findings = append(findings, probe.API(a.ctx, cfg)...)
	findings = append(findings, probe.Tokens(cfg)...)
	findings = append(findings, probe.KnownVoices(cfg)...)
	findings = append(findings, probe.Agents(a.ctx, cfg)...)
	findings = append(findings, probe.Senses(a.ctx, cfg)...)
	findings = append(findings, a.tryCameras(cfg)...)
	findings = append(findings, probe.Discord(a.ctx, cfg)...)
	findings = append(findings, probe.Models(a.ctx, cfg, err)...)
	err = nil
	if d.JSON {
		err = a.json(findings)
	} else {
		probe.PrintFindings(a.printed(), findings)
	}
	for _, f := range findings {
		if !f.Works {
			return errors.Join(err, &verdict{code: failed})
		}
	}
	return err
}
