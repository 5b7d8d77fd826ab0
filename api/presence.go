package api

import (
	"fmt"
	"strings"
	"time"

	"earshot"
)

// A PresenceEstimate is who is probably here, by what is seen, heard and typed.
type PresenceEstimate struct {
	// Least, Likely and Most are how many: what everything speaks for, what most does, and
	// what something does. They are in this order, and none is certain.
	Least  int `json:"least"`
	Likely int `json:"likely"`
	Most   int `json:"most"`

	Who     []PresenceGuess  `json:"who,omitempty"`     // the surest first
	Unknown int              `json:"unknown"`           // how many of Likely nobody can name
	Eyes    []CameraPresence `json:"eyes,omitempty"`    // what each camera sees, by name
	Against []string         `json:"against,omitempty"` // what does not fit together, in words
}

// A PresenceGuess is that somebody is here.
type PresenceGuess struct {
	ID    earshot.ParticipantID `json:"id"`
	Name  string                `json:"name,omitempty"` // what they are called, which whoever asks fills in
	Named bool                  `json:"named"`          // else it is a voice that nobody has put a name to
	Sure  float64               `json:"sure"`           // more than 0 and less than 1
	By    []PresenceEvidence    `json:"by"`             // the newest first
}

// An EvidenceKind is what speaks for a guess: heard, typed, came or seen.
type EvidenceKind string

// PresenceEvidence is what speaks for a guess.
type PresenceEvidence struct {
	Kind EvidenceKind `json:"kind"`
	At   time.Time    `json:"at"`
	Text string       `json:"text"` // in words
}

// A CameraPresence is what one camera sees.
type CameraPresence struct {
	Camera string           `json:"camera"`
	At     time.Time        `json:"at"` // of its last look
	Eyes   earshot.Eyesight `json:"eyes"`
	People int              `json:"people"` // in most of its looks; 0 if it does not see
	Sees   bool             `json:"sees"`   // it does, now
	Sure   float64          `json:"sure"`   // how sure it is of the people in its last look, 0 to 1
}

// Reasons says what speaks for a guess, without the times, so that it is the same as long as
// nothing else does.
func (g PresenceGuess) Reasons() string {
	var all []string
	for _, e := range g.By {
		all = append(all, e.Text)
	}
	return strings.Join(all, ", ")
}

// Noticed returns when something spoke for a guess last that is more than that somebody is in
// view.
func (g PresenceGuess) Noticed() time.Time {
	if len(g.By) == 0 {
		return time.Time{}
	}
	return g.By[0].At
}

// Strangers says in one line how many unknown people seem to be here, and which evidence
// contradicts itself. It is empty if there is neither.
func (e PresenceEstimate) Strangers() string {
	var all []string
	if e.Unknown > 0 {
		are := fmt.Sprintf("%d people are", e.Unknown)
		if e.Unknown == 1 {
			are = "1 person is"
		}
		all = append(all, are+" probably here whom nobody can name")
	}
	return strings.Join(append(all, e.Against...), "; ")
}

// Lines say at now who is probably here, for people. Age is how one says how long ago
// something was.
func (e PresenceEstimate) Lines(now time.Time, age func(time.Duration) string) (all []string) {
	for _, eye := range e.Eyes {
		text := string(eye.Eyes.Words())
		if eye.Sees {
			text = earshot.InView(eye.People)
		} else if eye.Eyes == earshot.Clear {
			text = "has seen nothing since"
		}
		all = append(all, fmt.Sprintf("%s (%s): %s", earshot.CameraCalled(eye.Camera), age(now.Sub(eye.At)), text))
	}
	for _, g := range e.Who {
		all = append(all, fmt.Sprintf("%s is probably here (%s), by %s", g.Name, age(now.Sub(g.Noticed())), g.Reasons()))
	}
	if text := e.Strangers(); text != "" {
		all = append(all, text)
	}
	return all
}
