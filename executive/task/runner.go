package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
)

// A Journal puts decisions on record; see [earshot/store.Store].
type Journal interface {
	// Do makes a decision and records the events that it returns, while nobody else decides.
	Do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error)) ([]earshot.Event, error)
	Look(ctx context.Context, f func(earshot.View) error) error
}

// Config is what a runner needs. All fields are required. The functions are safe for concurrent use.
type Config struct {
	Journal  Journal
	Tools    func() tool.Table
	Model    llm.Service
	Settings func() executive.Config
	Person   func(earshot.ParticipantID) (participants.Participant, bool)
	Name     func(earshot.ParticipantID) string
	Speaker  func(earshot.RoomID) earshot.ParticipantID // the agent that says there what is to be said

	// Agent returns the agent at a path, and makes it if there never was any. Agents are the paths of
	// all that were made so, and End ends one.
	Agent  func(ctx context.Context, by earshot.ParticipantID, path earshot.Path) (earshot.ParticipantID, error)
	Agents func() []earshot.Path
	End    func(ctx context.Context, path earshot.Path) error
	Path   func(earshot.EventID) earshot.Path // of the agent for a new task
	Mode   func(earshot.RoomID) earshot.Mode

	Keep  func(context.Context, earshot.Event) error // puts an event on record in its room
	NewID func() earshot.EventID
	Now   func() time.Time
	Log   *slog.Logger
}

// A Runner works on tasks. Its methods are safe for concurrent use; Run is called once.
type Runner struct {
	Config
	news chan struct{}

	mu      sync.Mutex
	open    int // tasks, when it was last looked
	working map[earshot.EventID]*work
	rested  map[earshot.EventID]rest
}

// A rest is how long a task waits after its model, its room or its disk failed, and when it was worked
// on last.
type rest struct {
	until, last time.Time
	failures    int
}

// NewRunner returns a runner that works once it runs.
func NewRunner(c Config) *Runner {
	return &Runner{Config: c, news: make(chan struct{}, 1), working: make(map[earshot.EventID]*work), rested: make(map[earshot.EventID]rest)}
}

// Wake has the runner look for what there is to do. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.news <- struct{}{}:
	default: // it is about to look anyway
	}
}

// look is how often the runner looks unasked: for tasks that were forgotten, or are to be tried again.
const look = time.Minute

// Run works on all tasks until ctx ends. Then no call is under way any more.
func (r *Runner) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		if err := r.survey(ctx, &all); err != nil && ctx.Err() == nil {
			r.Log.Error("tasks cannot be looked at", "err", err)
		}
		timer := time.NewTimer(r.wait())
		select {
		case <-ctx.Done():
		case <-r.news:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// wait returns how long until a task is to be tried again, at most a minute.
func (r *Runner) wait() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait, now := look, r.Now()
	for id, is := range r.rested {
		if left := is.until.Sub(now); left > 0 {
			wait = min(wait, left)
		} else if r.working[id] == nil && now.Sub(is.last) > time.Hour {
			delete(r.rested, id)
		}
	}
	return wait
}

// survey starts work on those open tasks that were not worked on for the longest time, as many as may be
// worked on at once, and stops work on what is gone.
func (r *Runner) survey(ctx context.Context, running *sync.WaitGroup) error {
	all, err := r.read(ctx, open)
	if err != nil {
		return err
	}
	r.endAgents(ctx, all)
	set := r.Settings()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = len(all)
	slices.SortStableFunc(all, func(a, b State) int { return r.rested[a.Event.ID].last.Compare(r.rested[b.Event.ID].last) })
	for id, w := range r.working {
		if !set.Enabled || !set.Task.Enabled || !slices.ContainsFunc(all, func(s State) bool { return s.Event.ID == id && s.Next() != Rest }) {
			w.interrupt()
		}
	}
	for _, s := range all {
		id := s.Event.ID
		may := s.Next() == Tell || set.Enabled && set.Task.Enabled && r.Mode(s.Event.Room).Answers()
		if !may || s.Next() == Rest || r.working[id] != nil || len(r.working) >= set.Task.AtOnce || r.Now().Before(r.rested[id].until) {
			continue
		}
		w := &work{Runner: r, id: id}
		r.working[id] = w
		running.Go(func() {
			defer r.Wake()
			err := w.run(ctx)
			r.stopped(w, err)
		})
	}
	return nil
}

// The waits after failures: the first, which a server needs to start, and the longest, after which
// somebody who has repaired something waits no more.
const (
	firstWait   = 5 * time.Second
	longestWait = 10 * time.Minute
)

// stopped notes that a task is not worked on now.
func (r *Runner) stopped(w *work, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.working, w.id)
	is := rest{last: r.Now()}
	if err != nil && !errors.Is(err, llm.ErrParked) {
		is.failures = r.rested[w.id].failures + 1
		is.until = is.last.Add(min(firstWait<<min(is.failures-1, 16), longestWait))
		r.Log.Info("a task waits", "task", w.id, "failures", is.failures, "err", err)
	}
	r.rested[w.id] = is
}

// endAgents ends the agents of tasks that are over or forgotten.
func (r *Runner) endAgents(ctx context.Context, all []State) {
	for _, path := range r.Agents() {
		if !slices.ContainsFunc(all, func(s State) bool { return s.Path == path && !s.Over }) {
			if err := r.End(ctx, path); err != nil {
				r.Log.Debug("the agent of a task cannot be ended", "path", path, "err", err)
			}
		}
	}
}

