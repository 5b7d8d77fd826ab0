package api

import (
	"time"

	"earshot"
	"earshot/participants"
)

// A RoomState is what a room says of itself, to people and programs.
type RoomState struct {
	Room     earshot.RoomID             `json:"room"`
	Agent    string                     `json:"agent"`  // what the main one is called
	Agents   []Seat                     `json:"agents"` // who have a seat, the main one first
	Mode     earshot.Mode               `json:"mode"`
	Speaking bool                       `json:"speaking"` // something that one may hear
	Quiet    bool                       `json:"quiet"`    // somebody asked for silence
	Here     []participants.Participant `json:"here"`
	Company  *PresenceEstimate          `json:"company,omitempty"` // who is probably here, by what is seen too; nil if nothing looks
	Outlets  []string                   `json:"outlets"`           // that one is at oneself, and those that are everybody's; all for who operates the house
	Waiting  int                        `json:"waiting"`           // events on their way into the journal, and questions without a turn yet; for who operates the house
	Dropped  int                        `json:"dropped"`           // sounds that came although the room takes in none
	Works    []string                   `json:"works"`             // the parts without a fault
	Faults   []earshot.Notice           `json:"faults"`
}

// A Seat is an agent that has one, as a room tells of it.
type Seat struct {
	ID    earshot.ParticipantID `json:"id"`
	Name  string                `json:"name"`
	Path  earshot.Path          `json:"path,omitempty"`
	Kind  earshot.PathKind      `json:"kind,omitempty"`
	State string                `json:"state"` // see Active and Sleeping

	Username string `json:"username,omitempty"`

	// Partner is whom it talks with, or has talked with last, as far as one may know it.
	Partner earshot.ParticipantID `json:"partner,omitempty"`
}

// The states of an agent in a room.
const (
	Active   = "active"
	Sleeping = "sleeping" // until it has something to answer
)

// A Snapshot is a room at one moment, as everybody in an audience may know it. It is
// asked for as often as somebody wants to look, and kept by nobody: what was said for
// good is in the journal.
type Snapshot struct {
	At time.Time `json:"at,omitzero"`
	RoomState

	Replies  []LiveReply     `json:"replies"`         // what is being made or said
	Words    []earshot.Event `json:"words,omitempty"` // that people are saying, of the kind speech
	Thoughts []LiveThought   `json:"thoughts"`        // of the main agent, in the order in which they come
	Scene    []SceneFact     `json:"scene"`           // what is going on
	Turns    []Latency       `json:"turns"`           // the last of them, the oldest first
	Parts    []Part          `json:"parts"`           // what the house is made of, with its health
}

// A LiveReply is a reply that is being made, or said.
type LiveReply struct {
	Turn    earshot.TurnID        `json:"turn"`
	Agent   earshot.ParticipantID `json:"agent"`
	About   earshot.EventID       `json:"about,omitempty"` // what it answers
	To      earshot.ParticipantID `json:"to,omitempty"`    // whom; empty if nobody knows
	Since   time.Time             `json:"since"`
	Text    earshot.Text          `json:"text"`              // offered so far
	Heard   []earshot.Delivery    `json:"heard,omitempty"`   // of it, by outlet
	Tool    string                `json:"tool,omitempty"`    // that is being used
	Paused  bool                  `json:"paused,omitempty"`  // the outlets are held back
	Private bool                  `json:"private,omitempty"` // not everybody in the room may know of it
}

// A LiveThought is a thought as it stands.
type LiveThought struct {
	Of       earshot.EventID       `json:"of"` // its first stretch
	Agent    earshot.ParticipantID `json:"agent"`
	Cause    earshot.Cause         `json:"cause"`
	About    earshot.EventID       `json:"about,omitempty"` // the message that it began with
	For      earshot.ParticipantID `json:"for,omitempty"`   // who asked
	Question earshot.Text          `json:"question,omitempty"`
	Phase    string                `json:"phase"`
	Text     earshot.Text          `json:"text"` // the end of it, at most 4 KiB: some screens
	Tokens   int                   `json:"tokens"`
	Since    time.Time             `json:"since"`            // when the last stretch began, or else when it was asked
	Parked   string                `json:"parked,omitempty"` // why, in words, if it is
	Private  bool                  `json:"private,omitempty"`
}

