// Package providertest checks what every provider must guarantee. The test of a new provider is
// one line:
//
//	providertest.Run(t, func(t *testing.T) providers.Provider { return … })
//
// Each part opens a provider of its own and runs it in a bubble of testing/synctest. So a provider
// with a device or a socket must be given a fake one, made of channels, that says at least one
// thing; and a provider that leaves a goroutine behind fails.
package providertest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/providers"
)

// patience is how long a provider may take to say its first word. It is
// virtual time, so it costs nothing.
const patience = time.Hour

// Run runs the suite on providers that open makes, each of them new.
func Run(t *testing.T, open func(t *testing.T) providers.Provider) {
	for _, part := range []struct {
		name string
		test func(*testing.T, providers.Provider)
	}{
		{"HasAName", hasAName},
		{"SaysWhatIsWellFormed", saysWhatIsWellFormed},
		{"StopsWhenToldTo", stopsWhenToldTo},
		{"StopsBeforeItBegan", stopsBeforeItBegan},
		{"StopsWhileTheRoomIsBusy", stopsWhileTheRoomIsBusy},
		{"StopsWhenTheRoomRefuses", stopsWhenTheRoomRefuses},
		{"RunsAgain", runsAgain},
	} {
		t.Run(part.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { part.test(t, open(t)) })
		})
	}
}

// hasAName: the name is a key of the configuration file, and never changes.
func hasAName(t *testing.T, p providers.Provider) {
	name := p.Name()
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		t.Errorf("the name %q is not a key", name)
	}
	if again := p.Name(); again != name {
		t.Errorf("the name was %q and is now %q", name, again)
	}
}

// saysWhatIsWellFormed: an event holds what a provider knows, and nothing that only the room
// decides.
func saysWhatIsWellFormed(t *testing.T, p providers.Provider) {
	var n atomic.Int64
	r := start(t.Context(), t, p, func(_ context.Context, e earshot.Event) error {
		n.Add(1)
		checkEvent(t, e)
		return nil
	})
	r.await(func() bool { return n.Load() > 0 })
	r.stop()
	if n.Load() == 0 {
		t.Errorf("said nothing within %v; give it something to say", patience)
	}
}

// checkEvent fails t unless a provider may emit e.
func checkEvent(t *testing.T, e earshot.Event) {
	t.Helper()
	if e.Body == nil {
		t.Error("an event has no body")
	}
	_, back := e.Body.(earshot.Withdrawal) // which a provider may emit by itself
	if e.From.Provider == "" || e.From.ID == "" && !back {
		t.Errorf("an event is from %q, which names nobody", e.From)
	}
	if e.At.IsZero() || e.At.After(time.Now()) {
		t.Errorf("an event began at %v, and it is %v", e.At, time.Now())
	}
	if e.Sequence != 0 || e.Author != "" || len(e.To) > 0 ||
		e.Visibility.Scope != "" || len(e.Visibility.Members) > 0 {
		t.Error("an event sets what the room alone decides")
	}
	switch b := e.Body.(type) {
	case earshot.Message:
		if len(b.Text) > earshot.MaxText || !utf8.ValidString(string(b.Text)) || b.Text == "" && len(b.Attachments) == 0 {
			t.Error("a message is empty, too long or not UTF-8")
		}
	case earshot.Decision, earshot.Reply, earshot.Tombstone:
		t.Errorf("a %s is not for a provider to say", b.Kind())
	}
}

// stopsWhenToldTo: when ctx ends, Run returns at once, wherever it waits.
func stopsWhenToldTo(t *testing.T, p providers.Provider) {
	r := start(t.Context(), t, p, func(context.Context, earshot.Event) error { return nil })
	synctest.Wait() // every goroutine of the provider is now blocked
	r.stop()
}

func stopsBeforeItBegan(t *testing.T, p providers.Provider) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start(ctx, t, p, func(ctx context.Context, _ earshot.Event) error { return ctx.Err() }).stop()
}

// stopsWhileTheRoomIsBusy: the same holds while emit blocks, as when the disk is slow.
func stopsWhileTheRoomIsBusy(t *testing.T, p providers.Provider) {
	var busy atomic.Bool
	r := start(t.Context(), t, p, func(ctx context.Context, _ earshot.Event) error {
		busy.Store(true)
		<-ctx.Done()
		return ctx.Err()
	})
	r.await(busy.Load)
	r.stop()
}

// stopsWhenTheRoomRefuses: a provider may give up or go on when an event is refused, but it must
// neither hang nor spin.
func stopsWhenTheRoomRefuses(t *testing.T, p providers.Provider) {
	var n atomic.Int64
	r := start(t.Context(), t, p, func(context.Context, earshot.Event) error {
		if n.Add(1) > 100_000 {
			t.Error("it insists on what was refused")
			<-t.Context().Done()
		}
		return errors.New("no room")
	})
	r.await(func() bool { return n.Load() > 0 })
	r.stop()
}

// runsAgain: a supervisor runs the same provider again after it failed.
func runsAgain(t *testing.T, p providers.Provider) {
	for range 3 {
		r := start(t.Context(), t, p, func(context.Context, earshot.Event) error { return nil })
		synctest.Wait()
		r.stop()
	}
}

// A run is one run of a provider.
type run struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}
}

// start runs p until the run is stopped or ctx ends. It fails t if emit is
// called after Run has returned.
func start(ctx context.Context, t *testing.T, p providers.Provider, emit providers.Emit) *run {
	ctx, cancel := context.WithCancel(ctx)
	r := &run{t, cancel, make(chan struct{})}
	var returned atomic.Bool
	go func() { // waited for by stop
		defer close(r.done)
		defer returned.Store(true)
		_ = p.Run(ctx, func(ctx context.Context, e earshot.Event) error {
			if returned.Load() {
				t.Error("emit was called after Run had returned")
			}
			return emit(ctx, e)
		})
	}()
	return r
}

// await lets virtual time pass until ok, the end of the run or of patience. At each check the
// provider is blocked, so the result does not depend on which goroutine is faster. It checks less
// and less often: a check costs real time, on a busy machine milliseconds.
func (r *run) await(ok func() bool) {
	wait := 100 * time.Millisecond
	for end := time.Now().Add(patience); ; wait = min(2*wait, time.Minute) {
		synctest.Wait()
		if ok() || !time.Now().Before(end) {
			return
		}
		select {
		case <-r.done:
			return
		case <-time.After(wait):
		}
	}
}

// stop ends the run and waits for it, without virtual time passing.
func (r *run) stop() {
	r.t.Helper()
	r.cancel()
	synctest.Wait()
	select {
	case <-r.done:
	default:
		r.t.Error("did not return at once when its context ended")
		<-r.done
	}
}
