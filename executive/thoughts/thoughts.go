// Package thoughts is what the main agent of a room thinks beside the conversation: who has it think,
// what a thought is made from and rests on, what is kept and who is told of it, and when it gives way
// to the talk. Package think knows how a thought goes on and ends.
//
// A [Thinker] knows the room by its [Host], as plain values: no seat and no turn. A thought is for
// those who may see everything that it rests on, and ends when any of that is erased. The owner of
// the room notes what it rests on before a model is asked, so that whatever the owner forgets
// afterwards is found there.
//
// Whoever wants the floor parks the mind at once, on the goroutine of their sense. The owner releases
// it, but not while an event is being admitted; see [Thinker.BeginAdmission]. Both hold a lock of rank
// lockorder.Parking, the owner also while the room is asked for its state. What thoughts rest on has
// a leaf.
package thoughts

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/internal/lockorder"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Host is the room as its thoughts know it. All fields must be set. Floor and Context are called by
// the owner of the room, the others by any goroutine.
type Host struct {
	People *participants.Registry
	Scene  *scene.Scene

	Agent func() agents.Record                         // the main one
	Open  func() bool                                  // the room answers, and is not ending
	Floor func() (by earshot.Interruption, taken bool) // whether somebody has the floor or is about to want it
	Nudge func()                                       // wakes the owner, who calls Update

	OnOwner func(context.Context, func(context.Context)) error    // has the owner do something, and waits for it
	Context func(context.Context, think.Question) (Context, bool) // false if the agent's dialogue cannot be read

	Event      func(earshot.Visibility, earshot.Body) earshot.Event
	Record     func(context.Context, earshot.Event)  // whatever happens
	Tell       func(outlet string, n earshot.Notice) // whoever is at an outlet
	ModelFails func() bool                           // the agent's, when it was last asked for a reply
}

// A Thinker is the mind of the main agent in a room. Use [New]. It is safe for concurrent use, but
// Resume and Update are for the owner of the room, the methods of [think.Host] for the mind, and
// SetEnabled and Release for Update alone.
type Thinker struct {
	Host
	*think.Mind

	parkMu     lockorder.Mutex[lockorder.Parking] // held while the mind is parked, or while it is decided whether it may continue
	admissions admissions

	mu    lockorder.Mutex[lockorder.Leaf]
	rests map[earshot.EventID]provenance // by thought
}

// New returns a thinker with the mind m, whose Host it becomes. If m has no model, nothing is
// thought.
func New(h Host, m *think.Mind) *Thinker {
	t := &Thinker{Host: h, Mind: m, rests: make(map[earshot.EventID]provenance)}
	m.Host = t
	return t
}

// Enabled reports whether anything is thought at all.
func (t *Thinker) Enabled() bool {
	set := t.Settings()
	return t.Open() && t.Model != nil && set.Enabled && set.Reasoning.Enabled
}

// Park makes the thought under way give way, since somebody wants the floor, and lets none begin
// until Update finds that nobody does.
func (t *Thinker) Park(by earshot.Interruption) {
	t.parkMu.Lock()
	defer t.parkMu.Unlock()
	t.Mind.Park(by)
}

// Disable ends thinking until Update finds it enabled.
func (t *Thinker) Disable() {
	t.parkMu.Lock()
	defer t.parkMu.Unlock()
	t.SetEnabled(false)
}

// Update lets the mind think if nobody wants the floor, and parks it otherwise. Somebody who wants
// the floor meanwhile parks it afterwards.
func (t *Thinker) Update() {
	t.parkMu.Lock()
	defer t.parkMu.Unlock()
	t.SetEnabled(t.Enabled())
	by, taken := t.Floor()
	switch { // checked only now: an event that was noted before has parked the mind by then, or is found here
	case t.admissions.pending():
	case !taken:
		t.Release()
	case !t.HasSpareSlot() && !t.Held():
		t.Mind.Park(by)
	}
}

