package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"earshot/api"
	"earshot/config"
	"earshot/internal/probe"
	"earshot/server/client"
)

type modelsCommand struct {
	List modelsList `cmd:"" default:"withargs" help:"List the models and which are in use."`
	Use  modelsUse  `cmd:"" help:"Choose the model that answers, and save that in the configuration."`
	Get  modelsGet  `cmd:"" help:"Download a model through Ollama, or finish a download."`
}

type modelsList struct {
	JSON bool `help:"Print them as JSON."`
}

// Run lists the models. That an engine cannot be asked is said apart.
func (l modelsList) Run(a *app) error {
	cfg, err := a.asking("executive.llm.provider")
	if err != nil {
		return err
	}
	looks := probe.Engines(a.ctx, cfg.Executive.LLM)
	list, faults := probe.ListModels(cfg.Executive, looks), probe.EngineFaults(looks)
	none := len(faults) == len(looks)
	switch {
	case l.JSON:
		err = a.json(list)
	case !none:
		var b strings.Builder
		probe.PrintModels(&b, list)
		_, err = io.WriteString(a.printed(), b.String())
	}
	probe.PrintFindings(a.told(), faults)
	if none {
		return errors.Join(err, &verdict{code: failed})
	}
	return err
}

type modelsUse struct {
	Name   string `arg:"" help:"Its name, as shown by list."`
	Engine string `help:"The engine to use, if several have it." placeholder:"NAME"`
	Role   string `enum:"talk,think" default:"talk" help:"What to use it for: talk or think."`
}

// Run chooses a model. The earshot that runs has it at once.
func (u modelsUse) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	is, err := probe.ChooseModel(cfg, probe.Engines(a.ctx, cfg.Executive.LLM), probe.EngineModel{Engine: u.Engine, Model: u.Name}, u.Role)
	if err != nil {
		return &verdict{notFound, err}
	}
	if err := is.Save(); err != nil {
		return err
	}
	fmt.Fprintln(a.printed(), is)
	running, _, err := a.reach(identityFlags{}, "")
	var of api.ReloadResult
	if err == nil {
		of, err = running.Reload(a.ctx)
	}
	switch {
	case errors.Is(err, client.ErrNotRunning):
		fmt.Fprintln(a.out, "earshot is not running; this applies from its next start.")
	case err != nil:
		return fmt.Errorf("it is saved, but the running earshot does not use it: %w", err)
	case !sameFile(of.File, is.File):
		return fmt.Errorf("it is saved, but the running earshot reads %s\n  → earshot models use %s --config %[1]s", cmp.Or(config.ShortPath(of.File), "no file"), u.Name)
	default:
		fmt.Fprintln(a.out, "The running earshot uses it now.")
	}
	return nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	is, err := os.Stat(a)
	other, bad := os.Stat(b)
	return err == nil && bad == nil && os.SameFile(is, other)
}
