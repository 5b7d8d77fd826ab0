package ollamatest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"earshot/llm"
)

// A Model is a handmade language model that says exactly what a test wants it to say. A real
// server loads it and runs it like any other; only its weights are ours. See weights.go for how a
// few numbers make it speak.
//
// Its temperature does not matter: the next token is always certain.
type Model struct {
	// Says is the answer if no route matches.
	Says string

	// Routes are the answers to certain words: at most 23, and no text twice.
	Routes []Route

	// After is the answer to the result of a call, if it contains no word of a route. Empty means
	// Says.
	After string

	// Layers determines the time per token: every layer except the first computes zeros, which
	// takes as long as computing anything. On a machine of 2020 a token takes less than 0.2 ms with
	// one layer, 1 ms with 32, 3 ms with 64, 8 ms with 128. Zero means 64, because a server that
	// streams faster than 1.5 ms a token may wedge when it is cut off.
	Layers int

	// Words is the least size of its vocabulary. A larger one makes it slow to say a token, but not
	// to read one: with a layer and 32,768 words it says a token in 5 ms and reads one in 1 ms,
	// like large models, which say few and read many. Zero means only the necessary ones.
	Words int

	// Reads is a text whose words it reads as one token each, wherever they appear, so that a
	// prompt costs what it would cost a real model. Of everything else it reads a byte per token.
	Reads string

	// Endless makes it say Says over and over, until its context is full.
	Endless bool

	// Thinks gives it a template in which the server finds <think> tags, and so believes that it
	// can think: thoughts in such tags at the beginning of a text are then sent separately. Without
	// it, they stay in the text.
	Thinks bool

	// Tools gives it a template in which the server finds tools, and so believes that it can call
	// them: the calls of a route are then sent separately.
	Tools bool

	// Instructed makes it read the instructions too, a byte per token, which takes this model
	// longer than anything else. It never obeys them, but finds the word of a route in those after
	// the last message of the user; without it, the template leaves them out, as those of some real
	// models do.
	Instructed bool

	// Sees gives it a projector, so that it looks at pictures, and answers by them if no word of a
	// route matches. See sight.go.
	Sees *Sight

	// Chooses is for a model without tools: it writes what [llm.ToolChoiceReader] expects, a
	// {"say": …} for each text or a {"tool": …} for the call of a route.
	Chooses bool
}

// A Route is the answer to a word, with its calls.
type Route struct {
	// Word is what the last message of the user, or the result of a call if that comes last, must
	// contain, exactly. If it contains several, the last one counts.
	Word  string
	Says  string
	Calls []llm.Call // the server makes their IDs; a choosing model has one call, and says nothing besides
}

// Context is the most tokens of a prompt and its reply together. A token of a reply is about four
// bytes long; one of a prompt is a byte, or a word in [Model.Reads].
const Context = 8192

// maxRoutes is how many words have places in the residual, one of which is for the result of a
// call.
const maxRoutes = 24

// template is the prompt template: a control token for each role, and at the end the token at
// which the model begins to speak. A message ends with four end tokens, which keeps its words away
// from the next one; see weights.go.
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

// callTag precedes a call; the server learns it from the template.
const callTag = "<tool_call>"

// writes returns r in the form of the model's output.
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
		value, _ := json.Marshal(members[i+1]) // of strings, and of arguments that [Model.check] has checked
		parts = append(parts, fmt.Sprintf("%q: %s", members[i], value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// layers returns the number of layers.
func (m Model) layers() int { return cmp.Or(max(m.Layers, 0), 64) }

// check reports what cannot be built.
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

// all returns the answers by default and after a call, and the routes.
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

// can reports why the model cannot say r.
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
