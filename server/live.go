package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"earshot/server/remote"
)

const (
	// blink is the least time between two states: no screen is drawn more often.
	blink = time.Second / 20

	// relook is how often the state is checked at least, since some of it depends only on time.
	relook = 5 * time.Second
)

// live streams the state of the room, a whole line each time: at once, and then after each change
// as fast as the client reads, but not more often than every blink. Nothing is queued for a slow
// reader: its next line is the state at the time it has read the last. An empty line is a sign of
// life.
func (s *Server) live(w http.ResponseWriter, r *http.Request, who guest) error {
	out := &stream{w: w, control: http.NewResponseController(w)}
	var last []byte
	var told, asked time.Time
	for {
		if now := time.Now(); now.Sub(asked) >= remote.Look {
			asked = now
			if err := s.stay(r.Context(), who); err != nil {
				return out.refuses(shut(err))
			}
		}
		now, changed, err := s.Backend.Live(r.Context(), who.Principal)
		if err != nil {
			return out.refuses(&fault{http.StatusServiceUnavailable, err})
		}
		line, err := json.Marshal(now)
		if err != nil {
			return out.refuses(err)
		}
		switch at := time.Now(); {
		case !bytes.Equal(line, last):
			last, told, now.At = line, at, at
			if line, err = json.Marshal(now); err == nil {
				err = out.line(line)
			}
		case at.Sub(told) >= heartbeat:
			told = at
			err = out.line(nil)
		}
		if err != nil || !wait(r.Context(), blink, nil) || !wait(r.Context(), relook, changed) {
			return nil
		}
	}
}

// refuses returns err if nothing was written yet; otherwise the stream just ends.
func (s *stream) refuses(err error) error {
	if s.begun {
		return nil
	}
	return err
}

// line sends one line. It blocks while the client does not read.
func (s *stream) line(text []byte) error { return s.write(append(text, '\n')) }

// wait waits for d, or until a channel is closed; it returns false if ctx ends before.
func wait(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-until:
		return true
	case <-ctx.Done():
		return false
	}
}
