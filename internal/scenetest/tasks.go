package scenetest

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/executive/task"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

// A tasks is what works on tasks beside a room. They have a journal of their own: that of the room has no
// tables.
type tasks struct {
	*store.Store
	runner *task.Runner
	room   *room.Room
}

// tasks lets agents work on tasks, if that is enabled.
func (s *Scene) tasks(ctx context.Context, dir string, m llm.Service, people *participants.Registry, cfg *room.Config) (t *tasks, err error) {
	t = new(tasks)
	if !s.Config.Task.Enabled {
		return t, nil
	}
	t.Store, err = store.Open(ctx, store.Config{
		Directory: filepath.Join(dir, "journal"), NewID: cfg.NewID, Log: slog.New(slog.DiscardHandler), Projections: []earshot.Projection{task.Projection{}},
	})
	files := cfg.Tools
	t.runner = task.NewRunner(task.Config{
		Journal: t, Agents: t, Tools: func() tool.Table { return files }, Model: m, Settings: func() executive.Config { return s.Config }, Person: people.Get,
		Speaker: func(earshot.RoomID) earshot.ParticipantID { return participants.Agent },
		Mode:    func(earshot.RoomID) earshot.Mode { mode, _ := t.room.Mode(); return mode },
		Keep:    t.keep, NewID: cfg.NewID, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	cfg.Tools, cfg.Commands = append(cfg.Tools, t.runner.Tool()), append(cfg.Commands, t.runner.Command(earshot.Desk))
	return t, err
}

func (t *tasks) end() {
	if t.Store != nil {
		_ = t.Close() // its folder is removed
	}
}

// keep puts an event on record in the room, and in the journal of tasks.
func (t *tasks) keep(ctx context.Context, e earshot.Event) error {
	if err := t.room.Keep(ctx, e); err != nil {
		return err
	}
	_, err := t.Append(ctx, e)
	return err
}

// List implements [task.Agents]: there are none that would be listed.
func (*tasks) List() []agents.Record { return nil }

// Hire implements [task.Agents].
func (*tasks) Hire(_ context.Context, _ earshot.ParticipantID, path earshot.Path) (agents.Record, error) {
	return agents.Record{ID: earshot.ParticipantID(path), Path: path}, nil
}

// Finish implements [task.Agents].
func (*tasks) Finish(context.Context, earshot.ParticipantID, earshot.ParticipantID) error { return nil }
