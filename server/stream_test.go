package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
)

// A patient writer accepts everything, and records deadlines.
type patient struct {
	*httptest.ResponseRecorder
	deadline, reads time.Time
}

func (p *patient) SetReadDeadline(t time.Time) error {
	p.reads = t
	return nil
}

func (p *patient) SetWriteDeadline(t time.Time) error {
	p.deadline = t
	return nil
}

// TestDeadlines: the deadline left from an earlier request on the same connection does not end an
// answer, and a client whose body never comes cannot keep its connection.
func TestDeadlines(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		status       int
	}{{"GET", "/livez", 200}, {"POST", "/v1/messages", 401}} {
		w := &patient{ResponseRecorder: httptest.NewRecorder(), deadline: time.Now().Add(-time.Second)}
		v := &visitor{from: "127.0.0.1", addr: netip.MustParseAddr("127.0.0.1"), met: func() {}}
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), visitorKey{}, v), tt.method, tt.path, strings.NewReader("{}"))
		r.Host = "localhost"
		(&opening{Server: &Server{}, rules: loopbackRules(DefaultConfig())}).ServeHTTP(w, r)
		if w.Code != tt.status || !w.deadline.After(time.Now()) {
			t.Errorf("%s is answered %d, until %v", tt.path, w.Code, w.deadline)
		}
		if tt.status != 200 && !w.reads.After(time.Now()) {
			t.Errorf("%s may send its body until %v", tt.path, w.reads)
		}
	}
}

// TestStreamBeats: a stream in which nothing happens sends beats.
func TestStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		s := &stream{w: w, control: http.NewResponseController(w)}
		if err := s.write(nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.rest(ctx, new(turns), make(chan struct{}), nil, func() error { return nil }); err == nil {
			t.Error("it went on after the end of the request")
		}
		if got := w.Body.String(); got != "\n\n\n" || !w.deadline.After(time.Now()) {
			t.Errorf("50 seconds of nothing are %q", got)
		}
	})
}

// TestStreamOfSomebodyWhoMayNotStay: the stream ends within seconds, even if nothing happens.
func TestStreamOfSomebodyWhoMayNotStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		s := &stream{w: w, control: http.NewResponseController(w)}
		began := time.Now()
		if _, err := s.rest(t.Context(), new(turns), make(chan struct{}), nil, func() error { return errors.New("the token was revoked") }); err == nil {
			t.Error("it went on")
		}
		if took := time.Since(began); took > 10*time.Second || w.Body.Len() != 0 {
			t.Errorf("it ended after %v, with %q", took, w.Body)
		}
	})
}

// A gallery is a house with a live view.
type gallery struct {
	Backend
	show func() (api.LiveView, <-chan struct{}, error)
}

func (g *gallery) Identify(context.Context, earshot.Handle, Claim) (Principal, error) {
	return Principal{}, nil
}

func (g *gallery) Recheck(Principal) error { return nil }

func (g *gallery) Live(context.Context, Principal) (api.LiveView, <-chan struct{}, error) {
	return g.show()
}

// showing returns a view that contains a number.
func showing(n int) api.LiveView {
	return api.LiveView{Snapshot: api.Snapshot{RoomState: api.RoomState{Waiting: n}}}
}

// A slow writer takes a second for each line.
type slow struct {
	patient
	lines []string
}

func (s *slow) Write(line []byte) (int, error) {
	time.Sleep(time.Second)
	s.lines = append(s.lines, string(line))
	return len(line), nil
}

// TestLiveOfASlowReader: nothing piles up for a slow reader. The next line shows the state of that
// moment, and nobody looks in between.
func TestLiveOfASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began, looked := time.Now(), 0
		changed := make(chan struct{})
		close(changed) // changes all the time
		s := &Server{Backend: &gallery{show: func() (api.LiveView, <-chan struct{}, error) {
			looked++
			return showing(int(time.Since(began).Milliseconds())), changed, nil
		}}}
		w := &slow{patient: patient{ResponseRecorder: httptest.NewRecorder()}}
		if err := s.live(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/live", nil), guest{}); err != nil {
			t.Fatal(err)
		}
		if len(w.lines) != looked || looked > 11 {
			t.Errorf("looked %d times for the %d lines that were taken in ten seconds", looked, len(w.lines))
		}
		if last := w.lines[len(w.lines)-1]; !strings.Contains(last, `"waiting":9450`) {
			t.Errorf("the last line is %s; that was not the case when it was written", last)
		}
	})
}

// TestLiveBlinks: a fast reader gets at most twenty lines a second. If no change is reported the
// server still looks every few seconds, and if nothing has changed it sends a beat now and then.
func TestLiveBlinks(t *testing.T) {
	for _, tt := range []struct {
		name       string
		busy, same bool
		looked     [2]int
		lines      int
		beats      int
	}{
		{"all changes", true, false, [2]int{1190, 1201}, 1200, 0},
		{"it is said that something changes, and nothing does", true, true, [2]int{1190, 1201}, 1, 3},
		{"it ages", false, false, [2]int{12, 13}, 12, 0},
		{"nothing happens", false, true, [2]int{12, 13}, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute-time.Millisecond)
				defer cancel()
				looked := 0
				changed := make(chan struct{})
				if tt.busy {
					close(changed)
				}
				s := &Server{Backend: &gallery{show: func() (api.LiveView, <-chan struct{}, error) {
					if looked++; tt.same {
						return showing(0), changed, nil
					}
					return showing(looked), changed, nil
				}}}
				w := &patient{ResponseRecorder: httptest.NewRecorder()}
				if err := s.live(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/live", nil), guest{}); err != nil {
					t.Fatal(err)
				}
				if looked < tt.looked[0] || looked > tt.looked[1] {
					t.Errorf("looked %d times in a minute, want %v", looked, tt.looked)
				}
				lines := strings.Count(w.Body.String(), `{"at"`)
				beats := strings.Count(w.Body.String(), "\n") - lines
				if lines != tt.lines || beats != tt.beats {
					t.Errorf("%d lines and %d beats in a minute, want %d and %d", lines, beats, tt.lines, tt.beats)
				}
			})
		})
	}
}

// A still journal is empty and does not grow.
type still struct {
	Journal
	grown chan struct{}
}

func (s still) Grown() <-chan struct{} { return s.grown }

func (still) Events(context.Context, earshot.Audience, int64, int) ([]earshot.Event, error) {
	return nil, nil
}

// TestTailIsBounded: however many different questions are asked while nothing happens, only a
// bounded number is remembered.
func TestTailIsBounded(t *testing.T) {
	var all tail
	h := still{grown: make(chan struct{})}
	for n := range 10 * apart {
		if _, _, err := all.after(t.Context(), h, earshot.Audience{}, int64(n), batch); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(all.looks); n == 0 || n > apart {
		t.Errorf("%d are remembered", n)
	}
}
