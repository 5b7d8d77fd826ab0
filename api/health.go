package api

import (
	"time"

	"earshot"
)

// A Readiness is whether the house can do its work.
type Readiness struct {
	Ready     bool       `json:"ready"`
	Obstacles []Obstacle `json:"obstacles,omitempty"`
	Underway  []Activity `json:"underway,omitempty"`
}

// An Obstacle is something that keeps the house from its work.
type Obstacle struct {
	Part  string    `json:"part"`
	Kind  string    `json:"kind"` // sense, outlet, engine or house
	Text  string    `json:"text"`
	Cure  string    `json:"cure,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// An Activity is something that the house still does, which keeps it from nothing.
type Activity struct {
	Part  string    `json:"part"`
	Text  string    `json:"text"`
	Since time.Time `json:"since,omitzero"`
}

// A DiagnosisRequest says what a diagnosis is to hold besides what it always does.
type DiagnosisRequest struct {
	Goroutines bool // what every goroutine is at
}

// A Diagnosis is what a report of a fault needs. It says how the house is and what it did,
// and never who is in it or what they said.
type Diagnosis struct {
	Made     time.Time         `json:"made"`
	Version  string            `json:"version"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Machine  map[string]string `json:"machine,omitempty"`
	Runs     bool              `json:"runs"`          // the daemon does
	For      time.Duration     `json:"for,omitempty"` // how long it has run
	Ready    *Readiness        `json:"ready,omitempty"`
	Findings []CheckResult     `json:"findings,omitempty"` // what earshot doctor says, where it does not run

	Configuration []Setting          `json:"configuration"` // what is not as by default
	Parts         []Part             `json:"parts,omitempty"`
	Rooms         []RoomCounts       `json:"rooms,omitempty"`
	Turns         []Latency          `json:"turns,omitempty"` // the last of all rooms
	Counts        map[string]float64 `json:"counts,omitempty"`
	Sizes         map[string]int64   `json:"sizes,omitempty"`
	Log           []string           `json:"log,omitempty"`
	Goroutines    string             `json:"goroutines,omitempty"`
	Missing       []string           `json:"missing,omitempty"` // what could not be found out
}

// A CheckResult is what was found out about one thing that earshot needs.
type CheckResult struct {
	Thing  string `json:"thing"`
	Works  bool   `json:"works"`
	Absent bool   `json:"absent,omitempty"` // it is a device that does not exist, which is no fault
	Text   string `json:"text"`
	Cure   string `json:"cure,omitempty"` // the command or the step that mends it
}

// Notice tells people of something that does not work.
func (r CheckResult) Notice() earshot.Notice {
	return earshot.Notice{Key: r.Thing, Text: r.Thing + ": " + r.Text, Cure: r.Cure, Absent: r.Absent}
}

// RoomCounts is how a room is, in numbers.
type RoomCounts struct {
	Mode    string   `json:"mode"`
	People  int      `json:"people"`
	Agents  int      `json:"agents"`
	Outlets int      `json:"outlets"`
	Waiting int      `json:"waiting"`
	Dropped int      `json:"dropped"`
	Faults  []string `json:"faults,omitempty"` // by key
}
