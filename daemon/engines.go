package daemon

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/internal/probe"
	"earshot/internal/supervise"
	"earshot/llm"
	"earshot/llm/engine"
	"earshot/participants"
)

// models holds the engines in force.
type models struct{ now atomic.Pointer[engines] }

// engines are a ladder, and what each entry of its configuration became: an engine, or one of its hosts.
type engines struct {
	*llm.Ladder
	of      []llm.EngineConfig
	servers []llm.Engine
}

// Stream implements [llm.Service].
func (m *models) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return m.Current().Stream(ctx, req)
}

// Embed turns texts into vectors, as [llm.Ladder.Embed].
func (m *models) Embed(ctx context.Context, engine, model string, p llm.Priority, texts []string) ([][]float32, error) {
	return m.now.Load().Embed(ctx, engine, model, p, texts)
}

// Current implements [llm.ReplaceableService].
func (m *models) Current() llm.Service { return m.now.Load() }

// close closes the idle connections of all engines.
func (m *models) close() {
	if now := m.now.Load(); now != nil {
		for _, e := range now.servers {
			engine.CloseIdle(e)
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
	is := &engines{Ladder: l, of: c.List()}
	for _, ec := range is.of {
		i := -1
		if was != nil {
			i = slices.Index(was.of, ec)
		}
		if i >= 0 {
			is.servers = append(is.servers, was.servers[i])
			continue
		}
		e, err := engine.Open(ec)
		if err != nil {
			return nil, err
		}
		is.servers = append(is.servers, e)
	}
	for _, name := range c.Names() {
		if was != nil && slices.Equal(llm.HostsOf(was.of, name), llm.HostsOf(is.of, name)) {
			i := slices.IndexFunc(was.Engines, func(s *llm.Scheduler) bool { return s.Called == name })
			l.Engines = append(l.Engines, was.Engines[i])
		} else {
			l.Engines = append(l.Engines, is.scheduler(name))
		}
	}
	return is, nil
}

// scheduler returns a new scheduler of the engine with that name.
func (e *engines) scheduler(name string) *llm.Scheduler {
	s := &llm.Scheduler{Called: name}
	for i, ec := range e.of {
		if ec.Name == name {
			s.Engine, s.Slots = e.servers[i], ec.Slots
			s.Hosts = append(s.Hosts, &llm.Host{Engine: s.Engine, Called: llm.HostName(e.of, i), Slots: s.Slots})
		}
	}
	if len(s.Hosts) == 1 {
		s.Hosts = nil
	}
	return s
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

// modelTable is the command of a room that lists the models, and chooses the one that answers.
func (d *Daemon) modelTable() command.Table {
	return command.Table{{
		Group: "For operators of earshot", Name: "model", Args: "[NAME [think]]", Help: "list the models; choose one for talking or thinking", Needs: participants.Operate,
		Do: func(ctx context.Context, c command.Call) (string, error) {
			words := strings.Fields(string(c.Args))
			if d.options.Load == nil {
				return "", errNoFile
			}
			cfg, err := d.options.Load()
			if err != nil {
				return "", err
			}
			looks := probe.Engines(ctx, cfg.Executive.LLM)
			role := probe.TalkRole
			switch {
			case len(words) == 0:
				var b strings.Builder
				faults := probe.EngineFaults(looks)
				if len(faults) < len(looks) {
					probe.PrintModels(&b, probe.ListModels(cfg.Executive, looks))
				}
				probe.PrintFindings(&b, faults)
				return strings.TrimRight(b.String(), "\n"), nil
			case len(words) == 2 && (words[1] == probe.TalkRole || words[1] == probe.ThinkRole):
				role = words[1]
			case len(words) > 1:
				return "", errors.New("write /model, /model NAME, or /model NAME think")
			}
			is, err := probe.ChooseModel(cfg, looks, probe.EngineModel{Model: words[0]}, role)
			if err == nil {
				err = is.Save()
			}
			if err == nil {
				_, err = d.Reload(ctx)
			}
			if err != nil {
				return "", err
			}
			return is.String(), nil
		},
	}}
}
