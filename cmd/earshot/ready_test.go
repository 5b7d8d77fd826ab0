package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"earshot/api"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/server/client"
)

// readies waits until the obstacles are as want demands, and returns the readiness.
func (h *home) readies(what string, want func(obstacles []api.Obstacle) bool) (is api.Readiness) {
	h.t.Helper()
	testkit.Await(h.t, soon, what, func() (ok bool) {
		var err error
		is, err = (&client.Client{Socket: h.socket}).Ready(h.t.Context())
		return err == nil && want(is.Obstacles)
	})
	return is
}

// hinders returns a check that a part of the given kind is an obstacle.
func hinders(part, kind string) func([]api.Obstacle) bool {
	return func(all []api.Obstacle) bool {
		return slices.ContainsFunc(all, func(o api.Obstacle) bool { return o.Part == part && o.Kind == kind })
	}
}

func nothing(all []api.Obstacle) bool { return len(all) == 0 }

// since fails the test unless the part became an obstacle between from and to, and says why.
func since(t *testing.T, is api.Readiness, part string, from, to time.Time) {
	t.Helper()
	for _, o := range is.Obstacles {
		if o.Part == part && (o.Since.Before(from) || o.Since.After(to) || o.Text == "") {
			t.Errorf("%+v, and it happened from %v to %v", o, from, to)
		}
	}
	if is.Ready {
		t.Errorf("it says that it is ready: %+v", is)
	}
}

// TestReadyWithoutMicrophone: while the microphone is unplugged, readiness names it as an obstacle,
// and since when.
func TestReadyWithoutMicrophone(t *testing.T) {
	t.Parallel()
	p := newParlour(t)
	p.scripted(talker)
	p.name = hasty
	p.wakes()
	p.readies("that it is ready", nothing)
	began := time.Now()
	if err := p.card.Unload(soundtest.Microphone); err != nil {
		t.Fatal(err)
	}
	is := p.readies("that the microphone is gone", hinders("microphone", "sense"))
	since(t, is, "microphone", began, time.Now())
	if err := p.plugged(soundtest.Microphone); err != nil {
		t.Fatal(err)
	}
	p.readies("that it is ready again", nothing)
}

// TestReadyWithoutModel: while no model server answers, earshot is not ready. Once a server does,
// it is, without anybody having talked to it.
func TestReadyWithoutModel(t *testing.T) {
	t.Parallel()
	var there atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !there.Load() {
			panic(http.ErrAbortHandler) // as if there were no server
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
	h := newHome(t, slices.Concat(asleep, []string{"EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_MODEL=m", "EARSHOT_EXECUTIVE_LLM_HOST=" + s.URL})...)
	began := time.Now()
	h.daemon()
	is := h.readies("that there is no model", hinders("openai", "engine"))
	since(t, is, "openai", began, time.Now())
	there.Store(true)
	h.readies("that it is ready", nothing)
}
