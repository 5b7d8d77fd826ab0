package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
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
			last, told = line, at
			err = out.line(stamped(line, at))
		case at.Sub(told) >= heartbeat:
			told = at
			err = out.line(nil)
		}
		if err != nil || !wait(r.Context(), blink, nil) || !wait(r.Context(), relook, changed) {
			return nil
		}
	}
}

// stamped adds the time to a line that holds a JSON object.
func stamped(line []byte, at time.Time) []byte {
	stamp, err := json.Marshal(at)
	if err != nil || len(line) < 2 || line[0] != '{' {
		return line
	}
	out := slices.Concat([]byte(`{"at":`), stamp)
	if rest := line[1:]; rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, line[1:]...)
}

// refuses returns err if nothing was written yet; otherwise the stream just ends.
func (s *stream) refuses(err error) error {
	if s.begun {
		return nil
	}
	return err
}

// line sends one line. It blocks while the client does not read.
func (s *stream) line(text []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	if _, err := s.w.Write(append(text, '\n')); err != nil {
		return err
	}
	return s.control.Flush()
}

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
