// Package helper is how the daemon and its helper processes talk. C lives in
// helpers: what crashes, hangs or corrupts memory there is a process that is
// killed and started again.
//
// There are four pipes, two each way: sound goes through one pair, control
// through the other, so that a cut never stands behind sound. On each pipe a
// message is its length and then its content, all under limits; control is
// JSON, sound is raw.
//
//	helper's standard input   sound for the helper; when it closes, the helper ends
//	helper's standard output  sound from the helper
//	descriptor 3              control for the helper
//	descriptor 4              control from the helper
//	standard error            the helper's log
//
// The helper says hello first, with the version of the protocol and its name,
// and then beats: [Beat] apart, or faster. A helper that does not beat is hung;
// one that says what it may not, or more than it may, or closes a pipe and goes
// on, is lying. Both are killed, together with the processes that they started.
// The daemon does not beat: when it dies, its pipes close, and a helper notices
// that with its next beat and is gone within a second, whatever it is doing.
//
// What happens when a reader is slow: control is read at once by both sides or
// the slow one is at fault, and a helper that does not read its control is hung;
// sound waits in the pipe and then before it, and a sender who must not wait
// drops and counts; sound for a device goes by credit (see [Credit]), so that no
// more than the device asked for is ahead of it.
package helper

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Version is that of the protocol. A helper of another version is refused: it
// was not built with this daemon.
const Version = 1

// Beat is how often a helper shows at least that it lives.
const Beat = 500 * time.Millisecond

// The limits of a message.
const (
	MaxControl = 256 << 10 // a list of devices, or the words of a long utterance
	MaxSound   = 64 << 10  // two seconds

	maxName = 64 // of a control message; ours are a word
)

var (
	// ErrProtocol is what a peer did that it may not: it is broken, or not ours.
	ErrProtocol = errors.New("broken protocol")

	// ErrGone is what sending returns when nobody is there to receive.
	ErrGone = errors.New("the other end is gone")
)

// A Control is one message of control.
type Control struct {
	Name string          `json:"name"`           // what it is, such as "open"
	Body json.RawMessage `json:"body,omitempty"` // its details; see [Control.Decode]
}

// Decode reads the body into v. What does not fit is [ErrProtocol]; the error
// repeats nothing of the body, which may hold what somebody said.
func (c Control) Decode(v any) error {
	if json.Unmarshal(c.Body, v) != nil {
		return fmt.Errorf("%w: the body of %q is no %T", ErrProtocol, c.Name, v)
	}
	return nil
}

// A Sound is one message of sound.
type Sound struct {
	Stream uint32 // whose sound it is, such as which utterance
	Data   []byte // samples, or a frame of package audio
}
