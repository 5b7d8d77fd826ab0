package schedule

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/participants"
)

// Tasks is who works on tasks. Its methods are safe for concurrent use, and do not wait for the work.
type Tasks interface {
	// New returns the event that creates a task for somebody, of which draft has the room, who may see it,
	// what it rests on and the task. It is not on record yet. The error says why it cannot be, for example
	// that somebody may not have tools used any more.
	New(by participants.Participant, draft earshot.Event) (earshot.Event, error)

	Wake() // there is a new task on record

	Open(ctx context.Context, id earshot.EventID) bool // it is not over
}

// look is how often the clock is looked at while there are schedules: it may be set, or the machine may sleep.
const look = time.Minute

// A Runner has schedules run when they are due. All exported fields but Here are required. Its methods but Run are
// safe for concurrent use.
type Runner struct {
	Journal interface {
		Do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error)) ([]earshot.Event, error)
		Look(ctx context.Context, f func(earshot.View) error) error
	}
	Tasks      Tasks
	Settings   func() executive.Schedule
	Person     func(earshot.ParticipantID) (participants.Participant, bool)
	Main       func(earshot.RoomID) earshot.ParticipantID // the main agent of a room
	EndWorkers func(ctx context.Context, kind earshot.PathKind, works func(earshot.Path) bool)
	Here       func(earshot.RoomID) bool                        // no other daemon has a room; nil if there is no other
	Keep       func(ctx context.Context, e earshot.Event) error // has a room put an event on record
	NewID      func() earshot.EventID
	Now        func() time.Time
	Log        *slog.Logger
	Woken      chan struct{} // with room for one; has Run read the schedules again

	states map[earshot.EventID]RunState // of Run alone
}

// Wake has the runner read the schedules again. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.Woken <- struct{}{}:
	default:
	}
}

// Run has schedules run until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	for ctx.Err() == nil {
		again, err := r.turn(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Warn("a schedule cannot run now", "err", err)
			again = r.Now().Add(look)
		}
		var timer <-chan time.Time
		if !again.IsZero() {
			timer = time.After(min(max(again.Sub(r.Now()), 0), look))
		}
		select {
		case <-timer:
		case <-r.Woken:
		case <-ctx.Done():
		}
	}
}

// turn does what is due now, and returns when to look again; the zero Time if there are no schedules.
func (r *Runner) turn(ctx context.Context) (again time.Time, err error) {
	all, err := r.entries(ctx, "")
	if err == nil {
		r.EndWorkers(ctx, earshot.PathCron, func(p earshot.Path) bool {
			return slices.ContainsFunc(all, func(e Entry) bool { return e.Path == p })
		})
	}
	states := make(map[earshot.EventID]RunState)
	for _, e := range all {
		if r.Here != nil && !r.Here(e.Event.Room) {
			continue
		}
		t, bad := NewTimetable(e.Spec, e.Zone) // the machine may have lost a zone
		var d Action
		if bad == nil && r.Settings().Enabled {
			d, states[e.Event.ID] = e.Step(t, r.Now(), e.Last != "" && r.Tasks.Open(ctx, e.Last), r.states[e.Event.ID])
		}
		if d.Act != "" {
			_, bad = r.do(ctx, e, d)
			d.Due = r.Now()
		}
		if d.Due.IsZero() {
			d.Due = r.Now().Add(look)
		}
		if err = errors.Join(err, bad); again.IsZero() || d.Due.Before(again) {
			again = d.Due
		}
	}
	r.states = states
	return again, err
}

// Rooms returns the rooms that have schedules, one for each of them.
func (r *Runner) Rooms(ctx context.Context) (rooms []earshot.RoomID, err error) {
	all, err := r.entries(ctx, "")
	for _, e := range all {
		rooms = append(rooms, e.Event.Room)
	}
	return rooms, err
}

