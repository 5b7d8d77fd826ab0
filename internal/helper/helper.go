// Package helper is the protocol between the daemon and its helper processes. C code lives in
// helpers: if it crashes, hangs or corrupts memory, the process is killed and started again.
//
// There are four pipes, two each way: sound goes through one pair, control through the other, so
// that a cut never waits behind sound. On each pipe a message is its length and then its content,
// both bounded; control is JSON, sound is raw.
//
//	helper's standard input   sound for the helper; when it closes, the helper ends
//	helper's standard output  sound from the helper
//	descriptor 3              control for the helper
//	descriptor 4              control from the helper
//	standard error            the helper's log
//
// The helper says hello first, with the version of the protocol and its name, and then sends
// beats, at least every [Beat]. A helper without beats is hung; one that sends what it must not,
// or more than it may, or closes a pipe and goes on, is lying. Both are killed, together with the
// processes that they started. The daemon sends no beats: when it dies, its pipes close, and a
// helper notices that with its next beat and is gone within a second, whatever it is doing.
//
// What happens when a reader is slow: both sides must read control at once; a helper that does not
// is hung. Sound waits in the pipe and then before it, and a sender who must not wait drops and
// counts. Sound for a device needs credit (see [Credit]), so that no more than the device asked
// for is ahead of it.
package helper

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Version is the version of the protocol. A helper of another version is refused: it was not built
// with this daemon.
const Version = 1

// Beat is the longest time between two signs of life of a helper.
const Beat = 500 * time.Millisecond

// The limits of a message.
const (
	MaxControl = 256 << 10 // a list of devices, or the words of a long utterance
	MaxSound   = 64 << 10  // two seconds

	maxName = 64 // of a control message; ours are a word
)

var (
	// ErrProtocol says that a peer violated the protocol: it is broken, or not ours.
	ErrProtocol = errors.New("broken protocol")

	// ErrGone is what sending returns when nobody is there to receive.
	ErrGone = errors.New("the other end is gone")
)

// A Control is one control message.
type Control struct {
	Name string          `json:"name"`           // what it is, such as "open"
	Body json.RawMessage `json:"body,omitempty"` // its details; see [Control.Decode]
}

// Decode decodes the body into v. An invalid body is [ErrProtocol]; the error quotes nothing of
// the body, which may hold what somebody said.
func (c Control) Decode(v any) error {
	if json.Unmarshal(c.Body, v) != nil {
		return fmt.Errorf("%w: the body of %q is no %T", ErrProtocol, c.Name, v)
	}
	return nil
}

// A Sound is one message of sound.
type Sound struct {
	Stream uint32 // whose sound it is, such as an utterance's
	Data   []byte // samples, or a frame of package audio
}
