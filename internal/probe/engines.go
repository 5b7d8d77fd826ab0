package probe

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/llm"
	"earshot/llm/engine"
	"earshot/llm/openai"
)

// SmallModel is what is offered where there is no model at all: it can call tools, and answers
// on a processor alone.
const SmallModel = "llama3.2"

// An Engine is what an engine said of itself.
type Engine struct {
	api.CheckResult
	Config   llm.EngineConfig
	Name     string      // its name for people
	Answered bool        // when it was asked what it has
	Models   []llm.Model // what it has
}

// Engines asks every engine at once what it has.
func Engines(ctx context.Context, c llm.Config) []Engine {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	list := c.List()
	choose := "earshot models use %s"
	if len(list) > 1 { // which would choose the engine, too
		choose = "set its model in executive.llm.engines to %s"
	}
	looks := make([]Engine, len(list))
	var g sync.WaitGroup
	for i, ec := range list {
		g.Go(func() {
			looks[i] = probeEngine(ctx, ec, choose)
			looks[i].Name = llm.HostName(list, i)
		})
	}
	g.Wait()
	return looks
}

// probeEngine asks an engine what it has; choose says how another model of it is chosen.
func probeEngine(ctx context.Context, c llm.EngineConfig, choose string) Engine {
	l := Engine{Config: c, CheckResult: api.CheckResult{Thing: "model"}}
	e, err := engine.Open(c)
	if err != nil {
		l.Text, l.Cure = err.Error(), "earshot check"
		return l
	}
	defer engine.CloseIdle(e)
	status, err := e.Probe(ctx)
	if err != nil {
		var fault *llm.Error
		switch {
		case errors.As(err, &fault):
			l.Text, l.Cure = fault.Engine+": "+string(fault.Fault), fault.Cure
		case errors.Is(err, context.DeadlineExceeded):
			l.Text, l.Cure = fmt.Sprintf("%s has not answered within %v; it may be busy or starting", e.Name(), AnswerTimeout), "wait; earshot doctor looks again"
		default:
			l.Text = err.Error()
		}
		if _, none := exec.LookPath("ollama"); none != nil && l.Cure == "ollama serve" {
			l.Cure = "install Ollama (see README.md), then: ollama serve"
		}
		return l
	}
	l.Answered, l.Models = true, status.Models
	switch {
	case c.Provider == llm.Script:
		l.Works, l.Text = true, ModelOn(e.Name(), c)
	case !HasModel(status.Models, c.Model):
		l.Text = fmt.Sprintf("%s has no model %q", e.Name(), c.Model)
		l.Cure = MissingModel(c, status.Models, choose)
	default:
		l.Works, l.Text = true, ModelOn(e.Name(), c)+abilities(status.Models, c.Model)
	}
	return l
}

// trialTimeout is how long a server may take to say a word when it is tried. One that loads its
// model first takes longer, and is not at fault.
const trialTimeout = 20 * time.Second

// tryEngines asks every server that speaks OpenAI's protocol for one token, with a prompt like
// those of a room: not every server and template takes one, whatever the server lists.
func tryEngines(ctx context.Context, looks []Engine) []Engine {
	var g sync.WaitGroup
	for i, l := range looks {
		if l.Config.Provider == llm.OpenAI {
			g.Go(func() { looks[i] = l.tried(ctx) })
		}
	}
	g.Wait()
	return looks
}

// tried returns l with what came of it.
func (l Engine) tried(ctx context.Context) Engine {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	e, err := engine.Open(l.Config)
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
	case !l.Answered && err != nil: // which its list has said already
	case ctx.Err() != nil:
		l.Text += fmt.Sprintf(", which has not answered within %v; it may be busy or loading", trialTimeout)
	case refused:
		l.Works, l.Text, l.Cure = false, fault.Error(), fault.Cure
	case err == nil && !l.Works:
		l.Works, l.Text, l.Cure = true, ModelOn(e.Name(), l.Config)+", which it does not list; it answers as", ""
	}
	if o, ok := e.(*openai.Engine); ok && err == nil && o.Form("") != llm.Plain {
		l.Text += fmt.Sprintf("; its chat template accepts only %v, so requests take that form", o.Form(""))
	}
	return l
}

// ModelOn says which model of which server an engine is.
func ModelOn(server string, c llm.EngineConfig) string {
	if c.Provider == llm.Script {
		return server
	}
	return c.Model + " on " + server
}

// abilities says what the model of that name can do besides talking, as far as its
// server says so.
func abilities(models []llm.Model, name string) string {
	i := slices.IndexFunc(models, func(m llm.Model) bool { return SameModel(m, name) })
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

// MissingModel says what to do about a model that is not there: choose one of those that are, which
// takes no download, before all else.
func MissingModel(c llm.EngineConfig, has []llm.Model, choose string) string {
	get := "ollama pull " + c.Model
	if len(has) == 0 {
		switch {
		case c.Provider == llm.Ollama && c.Model == llm.DefaultConfig().Model: // which nobody has chosen
			return "earshot models get " + SmallModel + ", or: " + get
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

// HasModel reports whether models have the one of that name.
func HasModel(models []llm.Model, name string) bool {
	return slices.ContainsFunc(models, func(m llm.Model) bool { return SameModel(m, name) })
}

// SameModel reports whether a model has that name; Ollama calls the tag that nobody
// wrote "latest".
func SameModel(m llm.Model, name string) bool {
	return strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(name, ":latest")
}
