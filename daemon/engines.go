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

// models are the engines in force.
type models struct{ now atomic.Pointer[engines] }

// engines are a ladder, and what each of its engines was made of.
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

// close lets go of the idle connections of all engines.
func (m *models) close() {
	if now := m.now.Load(); now != nil {
		for _, e := range now.Engines {
			engine.CloseIdle(e.Engine)
		}
	}
}

// buildLadder puts the engines of c above each other, each behind its scheduler. One that was
// made of the same stays as it is, with what it works on and what waits for it.
// Tell is told each step, and spent what each question has cost.
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

// An engineOutages says in the log what was done for engines that are lost and come back, as
// [supervise.Outages] says.
type engineOutages struct {
	mu      sync.Mutex
	outages supervise.Outages
}

// log says what a step was, if it is news.
func (h *engineOutages) log(log *slog.Logger, s llm.Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, n := time.Now(), earshot.Notice{Key: s.Engine, Text: "the model answers as it is", Over: s.Err == nil}
	for _, over := range h.outages.Steady(now) { // which is looked at with each question
		log.Info(over.Text, "engine", over.Key)
	}
	if s.Err != nil {
		n.Text = string(s.Kind) + string(s.Err.Fault)
	}
	if h.outages.Change(now, n) && s.Err != nil {
		log.Warn("the model was helped", "engine", s.Engine, "step", string(s.Kind), "fault", string(s.Err.Fault))
	}
}