// HasSpareSlot reports whether a thought and a reply can be generated at the same time: the engine
// has a slot to spare, or each has an engine of its own.
func (t *Thinker) HasSpareSlot() bool {
	set := t.Settings()
	if !set.Parallel.Enabled {
		return false
	}
	main := t.Agent()
	talks, _ := set.LLM.For(string(main.Role), main.Engine, main.Model)
	engines := set.LLM.List()
	at := slices.IndexFunc(engines, func(e llm.EngineConfig) bool { return e.Name == talks })
	is := engines[max(at, 0)]
	return is.Slots > 1 || len(llm.HostsOf(engines, is.Name)) > 1 || cmp.Or(set.Reasoning.Engine, is.Name) != is.Name
}

// admissions counts the events that are being admitted and have not parked the mind yet. The room
// knows such an event only in part: that somebody types is noted before the mind is parked in their
// name. The zero value counts none.
type admissions struct {
	count   atomic.Int32
	skipped atomic.Bool // the owner left the mind as it was, and must check again
}

// BeginAdmission keeps the owner from parking or releasing the mind until settle is called. settle
// may be called more than once.
func (t *Thinker) BeginAdmission() (settle func()) {
	t.admissions.count.Add(1)
	return sync.OnceFunc(func() {
		if t.admissions.count.Add(-1); t.admissions.skipped.Swap(false) {
			t.Nudge()
		}
	})
}

// pending reports whether an event is being admitted; if so, the owner is woken when it is
// settled.
func (a *admissions) pending() bool {
	a.skipped.Store(true) // before the count is read, so that whoever lowers it sees this
	if a.count.Load() > 0 {
		return true
	}
	a.skipped.Store(false)
	return false
}

// Forget ends the thoughts that are erased, or rest on what is, on behalf of by.
func (t *Thinker) Forget(by earshot.ParticipantID, is func(earshot.EventID) bool) {
	t.Stop(by, func(q think.Question) bool {
		return is(q.ID) || is(q.About) || slices.ContainsFunc(t.restsOf(q).Sources, is)
	})
}

// longestPause is how old a thought may be that continues after a start: the asker has forgotten an
// older one.
const longestPause = 24 * time.Hour

// Resume continues the thoughts that somebody had asked for, and that were parked when earshot
// stopped, or not distilled yet.
func (t *Thinker) Resume(past []earshot.Event) {
	var order []earshot.EventID
	open := make(map[earshot.EventID][]earshot.Event)
	sorted := make(map[earshot.EventID]bool)
	for _, e := range past {
		if f, is := e.Body.(earshot.Finding); is {
			sorted[f.Thought] = true
		}
		body, ok := e.Body.(earshot.Thought)
		if !ok || !body.Cause.Asked() {
			continue
		}
		id := cmp.Or(body.Of, e.ID)
		if open[id] == nil {
			order = append(order, id)
		}
		open[id] = append(open[id], e)
	}
	for _, id := range order {
		open := open[id]
		first, last := open[0], open[len(open)-1]
		is := last.Body.(earshot.Thought)
		over := is.Dropped || is.Outcome == earshot.Completed && sorted[last.ID]
		if first.ID != id || over || t.Now().Sub(last.At) > longestPause {
			continue
		}
		q := t.questioned(first)
		rests := provenance{at: last.At}
		rests.Visibility = first.Visibility
		var segments []think.Segment
		for _, e := range open {
			rests.Provenance = rests.And(e.Visibility, e.Sources...).With(e.ID)
			segments = append(segments, think.Segment{ID: e.ID, At: e.At, Thought: e.Body.(earshot.Thought)})
		}
		t.update(q, func(p *provenance) { *p = rests })
		t.Restore(q, segments, last.Sequence)
	}
}

// questioned returns the question of the thought whose first segment is e.
func (t *Thinker) questioned(e earshot.Event) think.Question {
	is := e.Body.(earshot.Thought)
	q := think.Question{ID: e.ID, Cause: is.Cause, About: is.About, Text: is.Question, Visibility: e.Visibility, At: e.At}
	if len(e.To) > 0 {
		q.By, q.Name = e.To[0], t.People.Name(e.To[0])
	}
	return q
}
