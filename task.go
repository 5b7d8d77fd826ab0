package earshot

import "time"

// A Task is something that somebody wants worked on beside the talk, for minutes to days, or what became
// of it. Its author set it, its recipient is whom it is for, and whose rights it has. The work is on
// record as [Step]s.
type Task struct {
	Act Act     `json:"act"`          // Created, or one of those below
	Of  EventID `json:"of,omitempty"` // the task, if this did not create it

	// Text is the goal, what else to mind, the answer to a question, the result, or why it failed.
	Text Text `json:"text,omitempty"`

	// Of a task that was created: who works on it, within what, and whose run it is. Of one for a helper:
	// the task on which that helps, and the call by which it was made.
	Path     Path      `json:"path,omitempty"`
	Engine   string    `json:"engine,omitempty"`
	Model    string    `json:"model,omitempty"`
	Budget   *Budget   `json:"budget,omitempty"`
	Schedule EventID   `json:"schedule,omitempty"`
	Due      time.Time `json:"due,omitzero"`
	Tools    []string  `json:"tools,omitempty"` // that it may use; none means all
	Quiet    bool      `json:"quiet,omitempty"` // its result is told to nobody
	Parent   EventID   `json:"parent,omitempty"`
	Call     EventID   `json:"call,omitempty"`

	Question EventID `json:"question,omitempty"` // the [Step] that is answered

	// Of a task that is over: what it took, the file of the result, and the event that tells it.
	Took *Budget `json:"took,omitempty"`
	File string  `json:"file,omitempty"`
	Told EventID `json:"told,omitempty"`
}

// What becomes of a task after [Created].
const (
	TaskPaused    Act = "paused"
	TaskResumed   Act = "resumed"
	TaskSteered   Act = "steered" // told what else to mind
	TaskAnswered  Act = "answered"
	TaskCancelled Act = "cancelled"
	TaskDone      Act = "done"
	TaskFailed    Act = "failed"
)

// A Budget is what work may take, or took.
type Budget struct {
	Tokens int           `json:"tokens,omitempty"`
	Calls  int           `json:"calls,omitempty"` // of tools
	Time   time.Duration `json:"time,omitempty"`  // of work, without waiting for people
}

// A Step is one step of work on a [Task]. A call is on record before it is made, and what came of it
// afterwards, so that no call is made twice.
type Step struct {
	Task EventID `json:"task"`
	Of   EventID `json:"of,omitempty"` // the call whose outcome this is
	Act  Act     `json:"act"`          // one of those below

	Tool      string `json:"tool,omitempty"`
	Arguments Text   `json:"arguments,omitempty"`
	Text      Text   `json:"text,omitempty"` // the result of a call, where the work is, or the question
	Failed    bool   `json:"failed,omitempty"`

	Tokens int           `json:"tokens,omitempty"` // since the step before
	Took   time.Duration `json:"took,omitempty"`
	Calls  int           `json:"calls,omitempty"` // that a helper made

	Told EventID `json:"told,omitempty"` // the event that asks the question
}

// The acts of a [Step].
const (
	StepCall       Act = "call"
	StepOutcome    Act = "outcome"
	StepCheckpoint Act = "checkpoint"
	StepQuestion   Act = "question"
)

// A Schedule is something that somebody wants done by the clock, or what became of it. Its author set it,
// and its recipient is whom it is for. Each run of it is a [Task].
type Schedule struct {
	Act Act     `json:"act"`          // Created, Ended, or one of those below
	Of  EventID `json:"of,omitempty"` // the schedule, if this did not create it

	// Of a schedule that was created.
	Path    Path          `json:"path,omitempty"`
	When    Text          `json:"when,omitempty"` // in the words of whoever set it
	Spec    string        `json:"spec,omitempty"` // the five fields of cron
	Zone    string        `json:"zone,omitempty"` // of the IANA database
	Text    Text          `json:"text,omitempty"` // what is to be done; why a run was skipped
	Missed  string        `json:"missed,omitempty"`
	Overlap string        `json:"overlap,omitempty"`
	Jitter  time.Duration `json:"jitter,omitempty"`
	Until   time.Time     `json:"until,omitzero"`
	Engine  string        `json:"engine,omitempty"`
	Model   string        `json:"model,omitempty"`
	Budget  *Budget       `json:"budget,omitempty"`
	Tools   []string      `json:"tools,omitempty"` // as of a [Task]
	Quiet   bool          `json:"quiet,omitempty"` // likewise

	// Of a run: when it was due, and the task that it is.
	Due  time.Time `json:"due,omitzero"`
	Task EventID   `json:"task,omitempty"`
}

// What becomes of a schedule between [Created] and [Ended].
const (
	SchedulePaused  Act = "paused"
	ScheduleResumed Act = "resumed"
	ScheduleRan     Act = "ran"
	ScheduleSkipped Act = "skipped"
)
