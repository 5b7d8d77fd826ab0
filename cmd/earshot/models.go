package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"earshot/api"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/terminal"
	"earshot/llm"
	"earshot/participants"
	"earshot/server"
)

type modelsCommand struct {
	List modelsList `cmd:"" default:"withargs" help:"List the models that there are, and which are in use."`
	Use  modelsUse  `cmd:"" help:"Choose the model that answers, and keep that in the configuration."`
	Get  modelsGet  `cmd:"" help:"Download a model through Ollama, or the rest of it."`
}

// The roles that a language model can have. Models of other kinds have others.
const (
	talkRole  = "talk"  // it answers
	thinkRole = "think" // it thinks beside the conversation
)

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
	looks := lookAtEngines(a.ctx, cfg.Executive.LLM)
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
func engineFaults(looks []look) (all []finding) {
	for _, l := range looks {
		if !l.asked {
			all = append(all, l.finding)
		}
	}
	return all
}

// modelsOf returns the models that engines have, those of the first engine first, and those
// that are to be used and are not there.
func modelsOf(set executive.Config, looks []look) []modelInfo {
	list, used := []modelInfo{}, using(set)
	roles := []string{talkRole, thinkRole}
	for _, l := range looks {
		first := len(list)
		for _, m := range l.has {
			list = append(list, modelInfo{
				Engine: l.config.Name, Model: m.Name, Bytes: m.Bytes, Tools: m.Tools, Thinking: m.Thinking, Vision: m.Vision, Roles: roles, InUse: []string{},
			})
		}
		for _, role := range roles {
			is, ok := used[role]
			if !ok || is.engine != l.config.Name || !l.asked {
				continue
			}
			i := slices.IndexFunc(list[first:], func(m modelInfo) bool {
				return l.config.Provider == llm.Script || goesBy(llm.Model{Name: m.Model}, is.model)
			})
			if i < 0 {
				i = len(list) - first
				list = append(list, modelInfo{Engine: is.engine, Model: is.model, Roles: roles, Missing: true})
			}
			list[first+i].InUse = append(list[first+i].InUse, role)
		}
	}
	return list
}

// An engineModel is a model of an engine.
type engineModel struct{ engine, model string }

// using returns which model has which role, by the configuration.
func using(set executive.Config) map[string]engineModel {
	list := set.LLM.List()
	full := func(engine, model string) engineModel {
		i := max(0, slices.IndexFunc(list, func(e llm.EngineConfig) bool { return e.Name == engine }))
		if model == "" {
			model = list[i].Model
		}
		return engineModel{list[i].Name, model}
	}
	talk := full(set.LLM.For("user", "", ""))
	used := map[string]engineModel{talkRole: talk}
	if r := set.Reasoning; r.Enabled {
		think := talk
		switch {
		case r.Engine != "":
			think = full(r.Engine, r.Model)
		case r.Model != "":
			think.model = r.Model
		}
		used[thinkRole] = think
	}
	return used
}

// printModels prints a list for people.
func printModels(w io.Writer, list []modelInfo) {
	if len(list) == 0 {
		fmt.Fprintf(w, "There are no models.\n  → earshot models get %s\n", smallModel)
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
		Group: "For who operates earshot", Name: "model", Args: "[NAME [think]]", Help: "which models there are; answer with that one, or think with it", Needs: participants.Operate,
		Do: func(ctx context.Context, c command.Call) (string, error) {
			words := strings.Fields(string(c.Args))
			if d.reloads.load == nil {
				return "", errNoFile
			}
			cfg, err := d.reloads.load()
			if err != nil {
				return "", err
			}
			looks := lookAtEngines(ctx, cfg.Executive.LLM)
			role := talkRole
			switch {
			case len(words) == 0:
				var b strings.Builder
				faults := engineFaults(looks)
				if len(faults) < len(looks) {
					printModels(&b, modelsOf(cfg.Executive, looks))
				}
				show(&b, faults)
				return strings.TrimRight(b.String(), "\n"), nil
			case len(words) == 2 && (words[1] == talkRole || words[1] == thinkRole):
				role = words[1]
			case len(words) > 1:
				return "", errors.New("write /model, /model NAME, or /model NAME think")
			}
			is, err := choose(cfg, looks, engineModel{model: words[0]}, role)
			if err == nil {
				err = is.keep()
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
	Name   string `arg:"" help:"Its name, as list shows it."`
	Engine string `help:"The engine that has it, if several do." placeholder:"NAME"`
	Role   string `enum:"talk,think" default:"talk" help:"What it is for: talk, or think."`
}

// Run chooses a model. The earshot that runs has it at once.
func (u modelsUse) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	is, err := choose(cfg, lookAtEngines(a.ctx, cfg.Executive.LLM), engineModel{u.Engine, u.Name}, u.Role)
	if err != nil {
		return err
	}
	if err := is.keep(); err != nil {
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
		fmt.Fprintln(a.out, "earshot does not run; it holds from its next start.")
	case err != nil:
		return fmt.Errorf("it is kept, but the earshot that runs does not use it: %w", err)
	case !sameFile(of.File, is.file):
		return fmt.Errorf("it is kept, but the earshot that runs reads %s\n  → earshot models use %s --config %[1]s", cmp.Or(short(of.File), "no file"), u.Name)
	default:
		fmt.Fprintln(a.out, "The earshot that runs uses it from now on.")
	}
	return nil
}
