// Package mode controls the mode of a room: which one applies, which one was asked for last, and the
// talk keys that make a muted room live while they are held. It knows no room, and starts no
// goroutine.
package mode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/internal/lockorder"
)

const (
	// onsetDelay is how long it takes to notice that a voice has begun. A person who releases the
	// key within that time may still have said something.
	onsetDelay = 500 * time.Millisecond

	// releaseLimit is how long the end of a sentence is awaited after the key was released: people
	// release it on the last syllable, and a recogniser needs the pause after it.
	releaseLimit = 4 * time.Second
)

// A Host is the room. Its functions return at once, and are safe for concurrent use.
type Host struct {
	Event func(earshot.Visibility, earshot.Body) earshot.Event // by the room itself

	// Queue has an event kept. then receives the result before wait returns it; it is nil, or the
	// error that the room is closed, or why the event could not be kept.
	Queue  func(e earshot.Event, then func(error)) (wait func(context.Context) error, err error)
	Closed error // what says that the room is closed

	Cut     func(earshot.Event)                    // ends the reply that is being said
	Show    func(earshot.Event)                    // to everybody who may see it
	Changed func(earshot.Mode)                     // is called when another mode applies
	Speaks  func() (over <-chan struct{}, is bool) // whether anybody speaks
	Shut    <-chan struct{}                        // closed when the room is
	Log     *slog.Logger
}

// A Control is the mode of a room. It is safe for concurrent use. Use [New].
type Control struct {
	Host

	change lockorder.Mutex[lockorder.ModeChange] // held while the mode changes
	wished earshot.Mode
	wishes int
	opened bool         // a key has made a muted room live
	keys   atomic.Int64 // that are held

	mu      lockorder.Mutex[lockorder.Leaf]
	mode    earshot.Mode
	changed chan struct{} // closed and replaced when mode changes
	dropped int
}

// New returns the control of a room that is live.
func New(h Host) *Control {
	return &Control{Host: h, wished: earshot.Live, mode: earshot.Live, changed: make(chan struct{})}
}

// Restore sets the mode that applied when the program stopped. It is called before anything else.
func (c *Control) Restore(m earshot.Mode) { c.mode, c.wished = m, m }

// Mode returns the mode, and a channel that is closed when it changes.
func (c *Control) Mode() (earshot.Mode, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode, c.changed
}

// Current returns the mode.
func (c *Control) Current() earshot.Mode {
	m, _ := c.Mode()
	return m
}

// Wanted returns the mode that was last asked for. byKey says that a talk key did.
func (c *Control) Wanted() (m earshot.Mode, byKey bool) {
	c.change.Lock()
	defer c.change.Unlock()
	return c.wished, c.opened
}

// Dropped returns how many sounds and sights came although the room does not take them in.
func (c *Control) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}

// TakesIn reports whether the room takes in e; if it does not, e is counted: a sense takes a moment
// to end. The end of a voice is always taken in: it tells nothing, and somebody may be waiting for
// it.
func (c *Control) TakesIn(e earshot.Event) bool {
	takesIn := earshot.Mode.Listens
	switch body := e.Body.(type) {
	case earshot.Speech:
		if body.Stage == earshot.VoiceOver {
			return true
		}
	case earshot.Utterance, earshot.Edit: // which a sense has noticed
	case earshot.Sight, earshot.Glance:
		takesIn = earshot.Mode.Watches
	default:
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if takesIn(c.mode) {
		return true
	}
	c.dropped++
	return false
}

// Set changes the mode; see [room.Room.SetMode].
func (c *Control) Set(ctx context.Context, by earshot.ParticipantID, m earshot.Mode) error {
	c.change.Lock()
	wait, err := c.to(c.event(by, earshot.ModeChange{Mode: m}), m)
	c.change.Unlock()
	if wait == nil || err != nil {
		return err
	}
	if err := wait(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the room is %s, but only until earshot stops: %w", m, err)
	}
	return ctx.Err()
}

// event returns the event of a change by somebody.
func (c *Control) event(by earshot.ParticipantID, m earshot.ModeChange) earshot.Event {
	e := c.Event(earshot.Visibility{Scope: earshot.System}, m)
	e.Author = by
	return e
}

// to queues a change of the mode. The journal has the changes in the order in which they were made,
// and the last one applies. Once somebody has set the mode, the release of a talk key does not
// change it back. c.change must be held; wait is nil if nothing changes.
func (c *Control) to(e earshot.Event, m earshot.Mode) (wait func(context.Context) error, err error) {
	if m == c.wished && !c.opened {
		return nil, nil
	}
	c.opened = false
	c.wished = m
	c.wishes++
	wish := c.wishes
	if m.Stricter(c.Current()) {
		c.apply(m)
	}
	if !m.Answers() {
		c.Cut(e)
	}
	return c.Queue(e, func(err error) {
		if errors.Is(err, c.Closed) {
			return // there is nobody left
		}
		if err != nil {
			c.Show(e) // it applies, and people must know
		}
		c.change.Lock()
		defer c.change.Unlock()
		if wish == c.wishes {
			c.apply(m)
		}
	})
}

// apply changes the mode now.
func (c *Control) apply(m earshot.Mode) {
	c.mu.Lock()
	if c.mode != m {
		c.mode = m
		close(c.changed)
		c.changed = make(chan struct{})
	}
	c.mu.Unlock()
	c.Changed(m)
}

// Held reports whether anybody holds a talk key.
func (c *Control) Held() bool { return c.keys.Load() > 0 }

// Hold presses a talk key for somebody; see [room.Room.Hold].
func (c *Control) Hold(ctx context.Context, by earshot.ParticipantID) (release func(), err error) {
	wait, err := c.press(by)
	if err != nil {
		return nil, err
	}
	if wait != nil {
		if err := wait(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("a held talk key could not be recorded", "err", err)
		}
	}
	return sync.OnceFunc(func() {
		c.awaitSilence()
		c.release(by)
	}), nil
}

// press begins a hold.
func (c *Control) press(by earshot.ParticipantID) (wait func(context.Context) error, err error) {
	c.change.Lock()
	defer c.change.Unlock()
	if c.wished.Stricter(earshot.Muted) {
		return nil, fmt.Errorf("the room is %s; /resume ends that", c.wished)
	}
	if c.wished == earshot.Muted {
		if wait, err = c.to(c.event(by, earshot.ModeChange{Mode: earshot.Live, Returns: earshot.Muted}), earshot.Live); err != nil {
			return nil, err
		}
		c.opened = true
	}
	c.keys.Add(1)
	return wait, nil
}

// release ends a hold.
func (c *Control) release(by earshot.ParticipantID) {
	c.change.Lock()
	defer c.change.Unlock()
	if c.keys.Add(-1) > 0 || !c.opened {
		return
	}
	if _, err := c.to(c.event(by, earshot.ModeChange{Mode: earshot.Muted}), earshot.Muted); err != nil { // it applies nevertheless
		c.Log.Warn("the release of a talk key could not be recorded", "err", err)
	}
}

// awaitSilence waits, up to releaseLimit, until nobody speaks any more.
func (c *Control) awaitSilence() {
	most := time.After(releaseLimit)
	select {
	case <-time.After(onsetDelay):
	case <-c.Shut:
		return
	}
	over, speaks := c.Speaks()
	if !speaks {
		return
	}
	select {
	case <-over:
	case <-most:
	case <-c.Shut:
	}
}
