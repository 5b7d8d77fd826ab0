package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"earshot/api"
	"earshot/config"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/probe"
	"earshot/internal/terminal"
	"earshot/llm"
	"earshot/participants"
	"earshot/server"
)

type modelsCommand struct {
	List modelsList `cmd:"" default:"withargs" help:"List the models and which are in use."`
	Use  modelsUse  `cmd:"" help:"Choose the model that answers, and save that in the configuration."`
	Get  modelsGet  `cmd:"" help:"Download a model through Ollama, or finish a download."`
}

// A modelInfo is a model as people and programs are told of it.
type modelInfo struct {
	Engine   string   `json:"engine"` // as the configuration calls it
	Model    string   `json:"model"`
	Bytes    int64    `json:"bytes,omitempty"`
	Tools    bool     `json:"tools"`
	Thinking bool     `json:"thinking"`
	Vision   bool     `json:"vision"`
	Roles    []string `json:"roles"`             // that it can have
	InUse    []string `json:"in_use"`            // those that it has
	Missing  bool     `json:"missing,omitempty"` // it is to be used, and its engine does not list it
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
	list, faults := modelsOf(cfg.Executive, looks), engineFaults(looks)
	none := len(faults) == len(looks)
	switch {
	case l.JSON:
		err = a.json(list)
	case !none:
		var b strings.Builder
		printModels(&b, list)
		_, err = io.WriteString(a.printed(), b.String())
	}
	show(a.told(), faults)
	if none {
		return errors.Join(err, &verdict{code: failed})
	}
	return err
}

// engineFaults returns why engines could not be asked.
func engineFaults(looks []probe.Engine) (all []probe.Finding) {
	for _, l := range looks {
		if !l.Answered {
			all = append(all, l.Finding)
		}
	}
	return all
}

// modelsOf returns the models that engines have, those of the first engine first, and those
// that are to be used and are not there.
func modelsOf(set executive.Config, looks []probe.Engine) []modelInfo {
	list, used := []modelInfo{}, probe.ModelsInUse(set)
	roles := []string{probe.TalkRole, probe.ThinkRole}
	for _, l := range looks {
		first := len(list)
		for _, m := range l.Models {
			list = append(list, modelInfo{
				Engine: l.Config.Name, Model: m.Name, Bytes: m.Bytes, Tools: m.Tools, Thinking: m.Thinking, Vision: m.Vision, Roles: roles, InUse: []string{},
			})
		}
		for _, role := range roles {
			is, ok := used[role]
			if !ok || is.Engine != l.Config.Name || !l.Answered {
				continue
			}
			i := slices.IndexFunc(list[first:], func(m modelInfo) bool {
				return l.Config.Provider == llm.Script || probe.SameModel(llm.Model{Name: m.Model}, is.Model)
			})
			if i < 0 {
				i = len(list) - first
				list = append(list, modelInfo{Engine: is.Engine, Model: is.Model, Roles: roles, Missing: true})
			}
			list[first+i].InUse = append(list[first+i].InUse, role)
		}
	}
	return list
}

// printModels prints a list for people.
func printModels(w io.Writer, list []modelInfo) {
	if len(list) == 0 {
		fmt.Fprintf(w, "There are no models.\n  → earshot models get %s\n", probe.SmallModel)
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ENGINE\tMODEL\tSIZE\tCAN\tROLE\tIN USE")
	for _, m := range list {
		bytes := strings.TrimSpace(size(m.Bytes))
		if m.Missing {
			bytes = "not there"
		}
		row := []string{m.Engine, m.Model, bytes, m.can(), strings.Join(m.Roles, ", "), "-"}
		if len(m.InUse) > 0 {
			row[5] = strings.Join(m.InUse, ", ")
		}
		for i, cell := range row {
			if row[i] = terminal.Safe(cell); row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
}

// can says what a model can do besides talking, as far as its engine says so.
func (m modelInfo) can() string {
	var can []string
	for _, is := range []struct {
		so   bool
		name string
	}{{m.Tools, "tools"}, {m.Thinking, "thinking"}, {m.Vision, "vision"}} {
		if is.so {
			can = append(can, is.name)
		}
	}
	return strings.Join(can, ", ")
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
				faults := engineFaults(looks)
				if len(faults) < len(looks) {
					printModels(&b, modelsOf(cfg.Executive, looks))
				}
				show(&b, faults)
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
