package main

import (
	"context"
	"maps"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
)

// What users other than the hub may do, each with all its connections: several times what a satellite does that
// is heard and seen, and has its terminals open. NATS bounds what one connection may do and not how fast, so that one
// user could have the hub disconnected, which is then a reader that is too slow.
const (
	lookEvery   = 250 * time.Millisecond
	mostComing  = 8 << 20 // bytes from one look to the next; a camera that was held up sends what waited at once
	perMessage  = 1 << 10 // bytes that a message counts for besides its own
	mostOwn     = 64      // connections, of which some may be lost without the server knowing it yet
	mostOwnSubs = 256

	// barTime is for how long a user that does more is kept out.
	barTime = time.Minute
)

// A usage is what a user does.
type usage struct {
	came              int64 // bytes
	connections, subs int
}

// guard keeps out users that do more than they may, until ctx ends.
func (s *server) guard(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	before := make(map[uint64]int64) // bytes, by each connection
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		all, err := s.Connz(&nats.ConnzOptions{Username: true, Limit: mostConnections})
		if err != nil {
			s.log.Errorf("looking at the connections: %v", err)
			continue
		}
		now, users := make(map[uint64]int64), make(map[string]usage)
		for _, c := range all.Conns {
			now[c.Cid] = c.InBytes + perMessage*c.InMsgs
			u := users[c.AuthorizedUser]
			users[c.AuthorizedUser] = usage{u.came + now[c.Cid] - before[c.Cid], u.connections + 1, u.subs + int(c.NumSubs)}
		}
		before = now
		if err := s.bar(users, time.Now()); err != nil {
			s.log.Errorf("keeping out a user: %v", err)
		}
	}
}

// bar keeps out those of the users that do more than they may, and lets those in again whose time is over.
func (s *server) bar(users map[string]usage, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	barredBefore := len(s.barred)
	maps.DeleteFunc(s.barred, func(_ string, until time.Time) bool { return now.After(until) })
	changed := len(s.barred) < barredBefore
	for _, u := range s.users {
		is := users[u.Key]
		if _, out := s.barred[u.Key]; out || is.came <= mostComing && is.connections <= mostOwn && is.subs <= mostOwnSubs {
			continue
		}
		s.barred[u.Key], changed = now.Add(barTime), true
		s.log.Errorf("the user %s, to which answers come at %s, does more than a satellite does: of late it sent %d bytes, by %d connections with %d subscriptions; it is kept out for %v",
			u.Key, u.Rights.Inbox, is.came, is.connections, is.subs, barTime)
	}
	if !changed {
		return nil
	}
	return s.reload()
}
