package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"earshot/api"
	"earshot/config"
	"earshot/executive/command"
	"earshot/internal/probe"
	"earshot/participants"
	"earshot/server"
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

// modelTable is the command of a room that lists the models, and chooses the one that
// answers.
func (d *daemon) modelTable() command.Table {
	return command.Table{{
		Group: "For operators of earshot", Name: "model", Args: "[NAME [think]]", Help: "list the models; choose one for talking or thinking", Needs: participants.Operate,
		Do: func(ctx context.Context, c command.Call) (string, error) {
			words := strings.Fields(string(c.Args))
			if d.reloads.load == nil {
				return "", errNoFile
			}
			cfg, err := d.reloads.load()
			if err != nil {
				return "", err
			}
			looks := probe.Engines(ctx, cfg.Executive.LLM)
			role := probe.TalkRole
			switch {
			case len(words) == 0:
				var b strings.Builder
				faults := probe.EngineFaults(looks)
				if len(faults) < len(looks) {
					probe.PrintModels(&b, probe.ListModels(cfg.Executive, looks))
				}
				probe.PrintFindings(&b, faults)
				return strings.TrimRight(b.String(), "\n"), nil
			case len(words) == 2 && (words[1] == probe.TalkRole || words[1] == probe.ThinkRole):
				role = words[1]
			case len(words) > 1:
				return "", errors.New("write /model, /model NAME, or /model NAME think")
			}
			is, err := probe.ChooseModel(cfg, looks, probe.EngineModel{Model: words[0]}, role)
			if err == nil {
				err = is.Save()
			}
			if err == nil {
				_, err = d.reload(context.WithoutCancel(ctx), true)
			}
			if err != nil {
				return "", err
			}
			return is.String(), nil
		},
	}}
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
	next, err := a.config()
	if err != nil {
		return err
	}
	client, _, err := a.visit(next, identityFlags{}, "", a.enterAs(""))
	var of api.ReloadResult
	if err == nil {
		of, err = client.Reload(a.ctx)
	}
	switch {
	case errors.Is(err, server.ErrNotRunning):
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
