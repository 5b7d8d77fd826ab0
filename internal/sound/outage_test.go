package sound_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
)

// An outage is a way to lose sound, and how it comes back.
type outage struct {
	name    string
	lose    func(*rig) error
	mend    func(context.Context, *rig) error
	card    bool // the whole card goes, not one device
	in, out bool // which of the two streams end
}

var outages = []outage{
	{
		name: "microphone unplugged, and nothing else is one",
		lose: func(r *rig) error { return r.server.Unload(soundtest.Microphone) },
		mend: func(_ context.Context, r *rig) error { return r.plugged(soundtest.Microphone) },
		in:   true,
	},
	{
		name: "loudspeaker unplugged, and what is left is heard by the microphone",
		lose: func(r *rig) error { return r.server.Unload(soundtest.Speaker) },
		mend: func(_ context.Context, r *rig) error { return r.plugged(soundtest.Speaker) },
		out:  true,
	},
	{
		name: "server killed",
		lose: func(r *rig) error { r.server.Kill(); return nil },
		mend: func(ctx context.Context, r *rig) error { return r.server.Restart(ctx) },
		card: true, in: true, out: true,
	},
	{
		name: "server frozen",
		lose: func(r *rig) error { return r.server.Freeze() },
		mend: func(_ context.Context, r *rig) error { return r.server.Thaw() },
		card: true, in: true, out: true,
	},
	{
		name: "helper killed",
		lose: func(r *rig) error { return r.kill() },
		mend: func(context.Context, *rig) error { return nil },
		card: true, in: true, out: true,
	},
}

// plugged plugs a device in again.
func (r *rig) plugged(name string) error {
	return errors.Join(r.server.Load(name), r.server.Default())
}

// TestRealOutages: whatever is lost during capture and playback, the errors and notices are true,
// each notice comes once, and everything works again afterwards.
func TestRealOutages(t *testing.T) {
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for range times() {
				r.suffer(t, o)
				if t.Failed() {
					return
				}
			}
			// On a busy machine a server that has just started may end once more, which is told
			// too.
			least, most := 0, 0
			if o.card {
				least, most = 2*times(), 4*times()
			}
			if n := r.said(); n < least || n > most || !r.alternate() {
				t.Errorf("%d notices, want %d: one when it is gone, one when it is back", n, least)
			}
		})
	}
}

// suffer performs an outage once.
func (r *rig) suffer(t *testing.T, o outage) {
	ctx, stop := context.WithTimeout(t.Context(), 2*soon)
	defer stop()
	if o.card {
		testkit.Await(t, testkit.Patience, "the card is well", r.alternate)
	}
	said := r.said()
	in, out := r.input(ctx, ""), r.output(ctx, "")
	captured := make(chan error, 1)
	frames := make(chan struct{}, 1)
	listen, quiet := context.WithCancel(ctx)
	go func() {
		defer close(captured)
		for _, err := range in.Frames(listen) {
			if err != nil {
				captured <- err
				return
			}
			select {
			case frames <- struct{}{}:
			default:
			}
		}
	}()
	d := newDiary(t)
	p, err := out.Play(audio.Rate, d.moved)
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- p.Write(ctx, counted(100*16000)) }()
	testkit.Await(t, soon, "it plays and captures", func() bool { return d.position().Samples > 3000 && len(frames) > 0 })

	began := time.Now()
	if err := o.lose(r); err != nil {
		t.Fatal(err)
	}
	if o.in {
		if err := testkit.Receive(t, testkit.Patience, "the end of the capture", captured); !told(err, o.card) {
			t.Errorf("the capture ended with %v", err)
		}
	}
	if o.out {
		if err := testkit.Receive(t, testkit.Patience, "the end of the speech", wrote); !told(err, o.card) {
			t.Errorf("the speech ended with %v", err)
		}
		testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
		testkit.Receive(t, testkit.Patience, "the loss of the loudspeaker", out.Lost())
	}
	t.Logf("noticed after %v", time.Since(began).Round(time.Millisecond))
	if err := o.mend(ctx, r); err != nil {
		t.Fatal(err)
	}
	if !o.out {
		at := d.position().Samples
		testkit.Await(t, soon, "the speech goes on", func() bool { return d.position().Samples > at+3000 })
	}
	quiet()
	out.Close()
	testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
	if !o.out {
		testkit.Receive(t, testkit.Patience, "the end of the speech", wrote)
	}
	for err := range captured {
		t.Errorf("the capture ended, too: %v", err)
	}
	if o.card {
		testkit.Await(t, testkit.Patience, "the card is back", func() bool { return r.said() >= said+2 && r.alternate() })
	}
	t.Logf("well again after %v", time.Since(began).Round(time.Millisecond))
}

// told reports whether err says the right thing: that the card is gone, or what is wrong with the
// device and how to mend it.
func told(err error, card bool) bool {
	if card {
		return errors.Is(err, sound.ErrCard)
	}
	return hasCure("")(err)
}

// TestRealMoved: a stream that the server moves goes on if no device was named, and is lost
// otherwise.
func TestRealMoved(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), 2*soon)
	defer stop()
	if err := r.server.AddSource("other"); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{"", soundtest.Source} {
		in := r.input(ctx, device)
		n, moved := 0, 0
		var ended error
		for _, err := range in.Frames(ctx) {
			if ended = err; err != nil {
				break
			}
			if n++; n == 10 {
				if err := r.server.MoveSources("other"); err != nil {
					t.Fatal(err)
				}
				moved = n
			}
			if device == "" && moved > 0 && n > moved+150 { // the device is checked each second
				break
			}
		}
		if device == "" && ended != nil {
			t.Errorf("moved, it ended with %v", ended)
		}
		if device != "" && !hasCure("")(ended) {
			t.Errorf("the microphone that was named is lost, and it ended with %v", ended)
		}
	}
}

// TestRealSuspended: if a device is suspended, the device is lost but not the card.
func TestRealSuspended(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), 2*soon)
	defer stop()
	if err := r.server.AddSource("other"); err != nil {
		t.Fatal(err)
	}
	in := r.input(ctx, "other")
	n := 0
	for _, err := range in.Frames(ctx) {
		if n++; n == 10 {
			if err := r.server.Suspend("other", true); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil && !hasCure("")(err) {
			t.Errorf("ended with %v", err)
		}
	}
	if r.said() != 0 {
		t.Error("the card went, too")
	}
	if err := r.server.Suspend("other", false); err != nil {
		t.Fatal(err)
	}
	r.input(ctx, "other").Close()
}

// TestRealNoPlugin: if ALSA does not lead to the sound server, no other device is used in place of
// the one that was asked for.
func TestRealNoPlugin(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), 2*soon)
	defer stop()
	r.input(ctx, "").Close()
	if err := errors.Join(r.server.Unplug(), r.kill()); err != nil {
		t.Fatal(err)
	}
	const cure = "apt-get install libasound2-plugins"
	if _, err := r.card.Input(ctx, soundtest.Source); !hasCure(cure)(err) {
		t.Errorf("the microphone: %v", err)
	}
	if _, err := r.card.Output(ctx, "", 1); !hasCure(cure)(err) {
		t.Errorf("the loudspeaker: %v", err)
	}
}
