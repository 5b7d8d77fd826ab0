// Package satellite is what the hub, which is a daemon, and its satellites, which are the
// microphones and loudspeakers of other machines, say to each other over a [bus.Bus].
//
// To the hub, a satellite is a helper as [earshot/internal/helper] has it that runs elsewhere: its
// sound card, behind the protocol of [earshot/internal/sound]. The four pipes of a helper are four
// subjects, and a [Conn] is one end of them. Its camera, if it has one, is another such helper, behind
// the protocol of [earshot/models/see/wire], with subjects of its own while the hub watches: see [Watch].
// Three things differ from a helper on the same machine:
//
//   - captured sound comes as [Packet], Opus with its time of capture, and none comes while it is
//     quiet but one a second;
//   - the hub asks for the time every [ClockEvery], by which the satellite also knows that the hub
//     is there, and turns times of the satellite into its own: see [Clock];
//   - a satellite may recognise speech itself: the hub says from when to when, and gets the words;
//   - a satellite that was muted at its own machine says so, and opens no microphone and no camera for
//     anybody; nor does anybody but itself say which device is its camera.
//
// A session begins when a satellite asks to join, which the hub answers with a number. Every message
// carries that number and its own place in the sequence: one of an earlier session is ignored and
// counted, and after one that is missing or comes twice the session ends, and the satellite joins
// again.
package satellite

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Version is the version of what is said here. A hub refuses a satellite of another one.
const Version = 1

// The subjects of a satellite, before which its [Prefix] stands. It may publish under up and join,
// and subscribe to down; the hub does the reverse.
const (
	subjectJoin = "join" // a request with a [Join], answered by a [Welcome]
	subjectUp   = "up."
	subjectDown = "down."

	subjectConsole = "console" // where a terminal of the satellite dials

	// What follows, of each helper: nothing or camera, and the pipe.
	camera  = "camera."
	control = "control"
	sound   = "sound"
)

// Prefix returns what the subjects of a satellite begin with.
func Prefix(id string) string { return "earshot.satellite." + id + "." }

// JoinPattern is the pattern by which a hub hears who joins.
const JoinPattern = "earshot.satellite.*." + subjectJoin

// JoinSubject is where a satellite asks to join.
func JoinSubject(id string) string { return Prefix(id) + subjectJoin }

// ConsoleSubject is where the console of a satellite dials, by package bus/stream.
func ConsoleSubject(id string) string { return Prefix(id) + subjectConsole }

// Rights are what a satellite may publish and subscribe to on the bus, and the beginning of the
// subjects to which answers to its requests come.
type Rights struct {
	Publish   []string `json:"publish"`
	Subscribe []string `json:"subscribe"`
	Inbox     string   `json:"inbox"`
}

// RightsOf returns the rights of a satellite.
func RightsOf(id string) Rights {
	inbox := "_INBOX.satellite." + id
	return Rights{
		Publish:   []string{JoinSubject(id), Prefix(id) + "up.>", ConsoleSubject(id), ConsoleSubject(id) + ".*.up"},
		Subscribe: []string{Prefix(id) + "down.>", ConsoleSubject(id) + ".*.down", inbox + ".>"},
		Inbox:     inbox,
	}
}

// idPattern is what an ID may look like, since it is a word of a subject and is shown to people.
var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// CheckID says what is wrong with the ID of a satellite.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return errors.New("the name of a satellite has 1 to 32 small letters, digits and hyphens, such as kitchen")
	}
	return nil
}

// PairAgain says how a satellite that the hub does not know is paired: while it keeps its old code, it asks for no
// other.
func PairAgain(id string) string {
	return fmt.Sprintf("earshot satellite forget, at its machine; then earshot pair %s, on the machine of the hub; then earshot satellite, with the new code", id)
}

// A Join is how a satellite asks to join.
type Join struct {
	Version int    `json:"version"`
	Build   string `json:"build"`            // of its program, for people
	Muted   bool   `json:"muted,omitempty"`  // somebody there has closed its microphone and its camera
	Camera  bool   `json:"camera,omitempty"` // it has one that may be watched through
	Keep    *Keep  `json:"keep,omitempty"`   // the receipt that it has; nil if it keeps none

	// Process is a random name of the process that asks, by which two machines with one key are told apart.
	Process string `json:"process,omitempty"`
}

// A Welcome is the hub's answer to a [Join].
type Welcome struct {
	Session uint64   `json:"session,omitempty"` // 0 if it is refused
	Room    string   `json:"room,omitempty"`    // the name of the room that it serves, for people
	Names   []string `json:"names,omitempty"`   // what the agents there are called by
	Fence   int64    `json:"fence,omitempty"`   // of the lease of the room, if several daemons share it; see package cluster

	Problem string `json:"error,omitempty"` // why it is refused
	Cure    string `json:"cure,omitempty"`
}

// Err returns why the satellite is refused, or nil.
func (w Welcome) Err() error {
	switch {
	case w.Problem == "" && w.Session == 0:
		return errors.New("the hub gave no session; update earshot on both machines")
	case w.Problem == "":
		return nil
	case w.Cure == "":
		return errors.New(w.Problem)
	}
	return fmt.Errorf("%s; %s", w.Problem, w.Cure)
}

// Control messages besides those of [earshot/internal/sound].
const (
	SayAsk   = "ask"   // from the hub, with an [TimeRequest]
	SayTime  = "time"  // from the satellite, with a [TimeReply]
	SayState = "state" // from the satellite, with a [State], when that changes
	SayGate  = "gate"  // from the hub, with a [Gate]: sound may come although nobody said a name
	SayWatch = "watch" // from the hub, with a [Watch]
	SayHear  = "hear"  // from the hub, with an [Utterance] to be recognised there
	SayWords = "words" // from the satellite, with [Words] of it
	SayKeep  = "keep"  // from the hub, with a [Keep], to a satellite that keeps receipts
)

const (
	// ClockEvery is how often the hub asks for the time.
	ClockEvery = time.Second

	// Silence is after how long without a message of the hub a satellite takes it for gone. The hub
	// takes a satellite for gone as it does a helper: see package internal/helper.
	Silence = 3 * time.Second

	// QuietEvery is how often a packet comes while it is quiet.
	QuietEvery = time.Second
)

// A TimeRequest asks what a satellite's clock shows.
type TimeRequest struct {
	Number uint32 `json:"number"`
}

// A TimeReply answers a [TimeRequest].
type TimeReply struct {
	Number uint32 `json:"number"`
	At     int64  `json:"at"` // nanoseconds since 1970 by the satellite's clock
}

// A State is how a satellite is.
type State struct {
	Muted      bool `json:"muted"`                // somebody there has closed its microphone and its camera
	Recognises bool `json:"recognises,omitempty"` // it can recognise speech
}

// A Watch has the camera opened, for a session of its own; 0 has it closed.
type Watch struct {
	Session uint64 `json:"session"`
}

// A Gate says for how long a satellite that waits for a name may send sound without one.
type Gate struct {
	For time.Duration `json:"for"`
}

// A Keep replaces the receipt that a satellite keeps; see [earshot.ReceiptHolder].
type Keep struct {
	Receipt []byte `json:"receipt"`
}
