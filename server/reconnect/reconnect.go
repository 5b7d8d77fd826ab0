// Package reconnect keeps a terminal attached to a daemon that goes away and comes back.
package reconnect

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
)

// The waits between looks whether an earshot that went away is back: after a restart it
// is within half a second.
const (
	soonest = 100 * time.Millisecond
	seldom  = 2 * time.Second
)

// errDone ends what goes on for somebody who has left.
var errDone = errors.New("the person at the terminal has left")

// A reconnectingSense is the sense of a terminal that outlives the daemon to which it is attached.
// What was typed when the connection broke is sent again when it is back, under the same
// ID, by which a room knows what it has already.
type reconnectingSense struct {
	providers.Provider
	tell func(lost bool) // that the connection was lost, and that it is back

	mu   sync.Mutex
	lost bool
	n    int            // of connections so far
	emit providers.Emit // of the last; nil if there is none
	back chan struct{}  // closed when there is one
}

// Attach attaches p and o to the daemon of c, again and again, until p comes to its own
// end, ctx ends, or the daemon does not let them in. Only the first time it has to be
// there.
func Attach(ctx context.Context, c *client.Client, p providers.Provider, o earshot.Outlet, names *attach.Names, tell func(lost bool)) error {
	l := &reconnectingSense{Provider: p, tell: tell, back: make(chan struct{})}
	g, within := errgroup.WithContext(ctx)
	there := l.back
	g.Go(func() error {
		select {
		case <-there: // whoever sees where to write sees what comes from then on
		case <-within.Done():
			return nil
		}
		if err := p.Run(within, l.hand); err != nil {
			return err
		}
		return errDone
	})
	g.Go(func() error { return l.attach(within, c, o, names) })
	if err := g.Wait(); !errors.Is(err, errDone) && ctx.Err() == nil {
		return err
	}
	return nil
}

// attach attaches again and again.
func (l *reconnectingSense) attach(ctx context.Context, c *client.Client, o earshot.Outlet, names *attach.Names) error {
	wait := soonest
	for {
		before := l.connections()
		err := c.Attach(ctx, attachment{l}, o, names)
		n := l.connections()
		refusal, refused := client.Refused(err)
		switch {
		case ctx.Err() != nil:
			return nil
		case refused:
			return refusal
		case n == 0:
			return err
		case n > before:
			l.left(n)
			wait = soonest
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = min(2*wait, seldom)
	}
}

// An attachment is a reconnectingSense while one connection lasts.
type attachment struct{ *reconnectingSense }

// Run implements [providers.Provider].
func (c attachment) Run(ctx context.Context, emit providers.Emit) error {
	c.enter(emit)
	<-ctx.Done()
	return context.Cause(ctx)
}

// enter says that there is a connection.
func (l *reconnectingSense) enter(emit providers.Emit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	l.emit = emit
	close(l.back)
	if l.lost {
		l.lost = false
		l.tell(false)
	}
}

// left notes that the nth connection is lost.
func (l *reconnectingSense) left(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.emit == nil || l.n != n {
		return
	}
	l.emit, l.back = nil, make(chan struct{})
	if !l.lost {
		l.lost = true
		l.tell(true)
	}
}

// connections returns how many there have been.
func (l *reconnectingSense) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// hand is the [providers.Emit] of p. While there is no connection all waits but what is
// only of use at once, which is dropped. What was sent and not answered is sent again if
// it is a message; a command goes back, since nobody knows whether it was carried out.
func (l *reconnectingSense) hand(ctx context.Context, e earshot.Event) error {
	for {
		l.mu.Lock()
		emit, n, back := l.emit, l.n, l.back
		l.mu.Unlock()
		err := attach.ErrLost
		if emit != nil {
			err = emit(ctx, e)
		}
		if !errors.Is(err, attach.ErrLost) {
			return err
		}
		l.left(n)
		switch k := e.Body.Kind(); {
		case k == earshot.KindTyping:
			return nil
		case emit != nil && k != earshot.KindMessage:
			return attach.ErrLost
		case emit != nil:
			continue
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-back:
		}
	}
}
