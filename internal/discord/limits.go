package discord

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// mostRoutes is how many routes limits are known of: those of all channels that a bot is
// read in, several times over.
const mostRoutes = 1 << 10

// Limits are how long which requests have to wait. Discord counts by route and, with a
// channel in it, by channel; what it counts together without saying so it refuses, and
// says for how long. The zero value knows of none.
type limits struct {
	mu     sync.Mutex
	all    time.Time // before it there is no request at all
	routes map[string]time.Time
}

// wait is how long a request has to wait at now.
func (l *limits) wait(now time.Time, route string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.all.Sub(now), l.routes[route].Sub(now), 0)
}

// until has a route wait.
func (l *limits) until(now time.Time, route string, t time.Time) {
	if l.routes == nil {
		l.routes = make(map[string]time.Time)
	}
	if len(l.routes) >= mostRoutes {
		maps.DeleteFunc(l.routes, func(_ string, t time.Time) bool { return !t.After(now) })
	}
	for other := range l.routes { // one has to give way, to a limit that is met just now
		if len(l.routes) < mostRoutes {
			break
		}
		delete(l.routes, other)
	}
	if t.After(l.routes[route]) {
		l.routes[route] = t
	}
}

// answered takes what an answer says of the limit of its route.
func (l *limits) answered(now time.Time, route string, h http.Header) {
	if h.Get("X-RateLimit-Remaining") != "0" {
		return
	}
	seconds, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until(now, route, now.Add(bound(seconds)))
}

// refused takes what a 429 says, and returns how long to wait and whether the channel is
// in slow mode.
func (l *limits) refused(now time.Time, route string, h http.Header, said []byte) (after time.Duration, slow bool) {
	var d struct {
		After   float64 `json:"retry_after"` // seconds
		Global  bool
		Code    int
		Message string
	}
	if json.Unmarshal(said, &d) != nil || d.After <= 0 { // not Discord's own, as before its servers
		d.After, _ = strconv.ParseFloat(h.Get("Retry-After"), 64)
	}
	after = max(bound(d.After), 100*time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Global || h.Get("X-RateLimit-Global") == "true" {
		if t := now.Add(after); t.After(l.all) {
			l.all = t
		}
	} else {
		l.until(now, route, now.Add(after))
	}
	return after, slowMode(d.Code, d.Message)
}
