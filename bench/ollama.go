package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"earshot/executive"
	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// realModel measures with a real Ollama, if scripts/ollama/build has built one,
// and a model made for it: how long until the first token of a reply that ends
// by itself. The bare thing is Ollama's own client with the prompt that earshot
// sent last, and another last message, so that the server has as much to read
// anew. What follows a cut is not measured: a model that is quick enough to
// read a prompt a hundred times here may wedge when it is cut off, and what
// mends that waits for a minute.
func realModel(ctx context.Context, b bench) (rows []Row, err error) {
	if _, err := os.Stat(ollamatest.Binary()); err != nil {
		return []Row{{Name: "real Ollama", Note: "not measured: there is none; scripts/ollama/build builds one"}}, nil
	}
	server, err := ollamatest.Run(ctx, ollamatest.Binary(), ollamatest.Options{})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	if err := server.Make(ctx, "tide", ollamatest.Model{Tools: true, Instructed: true, Says: "The tide comes in.", Layers: 2}); err != nil {
		return nil, err
	}
	e, err := ollama.New(ollama.Config{Host: server.Host(), Model: "tide"})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	s, err := b.openStore(ctx, "ollama")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	seen := &witness{Engine: e}
	h := open(ctx, furniture{model: ladder(seen), journal: s, outlet: sink{}, settings: executive.DefaultConfig()})
	defer h.leave()
	bare := &bareClient{server: server.Client(), seen: seen}

	b.rounds, b.repeats = min(b.rounds, 2), min(b.repeats, 3) // a round takes seconds
	ours, peer, err := b.compare(
		func() ([]float64, error) {
			samples, err := firstByte(ctx, h)
			return millis(samples), err
		},
		func() ([]float64, error) {
			samples, err := bare.ask(ctx)
			return millis(samples), err
		})
	if err != nil {
		return nil, err
	}
	return []Row{
		row("real Ollama: text → first token", "ms", ours, peer, ""),
		{Name: "real Ollama: cut → next first token", Note: "not measured: a model that is this quick may wedge when it is cut off, and its cure waits for a minute"},
	}, nil
}

// millis makes milliseconds of microseconds.
func millis(samples []float64) []float64 {
	for i := range samples {
		samples[i] /= 1000
	}
	return samples
}

// A witness stands before an engine and remembers what it was asked last.
type witness struct {
	llm.Engine
	mu   sync.Mutex
	last []llm.Message
}

// Stream implements [llm.Service].
func (w *witness) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	w.mu.Lock()
	w.last = slices.Clone(req.Messages)
	w.mu.Unlock()
	return w.Engine.Stream(ctx, req)
}

// A bareClient asks the same server without us.
type bareClient struct {
	server *api.Client
	seen   *witness
	asked  int
}

// ask returns how long the first token takes of a reply that it reads to its
// end.
func (c *bareClient) ask(ctx context.Context) ([]float64, error) {
	var took []float64
	at := time.Now()
	err := c.server.Chat(ctx, c.request(), func(r api.ChatResponse) error {
		if r.Message.Content != "" && took == nil {
			took = []float64{micros(time.Since(at))}
		}
		return nil
	})
	return took, err
}

// request returns what earshot asked last, with another last message.
func (c *bareClient) request() *api.ChatRequest {
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	c.asked++
	r := &api.ChatRequest{Model: "tide"}
	last := -1
	for i, m := range c.seen.last {
		r.Messages = append(r.Messages, api.Message{Role: string(m.Role), Content: m.Text})
		if m.Role == llm.User {
			last = i
		}
	}
	if last < 0 { // nothing was asked yet
		r.Messages, last = []api.Message{{Role: "user"}}, 0
	}
	r.Messages[last].Content = fmt.Sprintf("%d: tell me about the tides", c.asked)
	return r
}
