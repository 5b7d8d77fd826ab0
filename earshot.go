// Package earshot holds the vocabulary of the program: who is present, what
// was perceived, what is said, and who may see it. Every other package may
// import it; it imports nothing of ours and does nothing.
package earshot

import (
	"fmt"
	"log/slog"
)

// A ParticipantID names one person, agent or other system across every place
// where they are heard. The registry assigns it; a provider never invents one.
// The empty ID is somebody unknown, who is never the operator.
type ParticipantID string

// A Handle is the name by which one provider knows somebody, such as
// {"discord", "80351110224678912"}.
type Handle struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// String returns h as it is written in a log: provider, colon, identifier.
func (h Handle) String() string { return h.Provider + ":" + h.ID }

// A RoomID names a place where a conversation is shared.
type RoomID string

// Desk is the room of the machine that earshot runs on.
const Desk RoomID = "desk"

// A TurnID names one reply of an agent, from its first token to its last sound.
type TurnID string

// An EventID names one event for ever. It is a ULID, so it sorts by time.
type EventID string

// Text is what somebody said or wrote. Printed or logged it is only a length,
// so that no log line, error or dump can repeat a conversation. Encoded it is
// itself.
type Text string

// MaxText is the longest message, in bytes, that a room admits: some ten
// thousand words, more than the models people run at home can take in.
const MaxText = 64 << 10

// Format prints the length of t for every verb.
func (t Text) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "[%d bytes]", len(t)) }

// LogValue logs the length of t.
func (t Text) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(t)) }
