package main

import (
	"errors"
	"fmt"
	"io"

	"earshot/config"
	"earshot/internal/probe"
	"earshot/internal/terminal"
)

type doctorCommand struct {
	JSON bool `help:"Print the findings as JSON."`
}

// Run looks at everything that earshot needs.
func (d doctorCommand) Run(a *app) error {
	cfg, err := config.Salvage(a.file)
	placed(cfg)
	findings := append(probe.Configuration(cfg, err), probe.Journal(a.ctx, cfg), probe.Disk(cfg), probe.Log(cfg), probe.Daemon(a.ctx, cfg))
	findings = append(findings, lookAtAPI(a.ctx, cfg)...)
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
		show(a.printed(), findings)
	}
	for _, f := range findings {
		if !f.Works {
			return errors.Join(err, &verdict{code: failed})
		}
	}
	return err
}

// show prints findings, one a line, the cure of each below it.
func show(w io.Writer, findings []probe.Finding) {
	for _, f := range findings {
		sign := "✓"
		switch {
		case f.Absent:
			sign = "–"
		case !f.Works:
			sign = "✗"
		}
		fmt.Fprintf(w, "  %s %-14s %s\n", sign, f.Thing, terminal.Safe(f.Text))
		if f.Cure != "" {
			fmt.Fprintf(w, "  %16s → %s\n", "", terminal.Safe(f.Cure))
		}
	}
}
