package gateway

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestLimits: a fresh limit is kept however many there are, and a shorter global limit does not end
// a longer one.
func TestLimits(t *testing.T) {
	var l limits
	now := time.Now()
	for i := range 3 * mostRoutes {
		route := fmt.Sprint("POST ", i)
		l.refused(now, route, nil, []byte(`{"retry_after": 3}`))
		if got := l.wait(now, route); got != 3*time.Second {
			t.Fatalf("the limit %d is %v", i, got)
		}
	}
	if len(l.routes) > mostRoutes {
		t.Errorf("%d are kept", len(l.routes))
	}
	global := http.Header{"X-Ratelimit-Global": {"true"}}
	for _, body := range []string{`{"retry_after": 20}`, `{"retry_after": 2}`} {
		l.refused(now, "GET x", global, []byte(body))
	}
	if got := l.wait(now, "GET y"); got != 20*time.Second {
		t.Errorf("for all it is %v", got)
	}
	l.refused(now, "GET x", nil, []byte("<html>"))
	if got := l.wait(now.Add(20*time.Second), "GET x"); got != 0 {
		t.Errorf("afterwards it is %v", got)
	}
}
