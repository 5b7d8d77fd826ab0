package daemon

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/memory"
	"earshot/executive/task"
	"earshot/executive/tool"
)

// openTasks makes what works on tasks. It works while the daemon runs.
func (d *Daemon) openTasks() {
	d.tasks = task.NewRunner(task.Config{
		Journal: d.store, Agents: d.agents, Tools: d.taskTools, Model: &d.llm, Settings: d.settings, Person: d.people.Get,
		Speaker: func(room earshot.RoomID) earshot.ParticipantID { return d.agents.Main(room).ID },
		Mode: func(room earshot.RoomID) earshot.Mode {
			r, ok := d.rooms.find(room)
			if !ok {
				return earshot.Live // closed, and so nobody has paused it
			}
			mode, _ := r.Mode()
			return mode
		},
		Keep: d.keepIn, NewID: d.id, Now: time.Now, Log: d.log,
	})
}

// work is what an audience may know of tasks and schedules in its room; nil if there are none.
func (d *Daemon) work(ctx context.Context, a earshot.Audience) *api.Work {
	var w api.Work
	w.Tasks, w.Asking, _ = d.tasks.Count(ctx, a)
	w.Next, _ = d.schedules.Next(ctx, a)
	if w == (api.Work{}) { // also if the journal could not be read
		return nil
	}
	return &w
}

// taskTools are the tools of agents that work on tasks.
func (d *Daemon) taskTools() tool.Table {
	set := d.Config().Executive
	return slices.DeleteFunc(d.tools(), func(row tool.Tool) bool {
		return !set.Tools.Enabled || row.Name == task.ToolName || row.Name == memory.ToolName && !set.Memory.Enabled
	})
}