// A SceneFact is an entry of the scene, as the monitor shows it; see [SceneEntry].
type SceneFact struct {
	ID         string                `json:"id"`
	Field      string                `json:"field"`
	Of         earshot.ParticipantID `json:"of,omitempty"` // whose state it is
	By         earshot.ParticipantID `json:"by,omitempty"` // whose words it is
	Text       earshot.Text          `json:"text"`         // in one line, with whose words it is
	At         time.Time             `json:"at"`
	Source     string                `json:"source,omitempty"`
	Confidence float64               `json:"confidence,omitempty"` // of a finding
	Until      time.Time             `json:"until,omitzero"`       // when that is stale
	Watched    bool                  `json:"watched,omitempty"`    // a sense observes it all the time; that it is old says that this sees nothing
	Private    bool                  `json:"private,omitempty"`
}

// A SceneEntry is an entry of what is going on: of the answer to GET /v1/context.
type SceneEntry struct {
	Field      string          `json:"field"`
	ID         string          `json:"id"`           // names it among those of its field
	Of         string          `json:"of,omitempty"` // whose state it is
	By         string          `json:"by,omitempty"` // whose words these are, if they are anybody's
	Text       earshot.Text    `json:"text"`
	Was        earshot.Text    `json:"was,omitempty"`          // what it said before it was last changed
	Mender     string          `json:"corrected_by,omitempty"` // who has put right what somebody said
	Source     string          `json:"source"`                 // the sense, or the part of the house, that says so
	Event      earshot.EventID `json:"event,omitempty"`
	At         time.Time       `json:"at"`   // when it was true
	When       string          `json:"when"` // the same, as one would say it
	Age        float64         `json:"age_seconds"`
	Confidence float64         `json:"confidence,omitempty"` // of a finding, 0 to 1
	Until      *time.Time      `json:"until,omitempty"`      // when a finding is stale
	Used       bool            `json:"used,omitempty"`       // a reply has rested on it
}

// The kinds of parts.
const (
	Sense   = "sense"
	Outlet  = "outlet"
	Engine  = "engine"
	Machine = "house"
)

// A Part is something that the house is made of.
type Part struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"` // see Sense, Outlet, Engine and Machine
	Well  bool      `json:"well"`
	Since time.Time `json:"since,omitzero"` // when it became so, as far as that is known
	Text  string    `json:"text,omitempty"` // what it is, or what is wrong with it
	Cure  string    `json:"cure,omitempty"`
}

// A Latency is how long a turn took, by its stages. Each is how long that stage lasted; 0
// is that the turn did not come so far, or that it took no time.
type Latency struct {
	Turn    earshot.TurnID        `json:"turn"`
	Agent   earshot.ParticipantID `json:"agent"`
	About   earshot.EventID       `json:"about,omitempty"`
	At      time.Time             `json:"at"` // when the room was told of the question
	Outcome earshot.Outcome       `json:"outcome"`
	Reflex  bool                  `json:"reflex,omitempty"` // answered without a model
	Aloud   bool                  `json:"aloud,omitempty"`  // it was asked aloud
	Unasked bool                  `json:"unasked,omitempty"`

	// In nanoseconds, each stage from the end of the one before it.
	Hear        time.Duration `json:"hear,omitempty"`         // of what was said aloud: from its end until the room was told
	Decide      time.Duration `json:"decide,omitempty"`       // until it was decided to speak
	Queue       time.Duration `json:"queue,omitempty"`        // until the turn began
	Ask         time.Duration `json:"ask,omitempty"`          // until a model was asked
	FirstToken  time.Duration `json:"first_token,omitempty"`  // until that said something
	FirstClause time.Duration `json:"first_clause,omitempty"` // until something was handed to an outlet
	FirstHeard  time.Duration `json:"first_heard,omitempty"`  // until something came out of one
	Rest        time.Duration `json:"rest,omitempty"`         // until nothing more did

	Wait    time.Duration `json:"wait,omitempty"`    // from the end of the question until something came out
	Total   time.Duration `json:"total"`             // from the end of the question to the end of the turn
	Silence time.Duration `json:"silence,omitempty"` // of one that was cut: from the cut until nothing came out any more
}

// A LiveView is what somebody is shown of a room as it is now: the body of each line of
// GET /v1/live.
type LiveView struct {
	Snapshot
	You     participants.Participant `json:"you"`
	Cameras []CameraInfo             `json:"cameras,omitempty"`
}
