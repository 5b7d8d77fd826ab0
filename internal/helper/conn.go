package helper

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// A Conn is one end of the four pipes. Many goroutines may send; each pipe has one reader at a
// time.
type Conn struct {
	control, sound     writer
	controlIn, soundIn reader
	exit               func(code int) // ends the process; nil in a goroutine
}

// NewConn returns the end of a connection over these readers and writers. Readers that can be
// closed are closed when a [Server] is told to end.
func NewConn(controlIn io.Reader, controlOut io.Writer, soundIn io.Reader, soundOut io.Writer) *Conn {
	return &Conn{
		controlIn: newReader(controlIn), control: writer{w: controlOut},
		soundIn: newReader(soundIn), sound: writer{w: soundOut},
	}
}

// Send sends a control message. If nobody is there to receive it, the error is [ErrGone].
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

// SendSound sends sound, with the same errors. It blocks while the pipe is full; data may be
// reused when it returns.
func (c *Conn) SendSound(stream uint32, data []byte) error {
	if len(data) > MaxSound {
		return fmt.Errorf("sound of %d bytes; at most %d", len(data), MaxSound)
	}
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], stream)
	return c.sound.write(head[:], data)
}

// Controls calls take with each control message until it returns an error, which Controls returns,
// or until the pipe is closed at either end, which is io.EOF.
func (c *Conn) Controls(take func(Control) error) error {
	return c.controlIn.each(MaxControl, func(b []byte) error {
		var m Control
		if err := json.Unmarshal(b, &m); err != nil || m.Name == "" || len(m.Name) > maxName {
			return fmt.Errorf("%w: an invalid control message", ErrProtocol)
		}
		return take(m)
	})
}

// Sounds is like Controls, for sound. The data is valid until take returns.
func (c *Conn) Sounds(take func(Sound) error) error {
	return c.soundIn.each(4+MaxSound, func(b []byte) error {
		if len(b) < 4 {
			return fmt.Errorf("%w: sound without a stream", ErrProtocol)
		}
		return take(Sound{Stream: binary.LittleEndian.Uint32(b), Data: b[4:]})
	})
}

// hangUp closes the readers, so that reading ends.
func (c *Conn) hangUp() {
	c.controlIn.close()
	c.soundIn.close()
}

// A writer puts one message after the other into a pipe.
type writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte // reused
}

// write writes a message of two parts, usually with one system call.
func (w *writer) write(head, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = binary.LittleEndian.AppendUint32(w.buf[:0], uint32(len(head)+len(body)))
	w.buf = append(append(w.buf, head...), body...)
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// A reader reads messages from a pipe.
type reader struct {
	*bufio.Reader
	pipe io.Reader
	buf  []byte // reused
}

func newReader(r io.Reader) reader { return reader{Reader: bufio.NewReader(r), pipe: r} }

// each calls take with each message. A message longer than most is refused before any memory is
// allocated for it.
func (r *reader) each(most int, take func([]byte) error) error {
	for {
		b, err := r.next(most)
		if err != nil {
			return err
		}
		if err := take(b); err != nil {
			return err
		}
	}
}

func (r *reader) next(most int) ([]byte, error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, ended(err, len(head) > 0)
	}
	n := binary.LittleEndian.Uint32(head)
	if n > uint32(most) {
		return nil, fmt.Errorf("%w: a message of %d bytes; at most %d", ErrProtocol, n, most)
	}
	if _, err := r.Discard(len(head)); err != nil {
		return nil, err
	}
	if cap(r.buf) < int(n) {
		r.buf = make([]byte, n)
	}
	if _, err := io.ReadFull(r, r.buf[:n]); err != nil {
		return nil, ended(err, true)
	}
	return r.buf[:n], nil
}

func (r *reader) close() {
	if c, ok := r.pipe.(io.Closer); ok {
		c.Close()
	}
}

// ended returns how a pipe ended: one error for a pipe that was closed at either end, and another
// for one that ended within a message.
func ended(err error, within bool) error {
	switch {
	case errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe), errors.Is(err, os.ErrDeadlineExceeded):
		return io.EOF
	case within && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return fmt.Errorf("%w: %w within a message", ErrProtocol, io.ErrUnexpectedEOF)
	}
	return err
}
