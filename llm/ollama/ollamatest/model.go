package ollamatest

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Model is a language model made by hand, that says exactly what a test wants
// it to say. A real server loads it and runs it like any other; only its
// weights are ours. See weights.go for how a handful of numbers makes it speak.
//
// Its temperature does not matter: the next token is always certain.
type Model struct {
	// Says is what it answers when no route fits.
	Says string

	// Routes are what it says to certain words. No more than 24, and no text
	// twice.
	Routes []Route

	// Layers is how hard it has to think for a token: every layer but the
	// first computes nothing at all, which takes as long as computing
	// something. On a machine of 2020 a token takes less than 0.2 ms with
	// one layer, 1 ms with 32, 3 ms with 64, 8 ms with 128. Zero means 64,
	// because a server that streams faster than 1.5 ms a token may wedge when
	// it is cut off.
	Layers int

	// Endless makes it say Says over and over, until its context is full.
	Endless bool

	// Thinks gives it a template in which the server finds <think> tags, and
	// so believes that it can think: thoughts that stand in such tags at the
	// beginning of a text then come apart from it. Without, they come as
	// they are.
	Thinks bool
}

// A Route is what a model says to a word.
type Route struct {
	// Word is what the last message of the user must contain, as it is
	// written here. Where it contains several, the last one counts.
	Word string
	Says string
}

// Context is how many tokens a prompt and its reply may have together. A token
// of a reply is some four bytes long; one of a prompt is a byte, or a stretch
// of four that also stands in something that the model says.
const Context = 4096

// maxRoutes is how many words there are places for in the residual.
const maxRoutes = 24

// template is the prompt: a control token for each role, and at last the token
// at which the model begins to speak. A message ends four times, which keeps
// its words away from the next one; see weights.go.
func (m Model) template() string {
	thoughts := ""
	if m.Thinks {
		thoughts = "{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"
	}
	return "{{ range .Messages }}<|{{ .Role }}|>" + thoughts + "{{ .Content }}<|end|><|end|><|end|><|end|>{{ end }}<|start|>"
}

// layers returns how many layers it has.
func (m Model) layers() int { return cmp.Or(max(m.Layers, 0), 64) }

// check says what cannot be made.
func (m Model) check() error {
	if len(m.Routes) > maxRoutes {
		return fmt.Errorf("%d routes; there are places for %d", len(m.Routes), maxRoutes)
	}
	for _, r := range append([]Route{{Says: m.Says}}, m.Routes...) {
		if r.Says == "" || !utf8.ValidString(r.Says) || strings.Contains(r.Says, space) {
			return fmt.Errorf("it cannot say %q: it must be UTF-8, not empty, and without %q", r.Says, space)
		}
	}
	return nil
}
