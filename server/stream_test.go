package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// A patient writer takes everything, and has deadlines.
type patient struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (p *patient) SetWriteDeadline(t time.Time) error {
	p.deadline = t
	return nil
}

// TestStreamBeats: a stream in which nothing happens says that it is alive.
func TestStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		s := &stream{w: w, control: http.NewResponseController(w)}
		if err := s.write(nil); err != nil {
			t.Fatal(err)
		}
		if s.rest(ctx, make(chan struct{}), func() error { return nil }) {
			t.Error("it went on after the end of the request")
		}
		if got := w.Body.String(); got != "\n\n\n" || !w.deadline.After(time.Now()) {
			t.Errorf("50 seconds of nothing are %q", got)
		}
	})
}

// TestStreamOfSomebodyWhoMayNotStay: it ends within seconds, also when nothing
// happens.
func TestStreamOfSomebodyWhoMayNotStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		s := &stream{w: w, control: http.NewResponseController(w)}
		began := time.Now()
		if s.rest(t.Context(), make(chan struct{}), func() error { return errors.New("the token was revoked") }) {
			t.Error("it went on")
		}
		if took := time.Since(began); took > 10*time.Second || w.Body.Len() != 0 {
			t.Errorf("it ended after %v, with %q", took, w.Body)
		}
	})
}
