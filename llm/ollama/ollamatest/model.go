package ollamatest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"earshot/llm"
)

// A Model is a language model made by hand, that says exactly what a test wants
// it to say. A real server loads it and runs it like any other; only its
// weights are ours. See weights.go for how a handful of numbers makes it speak.
//
// Its temperature does not matter: the next token is always certain.
type Model struct {
	// Says is what it answers when no route fits.
	Says string

	// Routes are what it says to certain words. No more than 23, and no text
	// twice.
	Routes []Route

	// After is what it says to what a call came to, if no word of a route
	// stands there. Empty means Says.
	After string

	// Layers is how hard it has to think for a token: every layer but the
	// first computes nothing at all, which takes as long as computing
	// something. On a machine of 2020 a token takes less than 0.2 ms with
	// one layer, 1 ms with 32, 3 ms with 64, 8 ms with 128. Zero means 64,
	// because a server that streams faster than 1.5 ms a token may wedge when
	// it is cut off.
	Layers int

	// Words is how many tokens it knows at least. That makes it slow to say one,
	// but not to read one: with a layer and 32,768 words it says a token in 5 ms
	// and reads one in 1 ms, as large models say few and read many. Zero means
	// those that it needs.
	Words int

	// Reads is a text whose words it reads as one token each, wherever they stand,
	// so that a prompt costs what it would cost a model of people's. Of whatever
	// else it reads a token is a byte.
	Reads string

	// Endless makes it say Says over and over, until its context is full.
	Endless bool

	// Thinks gives it a template in which the server finds <think> tags, and
	// so believes that it can think: thoughts that stand in such tags at the
	// beginning of a text then come apart from it. Without, they come as
	// they are.
	Thinks bool

	// Tools gives it a template in which the server finds tools, and so
	// believes that it can call them: the calls of a route come apart then.
	Tools bool

	// Instructed makes it read the instructions too, a token a byte, which takes
	// this model longer than anything else. It never does what they say, but the
	// word of a route is found in those that come after the last message of the
	// user; without, its template leaves them out, as those of some real models do.
	Instructed bool

	// Sees gives it a projector, so that it looks at pictures, and answers by them
	// where no word of a route fits. See sight.go.
	Sees *Sight

	// Chooses is for a model without tools: it writes what [llm.ToolChoiceReader] asks
	// for, a {"say": …} for each text or a {"tool": …} for the call of a route.
	Chooses bool
}

// A Route is what a model says to a word, and calls afterwards.
type Route struct {
	// Word is what the last message of the user, or what a call came to if
	// that is the last, must contain, as it is written here. Where it contains
	// several, the last one counts.
	Word  string
	Says  string
	Calls []llm.Call // their IDs are the server's; one that chooses has one, and says nothing beside it
}

// Context is how many tokens a prompt and its reply may have together. A token
// of a reply is some four bytes long; one of a prompt is a byte, or a word that
// the model [Model.Reads].
const Context = 8192

// maxRoutes is how many words there are places for in the residual, one of which
// is for what comes of a call.
const maxRoutes = 24

// template is the prompt: a control token for each role, and at last the token
// at which the model begins to speak. A message ends four times, which keeps
// its words away from the next one; see weights.go.
func (m Model) template() string {
	thoughts, tools, calls := "", "", ""
	from, to := `{{ if ne .Role "system" }}`, "{{ end }}"
	if m.Instructed {
		from, to = "", ""
	}
	if m.Thinks {
		thoughts = "{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"
	}
	if m.Tools { // it does not read what they are
		tools = "{{ if .Tools }}{{ end }}"
		calls = `{{ if .ToolCalls }}` + callTag + `{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}{{ end }}`
	}
	return tools + "{{ range .Messages }}" + from + "<|{{ .Role }}|>" + thoughts + "{{ .Content }}" + calls + "<|end|><|end|><|end|><|end|>" + to + "{{ end }}<|start|>"
}

// callTag is what stands before a call; the server learns it from the template.
const callTag = "<tool_call>"

// writes returns r as the tokens of the model spell it.
func (m Model) writes(r Route) string {
	text := r.Says
	if m.Chooses {
		text = object("say", text)
		for _, c := range r.Calls {
			text = object("tool", c.Tool, "arguments", c.Arguments)
		}
		return text
	}
	for _, c := range r.Calls {
		text += callTag + object("name", c.Tool, "arguments", c.Arguments) + "</tool_call>"
	}
	return text
}

// object returns a JSON object of keys and their values.
func object(members ...any) string {
	var parts []string
	for i := 0; i+1 < len(members); i += 2 {
		value, _ := json.Marshal(members[i+1]) // of strings, and of arguments that [Model.check] has seen
		parts = append(parts, fmt.Sprintf("%q: %s", members[i], value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// layers returns how many layers it has.
func (m Model) layers() int { return cmp.Or(max(m.Layers, 0), 64) }

// check says what cannot be made.
func (m Model) check() error {
	most := maxRoutes - 1
	if m.Sees != nil {
		most -= len(m.Sees.routes())
	}
	if len(m.Routes) > most {
		return fmt.Errorf("%d routes; there are places for %d", len(m.Routes), most)
	}
	for _, r := range m.all() {
		if err := m.can(r); err != nil {
			return err
		}
	}
	return nil
}

// all returns what it says by default and after a call, and its routes.
func (m Model) all() []Route {
	all := []Route{{Says: m.Says}}
	if m.After != "" {
		all = append(all, Route{Says: m.After})
	}
	if m.Sees != nil {
		all = append(all, m.Sees.routes()...)
	}
	return append(all, m.Routes...)
}

// can says why it cannot say r.
func (m Model) can(r Route) error {
	if len(r.Calls) > 0 && !m.Tools && !m.Chooses {
		return fmt.Errorf("it cannot call %s: it has neither tools nor chooses", r.Calls[0].Tool)
	}
	if m.Chooses && len(r.Calls) > 0 && (len(r.Calls) > 1 || r.Says != "") {
		return fmt.Errorf("it cannot choose more than a call to %q", r.Word)
	}
	for _, c := range r.Calls {
		if !json.Valid(c.Arguments) {
			return fmt.Errorf("it cannot call %s with arguments that are not JSON", c.Tool)
		}
	}
	if text := m.writes(r); r.Says == "" && len(r.Calls) == 0 || !utf8.ValidString(text) || strings.Contains(text, space) {
		return fmt.Errorf("it cannot say %q: it must be UTF-8, not empty, and without %q", r.Says, space)
	}
	return nil
}
