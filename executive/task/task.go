// Package task is work of minutes to days that agents do beside the talk, within a budget, for one
// person and with their rights. [State] is what is on record of a task and says what is to be done next,
// [Projection] the table of all tasks, [Runner] does the work, and [Runner.Command] and [Runner.Tool] are
// how people and agents set, follow and steer it.
//
// Each call of a tool is on record before it is made, and its outcome afterwards. If the program ends in
// between, a call that only reads is made again; of any other, the person is asked what became of it. So
// nothing is done twice.
package task

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"earshot"
)

// A Move is what is to be done next on a task.
type Move string

// The moves.
const (
	Rest     Move = "rest"     // nothing: it is over, paused, or waits for a person
	Tell     Move = "tell"     // say what is still untold
	Think    Move = "think"    // ask the model
	Repeat   Move = "repeat"   // make the open call again
	Inquire  Move = "inquire"  // ask the person about the open call
	Conclude Move = "conclude" // end it, since the result is written
	GiveUp   Move = "give up"  // end it, since the budget is used up
)

// reads are the tools whose calls may be made again: they change nothing.
var reads = map[string]bool{"list_files": true, "read_file": true, "recall": true, "search_memory": true}

// A State is what is on record of one task.
type State struct {
	Event earshot.Event // by which it was created
	earshot.Task
	N      int             // by which people know it
	Untold earshot.EventID // the event that tells its last question, or its end, if that is not on record

	Paused   bool
	Over     bool
	End      earshot.Task  // what it was ended by; empty if that was erased
	Question earshot.Event // a [earshot.Step] that nobody has answered yet; or no ID
	Call     earshot.Event // a [earshot.Step] whose outcome is not on record; or no ID
	Where    earshot.Text  // it is, by the last checkpoint
	Took     earshot.Budget

	Steps      []earshot.Event // and what people had to say to it
	Visibility earshot.Visibility
	Sources    []earshot.EventID // what a next step rests on

	written earshot.Text // the result, if a file with it was written
}

// NewState returns the state after the event by which a task was created.
func NewState(e earshot.Event) State {
	s := State{Event: e, Visibility: e.Visibility}
	s.Task, _ = e.Body.(earshot.Task)
	s.rest(append(slices.Clip(e.Sources), e.ID))
	return s
}

// rest notes what further steps rest on.
func (s *State) rest(sources []earshot.EventID) {
	for _, id := range sources {
		if !slices.Contains(s.Sources, id) {
			s.Sources = append(s.Sources, id)
		}
	}
}

// Apply takes in an event about the task, in the order of the journal.
func (s *State) Apply(e earshot.Event) {
	s.Visibility = s.Visibility.And(e.Visibility)
	switch b := e.Body.(type) {
	case earshot.Task:
		s.change(e, b)
	case earshot.Step:
		s.rest(e.Sources)
		s.Took.Tokens += b.Tokens
		s.Took.Time += b.Took
		s.Steps = append(s.Steps, e)
		s.step(e, b)
	}
}

func (s *State) change(e earshot.Event, b earshot.Task) {
	switch b.Act {
	case earshot.TaskPaused, earshot.TaskResumed:
		s.Paused = b.Act == earshot.TaskPaused
	case earshot.TaskSteered:
		s.rest([]earshot.EventID{e.ID})
		s.Steps = append(s.Steps, e)
	case earshot.TaskAnswered:
		s.rest([]earshot.EventID{e.ID})
		s.Steps = append(s.Steps, e)
		if b.Question == s.Question.ID {
			s.Question = earshot.Event{}
		}
	case earshot.TaskDone, earshot.TaskFailed, earshot.TaskCancelled:
		if s.Over, s.End = true, b; b.Took != nil {
			s.Took = *b.Took
		}
	}
}

func (s *State) step(e earshot.Event, b earshot.Step) {
	switch b.Act {
	case earshot.StepCall:
		s.Took.Calls++
		s.Call, s.written = e, ""
	case earshot.StepOutcome:
		if b.Of == "" { // it was refused, and so never on record as a call
			s.Took.Calls++
		} else if b.Of == s.Call.ID {
			if !b.Failed {
				s.written = s.Call.Body.(earshot.Step).Text
			}
			s.Call = earshot.Event{}
		}
	case earshot.StepCheckpoint:
		s.Where = b.Text
	case earshot.StepQuestion:
		if s.Question = e; b.Of == s.Call.ID {
			s.Call = earshot.Event{}
		}
	}
}

// Next returns what is to be done now.
func (s *State) Next() Move {
	call, _ := s.Call.Body.(earshot.Step)
	most := s.Budget
	switch {
	case s.Untold != "":
		return Tell
	case s.Over || s.Paused || s.Question.ID != "":
		return Rest
	case s.Call.ID != "" && (reads[call.Tool] || call.Text != ""): // to write the result again changes nothing
		return Repeat
	case s.Call.ID != "":
		return Inquire
	case s.written != "":
		return Conclude
	case most != nil && (s.Took.Tokens >= most.Tokens || s.Took.Calls >= most.Calls || s.Took.Time >= most.Time):
		return GiveUp
	}
	return Think
}

// Whose returns whom the task is for.
func (s *State) Whose() earshot.ParticipantID { return whose(s.Event) }

func whose(e earshot.Event) earshot.ParticipantID {
	if len(e.To) == 0 {
		return e.Author
	}
	return e.To[0]
}

// told returns the event that is still untold: what it says, and what it answers.
func (s *State) told() (text earshot.Text, about, answers earshot.EventID) {
	if s.Over {
		text, answers = s.End.Text, s.Event.ID
		head := "The task \"" + s.title() + "\" is done: "
		if s.End.Act == earshot.TaskFailed {
			head = "The task \"" + s.title() + "\" has come to nothing: "
		}
		end := ""
		if s.End.File != "" {
			end = "\nThe whole is in the file " + s.End.File + " of " + string(s.Path) + "."
		}
		return earshot.Text(head) + cut(text, mostTold-len(end)) + earshot.Text(end), s.Event.ID, answers
	}
	q, _ := s.Question.Body.(earshot.Step)
	return earshot.Text("For the task \""+s.title()+"\" I have to ask: ") + cut(q.Text, mostTold), s.Question.ID, s.Question.ID
}

// The lengths in bytes of what is told of a task, and of its goal in front of that.
const (
	mostTold  = 1500 // a screen, and some minutes aloud
	mostTitle = 60
)

func (s *State) title() string {
	return string(cut(earshot.Text(strings.Join(strings.Fields(string(s.Text)), " ")), mostTitle))
}

// cut returns a text of at most so many bytes, without half a rune.
func cut(t earshot.Text, most int) earshot.Text {
	if len(t) <= most {
		return t
	}
	return earshot.Text(strings.ToValidUTF8(string(t[:max(0, most)]), "")) + "…"
}

// end returns the event by which a task ends. told is the ID of the event that tells it.
func (s *State) end(act earshot.Act, text earshot.Text, file string, told earshot.EventID) earshot.Task {
	took := s.Took
	took.Time = took.Time.Round(time.Millisecond)
	return earshot.Task{Act: act, Of: s.Event.ID, Text: cut(text, earshot.MaxText-8), Took: &took, File: file, Told: told}
}

// parameters returns the arguments of a call that is on record, as JSON in any case.
func parameters(b earshot.Step) json.RawMessage {
	if given := json.RawMessage(b.Arguments); json.Valid(given) {
		return given
	}
	return json.RawMessage("{}")
}
