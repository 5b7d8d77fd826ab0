package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// Config is what a runner needs. The functions are safe for concurrent use.
type Config struct {
	Journal  agents.Journal
	Agents   *agents.Directory
	Tools    func() tool.Table
	Model    llm.Service
	Settings func() executive.Config
	Person   func(earshot.ParticipantID) (participants.Participant, bool)
	Speaker  func(earshot.RoomID) earshot.ParticipantID // the agent that says there what is to be said
	Mode     func(earshot.RoomID) earshot.Mode
	Keep     func(context.Context, earshot.Event) error // puts an event on record in its room
	NewID    func() earshot.EventID
	Now      func() time.Time // with monotonic readings, as [time.Now]: neither sleep nor a clock that is set is work
	Log      *slog.Logger
}

// A Runner works on tasks. Its methods are safe for concurrent use; Run is called once.
type Runner struct {
	Config
	news chan struct{}

	mu      sync.Mutex
	open    int                                    // tasks, when it was last looked
	working map[earshot.EventID]context.CancelFunc // which ends the request that is under way
	rested  map[earshot.EventID]time.Time          // since when a task rests, or until when after a failure
}

// NewRunner returns a runner that works once it runs.
func NewRunner(c Config) *Runner {
	return &Runner{Config: c, news: make(chan struct{}, 1), working: make(map[earshot.EventID]context.CancelFunc), rested: make(map[earshot.EventID]time.Time)}
}

// Wake has the runner look for what there is to do. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.news <- struct{}{}:
	default: // it is about to look anyway
	}
}

const (
	look     = time.Minute // between looks for what was forgotten, and before what failed is tried again
	mostGoal = 8 << 10     // bytes of a goal: some pages, which fit into each request
)

var (
	errOff     = errors.New("nothing is kept now; /resume ends that")
	errChanged = errors.New("the task has changed meanwhile") // so a decision no longer fits what is on record
)

// Run works on all tasks until ctx ends. Then no call is under way any more.
func (r *Runner) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		if err := r.survey(ctx, &all); err != nil && ctx.Err() == nil {
			r.Log.Error("tasks cannot be looked at", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-r.news:
		case <-time.After(look):
		}
	}
}

// survey starts work on those open tasks that have rested longest, as many as may be worked on at once,
// stops work on what may not be done any more, and ends the agents of what is over or forgotten.
func (r *Runner) survey(ctx context.Context, running *sync.WaitGroup) error {
	all, err := r.read(ctx, isOpen)
	if err != nil {
		return err
	}
	set, opened, goes, alive := r.Settings(), len(all), make(map[earshot.EventID]bool), make(map[earshot.Path]bool)
	parents, helped := make(map[earshot.EventID]State), make(map[earshot.EventID]bool)
	for _, s := range all {
		parents[s.Event.ID], helped[s.Task.Call] = s, true
	}
	all = slices.DeleteFunc(all, func(s State) bool {
		next := s.Next()
		if parent, open := parents[s.Parent]; s.Parent != "" && open && parent.Paused || next == Await && helped[s.Call.ID] {
			next = Rest
		} else if s.Parent != "" && !open && !s.Over {
			next = GiveUp // as the task was on which it helps
		}
		goes[s.Event.ID] = next != Rest && r.Mode(s.Event.Room).Answers() && (next == Tell || set.Enabled && set.Task.Enabled)
		alive[s.Path] = !s.Over
		return !goes[s.Event.ID]
	})
	r.Agents.EndWorkers(ctx, earshot.PathTask, func(p earshot.Path) bool { return alive[p] })
	r.mu.Lock() // not before, since whoever asks for a task may hold the journal
	defer r.mu.Unlock()
	r.open = opened
	for id, stop := range r.working {
		if !goes[id] {
			stop()
		}
	}
	maps.DeleteFunc(r.rested, func(id earshot.EventID, _ time.Time) bool { return !goes[id] })
	slices.SortStableFunc(all, func(a, b State) int { return r.rested[a.Event.ID].Compare(r.rested[b.Event.ID]) })
	for _, s := range all {
		id := s.Event.ID
		if r.working[id] != nil || len(r.working) >= set.Task.AtOnce || r.Now().Before(r.rested[id]) {
			continue
		}
		asking, stop := context.WithCancel(ctx)
		r.working[id] = stop
		running.Go(func() {
			defer r.Wake()
			defer stop()
			err := (&worker{Runner: r, id: id}).run(ctx, asking)
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.working, id)
			r.rested[id] = r.Now()
			if err != nil && !errors.Is(err, llm.ErrParked) { // what was parked goes on at once
				r.rested[id] = r.Now().Add(look)
				r.Log.Info("a task waits", "task", id, "err", llm.Unquoted(err))
			}
		})
	}
	return nil
}

func (r *Runner) read(ctx context.Context, where string, args ...any) (all []State, err error) {
	err = r.Journal.Look(ctx, func(v earshot.View) (err error) {
		all, err = read(ctx, v, where, args...)
		return err
	})
	return all, err
}

