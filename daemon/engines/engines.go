// Package engines holds the engines of language models that a daemon uses, and replaces them when their
// configuration changes.
package engines

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/internal/supervise"
	"earshot/llm"
	"earshot/llm/engine"
)

// A Service answers by the engines in force. Its methods may be called from many goroutines.
type Service struct{ now atomic.Pointer[Ladder] }

// A Ladder is a ladder, and what each entry of its configuration became: an engine, or one of its hosts.
type Ladder struct {
	*llm.Ladder
	Entries []llm.EngineConfig
	Servers []llm.Engine // one for each entry
}

// Stream implements [llm.Service].
func (m *Service) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return m.Current().Stream(ctx, req)
}

// Embed turns texts into vectors, as [llm.Ladder.Embed].
func (m *Service) Embed(ctx context.Context, engine, model string, p llm.Priority, texts []string) ([][]float32, error) {
	return m.now.Load().Embed(ctx, engine, model, p, texts)
}

// Current implements [llm.ReplaceableService].
func (m *Service) Current() llm.Service { return m.now.Load() }

// Load returns the engines in force, and Replace replaces them.
func (m *Service) Load() *Ladder     { return m.now.Load() }
func (m *Service) Replace(l *Ladder) { m.now.Store(l) }

// Close closes the idle connections of all engines.
func (m *Service) Close() {
	if now := m.now.Load(); now != nil {
		for _, e := range now.Servers {
			engine.CloseIdle(e)
		}
	}
}

// Build stacks the engines of c, each behind its scheduler. An engine with an unchanged
// configuration is kept, with its running and waiting requests. tell is called for each step, and
// spent with the costs of each request.
func Build(c llm.Config, log *slog.Logger, was *Ladder, tell func(llm.Step), spent func(llm.Usage)) (*Ladder, error) {
	helped := new(outages)
	l := &llm.Ladder{
		FirstToken: c.FirstToken.Duration(), Load: c.Load.Duration(), Idle: c.Idle.Duration(), Total: c.Total.Duration(),
		Report: func(s llm.Step) {
			tell(s)
			helped.log(log, s)
		},
		Spent: spent,
	}
	is := &Ladder{Ladder: l, Entries: c.List()}
	for _, ec := range is.Entries {
		i := -1
		if was != nil {
			i = slices.Index(was.Entries, ec)
		}
		if i >= 0 {
			is.Servers = append(is.Servers, was.Servers[i])
			continue
		}
		e, err := engine.Open(ec)
		if err != nil {
			return nil, err
		}
		is.Servers = append(is.Servers, e)
	}
	for _, name := range c.Names() {
		if was != nil && slices.Equal(llm.HostsOf(was.Entries, name), llm.HostsOf(is.Entries, name)) {
			i := slices.IndexFunc(was.Engines, func(s *llm.Scheduler) bool { return s.Called == name })
			l.Engines = append(l.Engines, was.Engines[i])
		} else {
			l.Engines = append(l.Engines, is.scheduler(name))
		}
	}
	return is, nil
}

// scheduler returns a new scheduler of the engine with that name.
func (e *Ladder) scheduler(name string) *llm.Scheduler {
	s := &llm.Scheduler{Called: name}
	for i, ec := range e.Entries {
		if ec.Name == name {
			s.Engine, s.Slots = e.Servers[i], ec.Slots
			s.Hosts = append(s.Hosts, &llm.Host{Engine: s.Engine, Called: llm.HostName(e.Entries, i), Slots: s.Slots})
		}
	}
	if len(s.Hosts) == 1 {
		s.Hosts = nil
	}
	return s
}

// The type outages logs what was done for engines that are lost and come back, by the rules of
// [supervise.Outages].
type outages struct {
	mu    sync.Mutex
	known supervise.Outages
}

// log logs a step, if it is news.
func (h *outages) log(log *slog.Logger, s llm.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, n := time.Now(), earshot.Notice{Key: s.Engine, Text: "the model answers as it is", Over: s.Err == nil}
	for _, over := range h.known.Steady(now) { // checked on each request
		log.Info(over.Text, "engine", over.Key)
	}
	if s.Err != nil {
		n.Text = string(s.Kind) + string(s.Err.Fault)
	}
	if h.known.Change(now, n) && s.Err != nil {
		log.Warn("the model was helped", "engine", s.Engine, "step", string(s.Kind), "fault", string(s.Err.Fault))
	}
}
