package daemon

import (
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/schedule"
)

// openSchedules makes what runs schedules, once there is what works on tasks.
func (d *Daemon) openSchedules() {
	d.schedules = &schedule.Runner{
		Journal: d.store, Tasks: d.tasks, EndWorkers: d.agents.EndWorkers, NewID: d.id, Now: time.Now, Log: d.log, Woken: make(chan struct{}, 1), Keep: d.remembered().Keep,
		Settings: func() executive.Schedule { return d.Config().Executive.Schedule },
		Main:     func(room earshot.RoomID) earshot.ParticipantID { return d.agents.Main(room).ID },
		Here:     func(room earshot.RoomID) bool { _, here := d.rooms.Now().Find(room); return here || d.cluster == nil },
		Person:   d.people.Get, // with no more than the rights of whoever set it
	}
}
