// Package helper is how the daemon and its helper processes talk. C lives in
// helpers: what crashes, hangs or corrupts memory there is a process that is
// killed and started again.
//
// There are four pipes, two each way: sound goes through one pair, control
// through the other, so that a cut never stands behind sound. On each pipe a
// message is its length, its kind and its payload, all under limits; control is
// JSON, sound is raw.
//
//	helper's standard input   sound for the helper; when it closes, the helper ends
//	helper's standard output  sound from the helper
//	descriptor 3              control for the helper
//	descriptor 4              control from the helper
//	standard error            the helper's log
//
// The helper says hello first, with the version of the protocol and its name,
// and then beats: [Beat] apart, or faster. A helper that does not beat is hung,
// one that sends what it may not is lying; both are killed by [Process].
//
// What happens when a reader is slow: control is read at once by both sides or
// the slow one is at fault; sound waits in the pipe and then before it, and a
// sender who must not wait drops and counts; sound for a device goes by credit
// (see [Credit]), so that no more than the device asked for is ahead of it.
package helper

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
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
)

// ErrProtocol is what a peer did that it may not: it is broken, or not ours.
var ErrProtocol = errors.New("broken protocol")

// A Control is one message of control.
type Control struct {
	Name string          `json:"name"`           // what it is, such as "open"
	Body json.RawMessage `json:"body,omitempty"` // its details; see [Control.Decode]
}

// Decode reads the body into v. What does not fit is [ErrProtocol].
func (c Control) Decode(v any) error {
	if err := json.Unmarshal(c.Body, v); err != nil {
		return fmt.Errorf("%w: the body of %q: %w", ErrProtocol, c.Name, err)
	}
	return nil
}

// A Sound is one message of sound.
type Sound struct {
	Stream uint32 // whose sound it is, such as which utterance
	Data   []byte // samples, or a frame of package audio
}

// A Conn is one end of the four pipes. Its methods may be called from many
// goroutines.
type Conn struct {
	control, sound writer
	controlIn      io.Reader
	soundIn        io.Reader
}

// NewConn returns the end of a connection that reads and writes these.
func NewConn(controlIn io.Reader, controlOut io.Writer, soundIn io.Reader, soundOut io.Writer) *Conn {
	return &Conn{
		controlIn: controlIn, control: writer{w: controlOut},
		soundIn: soundIn, sound: writer{w: soundOut},
	}
}

// Send sends a message of control.
func (c *Conn) Send(name string, body any) error {
	m := Control{Name: name}
	if body != nil {
		var err error
		if m.Body, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encoding %q: %w", name, err)
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding %q: %w", name, err)
	}
	if len(b) > MaxControl {
		return fmt.Errorf("%q has %d bytes; at most %d", name, len(b), MaxControl)
	}
	return c.control.write(nil, b)
}

// SendSound sends sound. It waits while the pipe is full; data may be used
// again when it returns.
func (c *Conn) SendSound(stream uint32, data []byte) error {
	if len(data) > MaxSound {
		return fmt.Errorf("sound of %d bytes; at most %d", len(data), MaxSound)
	}
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], stream)
	return c.sound.write(head[:], data)
}

// Controls calls take with each message of control until it returns an error,
// which Controls returns, or the pipe ends, which is io.EOF.
func (c *Conn) Controls(take func(Control) error) error {
	return read(c.controlIn, MaxControl, func(b []byte) error {
		var m Control
		if err := json.Unmarshal(b, &m); err != nil || m.Name == "" {
			return fmt.Errorf("%w: control that is none", ErrProtocol)
		}
		return take(m)
	})
}

// Sounds is like Controls, for sound. The data is valid until take returns.
func (c *Conn) Sounds(take func(Sound) error) error {
	return read(c.soundIn, MaxSound+4, func(b []byte) error {
		if len(b) < 4 {
			return fmt.Errorf("%w: sound without a stream", ErrProtocol)
		}
		return take(Sound{Stream: binary.LittleEndian.Uint32(b), Data: b[4:]})
	})
}

// A writer puts one message after the other into a pipe.
type writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte // reused
}

// write writes a message of two parts in one go, so that a pipe whose end has
// gone never holds half of one.
func (w *writer) write(head, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = binary.LittleEndian.AppendUint32(w.buf[:0], uint32(len(head)+len(body)))
	w.buf = append(append(w.buf, head...), body...)
	_, err := w.w.Write(w.buf)
	return err
}

// read calls take with each message. A message that is longer than most is
// refused before anything is kept for it.
func read(r io.Reader, most int, take func([]byte) error) error {
	var head [4]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("%w: the pipe ended within a message", ErrProtocol)
			}
			return err
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n > uint32(most) {
			return fmt.Errorf("%w: a message of %d bytes; at most %d", ErrProtocol, n, most)
		}
		if cap(buf) < int(n) {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		if _, err := io.ReadFull(r, buf); err != nil {
			return fmt.Errorf("%w: the pipe ended within a message", ErrProtocol)
		}
		if err := take(buf); err != nil {
			return err
		}
	}
}
