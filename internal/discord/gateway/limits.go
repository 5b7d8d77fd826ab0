package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mostRoutes is how many routes have known limits: those of all channels that a bot reads, several
// times over.
const mostRoutes = 1 << 10

// Limits says how long requests must wait. Discord counts by route and, for a route with a
// channel, by channel; where it counts several together without announcing it, it refuses and says
// for how long. The zero value knows no limits.
type limits struct {
	mu     sync.Mutex
	all    time.Time // before this time there are no requests at all
	routes map[string]time.Time
}

// wait returns how long a request must wait at now.
func (l *limits) wait(now time.Time, route string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.all.Sub(now), l.routes[route].Sub(now), 0)
}

// until makes a route wait.
func (l *limits) until(now time.Time, route string, t time.Time) {
	if l.routes == nil {
		l.routes = make(map[string]time.Time)
	}
	if len(l.routes) >= mostRoutes {
		maps.DeleteFunc(l.routes, func(_ string, t time.Time) bool { return !t.After(now) })
	}
	for other := range l.routes { // one must go, in favour of a limit just met
		if len(l.routes) < mostRoutes {
			break
		}
		delete(l.routes, other)
	}
	if t.After(l.routes[route]) {
		l.routes[route] = t
	}
}

// answered records the limit that an answer gives for its route.
func (l *limits) answered(now time.Time, route string, h http.Header) {
	if h.Get("X-RateLimit-Remaining") != "0" {
		return
	}
	seconds, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until(now, route, now.Add(bound(seconds)))
}

// refused records a 429, and returns how long to wait and whether the channel is in slow mode.
func (l *limits) refused(now time.Time, route string, h http.Header, said []byte) (after time.Duration, slow bool) {
	var d struct {
		After   float64 `json:"retry_after"` // seconds
		Global  bool
		Code    int
		Message string
	}
	if json.Unmarshal(said, &d) != nil || d.After <= 0 { // not from Discord itself, but from a proxy before it
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
	return after, d.Code == 20016 || strings.Contains(d.Message, "slowmode")
}
