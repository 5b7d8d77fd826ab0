package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"earshot/config"
	"earshot/internal/probe"
	"earshot/internal/terminal"
	"earshot/llm"
	"earshot/llm/llmtest"
)

type checkCommand struct {
	Sample bool `help:"Print a configuration file with every key, its default and what it does."`
	JSON   bool `help:"Print the faults as JSON."`
}

// A checkedFault is one that check tells of.
type checkedFault struct {
	config.Fault
	Warning bool `json:"warning,omitempty"` // it may be right all the same
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
	warnings := []checkedFault{}
	if err == nil {
		warnings = unlisted(a.ctx, cfg)
	} else {
		cfg, _ = config.Salvage(a.file) // whose error is the same
	}
	wrong = withScripts(wrong, absentScripts(cfg))
	if c.JSON {
		all := []checkedFault{}
		if wrong != nil {
			for _, f := range wrong.Faults {
				all = append(all, checkedFault{Fault: f})
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

// faultAt returns a fault of a key, with where its value comes from.
func faultAt(cfg *config.Config, key, problem string) config.Fault {
	f := config.Fault{Where: cfg.File, Key: key, Problem: problem}
	if name := config.Variable(key); os.Getenv(name) != "" {
		f.Where = name
	} else if data, err := os.ReadFile(cfg.File); err == nil {
		f.Line = config.Line(data, key)
	}
	return f
}

// absentScripts finds the scripts that cannot be read, or are none.
func absentScripts(cfg *config.Config) (faults []config.Fault) {
	for i, e := range cfg.Executive.LLM.List() {
		if e.Provider != llm.Script {
			continue
		}
		if _, err := llmtest.Load(e.Script); err != nil {
			faults = append(faults, faultAt(cfg, probe.EngineKey(cfg.Executive.LLM, i)+"script", strings.Join(strings.Fields(err.Error()), " ")+"; must be a file as described in docs/models.md"))
		}
	}
	return faults
}

// withScripts adds the faults of scripts to those of a configuration, unless the key has one
// already. It returns nil if there is no fault.
func withScripts(wrong *config.Error, scripts []config.Fault) *config.Error {
	var all config.Error
	if wrong != nil {
		all = *wrong
	}
	told := slices.Clone(all.Faults)
	for _, f := range scripts {
		if !slices.ContainsFunc(told, func(had config.Fault) bool { return had.Key == f.Key }) {
			all.Faults = append(all.Faults[:len(all.Faults):len(all.Faults)], f)
		}
	}
	if len(all.Faults) == 0 {
		return nil
	}
	return &all
}

// unlisted finds the models that the server which is to have them does not list, as far as
// servers answer at once.
func unlisted(ctx context.Context, cfg *config.Config) []checkedFault {
	warnings := []checkedFault{}
	looks := probe.Engines(ctx, cfg.Executive.LLM)
	look := func(key, engine, model string) {
		i := max(0, slices.IndexFunc(looks, func(l probe.Engine) bool { return l.Config.Name == engine }))
		l := looks[i]
		if l.Config.Provider == llm.Script || !l.Answered || model == "" || probe.HasModel(l.Models, model) {
			return
		}
		problem := fmt.Sprintf("is %q, which %s does not have; %s", model, l.Config.Name, probe.MissingModel(engineWith(l.Config, model), l.Models, "set it to %s"))
		warnings = append(warnings, checkedFault{faultAt(cfg, key, problem), true})
	}
	set := cfg.Executive
	talk := probe.ModelsInUse(set)[probe.TalkRole].Engine
	for i, l := range looks {
		look(probe.EngineKey(set.LLM, i)+"model", l.Config.Name, l.Config.Model)
	}
	for _, r := range []struct {
		name string
		is   llm.RoleConfig
	}{{"user", set.LLM.Roles.User}, {"subagent", set.LLM.Roles.Subagent}, {"memory", set.LLM.Roles.Memory}, {"memory_search", set.LLM.Roles.MemorySearch}, {"task", set.LLM.Roles.Task}} {
		look("executive.llm.roles."+r.name+".model", r.is.Engine, r.is.Model)
	}
	if r := set.Reasoning; r.Enabled {
		look("executive.reasoning.model", cmp.Or(r.Engine, talk), r.Model)
	}
	for i, agent := range cfg.Agents {
		look(fmt.Sprintf("agents[%d].model", i), cmp.Or(agent.Engine, talk), agent.Model)
	}
	return warnings
}

// engineWith returns an engine with another model.
func engineWith(e llm.EngineConfig, model string) llm.EngineConfig {
	e.Model = model
	return e
}
