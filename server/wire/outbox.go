package wire

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// An Outbox holds the frames that wait to be written, in two lanes: urgent frames overtake the
// rest. It bounds neither; its callers do, by the rules of the package comment. It may be used
// from many goroutines, and no method blocks.
type Outbox struct {
	mu     sync.Mutex
	urgent []letter
	rest   []letter
	closed bool
	more   chan struct{} // holds one when there may be something to take
}

// A letter is a frame as it will be written.
type letter struct {
	frame Frame
	line  []byte
}

// NewOutbox returns an empty outbox.
func NewOutbox() *Outbox { return &Outbox{more: make(chan struct{}, 1)} }

// Urgent queues f behind the other urgent frames. Its error is that of [Encode].
func (o *Outbox) Urgent(f Frame) error { return o.put(&o.urgent, f) }

// Put queues f behind all frames.
func (o *Outbox) Put(f Frame) error { return o.put(&o.rest, f) }

func (o *Outbox) put(lane *[]letter, f Frame) error {
	line, err := Encode(f)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		*lane = append(*lane, letter{f, line})
		o.wake()
	}
	return nil
}

// Drop removes up to most frames for which drop is true, the oldest first, and returns how many it
// removed.
func (o *Outbox) Drop(most int, drop func(Frame) bool) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, lane := range []*[]letter{&o.urgent, &o.rest} {
		*lane = slices.DeleteFunc(*lane, func(l letter) bool {
			if n == most || !drop(l.frame) {
				return false
			}
			n++
			return true
		})
	}
	return n
}

// Count returns the number of waiting frames for which is is true.
func (o *Outbox) Count(is func(Frame) bool) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, lane := range [][]letter{o.urgent, o.rest} {
		for _, l := range lane {
			if is(l.frame) {
				n++
			}
		}
	}
	return n
}

// Last queues f behind the urgent frames, in place of the rest, and accepts no more: it is the
// last that is written. If it cannot be encoded, it is left out.
func (o *Outbox) Last(f Frame) {
	line, err := Encode(f)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if err == nil {
		o.urgent = append(o.urgent, letter{f, line})
	}
	o.rest, o.closed = nil, true
	o.wake()
}

// Close says that no more frames will come. Those that wait will still be written.
func (o *Outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake()
}

// wake tells the pump that something has changed. The caller holds the lock.
func (o *Outbox) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// errNone says that there is nothing to take now.
var errNone = errors.New("nothing to write")

// take returns the next line, errNone, or io.EOF when no more will come.
func (o *Outbox) take() ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, lane := range []*[]letter{&o.urgent, &o.rest} {
		if len(*lane) > 0 {
			l := (*lane)[0]
			*lane = slices.Delete(*lane, 0, 1)
			return l.line, nil
		}
	}
	if o.closed {
		return nil, io.EOF
	}
	return nil, errNone
}