// interrupt has work on a task look again at what is on record, if there is any.
func (r *Runner) interrupt(id earshot.EventID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.working[id]; w != nil {
		w.interrupt()
	}
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
	all, err := r.read(ctx, one, id)
	return err == nil && len(all) == 1 && !all[0].Over
}

// An Order is what somebody wants done.
type Order struct {
	By   participants.Participant // for whom it is, with whose rights
	Room earshot.RoomID
	Goal earshot.Text

	Path          earshot.Path   // of the agent that works on it; empty for one of its own
	Engine, Model string         // empty for those of the role
	Budget        earshot.Budget // what is 0, or more than the configuration has, is as there

	Visibility earshot.Visibility // who may see the task, its steps and its result
	Sources    []earshot.EventID  // what it rests on

	Schedule earshot.EventID // whose run it is, if it is one
	Due      time.Time
}

// mostGoal is the longest goal in bytes: some pages, which fit into each request.
const mostGoal = 8 << 10

var errOff = errors.New("nothing is kept now; /resume ends that")

// New returns the event that creates a task, or says why there can be none. It puts nothing on record:
// whoever does calls [Runner.Wake] afterwards.
func (r *Runner) New(o Order) (earshot.Event, error) {
	set := r.Settings().Task
	r.mu.Lock()
	opened := r.open
	r.mu.Unlock()
	goal := earshot.Text(strings.TrimSpace(string(o.Goal)))
	switch {
	case !set.Enabled:
		return earshot.Event{}, errors.New("tasks are off; executive.task.enabled in the configuration turns them on")
	case r.Mode(cmp.Or(o.Room, earshot.Desk)) == earshot.OffRecord:
		return earshot.Event{}, errOff
	case goal == "" || len(goal) > mostGoal:
		return earshot.Event{}, fmt.Errorf("the goal has %d bytes; it must have from 1 to %d: say what is to be done, and put the rest in a file", len(goal), mostGoal)
	case !o.By.Person() || o.By.ID == participants.Generic || !o.By.Can(participants.SendMessages):
		return earshot.Event{}, errors.New("a task is done with the rights of a person; say who you are with --identity NAME")
	case o.By.ByVoice || o.By.Voice():
		return earshot.Event{}, errors.New("a voice proves nothing, and a task is done with the rights of whom it is for; write it")
	case opened >= set.Most:
		return earshot.Event{}, fmt.Errorf("%d tasks are open, and no more are possible (executive.task.most); cancel one", opened)
	}
	within := func(wanted, most int) int { return cmp.Or(min(wanted, most), most) }
	id := r.NewID()
	return earshot.Event{
		ID: id, At: r.Now(), Room: cmp.Or(o.Room, earshot.Desk), From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindTask)},
		Author: o.By.ID, To: []earshot.ParticipantID{o.By.ID}, Visibility: o.Visibility, Sources: o.Sources,
		Body: earshot.Task{
			Act: earshot.Created, Text: goal, Path: cmp.Or(o.Path, r.Path(id)), Engine: o.Engine, Model: o.Model, Schedule: o.Schedule, Due: o.Due,
			Budget: &earshot.Budget{
				Tokens: within(o.Budget.Tokens, set.Tokens), Calls: within(o.Budget.Calls, set.Calls),
				Time: cmp.Or(min(o.Budget.Time, set.Time.Duration()), set.Time.Duration()),
			},
		},
	}, nil
}

// start puts a new task on record.
func (r *Runner) start(ctx context.Context, o Order) (s State, err error) {
	e, err := r.New(o)
	if err != nil {
		return s, err
	}
	if _, err := r.Journal.Do(ctx, func(earshot.View) ([]earshot.Event, error) { return []earshot.Event{e}, nil }); err != nil {
		return s, err
	}
	defer r.Wake()
	all, err := r.read(ctx, one, e.ID)
	if err == nil && len(all) == 0 {
		err = errors.New("what the task rests on was forgotten meanwhile; set it again")
	}
	if err != nil {
		return s, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	return all[0], nil
}

// errChanged says that a decision no longer fits what is on record.
var errChanged = errors.New("the task has changed meanwhile")

// record puts what make returns of a task on record, in the room of the task and as somebody's. make sees
// the task as it is, and nothing changes in between. It outlives ctx a little.
func (r *Runner) record(ctx context.Context, id earshot.EventID, make func(s State) (earshot.Event, error)) error {
	_, err := r.Journal.Do(ctx, func(v earshot.View) ([]earshot.Event, error) {
		all, err := read(ctx, v, one, id)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, errChanged
		}
		s := all[0]
		e, err := make(s)
		if err != nil {
			return nil, err
		}
		e.ID, e.At, e.Room, e.From = cmp.Or(e.ID, r.NewID()), r.Now(), s.Event.Room, earshot.Handle{Provider: "earshot", ID: string(e.Body.Kind())}
		e.To = s.Event.To
		if e.Visibility.Scope == "" {
			e.Visibility = s.Visibility
		}
		e.Visibility = e.Visibility.And(s.Visibility)
		return []earshot.Event{e}, nil
	})
	return err
}
