package llm

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"earshot/internal/field"
)

// A ToolUse is how the models of an engine call tools.
type ToolUse string

// The values of ToolUse.
const (
	Auto     ToolUse = "auto"   // by themselves if they can, and otherwise by schema
	Native   ToolUse = "native" // by themselves
	BySchema ToolUse = "schema" // as in [EmulateTools]
	NoTools  ToolUse = "none"   // not at all
)

var toolUses = []ToolUse{Auto, Native, BySchema, NoTools}

// Roles are the kinds of agents that can have a model of their own. The keys are the names of the
// roles.
type Roles struct {
	User         RoleConfig `yaml:"user"`
	Subagent     RoleConfig `yaml:"subagent"`
	Memory       RoleConfig `yaml:"memory"`
	MemorySearch RoleConfig `yaml:"memory_search"`
	Task         RoleConfig `yaml:"task"`
}

// A RoleConfig is the engine and the model of a role.
type RoleConfig struct {
	Engine string `yaml:"engine"` // the name of one; empty means the first
	Model  string `yaml:"model"`  // of that engine; empty means its own
}

// byName returns the configurations of the roles.
func (r Roles) byName() map[string]RoleConfig {
	return map[string]RoleConfig{"user": r.User, "subagent": r.Subagent, "memory": r.Memory, "memory_search": r.MemorySearch, "task": r.Task}
}

// For returns [Request.Engine] and [Request.Model] for an agent of a role, with the agent's own
// choice of engine and model, which may be empty. The agent's choice takes precedence over its
// role's. A model belongs to one engine, so the model of the role counts only on the engine of the
// role.
func (c Config) For(role, engine, model string) (string, string) {
	r := c.Roles.byName()[role] // nothing for an unknown one
	if engine == "" || engine == r.Engine {
		return r.Engine, cmp.Or(model, r.Model)
	}
	return engine, model
}

// ToolUse returns how the models of an engine call tools; an empty name means the first.
func (c Config) ToolUse(engine string) ToolUse {
	list := c.List()
	i := slices.IndexFunc(list, func(e EngineConfig) bool { return e.Name == engine })
	return list[max(i, 0)].Tools
}

// validate reports every fault in r, given the names of the engines.
func (r Roles) validate(engines []string) error {
	var faults []error
	all := r.byName()
	for _, role := range []string{"user", "subagent", "memory", "memory_search", "task"} {
		if name := all[role].Engine; name != "" && !slices.Contains(engines, name) {
			faults = append(faults, field.Errorf(role+".engine", "is %q, but no engine has that name; must be one of %s", name, strings.Join(engines, ", ")))
		}
	}
	return errors.Join(faults...)
}