// entries returns the schedules of somebody, or all. What others set who turned out to be the same person
// comes last, with the next numbers.
func (r *Runner) entries(ctx context.Context, whose earshot.ParticipantID) (own []Entry, err error) {
	var all, merged []Entry
	err = r.Journal.Look(ctx, func(v earshot.View) (err error) {
		all, err = read(ctx, v, `'' = ?`, "")
		return err
	})
	if whose == "" {
		return all, err
	}
	for _, e := range all {
		if e.For == whose {
			own = append(own, e)
		} else if is, _ := r.Person(e.For); is.ID == whose {
			merged = append(merged, e)
		}
	}
	for _, e := range merged {
		e.N = 1
		if n := len(own); n > 0 {
			e.N = own[n-1].N + 1
		}
		own = append(own, e)
	}
	return own, err
}

// Next returns when something is done next in a room, as far as an audience may know; zero if nothing is.
func (r *Runner) Next(ctx context.Context, a earshot.Audience) (next time.Time, err error) {
	all, err := r.entries(ctx, "")
	for _, e := range all {
		if t, err := NewTimetable(e.Spec, e.Zone); err == nil && !e.Paused && e.known(a) && r.Settings().Enabled {
			if at := t.Next(r.Now()); next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	return next, err
}

// do does something about a schedule, if it still stands as it did. A run that cannot be is skipped, and its
// person is told why, once.
func (r *Runner) do(ctx context.Context, e Entry, d Action) (earshot.Schedule, error) {
	s := earshot.Schedule{Act: d.Act, Of: e.Event.ID, Due: d.Due, Text: d.Why}
	var run []earshot.Event
	var refused error
	if d.Act == earshot.ScheduleRan {
		var t earshot.Event
		if t, refused = r.order(e, d.Due); refused != nil {
			s.Act, s.Text = earshot.ScheduleSkipped, earshot.Text(refused.Error())
		} else {
			s.Task, run = t.ID, append(run, t)
		}
	}
	events := append(run, r.event(e, s))
	kept, err := r.Journal.Do(ctx, func(v earshot.View) ([]earshot.Event, error) {
		now, err := read(ctx, v, `id = ?`, string(e.Event.ID))
		if err != nil || len(now) == 0 || now[0].Paused != e.Paused || !now[0].Cursor.Equal(e.Cursor) {
			return nil, err
		}
		return events, nil
	})
	if err != nil || len(kept) == 0 {
		return earshot.Schedule{Text: "it has changed meanwhile; try again"}, err
	}
	if s.Act == earshot.ScheduleRan {
		r.Tasks.Wake()
	}
	if refused != nil && s.Text != e.Why {
		tells := r.event(e, earshot.Reminder{Act: earshot.Created, Due: r.Now(), Text: "what you wanted " + earshot.Text(e.Often()) + " cannot be done: " + s.Text})
		tells.Author = r.Main(tells.Room)
		return s, r.Keep(ctx, tells)
	}
	return s, nil
}

// order returns the event that creates the task which is a run of a schedule.
func (r *Runner) order(e Entry, due time.Time) (earshot.Event, error) {
	by, known := r.Person(e.For)
	if !known {
		return earshot.Event{}, errors.New("whoever set it is not known any more")
	}
	return r.Tasks.New(by, earshot.Event{
		Room: e.Event.Room, Visibility: e.Event.Visibility, Sources: append(slices.Clone(e.Event.Sources), e.Event.ID),
		Body: earshot.Task{Text: e.Text, Path: e.Path, Engine: e.Engine, Model: e.Model, Budget: e.Budget, Tools: e.Tools, Quiet: e.Quiet, Schedule: e.Event.ID, Due: due},
	})
}

// event returns an event about a schedule, which is erased with it.
func (r *Runner) event(e Entry, b earshot.Body) earshot.Event {
	return earshot.Event{
		ID: r.NewID(), At: r.Now(), Room: cmp.Or(e.Event.Room, earshot.Desk), From: earshot.Handle{Provider: "earshot", ID: string(b.Kind())},
		Author: e.Event.Author, To: e.Event.To, Visibility: e.Event.Visibility, Sources: []earshot.EventID{e.Event.ID}, Body: b,
	}
}
