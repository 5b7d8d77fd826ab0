package scenetest

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/executive/schedule"
	"earshot/executive/task"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

// tasks lets agents work on tasks, and by the clock, if that is enabled: the returned function is told in which room, and
// returns what works there until its context ends. It has a journal of its own, since that of the room has
// no tables.
func (s *Scene) tasks(ctx context.Context, dir string, m llm.Service, people *participants.Registry, cfg *room.Config) (work func(*room.Room) func(context.Context), err error) {
	if !s.Config.Task.Enabled {
		return func(*room.Room) func(context.Context) { return func(context.Context) {} }, nil
	}
	journal, err := store.Open(ctx, store.Config{
		Directory: filepath.Join(dir, "journal"), NewID: cfg.NewID, Log: slog.New(slog.DiscardHandler), Projections: []earshot.Projection{agents.Projection{}, task.Projection{}, schedule.Projection{}},
	})
	if err != nil {
		return nil, err
	}
	book, err := agents.Open(ctx, agents.Setup{Journal: journal, Main: earshot.Profile{Name: s.Config.Name}, Now: time.Now, NewID: cfg.NewID})
	if err != nil {
		return nil, err
	}
	var in *room.Room
	files, main := cfg.Tools, func(earshot.RoomID) earshot.ParticipantID { return participants.Agent }
	keep := func(ctx context.Context, e earshot.Event) error {
		if err := in.Keep(ctx, e); err != nil {
			return err
		}
		_, err := journal.Append(ctx, e)
		return err
	}
	runner := task.NewRunner(task.Config{
		Journal: journal, Agents: book, Tools: func() tool.Table { return files }, Model: m, Settings: func() executive.Config { return s.Config }, Person: people.Get,
		Speaker: main, Mode: func(earshot.RoomID) earshot.Mode { mode, _ := in.Mode(); return mode },
		Keep: keep, NewID: cfg.NewID, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	clock := schedule.Runner{
		Journal: journal, Tasks: runner, EndWorkers: book.EndWorkers, Main: main, Person: people.Get, Settings: func() executive.Schedule { return s.Config.Schedule },
		Keep: keep, NewID: cfg.NewID, Now: time.Now, Log: slog.New(slog.DiscardHandler), Woken: make(chan struct{}, 1),
	}
	cfg.Tools, cfg.Commands = append(cfg.Tools, runner.Tool(), clock.Tool()), append(cfg.Commands, runner.Command(earshot.Desk), clock.Command(earshot.Desk))
	return func(r *room.Room) func(context.Context) {
		in = r
		return func(ctx context.Context) {
			defer journal.Close()
			var both sync.WaitGroup
			defer both.Wait()
			both.Go(func() { clock.Run(ctx) })
			runner.Run(ctx)
		}
	}, nil
}
