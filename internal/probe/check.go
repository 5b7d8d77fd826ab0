package probe

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"earshot/api"
	"earshot/config"
	"earshot/internal/english"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// A CheckedFault is one that check tells of.
type CheckedFault struct {
	config.Fault
	Warning bool `json:"warning,omitempty"` // it may be right all the same
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

// AbsentScripts finds the scripts that cannot be read, or are none.
func AbsentScripts(cfg *config.Config) (faults []config.Fault) {
	for i, e := range cfg.Executive.LLM.List() {
		if e.Provider != llm.Script {
			continue
		}
		if _, err := llmtest.Load(e.Script); err != nil {
			faults = append(faults, faultAt(cfg, EngineKey(cfg.Executive.LLM, i)+"script", strings.Join(strings.Fields(err.Error()), " ")+"; must be a file as described in docs/models.md"))
		}
	}
	return faults
}

// WithScripts adds the faults of scripts to those of a configuration, unless the key has one
// already. It returns nil if there is no fault.
func WithScripts(wrong *config.Error, scripts []config.Fault) *config.Error {
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

// UnlistedModels finds the models that the server which is to have them does not list, as far as
// servers answer at once.
func UnlistedModels(ctx context.Context, cfg *config.Config) []CheckedFault {
	warnings := []CheckedFault{}
	looks := Engines(ctx, cfg.Executive.LLM)
	look := func(key, engine, model string) {
		i := max(0, slices.IndexFunc(looks, func(l Engine) bool { return l.Config.Name == engine }))
		l := looks[i]
		if l.Config.Provider == llm.Script || !l.Answered || model == "" || HasModel(l.Models, model) {
			return
		}
		with := l.Config
		with.Model = model
		problem := fmt.Sprintf("is %q, which %s does not have; %s", model, l.Config.Name, MissingModel(with, l.Models, "set it to %s"))
		warnings = append(warnings, CheckedFault{faultAt(cfg, key, problem), true})
	}
	set := cfg.Executive
	talk := ModelsInUse(set)[TalkRole].Engine
	for i, l := range looks {
		look(EngineKey(set.LLM, i)+"model", l.Config.Name, l.Config.Model)
	}
	for _, r := range []struct {
		name string
		is   llm.RoleConfig
	}{{"user", set.LLM.Roles.User}, {"subagent", set.LLM.Roles.Subagent}, {"memory", set.LLM.Roles.Memory}, {"memory_search", set.LLM.Roles.MemorySearch}, {"task", set.LLM.Roles.Task}} {
		look("executive.llm.roles."+r.name+".model", r.is.Engine, r.is.Model)
	}
	look("executive.recall.embedding.model", set.Recall.Embedding.Engine, set.Recall.Embedding.Model)
	if r := set.Reasoning; r.Enabled {
		look("executive.reasoning.model", cmp.Or(r.Engine, talk), r.Model)
	}
	for i, agent := range cfg.Agents {
		look(fmt.Sprintf("agents[%d].model", i), cmp.Or(agent.Engine, talk), agent.Model)
	}
	return warnings
}

// Privacy says in a line what is allowed, and for how long what was overheard is kept; and
// below it by which keys the rest would be. What is unused is not told to be allowed.
func Privacy(cfg *config.Config, unused []string) api.CheckResult {
	var may, not []string
	for _, u := range config.Permitted(cfg) {
		switch {
		case !u.Allowed:
			not = append(not, u.Thing)
		case !slices.Contains(unused, u.Thing):
			may = append(may, u.Thing)
		}
	}
	f := api.CheckResult{Thing: "privacy", Works: true}
	for _, part := range []struct {
		how string
		of  []string
	}{{"allowed: ", may}, {"not allowed: ", not}} {
		if len(part.of) > 0 {
			f.Text += part.how + strings.Join(part.of, ", ") + "; "
		}
	}
	f.Text += "speech not meant for me "
	if h := cfg.Store.Retention.Overheard; h > 0 {
		f.Text += "is kept for " + english.Count(h, "hour")
	} else {
		f.Text += "is kept until it is deleted"
	}
	if keys := config.Undecided(cfg); len(keys) > 0 {
		f.Cure = "to allow it, set to true: " + strings.Join(keys, ", ")
	}
	return f
}
