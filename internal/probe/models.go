package probe

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"earshot/api"
	"earshot/config"
	"earshot/executive"
	"earshot/internal/terminal"
	"earshot/llm"
)

// A ModelInfo is a model as people and programs are told of it.
type ModelInfo struct {
	Engine   string   `json:"engine"` // as the configuration calls it
	Model    string   `json:"model"`
	Bytes    int64    `json:"bytes,omitempty"`
	Tools    bool     `json:"tools"`
	Thinking bool     `json:"thinking"`
	Vision   bool     `json:"vision"`
	Roles    []string `json:"roles"`             // that it can have
	InUse    []string `json:"in_use"`            // those that it has
	Missing  bool     `json:"missing,omitempty"` // it is to be used, and its engine does not list it

	Speech *SpeechInfo `json:"speech,omitempty"` // nil for a language model
}

// EngineFaults returns why engines could not be asked.
func EngineFaults(looks []Engine) (all []api.CheckResult) {
	for _, l := range looks {
		if !l.Answered {
			all = append(all, l.CheckResult)
		}
	}
	return all
}

// ListModels returns the models that engines have, those of the first engine first, and those
// that are to be used and are not there.
func ListModels(set executive.Config, looks []Engine) []ModelInfo {
	list, used := []ModelInfo{}, ModelsInUse(set)
	roles := []string{TalkRole, ThinkRole}
	for _, l := range looks {
		first := len(list)
		for _, m := range l.Models {
			list = append(list, ModelInfo{
				Engine: l.Name, Model: m.Name, Bytes: m.Bytes, Tools: m.Tools, Thinking: m.Thinking, Vision: m.Vision, Roles: roles, InUse: []string{},
			})
		}
		for _, role := range roles {
			is, ok := used[role]
			if !ok || is.Engine != l.Config.Name || !l.Answered {
				continue
			}
			i := slices.IndexFunc(list[first:], func(m ModelInfo) bool {
				return l.Config.Provider == llm.Script || SameModel(llm.Model{Name: m.Model}, is.Model)
			})
			if i < 0 {
				i = len(list) - first
				list = append(list, ModelInfo{Engine: l.Name, Model: is.Model, Roles: roles, Missing: true})
			}
			list[first+i].InUse = append(list[first+i].InUse, role)
		}
	}
	return list
}