// Open reports whether a task is on record and not over.
func (r *Runner) Open(ctx context.Context, id earshot.EventID) bool {
	all, err := r.read(ctx, isOne, id)
	return err == nil && len(all) == 1 && !all[0].Over
}

// Rooms returns the rooms that have tasks that are not over or not told, one for each of them.
func (r *Runner) Rooms(ctx context.Context) (rooms []earshot.RoomID, err error) {
	all, err := r.read(ctx, isOpen)
	for _, s := range all {
		rooms = append(rooms, s.Event.Room)
	}
	return rooms, err
}

// Count returns how many tasks of a room are not over, and how many of these wait for an answer, as far as
// an audience may know.
func (r *Runner) Count(ctx context.Context, a earshot.Audience) (open, asking int, err error) {
	all, err := r.read(ctx, isOpen)
	for _, s := range all {
		if s.Over || s.Event.Room != a.Room || !s.Visibility.Allows(a) {
			continue
		}
		open++
		if s.Question.ID != "" {
			asking++
		}
	}
	return open, asking, err
}

// New returns the event that creates a task for somebody, with their rights, or says why there can be none.
// It puts nothing on record: whoever does calls [Runner.Wake] afterwards.
//
// draft has the room, who may see the task, its steps and its result, what it rests on, and an
// [earshot.Task] with the goal. By default the path of that is one of its own, engine and model are those
// of the role, and the budget, or what is 0 of it, is that of the configuration.
func (r *Runner) New(by participants.Participant, draft earshot.Event) (earshot.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, _ := draft.Body.(earshot.Task)
	room := cmp.Or(draft.Room, earshot.Desk)
	set, id, goal := r.Settings().Task, r.NewID(), strings.TrimSpace(string(t.Text))
	path, err := agents.PathOf(string(participants.Owner), earshot.PathTask, strings.ToLower(string(id)))
	switch {
	case !set.Enabled:
		err = errors.New("tasks are off; executive.task.enabled in the configuration turns them on")
	case r.Mode(room) == earshot.OffRecord:
		err = errOff
	case goal == "" || len(goal) > mostGoal:
		err = fmt.Errorf("the goal has %d bytes; it must have from 1 to %d: say what is to be done, and put the rest in a file", len(goal), mostGoal)
	case !by.Person() || participants.Unnamed(by.ID) || !by.Can(participants.SendMessages):
		err = errors.New("a task is done with the rights of a person; say who you are with --identity NAME")
	case by.ByVoice || by.Voice():
		err = errors.New("a voice proves nothing, and a task has the rights of the person it is for; write it")
	case !draft.Visibility.AllowsAgent(r.Speaker(room)):
		err = errors.New("the main agent of the room could not tell what comes of it; ask that one")
	case slices.ContainsFunc(t.Tools, func(name string) bool {
		return name != NoTools && !slices.ContainsFunc(r.Tools(), func(row tool.Tool) bool { return row.Name == name })
	}):
		err = fmt.Errorf("not all of %s are tools that a task can use; see docs/agents.md", strings.Join(t.Tools, ", "))
	case r.open >= set.Most:
		err = fmt.Errorf("%d tasks are open, and no more are possible (executive.task.most); cancel one", r.open)
	}
	if err != nil {
		return earshot.Event{}, err
	}
	given := cmp.Or(t.Budget, new(earshot.Budget))
	t.Act, t.Text, t.Path, t.Budget = earshot.Created, earshot.Text(goal), cmp.Or(t.Path, path), &earshot.Budget{
		Tokens: cmp.Or(given.Tokens, set.Tokens), Calls: cmp.Or(given.Calls, set.Calls), Time: cmp.Or(given.Time, set.Time.Duration()),
	}
	return earshot.Event{
		ID: id, At: r.Now(), Room: room, From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindTask)},
		Author: by.Reader(), To: []earshot.ParticipantID{by.Reader()}, Visibility: draft.Visibility, Sources: draft.Sources, Body: t,
	}, nil
}

// record puts what make returns of a task on record, in its room and for those who may see the task and
// that, also when ctx ends. make sees the task as it is, and nothing changes in between.
func (r *Runner) record(ctx context.Context, id earshot.EventID, make func(s State) ([]earshot.Event, error)) error {
	_, err := r.Journal.Do(context.WithoutCancel(ctx), func(v earshot.View) ([]earshot.Event, error) {
		all, err := read(ctx, v, isOne, id)
		if err != nil || len(all) == 0 {
			return nil, cmp.Or(err, errChanged)
		}
		s := all[0]
		events, err := make(s)
		if err != nil {
			return nil, err
		}
		if t, is := events[0].Body.(earshot.Task); is && s.Parent != "" && ends[t.Act] {
			events = append(events, outcome(s, events[0]))
		}
		for i := range events {
			e := &events[i]
			e.ID, e.At, e.Room, e.To, e.From = cmp.Or(e.ID, r.NewID()), r.Now(), s.Event.Room, s.Event.To, earshot.Handle{Provider: "earshot", ID: string(e.Body.Kind())}
			if e.Visibility.Scope == "" {
				e.Visibility = s.Visibility
			}
			e.Visibility = e.Visibility.And(s.Visibility)
		}
		return events, nil
	})
	return err
}
