package task

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
)

// TestNothingTwice: whatever a model wants and wherever the program ends, each call that changes
// something is made once, or the person is asked what became of it; and a task ends.
func TestNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := machine{t: t, made: map[earshot.EventID]int{}}
		m.add(earshot.Task{Act: earshot.Created, Text: "tidy up", Path: "/owner/task/x", Budget: &earshot.Budget{Tokens: 500, Calls: 12, Time: time.Hour}})
		for range 400 {
			s := m.state()
			switch rapid.IntRange(0, 20).Draw(t, "person") {
			case 0:
				m.add(earshot.Task{Act: earshot.TaskPaused, Of: "e0"})
			case 1, 2, 3:
				m.add(earshot.Task{Act: earshot.TaskResumed, Of: "e0"})
			case 4:
				m.add(earshot.Task{Act: earshot.TaskSteered, Of: "e0", Text: "mind the gap"})
			}
			if s.Over && s.Untold == "" {
				break
			}
			m.move(s)
		}
		s := m.state()
		if !s.Over {
			m.add(earshot.Task{Act: earshot.TaskResumed, Of: "e0"})
			for range 100 {
				s := m.state()
				m.move(s)
			}
			if s = m.state(); !s.Over {
				t.Fatalf("it never ends: %s, %+v", s.Next(), s.Took)
			}
		}
		for id, n := range m.made {
			if n > 1 && !m.reads(id) {
				t.Errorf("call %s was made %d times", id, n)
			}
		}
		for told, n := range m.told {
			if n > 1 {
				t.Errorf("%s was told %d times", told, n)
			}
		}
	})
}

// A machine makes what a [State] says, and may stop after each thing that it puts on record or does.
type machine struct {
	t      *rapid.T
	events []earshot.Event
	made   map[earshot.EventID]int // how often each call was made
	told   map[earshot.EventID]int
}

func (m *machine) add(b earshot.Body) earshot.EventID {
	id := earshot.EventID(fmt.Sprint("e", len(m.events)))
	m.events = append(m.events, earshot.Event{ID: id, To: []earshot.ParticipantID{"ann"}, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: b})
	return id
}

// state is made anew from the events, as after a start.
func (m *machine) state() State {
	var s State
	for _, e := range m.events {
		switch b := e.Body.(type) {
		case earshot.Task:
			s.Apply(e)
			if b.Told != "" {
				s.Untold = b.Told
			}
		case earshot.Step:
			s.Apply(e)
			if b.Told != "" {
				s.Untold = b.Told
			}
		case earshot.Finding:
			if s.Untold == e.ID {
				s.Untold = ""
			}
		}
	}
	return s
}

func (m *machine) ends() bool { return rapid.IntRange(0, 4).Draw(m.t, "ends") == 0 }

func (m *machine) reads(id earshot.EventID) bool {
	i := slices.IndexFunc(m.events, func(e earshot.Event) bool { return e.ID == id })
	return reads[m.events[i].Body.(earshot.Step).Tool]
}

func (m *machine) move(s State) {
	switch next := s.Next(); next {
	case Rest:
		if s.Question.ID != "" {
			m.add(earshot.Task{Act: earshot.TaskAnswered, Of: "e0", Question: s.Question.ID, Text: "yes"})
		} else if s.Paused {
			m.add(earshot.Task{Act: earshot.TaskResumed, Of: "e0"})
		}
	case Tell:
		if m.told == nil {
			m.told = map[earshot.EventID]int{}
		}
		if slices.ContainsFunc(m.events, func(e earshot.Event) bool { return e.ID == s.Untold }) {
			m.t.Fatalf("%s is told again", s.Untold)
		}
		m.told[s.Untold]++
		m.events = append(m.events, earshot.Event{ID: s.Untold, Visibility: s.Visibility, Body: earshot.Finding{Text: "told"}})
	case Think:
		switch rapid.IntRange(0, 9).Draw(m.t, "model") {
		case 0:
			m.add(earshot.Task{Act: earshot.TaskDone, Of: "e0", Text: "done", Took: &s.Took, Told: earshot.EventID(fmt.Sprint("t", len(m.events)))})
		case 1:
			m.add(earshot.Step{Task: "e0", Act: earshot.StepQuestion, Text: "which?", Told: earshot.EventID(fmt.Sprint("t", len(m.events)))})
		case 2:
			m.add(earshot.Step{Task: "e0", Act: earshot.StepCheckpoint, Text: "half way", Tokens: 30})
		default:
			tool := rapid.SampledFrom([]string{"read_file", "remember", "write_file"}).Draw(m.t, "tool")
			id := m.add(earshot.Step{Task: "e0", Act: earshot.StepCall, Tool: tool, Tokens: 30})
			m.make(id)
		}
	case Repeat:
		m.make(s.Call.ID)
	case Inquire:
		m.add(earshot.Step{Task: "e0", Act: earshot.StepQuestion, Of: s.Call.ID, Text: "was it done?", Told: earshot.EventID(fmt.Sprint("t", len(m.events)))})
	case GiveUp:
		m.add(earshot.Task{Act: earshot.TaskFailed, Of: "e0", Text: "used up", Took: &s.Took, Told: earshot.EventID(fmt.Sprint("t", len(m.events)))})
	default:
		m.t.Fatalf("move %q", next)
	}
}

func (m *machine) make(id earshot.EventID) {
	if m.ends() {
		return
	}
	m.made[id]++
	if m.ends() {
		return
	}
	m.add(earshot.Step{Task: "e0", Of: id, Act: earshot.StepOutcome, Text: "ok"})
}
