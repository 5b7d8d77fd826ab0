package sound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot/internal/helper"
)

// The patience with a helper that sends beats and yet does not do its work.
const (
	// opening is how long a device may take to open or to close. A wireless one takes one to two
	// seconds; a machine under load takes longer.
	opening = 6 * time.Second

	// deaf is how many checks an open input may be without a frame: three seconds. Frames come
	// every 20 ms, and a machine under load holds them up for more than one second.
	deaf = int(3 * time.Second / glance)

	// stuck is how many checks a speech may stand still although there is sound: three seconds,
	// longer than any wireless loudspeaker delays it.
	stuck = int(3 * time.Second / glance)

	// glance is the time between two checks. Checks are counted, and not time: if the whole
	// machine, or the daemon alone, stood still, there was one check and nobody is to blame.
	glance = 250 * time.Millisecond
)

// frozen is the fault of a sound server that no longer responds.
var frozen = &Fault{Text: "the sound system does not respond", Fix: "systemctl --user restart pipewire-pulse, or pulseaudio -k"}

// A Card is the machine's sound. Its methods may be called from many goroutines; inputs and
// outputs can be opened while it is down, and wait.
type Card struct {
	dial helper.Dialer
	log  *slog.Logger

	mu      sync.Mutex
	line    *connection   // to the helper, once it is ready
	changed chan struct{} // closed and replaced when line changes
	number  uint32        // of the last stream or speech
}

// New returns a card whose helper is started by dial. It does nothing until it runs.
func New(dial helper.Dialer, log *slog.Logger) *Card {
	return &Card{dial: dial, log: log, changed: make(chan struct{})}
}

// Run is one life of the helper: it returns the cause of its death, or nil when ctx has ended.
// Then nothing of the helper is left, and all inputs and outputs have ended. It must not be called
// twice at a time.
func (c *Card) Run(ctx context.Context) error {
	link, err := c.dial()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &connection{card: c, link: link, stop: stop, gone: make(chan struct{})}
	var watch sync.WaitGroup
	watch.Go(func() { l.watch(ctx) })
	err = link.Run(ctx, helper.Handler{Control: l.control, Sound: l.sound})
	if fault, ok := errors.AsType[*Fault](context.Cause(ctx)); ok {
		err = &helper.DeathError{Name: Helper, Err: fault}
	}
	stop(nil)
	c.set(nil)
	l.end()
	watch.Wait()
	return err
}

// set makes l the connection, or none.
func (c *Card) set(l *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = l
	close(c.changed)
	c.changed = make(chan struct{})
}

// next returns a new number.
func (c *Card) next() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	return c.number
}

// await returns the connection once there is one.
func (c *Card) await(ctx context.Context) (*connection, error) {
	for {
		c.mu.Lock()
		l, changed := c.line, c.changed
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the sound card: %w", context.Cause(ctx))
		}
	}
}

// open opens a stream, on the present card or the next one.
func (c *Card) open(ctx context.Context, o Open) (*stream, error) {
	for {
		l, err := c.await(ctx)
		if err != nil {
			return nil, err
		}
		o.Number = c.next()
		s, err := l.open(ctx, o)
		if !errors.Is(err, ErrCard) {
			return s, err
		}
		select { // until the old stream is gone; then the next may come
		case <-l.gone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
