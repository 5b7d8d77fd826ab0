package daemon

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/memory"
	"earshot/executive/recall"
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

// taskTools are the tools of agents that work on tasks.
func (d *Daemon) taskTools() tool.Table {
	set := d.Config().Executive
	return slices.DeleteFunc(d.tools(), func(row tool.Tool) bool {
		return !set.Tools.Enabled || row.Name == task.ToolName || row.Name == memory.ToolName && !set.Memory.Enabled || row.Name == recall.ToolName && !set.Recall.Enabled
	})
}
