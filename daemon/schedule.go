package daemon

import (
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/schedule"
	"earshot/participants"
)

// openSchedules makes what runs schedules, once there is what works on tasks.
func (d *Daemon) openSchedules() {
	d.schedules = &schedule.Runner{
		Journal: d.store, Tasks: d.tasks, Retire: d.agents.Retire, NewID: d.id, Now: time.Now, Log: d.log, Nudged: make(chan struct{}, 1), Keep: d.remembered().Keep,
		Settings: func() executive.Schedule { return d.Config().Executive.Schedule },
		Main:     func(room earshot.RoomID) earshot.ParticipantID { return d.agents.Main(room).ID },
		Person: func(id earshot.ParticipantID) (participants.Participant, bool) {
			return d.people.Get(d.people.Current(id))
		},
	}
}
