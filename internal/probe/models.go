package probe

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

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
}

// EngineFaults returns why engines could not be asked.
func EngineFaults(looks []Engine) (all []Finding) {
	for _, l := range looks {
		if !l.Answered {
			all = append(all, l.Finding)
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
				Engine: l.Config.Name, Model: m.Name, Bytes: m.Bytes, Tools: m.Tools, Thinking: m.Thinking, Vision: m.Vision, Roles: roles, InUse: []string{},
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
				list = append(list, ModelInfo{Engine: is.Engine, Model: is.Model, Roles: roles, Missing: true})
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
