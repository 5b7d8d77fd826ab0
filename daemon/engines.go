package daemon

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

// models holds the engines in force.
type models struct{ now atomic.Pointer[engines] }

// engines are a ladder, and the configuration of each of its engines.
type engines struct {
	*llm.Ladder
	of []llm.EngineConfig
}

// Stream implements [llm.Service].
func (m *models) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return m.Current().Stream(ctx, req)
}

// Current implements [llm.ReplaceableService].
func (m *models) Current() llm.Service { return m.now.Load() }

// close closes the idle connections of all engines.
func (m *models) close() {
	if now := m.now.Load(); now != nil {
		for _, e := range now.Engines {
			engine.CloseIdle(e.Engine)
		}
	}
}

// buildLadder stacks the engines of c, each behind its scheduler. An engine with an unchanged
// configuration is kept, with its running and waiting requests. Tell is called for each step, and
// spent with the costs of each request.
func buildLadder(c llm.Config, log *slog.Logger, was *engines, tell func(llm.Step), spent func(llm.Usage)) (*engines, error) {
	helped := new(engineOutages)
	l := &llm.Ladder{
		FirstToken: c.FirstToken.Duration(), Load: c.Load.Duration(), Idle: c.Idle.Duration(), Total: c.Total.Duration(),
		Report: func(s llm.Step) {
			tell(s)
			helped.log(log, s)
		},
		Spent: spent,
	}
	is := &engines{l, c.List()}
	for _, ec := range is.of {
		if was != nil {
			if i := slices.Index(was.of, ec); i >= 0 {
				l.Engines = append(l.Engines, was.Engines[i])
				continue
			}
		}
		e, err := engine.Open(ec)
		if err != nil {
			return nil, err
		}
		l.Engines = append(l.Engines, &llm.Scheduler{Engine: e, Called: ec.Name, Slots: ec.Slots})
	}
	return is, nil
}

// An engineOutages logs what was done for engines that are lost and come back, by the rules of
// [supervise.Outages].
type engineOutages struct {
	mu      sync.Mutex
	outages supervise.Outages
}

// log logs a step, if it is news.
func (h *engineOutages) log(log *slog.Logger, s llm.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, n := time.Now(), earshot.Notice{Key: s.Engine, Text: "the model answers as it is", Over: s.Err == nil}
	for _, over := range h.outages.Steady(now) { // checked on each request
		log.Info(over.Text, "engine", over.Key)
	}
	if s.Err != nil {
		n.Text = string(s.Kind) + string(s.Err.Fault)
	}
	if h.outages.Change(now, n) && s.Err != nil {
		log.Warn("the model was helped", "engine", s.Engine, "step", string(s.Kind), "fault", string(s.Err.Fault))
	}
}
