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

	Paused, Over bool
	End          earshot.Task // what it was ended by; empty if that was erased

	Question earshot.Event // a [earshot.Step] that nobody has answered yet; or no ID
	Call     earshot.Event // a [earshot.Step] whose outcome is not on record; or no ID
	Where    earshot.Text  // it is, by the last checkpoint
	Took     earshot.Budget
	Steps    []earshot.Event // and what people had to say to it

	// Who may see what comes of it, and what that rests on.
	Visibility earshot.Visibility
	Sources    []earshot.EventID

	written earshot.Text // the result, if a file with it was written
}

// NewState returns the state after the event by which a task was created.
func NewState(e earshot.Event) State {
	s := State{Event: e, Visibility: e.Visibility}
	s.Task, _ = e.Body.(earshot.Task)
	s.rest(append(slices.Clip(e.Sources), e.ID)...)
	return s
}

// rest notes what further steps rest on.
func (s *State) rest(sources ...earshot.EventID) {
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
		s.rest(e.Sources...)
		s.Took.Tokens, s.Took.Time = s.Took.Tokens+b.Tokens, s.Took.Time+b.Took
		s.Steps = append(s.Steps, e)
		s.step(e, b)
	}
}

func (s *State) change(e earshot.Event, b earshot.Task) {
	switch b.Act {
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
	switch {
	case b.Act == earshot.StepCall:
		s.Took.Calls++
		s.Call, s.written = e, ""
	case b.Act == earshot.StepOutcome && b.Of == "": // it was refused, and so never on record as a call
		s.Took.Calls++
	case b.Act == earshot.StepOutcome && b.Of == s.Call.ID:
		if !b.Failed {
			s.written = s.Call.Body.(earshot.Step).Text
		}
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
func (s *State) Whose() earshot.ParticipantID { return append(s.Event.To, s.Event.Author)[0] }

// The lengths in bytes of what is told of a task, and of its goal in front of that.
const (
	mostTold  = 1500 // a screen, and some minutes aloud
	mostTitle = 60
)

// tells returns what is still untold, and what it answers.
func (s *State) tells() (text earshot.Text, answers earshot.EventID) {
	title := earshot.Text("The task \"" + s.title() + "\"")
	if q, asks := s.Question.Body.(earshot.Step); asks && !s.Over {
		return title + " needs an answer: " + cut(q.Text, mostTold), s.Question.ID
	}
	became := earshot.Text(" is done: ")
	if s.End.Act == earshot.TaskFailed {
		became = " has come to nothing: "
	}
	text = title + became + cut(s.End.Text, mostTold)
	if s.End.File != "" {
		text += earshot.Text("\nThe whole is in the file " + s.End.File + " of " + string(s.Path) + ".")
	}
	return text, s.Event.ID
}

func (s *State) title() string { return line(s.Text, mostTitle) }

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

// ends returns what a task is ended by. told is the ID of the event that tells it.
func (s *State) ends(act earshot.Act, text earshot.Text, file string, told earshot.EventID) earshot.Task {
	took := s.Took
	took.Time = took.Time.Round(time.Millisecond)
	return earshot.Task{Act: act, Of: s.Event.ID, Text: cut(text, earshot.MaxText-8), Took: &took, File: file, Told: told}
}
