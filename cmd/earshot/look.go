package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/internal/terminal"
	"earshot/llm"
	"earshot/llm/engine"
	"earshot/llm/openai"
)

// glance is how long the opening screen waits for a server that does not
// answer: longer, and starting feels broken.
const glance = 1500 * time.Millisecond

// A finding is what was found out about one thing that earshot needs.
type finding api.Finding

// notice tells of a finding that does not work, where others are told of too.
func (f finding) notice() earshot.Notice {
	return earshot.Notice{Key: f.Thing, Text: f.Thing + ": " + f.Text, Cure: f.Cure, Absent: f.Absent}
}

// briefly returns findings with a line for each device that is not there: earshot doctor says
// more of them.
func briefly(findings []finding) []finding {
	brief := slices.Clone(findings)
	for i := range brief {
		if brief[i].Absent {
			brief[i].Cure = ""
		}
	}
	return brief
}

// show prints findings, one a line, the cure of each below it.
func show(w io.Writer, findings []finding) {
	for _, f := range findings {
		sign := "✓"
		switch {
		case f.Absent:
			sign = "–"
		case !f.Works:
			sign = "✗"
		}
		fmt.Fprintf(w, "  %s %-14s %s\n", sign, f.Thing, terminal.Safe(f.Text))
		if f.Cure != "" {
			fmt.Fprintf(w, "  %16s → %s\n", "", terminal.Safe(f.Cure))
		}
	}
}

// A look is what an engine said of itself.
type look struct {
	finding
	config llm.EngineConfig
	asked  bool        // it answered
	has    []llm.Model // what it has
}

// lookAtEngines asks every engine at once what it has.
func lookAtEngines(ctx context.Context, c llm.Config) []look {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	list := c.List()
	choose := "earshot models use %s"
	if len(list) > 1 { // which would choose the engine, too
		choose = "set its model in executive.llm.engines to %s"
	}
	looks := make([]look, len(list))
	var g sync.WaitGroup
	for i, ec := range list {
		g.Go(func() { looks[i] = lookAt(ctx, ec, choose) })
	}
	g.Wait()
	return looks
}

// lookAt asks an engine what it has; choose says how another model of it is chosen.
func lookAt(ctx context.Context, c llm.EngineConfig, choose string) look {
	l := look{config: c, finding: finding{Thing: "model"}}
	e, err := engine.Open(c)
	if err != nil {
		l.Text, l.Cure = err.Error(), "earshot check"
		return l
	}
	defer engine.CloseIdle(e)
	status, err := e.Probe(ctx)
	if err != nil {
		var fault *llm.Error
		l.Text = err.Error()
		if errors.As(err, &fault) {
			l.Text, l.Cure = fault.Engine+": "+string(fault.Fault), fault.Cure
		}
		if _, none := exec.LookPath("ollama"); none != nil && l.Cure == "ollama serve" {
			l.Cure = "install Ollama (see README.md), then: ollama serve"
		}
		return l
	}
	l.asked, l.has = true, status.Models
	switch {
	case c.Provider == llm.Script:
		l.Works, l.Text = true, modelOn(e.Name(), c)
	case !installed(status.Models, c.Model):
		l.Text = fmt.Sprintf("%s has no model %q", e.Name(), c.Model)
		l.Cure = missing(c, status.Models, choose)
	default:
		l.Works, l.Text = true, modelOn(e.Name(), c)+abilities(status.Models, c.Model)
	}
	return l
}

// trial is how long a server may take to say a word when it is tried. One that loads its
// model first takes longer, and is not at fault.
const trial = 20 * time.Second

// try asks every server that speaks OpenAI's protocol for one token, with a prompt like
// those of a room: not every server and template takes one, whatever the server lists.
func try(ctx context.Context, looks []look) []look {
	var g sync.WaitGroup
	for i, l := range looks {
		if l.config.Provider == llm.OpenAI {
			g.Go(func() { looks[i] = l.tried(ctx) })
		}
	}
	g.Wait()
	return looks
}

// tried returns l with what came of it.
func (l look) tried(ctx context.Context) look {
	ctx, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	e, err := engine.Open(l.config)
	if err != nil {
		return l
	}
	defer engine.CloseIdle(e)
	said := func(text string) llm.Message {
		return llm.Message{Role: llm.User, Text: conversation.Envelope{From: "Ann", Text: earshot.Text(text)}.String()}
	}
	for _, err = range e.Stream(ctx, &llm.Request{MaxTokens: 1, Messages: []llm.Message{
		{Role: llm.System, Text: conversation.Identity("Earshot", "")}, said("Hello."), said("Are you there?"), {Role: llm.System, Text: "Answer in one word."},
	}}) {
		continue
	}
	fault, refused := errors.AsType[*llm.Error](err)
	switch {
	case !l.asked && err != nil: // which its list has said already
	case ctx.Err() != nil:
		l.Text += fmt.Sprintf(", which has not said a word within %v; it may be busy, or loading", trial)
	case refused:
		l.Works, l.Text, l.Cure = false, fault.Error(), fault.Cure
	case err == nil && !l.Works:
		l.Works, l.Text, l.Cure = true, modelOn(e.Name(), l.config)+", which it does not list, and answers as", ""
	}
	if o, ok := e.(*openai.Engine); ok && err == nil && o.Form("") != llm.Plain {
		l.Text += fmt.Sprintf("; its chat template takes %v, and it is asked so", o.Form(""))
	}
	return l
}

// modelOn says which model of which server an engine is.
func modelOn(server string, c llm.EngineConfig) string {
	if c.Provider == llm.Script {
		return server
	}
	return c.Model + " on " + server
}

// abilities says what the model of that name can do besides talking, as far as its
// server says so.
func abilities(models []llm.Model, name string) string {
	i := slices.IndexFunc(models, func(m llm.Model) bool { return goesBy(m, name) })
	if i < 0 {
		return ""
	}
	var can []string
	if models[i].Tools {
		can = append(can, "calls tools")
	}
	if models[i].Vision {
		can = append(can, "can look at pictures")
	}
	if len(can) == 0 {
		return ""
	}
	return ", which " + strings.Join(can, " and ")
}

// missing says what to do about a model that is not there: choose one of those that are, which
// takes no download, before all else.
func missing(c llm.EngineConfig, has []llm.Model, choose string) string {
	get := "ollama pull " + c.Model
	if len(has) == 0 {
		switch {
		case c.Provider == llm.Ollama && c.Model == llm.DefaultConfig().Model: // which nobody has chosen
			return "earshot models get " + smallModel + ", or: " + get
		case c.Provider == llm.Ollama:
			return get
		}
		return "set executive.llm.model to one that it has"
	}
	best := max(0, slices.IndexFunc(has, func(m llm.Model) bool { return m.Tools }))
	cure := fmt.Sprintf(choose, strings.TrimSuffix(has[best].Name, ":latest"))
	if c.Provider == llm.Ollama {
		cure += ", or: " + get
	}
	if len(has) == 1 {
		return cure
	}
	var names []string
	for _, m := range has[:min(len(has), 5)] {
		names = append(names, m.Name)
	}
	return cure + "   (there is: " + strings.Join(names, ", ") + ")"
}

// installed reports whether models have the one of that name.
func installed(models []llm.Model, name string) bool {
	return slices.ContainsFunc(models, func(m llm.Model) bool { return goesBy(m, name) })
}

// goesBy reports whether a model has that name; Ollama calls the tag that nobody
// wrote "latest".
func goesBy(m llm.Model, name string) bool {
	return strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(name, ":latest")
}
