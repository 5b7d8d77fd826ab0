package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"earshot/api"
	"earshot/config"
	"earshot/daemon/diagnosis"
	"earshot/internal/probe"
	"earshot/server/client"
)

type diagnosticsCommand struct {
	identityFlags
	Output     string `help:"Write it to this new file instead of printing it." placeholder:"FILE" type:"path"`
	Goroutines bool   `help:"Include the stack of every goroutine."`
}

// Run collects what a report of a fault needs: from the daemon if it runs, and otherwise
// from what it left.
func (c diagnosticsCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	all, err := a.diagnose(cfg, c)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetIndent("", "  ")
	if err := to.Encode(all); err != nil {
		return err
	}
	if c.Output == "" {
		_, err := a.out.Write(b.Bytes())
		return err
	}
	f, err := os.OpenFile(c.Output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the diagnostics: %w", err)
	}
	_, err = f.Write(b.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing the diagnostics: %w", err), os.Remove(c.Output))
	}
	_, err = fmt.Fprintf(a.err, "Written to %s. It contains nobody's words and no names that earshot knows; check it before you send it.\n", config.ShortPath(c.Output))
	return err
}

// diagnose asks the daemon, or looks at what is there.
func (a *app) diagnose(cfg *config.Config, c diagnosticsCommand) (all api.Diagnosis, err error) {
	running, _, err := a.visit(cfg, c.identityFlags, "")
	if err == nil {
		return running.Diagnostics(a.ctx, api.DiagnosisRequest{Goroutines: c.Goroutines})
	}
	if !errors.Is(err, client.ErrNotRunning) {
		return all, err
	}
	s := diagnosis.NewRedactor(diagnosis.MachineNames()...)
	d := diagnosis.New(cfg, version(), diagnosis.Redactor{}) // it knows no names: only a running daemon does
	findings := []api.CheckResult{probe.Journal(a.ctx, cfg), probe.Disk(cfg), probe.Log(cfg), probe.Daemon(a.ctx, cfg)}
	if a.warned { // in words that may be anybody's
		findings = append(findings, api.CheckResult{Thing: "configuration", Text: "is wrong", Cure: "earshot check"})
	}
	findings = append(findings, probe.Senses(a.ctx, cfg)...)
	for _, l := range probe.Engines(a.ctx, cfg.Executive.LLM) {
		findings = append(findings, l.CheckResult)
	}
	for _, f := range findings {
		f.Text, f.Cure = s.File(f.Text), s.File(f.Cure)
		d.Findings = append(d.Findings, f)
	}
	return diagnosis.Scrub(d, s)
}
