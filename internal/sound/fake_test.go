package sound_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/deck"
)

// A fake is an honest helper in simulated time. It captures frames whose first sample is their
// number, and plays through a real deck. A test makes it misbehave through its hooks.
type fake struct {
	server *helper.Server

	// control, if set, sees each message first, and reports whether it has dealt with it.
	control func(f *fake, c helper.Control) bool

	mu     sync.Mutex
	input  uint32 // number of the open capture, or 0
	output uint32
	dumb   bool // captures nothing
	frozen bool // plays nothing
	deck   *deck.Deck
	played []int16 // what was played, without silence
	heard  []string
	frames int16
}

// work runs the helper.
func (f *fake) work(ctx context.Context, s *helper.Server) error {
	f.mu.Lock()
	f.server, f.input, f.output, f.deck = s, 0, 0, nil
	f.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { f.capture(ctx) })
	parts.Go(func() { f.play(ctx) })
	parts.Go(func() { s.Sounds(f.sound) })
	s.Send(sound.SayReady, nil)
	err := s.Controls(f.take)
	stop()
	parts.Wait()
	return err
}

func (f *fake) take(c helper.Control) error {
	f.mu.Lock()
	f.heard = append(f.heard, c.Name)
	f.mu.Unlock()
	if f.control != nil && f.control(f, c) {
		return nil
	}
	return f.obey(c)
}

// obey does what an honest helper does.
func (f *fake) obey(c helper.Control) error {
	switch c.Name {
	case sound.SayOpen:
		var o sound.Open
		c.Decode(&o)
		f.mu.Lock()
		if o.Output {
			f.output, f.deck = o.Number, deck.New(o.Volume)
		} else {
			f.input = o.Number
		}
		f.mu.Unlock()
		return f.server.Send(sound.SayOpened, sound.Opened{Number: o.Number, Device: "fake"})
	case sound.SayClose:
		var s sound.Stream
		c.Decode(&s)
		f.mu.Lock()
		switch s.Number {
		case f.input:
			f.input = 0
		case f.output:
			f.output = 0
		}
		f.mu.Unlock()
		return f.server.Send(sound.SayClosed, s)
	case sound.SayPlay:
		var p sound.Play
		c.Decode(&p)
		f.deck.Play(p.Number, p.Rate)
		return f.server.Send(sound.SayPlayed, sound.Played{Play: p.Number, Credit: deck.Most(p.Rate)})
	case sound.SayDo:
		var d sound.Do
		c.Decode(&d)
		f.deck.Do(d.Number, d.Control)
	case sound.SayFinish:
		var e sound.Finish
		c.Decode(&e)
		f.deck.Finish(e.Number, e.Samples)
	case sound.SayDevices:
		return f.server.Send(sound.SayListed, sound.Devices{Server: "fake", Inputs: []sound.Device{{Name: "mic", Default: true}}})
	}
	return nil
}

// capture sends a frame every 20 ms while a capture is open.
func (f *fake) capture(ctx context.Context) {
	every := time.NewTicker(audio.Time)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			f.mu.Lock()
			number := f.input
			dumb := f.dumb
			f.frames++
			n := f.frames
			f.mu.Unlock()
			if number == 0 || dumb {
				continue
			}
			frame := audio.Frame{At: now.Add(-audio.Time)}
			frame.PCM[0] = n
			if f.server.SendSound(number, frame.Append(nil)) != nil {
				return
			}
		}
	}
}

// play plays 10 ms every 10 ms while a playback is open.
func (f *fake) play(ctx context.Context) {
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		f.mu.Lock()
		d := f.deck
		still := f.output == 0 || f.frozen
		f.mu.Unlock()
		if d == nil || still {
			continue
		}
		pcm := make([]int16, audio.Rate/100)
		d.Next(pcm)
		f.mu.Lock()
		for _, s := range pcm {
			if s != 0 {
				f.played = append(f.played, s)
			}
		}
		f.mu.Unlock()
		if r, ok := d.Played(0); ok && f.server.Send(sound.SayPlayed, r) != nil {
			return
		}
	}
}

func (f *fake) sound(m helper.Sound) error {
	pcm := make([]int16, len(m.Data)/2)
	audio.DecodePCM(pcm, m.Data)
	return f.deck.Add(m.Stream, pcm)
}

// set changes f while it runs.
func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// said returns the names of the messages that the client has sent.
func (f *fake) said() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.heard...)
}

// A house is a card with a fake helper, which runs once.
type house struct {
	*sound.Card
	fake *fake
	stop context.CancelFunc
	end  chan error // the error of Run
	done bool
}

// start runs a card on f, or on an honest fake if f is nil. Call it within a synctest bubble, and
// defer close.
func start(t *testing.T, f *fake) *house {
	if f == nil {
		f = new(fake)
	}
	h := &house{fake: f, end: make(chan error, 1)}
	h.Card = sound.New(helpertest.Dialer(sound.Helper, f.work), slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	go func() { h.end <- h.Run(ctx) }()
	return h
}

// wait waits for Run to end and returns its error.
func (h *house) wait() error {
	h.done = true
	return <-h.end
}

// close stops the card.
func (h *house) close() {
	h.stop()
	if !h.done {
		h.wait()
	}
}

// A diary records the positions of a speech. It fails the test if they go back, or go on after the
// end.
type diary struct {
	t    testing.TB
	mu   sync.Mutex
	at   sound.Position
	over chan struct{}
}

func newDiary(t testing.TB) *diary { return &diary{t: t, over: make(chan struct{})} }

func (d *diary) moved(at sound.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.End {
		d.t.Errorf("%+v after the end", at)
		return
	}
	if at.Samples < d.at.Samples {
		d.t.Errorf("%+v after %+v", at, d.at)
	}
	if d.at = at; at.End {
		close(d.over)
	}
}

func (d *diary) position() sound.Position {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
}
