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
	"cmp"
	"slices"
	"strings"

	"earshot"
)

// A Move is what is to be done next on a task.
type Move string

// The moves.
const (
	Rest    Move = "rest"    // nothing: it is over, paused, or waits for a person
	Tell    Move = "tell"    // say what is still untold
	Think   Move = "think"   // ask the model
	Repeat  Move = "repeat"  // make the open call again
	Inquire Move = "inquire" // ask the person about the open call
	GiveUp  Move = "give up" // end it, since the budget is used up
)

// reads are the tools whose calls may be made again: they change nothing.
var reads = map[string]bool{"list_files": true, "read_file": true, "recall": true, "search_memory": true}

// A State is what is on record of one task.
type State struct {
	Event earshot.Event // by which it was created
	earshot.Task
	N      int             // by which people know it
	Untold earshot.EventID // the event that tells its last question, or its end, if that is not on record

	Paused, Over bool
	End          earshot.Task // what it was ended by; empty if that was erased

	Question earshot.Event // a [earshot.Step] that nobody has answered yet; or no ID
	Call     earshot.Event // a [earshot.Step] whose outcome is not on record; or no ID
	Where    earshot.Text  // it was, by the last checkpoint
	Took     earshot.Budget
	Steps    []earshot.Event // and what people had to say to it

	// Who may see what comes of it, and what that rests on.
	Visibility earshot.Visibility
	Sources    []earshot.EventID
}

// rest notes what further steps rest on.
func (s *State) rest(sources ...earshot.EventID) {
	for _, id := range sources {
		if !slices.Contains(s.Sources, id) {
			s.Sources = append(s.Sources, id)
		}
	}
}

// Apply takes in an event about the task, in the order of the journal, from that by which it was created.
func (s *State) Apply(e earshot.Event) {
	switch b := e.Body.(type) {
	case earshot.Task:
		s.change(e, b)
	case earshot.Step:
		s.rest(e.Sources...)
		s.Steps = append(s.Steps, e)
		s.step(e, b)
	}
	s.Visibility = s.Visibility.And(e.Visibility)
}

func (s *State) change(e earshot.Event, b earshot.Task) {
	switch b.Act {
	case earshot.Created:
		s.Event, s.Task, s.Visibility = e, b, e.Visibility
		s.rest(append(slices.Clip(e.Sources), e.ID)...)
	case earshot.TaskPaused, earshot.TaskResumed:
		s.Paused = b.Act == earshot.TaskPaused
	case earshot.TaskSteered, earshot.TaskAnswered:
		s.rest(e.ID)
		s.Steps = append(s.Steps, e)
		if b.Question == s.Question.ID && b.Act == earshot.TaskAnswered {
			s.Question = earshot.Event{}
		}
	case earshot.TaskDone, earshot.TaskFailed, earshot.TaskCancelled:
		if s.Over, s.End = true, b; b.Took != nil {
			s.Took = *b.Took
		}
	}
}

func (s *State) step(e earshot.Event, b earshot.Step) {
	s.Took.Tokens, s.Took.Time = s.Took.Tokens+b.Tokens, s.Took.Time+b.Took
	switch {
	case b.Act == earshot.StepCall:
		s.Took.Calls++
		s.Call = e
	case b.Act == earshot.StepOutcome && b.Of == "": // it was refused, and so never on record as a call
		s.Took.Calls++
	case b.Act == earshot.StepOutcome && b.Of == s.Call.ID:
		s.Call = earshot.Event{}
	case b.Act == earshot.StepCheckpoint:
		s.Where = b.Text
	case b.Act == earshot.StepQuestion:
		s.Question, s.Call = e, earshot.Event{} // it is about the call, if one is open
	}
}

// Next returns what is to be done now.
func (s *State) Next() Move {
	call, _ := s.Call.Body.(earshot.Step)
	switch most := s.Budget; {
	case s.Untold != "":
		return Tell
	case s.Over || s.Paused || s.Question.ID != "":
		return Rest
	case s.Call.ID != "" && reads[call.Tool]:
		return Repeat
	case s.Call.ID != "":
		return Inquire
	case most != nil && (s.Took.Tokens >= most.Tokens || s.Took.Calls >= most.Calls || s.Took.Time >= most.Time):
		return GiveUp
	}
	return Think
}

// Whose returns whom the task is for.
func (s *State) Whose() earshot.ParticipantID { return append(s.Event.To, s.Event.Author)[0] }

const (
	mostTold  = 1500 // bytes of what is told of a task: a screen, and some minutes aloud
	mostTitle = 60   // bytes of its goal in front of that
)

// tells returns what is still untold, and what it answers.
func (s *State) tells() (text earshot.Text, answers earshot.EventID) {
	q, asks := s.Question.Body.(earshot.Step)
	became := " is done: "
	if s.End.Act == earshot.TaskFailed {
		became = " has come to nothing: "
	} else if asks && !s.Over {
		became = " needs an answer: "
	}
	text = earshot.Text("The task \""+line(s.Text, mostTitle)+"\""+became) + cut(cmp.Or(s.End.Text, q.Text), mostTold)
	if asks && !s.Over {
		return text, s.Question.ID
	}
	if s.End.File != "" {
		text += earshot.Text("\nThe whole is in the file " + s.End.File + " of " + string(s.Path) + ".")
	}
	return text, s.Event.ID
}

// line returns the beginning of a text in one line.
func line(t earshot.Text, most int) string {
	return string(cut(earshot.Text(strings.Join(strings.Fields(string(t)), " ")), most))
}

// cut returns a text of at most so many bytes, and a sign that it was cut.
func cut(t earshot.Text, most int) earshot.Text {
	if len(t) <= most {
		return t
	}
	return earshot.Text(strings.ToValidUTF8(string(t[:most]), "")) + "…"
}
