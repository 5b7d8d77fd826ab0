package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"earshot"
	"earshot/executive"
)

// flushed measures B3, from an interruption to the outlet that has fallen
// silent and said so: a message and the command stop in turns, into a reply
// that streams as fast as it is taken. The bare thing is a context that is
// cancelled, and a goroutine that sees it.
func flushed(ctx context.Context, b bench) ([]Row, error) {
	memory, err := b.flush(ctx, "flushed-memory", sink{})
	if err != nil {
		return nil, err
	}
	memory.Name = "B3 cut → flushed, in memory"
	s, err := openScreen()
	if err != nil {
		return []Row{memory}, err
	}
	console, err := b.flush(ctx, "flushed-console", s)
	console.Name = "B3 cut → flushed, console on a pty"
	return []Row{memory, console}, errors.Join(err, s.Close())
}

// flush measures one outlet.
func (b bench) flush(ctx context.Context, name string, o earshot.Outlet) (Row, error) {
	s, err := b.openStore(ctx, name)
	if err != nil {
		return Row{}, err
	}
	h := open(ctx, furniture{model: ladder(&engine{}), journal: s, outlet: o, settings: executive.DefaultConfig()})
	ours, bare, err := b.compare(func() ([]float64, error) { return cutTwice(ctx, h, silence) }, cancelBare)
	h.leave()
	if err := errors.Join(err, s.Close()); err != nil {
		return Row{}, err
	}
	return row("", "µs", ours, bare, "").goal("p99", ours.P99, 1000), nil
}

// An effect waits for what follows from a cut, once the outlet has ended and
// the reply is on record, and returns when it came.
type effect func(ended time.Time, r earshot.Reply) (time.Time, error)

// silence is the effect that every cut has.
func silence(ended time.Time, _ earshot.Reply) (time.Time, error) { return ended, nil }

// cutTwice begins a reply, cuts it by a message, whose reply it cuts by the
// command stop, and returns how long it took each time until the effect. It
// leaves the house still.
func cutTwice(ctx context.Context, h *house, seen effect) ([]float64, error) {
	var samples []float64
	if _, err := h.say(ctx, "tell me about the tides"); err != nil {
		return nil, err
	}
	for _, cut := range []func() (time.Time, error){
		func() (time.Time, error) { return h.say(ctx, "no, tell me about the moon") },
		func() (time.Time, error) { return h.stop(ctx) },
	} {
		took, hit, err := cutOnce(h, cut, seen)
		if err != nil {
			return nil, err
		}
		if hit {
			samples = append(samples, took)
		}
	}
	return samples, nil
}

// cutOnce cuts the reply that begins, and reports whether that was still going
// on: on a busy machine it may have come to its end before.
func cutOnce(h *house, cut func() (time.Time, error), seen effect) (took float64, hit bool, err error) {
	if _, err = await("the first of a speech is out", h.first); err != nil {
		return 0, false, err
	}
	if _, err = await("the speech goes on", h.going); err != nil {
		return 0, false, err
	}
	h.after.Store(1 + rand.Int64N(20)) // of the next: a cut comes at any time
	at, err := cut()
	if err != nil {
		return 0, false, err
	}
	end, err := await("the speech has ended", h.ended)
	if err != nil {
		return 0, false, err
	}
	r, err := await("the reply is on record", h.replies)
	if err != nil || r.Outcome != earshot.Interrupted {
		return 0, false, err
	}
	when, err := seen(end, r)
	return micros(when.Sub(at)), true, err
}

// cancelBare cancels a context for which a goroutine waits.
func cancelBare() ([]float64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	seen, ready := make(chan time.Time, 1), make(chan struct{})
	go func() { // until cancel
		close(ready)
		<-ctx.Done()
		seen <- time.Now()
	}()
	<-ready
	at := time.Now()
	cancel()
	when, err := await("the context is seen to have ended", seen)
	return []float64{micros(when.Sub(at))}, err
}
