package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/memory"
	"earshot/executive/recall"
	"earshot/executive/task"
	"earshot/executive/tool"
	"earshot/internal/english"
)

// openTasks makes what works on tasks. It works while the daemon runs.
func (d *Daemon) openTasks() {
	d.tasks = task.NewRunner(task.Config{
		Journal: d.store, Agents: d.agents, Tools: d.taskTools, Model: &d.llm, Settings: d.settings, Person: d.people.Get,
		Speaker: func(room earshot.RoomID) earshot.ParticipantID { return d.agents.Main(room).ID },
		Mode: func(room earshot.RoomID) earshot.Mode {
			r, ok := d.rooms.Find(room)
			switch {
			case !ok && d.cluster != nil:
				return earshot.Paused // whoever has the room works for it
			case !ok:
				return earshot.Live // closed, and so nobody has paused it
			}
			mode, _ := r.Room.Mode()
			return mode
		},
		Keep: d.keepIn, NewID: d.id, Now: time.Now, Log: d.log,
	})
}

// work tells what an audience may know of open tasks and of schedules in its room; empty if that is nothing.
func (d *Daemon) work(ctx context.Context, a earshot.Audience) (text string) {
	open, asking, _ := d.tasks.Count(ctx, a) // none if the journal cannot be read
	next, _ := d.schedules.Next(ctx, a)
	if open > 0 {
		text = "; " + english.Count(open, "task")
	}
	if asking > 0 {
		text += fmt.Sprintf(", %d waiting for an answer", asking)
	}
	if !next.IsZero() {
		text += "; next by the clock " + next.Format("Mon 15:04 MST")
	}
	return strings.TrimPrefix(text, "; ")
}

// taskTools are the tools of agents that work on tasks.
func (d *Daemon) taskTools() tool.Table {
	set := d.Config().Executive
	return slices.DeleteFunc(d.tools(), func(row tool.Tool) bool {
		return !set.Tools.Enabled || row.Name == task.ToolName || row.Name == memory.ToolName && !set.Memory.Enabled || row.Name == recall.ToolName && !set.Recall.Enabled
	})
}
