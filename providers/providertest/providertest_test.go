package providertest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/testkit"
	"earshot/providers"
	"earshot/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A source is a provider made from a function.
type source struct {
	name string
	run  func(ctx context.Context, emit providers.Emit) error
}

func (s source) Name() string                                       { return s.name }
func (s source) Run(ctx context.Context, emit providers.Emit) error { return s.run(ctx, emit) }

// good returns a correct event.
func good() earshot.Event {
	return earshot.Event{
		At:   time.Now(),
		From: earshot.Handle{Provider: "x", ID: "y"},
		Body: earshot.Message{Text: "hello"},
	}
}

// saying returns a provider that emits one event and waits.
func saying(e func() earshot.Event) source {
	return source{"x", func(ctx context.Context, emit providers.Emit) error {
		if err := emit(ctx, e()); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}}
}

// but returns a provider whose event is good except for one fault.
func but(spoil func(*earshot.Event)) source {
	return saying(func() earshot.Event {
		e := good()
		spoil(&e)
		return e
	})
}

// bad holds providers that break one rule each, by the part of the suite that finds it.
var bad = map[string]providers.Provider{
	"HasAName":                         source{"X Y", saying(good).run},
	"SaysWhatIsWellFormed/nothing":     source{"x", func(ctx context.Context, _ providers.Emit) error { <-ctx.Done(); return nil }},
	"SaysWhatIsWellFormed/no body":     but(func(e *earshot.Event) { e.Body = nil }),
	"SaysWhatIsWellFormed/nobody":      but(func(e *earshot.Event) { e.From = earshot.Handle{} }),
	"SaysWhatIsWellFormed/no time":     but(func(e *earshot.Event) { e.At = time.Time{} }),
	"SaysWhatIsWellFormed/the future":  but(func(e *earshot.Event) { e.At = e.At.Add(time.Hour) }),
	"SaysWhatIsWellFormed/an author":   but(func(e *earshot.Event) { e.Author = "root" }),
	"SaysWhatIsWellFormed/public":      but(func(e *earshot.Event) { e.Visibility.Scope = earshot.Public }),
	"SaysWhatIsWellFormed/not UTF-8":   but(func(e *earshot.Event) { e.Body = earshot.Message{Text: "\xff"} }),
	"SaysWhatIsWellFormed/a reply":     but(func(e *earshot.Event) { e.Body = earshot.Reply{} }),
	"StopsWhenToldTo":                  source{"x", func(context.Context, providers.Emit) error { <-time.After(time.Second); return nil }},
	"StopsWhileTheRoomIsBusy":          source{"x", detached},
	"StopsWhenTheRoomRefuses":          source{"x", insisting},
	"StopsBeforeItBegan":               source{"x", func(context.Context, providers.Emit) error { <-time.After(time.Second); return nil }},
	"RunsAgain":                        onlyOnce(),
	"StopsWhenToldTo/left a goroutine": source{"x", leaving},
	"StopsWhenToldTo/emits afterwards": source{"x", haunting},
}

// onlyOnce returns a provider that stops at once when told to, but only the first time.
func onlyOnce() source {
	ran := false
	return source{"x", func(ctx context.Context, _ providers.Emit) error {
		<-ctx.Done()
		if ran {
			<-time.After(time.Second)
		}
		ran = true
		return nil
	}}
}

// detached does not pass its context on to emit.
func detached(ctx context.Context, emit providers.Emit) error {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return emit(own, good())
}

// insisting emits for ever, although it is refused.
func insisting(ctx context.Context, emit providers.Emit) error {
	for ctx.Err() == nil {
		_ = emit(ctx, good())
	}
	return nil
}

// leaving leaves a goroutine behind.
func leaving(ctx context.Context, _ providers.Emit) error {
	go func() { select {} }()
	<-ctx.Done()
	return nil
}

// haunting emits after it has returned.
func haunting(ctx context.Context, emit providers.Emit) error {
	<-ctx.Done()
	context.AfterFunc(ctx, func() {
		<-time.After(time.Millisecond)
		_ = emit(ctx, good())
	})
	return nil
}

func TestGood(t *testing.T) {
	providertest.Run(t, func(*testing.T) providers.Provider { return saying(good) })
	t.Run("that ends by itself", func(t *testing.T) {
		providertest.Run(t, func(*testing.T) providers.Provider {
			return source{"x", func(ctx context.Context, emit providers.Emit) error {
				return errors.Join(ctx.Err(), emit(ctx, good()))
			}}
		})
	})
}

// TestBad: each part of the suite finds the fault that it is for. The suite fails the test that it
// runs in, so it runs in a process of its own.
func TestBad(t *testing.T) {
	const which = "EARSHOT_TEST_BAD"
	if p, ok := bad[os.Getenv(which)]; ok {
		providertest.Run(t, func(*testing.T) providers.Provider { return p })
		return
	}
	for name := range bad {
		t.Run(name, func(t *testing.T) {
			part, _, _ := strings.Cut(name, "/")
			cmd := testkit.Command(t, os.Args[0], "-test.run=^TestBad$/^"+part+"$", "-test.timeout=4m") // on a busy machine, starting the process alone takes seconds
			cmd.Env = append(os.Environ(), which+"="+name)
			out, err := cmd.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed || strings.Contains(string(out), "test timed out") {
				t.Errorf("the suite did not find it: %v\n%s", err, out)
			}
		})
	}
}
