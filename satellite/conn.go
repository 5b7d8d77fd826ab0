package satellite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"earshot/bus"
	"earshot/internal/helper"
)

// streamHead is the length of what stands before the bytes of a stream: session and sequence.
const streamHead = 8 + 8

// mostWaiting is how many bytes of a stream may wait to be read: ten seconds of control, or more
// sound than is ever ahead.
const mostWaiting = 2 << 20

// ErrGap says that a message of a session is missing or came twice, so that it cannot go on.
var ErrGap = errors.New("messages are missing or came twice")

// A Conn is one end of a session: the four pipes of a helper as four subjects.
type Conn struct {
	*helper.Conn
	controlIn, soundIn     *input
	stopControl, stopSound func()
}

// OpenHub opens the hub's end of a session with a satellite, and Open the satellite's. Old counts
// messages of other sessions that came to this end; it may be nil. The conn must be closed.
func OpenHub(ctx context.Context, b bus.Bus, id string, session uint64, old *atomic.Int64) (*Conn, error) {
	return open(ctx, b, session, Prefix(id), [2]string{subjectUp, subjectDown}, old)
}

// Open opens the satellite's end of a session.
func Open(ctx context.Context, b bus.Bus, id string, session uint64, old *atomic.Int64) (*Conn, error) {
	return open(ctx, b, session, Prefix(id), [2]string{subjectDown, subjectUp}, old)
}

// OpenHubCamera and OpenCamera are like OpenHub and Open, for the session of a [Watch].
func OpenHubCamera(ctx context.Context, b bus.Bus, id string, session uint64, old *atomic.Int64) (*Conn, error) {
	return open(ctx, b, session, Prefix(id), [2]string{subjectUp + camera, subjectDown + camera}, old)
}

func OpenCamera(ctx context.Context, b bus.Bus, id string, session uint64, old *atomic.Int64) (*Conn, error) {
	return open(ctx, b, session, Prefix(id), [2]string{subjectDown + camera, subjectUp + camera}, old)
}

// open opens the end that reads the first of the subjects and writes the other.
func open(ctx context.Context, b bus.Bus, session uint64, prefix string, subjects [2]string, old *atomic.Int64) (*Conn, error) {
	if old == nil {
		old = new(atomic.Int64)
	}
	c := &Conn{controlIn: newInput(session, old), soundIn: newInput(session, old)}
	var err error
	if c.stopControl, err = b.Subscribe(ctx, prefix+subjects[0]+control, c.controlIn.take); err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	if c.stopSound, err = b.Subscribe(ctx, prefix+subjects[0]+sound, c.soundIn.take); err != nil {
		c.stopControl()
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	out := func(subject string) io.Writer {
		return &output{bus: b, subject: prefix + subject, session: session}
	}
	c.Conn = helper.NewConn(c.controlIn, out(subjects[1]+control), c.soundIn, out(subjects[1]+sound))
	return c, nil
}

// Close ends the session at this end. Reading ends with what was received.
func (c *Conn) Close() {
	c.controlIn.Close()
	c.soundIn.Close()
	c.stopControl()
	c.stopSound()
}

// HangUp ends reading, and with it the session; unlike Close it may be called from anywhere.
func (c *Conn) HangUp() {
	c.controlIn.Close()
	c.soundIn.Close()
}

// An output publishes what is written, each write as one message. Writes do not overlap: the conn
// sees to it.
type output struct {
	bus     bus.Bus
	subject string
	session uint64
	number  uint64
	buf     []byte
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	o.buf = binary.LittleEndian.AppendUint64(o.buf[:0], o.session)
	o.buf = binary.LittleEndian.AppendUint64(o.buf, o.number)
	o.buf = append(o.buf, b...)
	o.number++ // even if it fails: then the other end notices that something is missing
	if err := o.bus.Publish(o.subject, o.buf); err != nil {
		return 0, err
	}
	return len(b), nil
}

// An input is read as one stream of bytes, made of the messages of a session in their sequence.
type input struct {
	session uint64
	old     *atomic.Int64

	mu     sync.Mutex
	more   sync.Cond
	number uint64 // of the next message
	data   []byte
	err    error // after data
}

func newInput(session uint64, old *atomic.Int64) *input {
	in := &input{session: session, old: old}
	in.more.L = &in.mu
	return in
}

// take takes a message. It does not wait.
func (in *input) take(m bus.Message) {
	if len(m.Data) < streamHead || binary.LittleEndian.Uint64(m.Data) != in.session {
		in.old.Add(1)
		return
	}
	number := binary.LittleEndian.Uint64(m.Data[8:])
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.err != nil:
		return
	case number != in.number:
		in.err = fmt.Errorf("%w: %d came instead of %d", ErrGap, number, in.number)
	case len(in.data)+len(m.Data) > mostWaiting:
		in.err = fmt.Errorf("%w: the reader is too slow", ErrGap)
	default:
		in.number++
		in.data = append(in.data, m.Data[streamHead:]...)
	}
	in.more.Broadcast()
}

// Read implements [io.Reader].
func (in *input) Read(b []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.data) == 0 && in.err == nil {
		in.more.Wait()
	}
	if len(in.data) == 0 {
		return 0, in.err
	}
	n := copy(b, in.data)
	in.data = in.data[:copy(in.data, in.data[n:])]
	return n, nil
}

// Close implements [io.Closer]: what was received can still be read.
func (in *input) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = io.ErrClosedPipe
	}
	in.more.Broadcast()
	return nil
}