// PrintModels prints a list for people.
func PrintModels(w io.Writer, list []ModelInfo) {
	if len(list) == 0 {
		fmt.Fprintf(w, "There are no models.\n  → earshot models get %s\n", SmallModel)
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ENGINE\tMODEL\tSIZE\tCAN\tROLE\tIN USE")
	for _, m := range list {
		bytes := strings.TrimSpace(SizeText(m.Bytes))
		if m.Missing {
			bytes = "not there"
		}
		row := []string{m.Engine, m.Model, bytes, m.Abilities(), strings.Join(m.Roles, ", "), "-"}
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

// Abilities says what a model can do besides talking, as far as its engine says so.
func (m ModelInfo) Abilities() string {
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

func SizeText(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return fmt.Sprintf("   %.1f GB", float64(bytes)/1e9)
}

// The roles that a language model can have. Models of other kinds have others.
const (
	TalkRole  = "talk"  // it answers
	ThinkRole = "think" // it thinks beside the conversation
)

// An EngineModel is a model of an engine.
type EngineModel struct{ Engine, Model string }

// ModelsInUse returns which model has which role, by the configuration.
func ModelsInUse(set executive.Config) map[string]EngineModel {
	list := set.LLM.List()
	full := func(engine, model string) EngineModel {
		i := max(0, slices.IndexFunc(list, func(e llm.EngineConfig) bool { return e.Name == engine }))
		if model == "" {
			model = list[i].Model
		}
		return EngineModel{list[i].Name, model}
	}
	talk := full(set.LLM.For("user", "", ""))
	used := map[string]EngineModel{TalkRole: talk}
	if r := set.Reasoning; r.Enabled {
		think := talk
		switch {
		case r.Engine != "":
			think = full(r.Engine, r.Model)
		case r.Model != "":
			think.Model = r.Model
		}
		used[ThinkRole] = think
	}
	return used
}

// A ModelChoice is a model that is chosen for a role, and what a configuration file must
// say for that.
type ModelChoice struct {
	EngineModel // without an engine, Model is a speech model, auto or embedded
	Role        string
	File        string // which it is written into
	sets        []config.KeyValue
}

// NewModelChoice returns that a model is to have a role in cfg.
func NewModelChoice(cfg *config.Config, is EngineModel, role string) ModelChoice {
	return ModelChoice{is, role, cmp.Or(cfg.File, config.Places()[0]), settings(cfg, is, role)}
}

// ChooseModel finds the model that somebody wants for a role, among what engines have. An engine
// that cannot be asked is believed to have it, if it is named or there is no other.
func ChooseModel(cfg *config.Config, looks []Engine, wanted EngineModel, role string) (ModelChoice, error) {
	var none ModelChoice
	used := ModelsInUse(cfg.Executive)
	now := used[TalkRole].Engine
	if think, ok := used[ThinkRole]; ok && role == ThinkRole {
		now = think.Engine
	}
	var able []Engine
	for _, l := range looks {
		if (wanted.Engine == "" || wanted.Engine == l.Config.Name) && l.Config.Provider != llm.Script {
			able = append(able, l)
		}
	}
	if len(able) == 0 {
		problem := fmt.Sprintf("there is no engine %q that has models", wanted.Engine)
		if wanted.Engine == "" {
			problem = "no engine has models to choose from: a script is a file"
		}
		return none, fmt.Errorf("%s\n  → the engines are %s; others: docs/models.md", problem, strings.Join(cfg.Executive.LLM.Names(), ", "))
	}
	slices.SortStableFunc(able, func(a, b Engine) int { // what is in use goes first
		switch now {
		case a.Config.Name:
			return -1
		case b.Config.Name:
			return 1
		}
		return 0
	})
	for _, l := range able {
		for _, m := range l.Models {
			if SameModel(m, wanted.Model) {
				return NewModelChoice(cfg, EngineModel{l.Config.Name, m.Name}, role), nil
			}
		}
	}
	if l := able[0]; !l.Answered && len(able) == 1 {
		return NewModelChoice(cfg, EngineModel{l.Config.Name, wanted.Model}, role), nil
	}
	l := able[max(0, slices.IndexFunc(able, func(l Engine) bool { return l.Answered }))]
	cure := "earshot models list"
	if l.Config.Provider == llm.Ollama {
		cure = "earshot models get " + wanted.Model + "   or list the models: " + cure
	}
	return none, fmt.Errorf("%s has no model %q\n  → %s", l.Config.Name, wanted.Model, cure)
}

// settings returns what a configuration must say so that a model has a role, the first
// last: what is added to a file goes before the rest.
func settings(cfg *config.Config, is EngineModel, role string) []config.KeyValue {
	c := cfg.Executive.LLM
	talk := ModelsInUse(cfg.Executive)[TalkRole]
	const user, reasoning = "executive.llm.roles.user.", "executive.reasoning."
	switch {
	case role == ThinkRole && (is.Engine != talk.Engine || cfg.Executive.Reasoning.Engine != ""):
		return []config.KeyValue{{Key: reasoning + "model", Value: is.Model}, {Key: reasoning + "engine", Value: is.Engine}}
	case role == ThinkRole:
		return []config.KeyValue{{Key: reasoning + "model", Value: is.Model}}
	case is.Engine != talk.Engine:
		return []config.KeyValue{{Key: user + "model", Value: is.Model}, {Key: user + "engine", Value: is.Engine}}
	case c.Roles.User.Model != "":
		return []config.KeyValue{{Key: user + "model", Value: is.Model}}
	}
	var sets []config.KeyValue
	for i, e := range c.List() {
		if e.Name == is.Engine { // perhaps on several hosts
			sets = append(sets, config.KeyValue{Key: EngineKey(c, i) + "model", Value: is.Model})
		}
	}
	return sets
}

// Save writes s into its file, with everything else in it as it was. If that cannot be done
// its error says what is to be written there.
func (s ModelChoice) Save() error {
	return config.Edit(s.File, s.sets, func(c *config.Config) error {
		if s.Engine != "" && (ModelsInUse(c.Executive)[s.Role] == s.EngineModel || s.Role == ThinkRole && !c.Executive.Reasoning.Enabled) {
			return nil
		}
		for _, set := range s.sets {
			if name := config.Variable(set.Key); os.Getenv(name) != "" {
				return fmt.Errorf("the environment variable %s overrides %s\n  → unset it, or set it to %v", name, config.ShortPath(s.File), set.Value)
			}
		}
		if s.Engine == "" {
			return nil
		}
		return fmt.Errorf("an environment variable overrides %s\n  → look for variables that begin with EARSHOT_EXECUTIVE", config.ShortPath(s.File))
	})
}

// String tells people what was chosen.
func (s ModelChoice) String() string {
	what := s.Model
	if s.Engine != "" {
		what += " on " + s.Engine
	}
	return fmt.Sprintf("Chosen to %s: %s. Saved in %s.", s.Role, what, config.ShortPath(s.File))
}

// EngineKey returns the key of an engine of the list.
func EngineKey(c llm.Config, i int) string {
	if len(c.Engines) == 0 {
		return "executive.llm."
	}
	return fmt.Sprintf("executive.llm.engines[%d].", i)
}

// Downloader returns the engine that downloads models: the one of that name, or else the first that
// can. known is false if there is none of that name.
func Downloader(c llm.Config, name string) (is llm.EngineConfig, known bool, err error) {
	ways := map[string]string{
		llm.OpenAI: "gets its models elsewhere: llama-server and vLLM are started with a model, LM Studio downloads with: lms get",
		llm.Script: "is a file and has no models",
	}
	var others []string
	for _, e := range c.List() {
		switch {
		case name != "" && e.Name != name:
		case e.Provider == llm.Ollama:
			return e, true, nil
		default:
			others = append(others, e.Name+" "+ways[e.Provider])
		}
	}
	if len(others) == 0 {
		return is, false, fmt.Errorf("there is no engine %q\n  → the engines are %s", name, strings.Join(c.Names(), ", "))
	}
	return is, true, fmt.Errorf("%s\n  → or add an engine of provider ollama to executive.llm.engines", strings.Join(others, "; "))
}
