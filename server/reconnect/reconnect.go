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

// The waits between attempts to reconnect: after a restart the daemon is back within half a
// second.
const (
	soonest = 100 * time.Millisecond
	seldom  = 2 * time.Second
)

// errDone ends everything after the person has left.
var errDone = errors.New("the person at the terminal has left")

// A reconnectingSense is the input of a terminal that outlives its connection to the daemon. What
// was typed when the connection broke is sent again afterwards with the same ID, so that the room
// keeps it once.
type reconnectingSense struct {
	providers.Provider
	tell func(lost error) // reports why there is no connection, and with nil that it is back

	mu   sync.Mutex
	lost bool
	n    int            // counts the connections
	emit providers.Emit // of the current connection; nil if there is none
	back chan struct{}  // closed when there is a connection
}

// Attach attaches p and o to the daemon of c, and attaches them again after each loss, until p
// ends by itself, ctx ends, or the daemon refuses them. The daemon must be running only the first
// time; if the room moves between daemons then, that is waited for, for some seconds.
func Attach(ctx context.Context, c *client.Client, p providers.Provider, o earshot.Outlet, names *attach.Names, tell func(lost error)) error {
	l := &reconnectingSense{Provider: p, tell: tell, back: make(chan struct{})}
	g, within := errgroup.WithContext(ctx)
	there := l.back
	g.Go(func() error {
		select {
		case <-there: // once a prompt is visible, everything after it must be shown
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

// attach repeats the attachment.
func (l *reconnectingSense) attach(ctx context.Context, c *client.Client, o earshot.Outlet, names *attach.Names) error {
	wait := soonest
	for tries := 1; ; tries++ {
		before := l.connections()
		err := c.Attach(ctx, attachment{l}, o, names)
		n := l.connections()
		refusal, refused := client.Refused(err)
		switch {
		case ctx.Err() != nil:
			return nil
		case refused:
			return refusal
		case n == 0 && (!client.Moving(err) || tries == client.MoveTries):
			return err
		case n == 0:
			l.left(n, err)
		case n > before:
			l.left(n, err)
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

// An attachment is a reconnectingSense during one connection.
type attachment struct{ *reconnectingSense }

// Run implements [providers.Provider].
func (c attachment) Run(ctx context.Context, emit providers.Emit) error {
	c.enter(emit)
	<-ctx.Done()
	return context.Cause(ctx)
}

// enter records that there is a connection.
func (l *reconnectingSense) enter(emit providers.Emit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	l.emit = emit
	close(l.back)
	if l.lost {
		l.lost = false
		l.tell(nil)
	}
}

// left records why the nth connection is lost, or for 0 why there is none yet.
func (l *reconnectingSense) left(n int, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.emit == nil && n > 0 || l.n != n {
		return
	}
	if n > 0 {
		l.emit, l.back = nil, make(chan struct{})
	}
	if !l.lost {
		l.lost = true
		l.tell(why)
	}
}

// connections returns the number of connections so far.
func (l *reconnectingSense) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// hand is the [providers.Emit] of p. Without a connection, everything waits except what matters
// only at once, which is dropped. An unanswered message is sent again; an unanswered command is
// returned as an error, since nobody knows whether it was carried out.
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
		l.left(n, err)
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
