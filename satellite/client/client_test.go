package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/testkit"
	"earshot/satellite"
	"earshot/satellite/client"
	"earshot/satellite/hub"
)

// speak has somebody speak at the satellite for some time.
func (h *house) speak(d time.Duration) {
	h.card.set(func() { h.card.voiced = true })
	time.Sleep(d)
	h.card.set(func() { h.card.voiced = false })
}

// listen has the hub listen, again and again, until the returned function is called.
func (h *house) listen(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() {
		for ctx.Err() == nil {
			in, err := h.hub.Input(ctx, "the hub's own")
			if err != nil {
				if _, ok := errors.AsType[*sound.Fault](err); ok {
					time.Sleep(time.Second)
				}
				continue
			}
			for range in.Frames(ctx) {
			}
		}
	})
	return func() { cancel(); listening.Wait() }
}

// TestHearing: what is said at the satellite comes to the hub whole, in order and with its times, and
// between it one quiet packet a second; the microphone is closed when the hub closes it.
func TestHearing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, func(c *client.Config) { c.Microphone = "mine" })
		defer stop()
		away := h.listen(t)
		time.Sleep(5 * time.Second)
		if s := h.status(); !s.Connected || s.Room != "the kitchen" || s.Microphone != client.Listening {
			t.Errorf("status %+v", s)
		}
		if got := h.hub.heard(); len(got) != 0 {
			t.Errorf("%d packets came although nobody spoke", len(got))
		}
		h.hub.look(func() {
			if n := len(h.hub.quiet); n < 4 || n > 6 || h.hub.quiet[0].Level != -96 {
				t.Errorf("%d quiet packets within five seconds", n)
			}
		})
		h.speak(time.Second)
		time.Sleep(2 * time.Second)
		got := h.hub.heard()
		if n := 15 + 50 + 30; len(got) < n-1 || len(got) > n+1 { // before it, of it, after it
			t.Errorf("%d packets", len(got))
		}
		for i := range got {
			if got[i] != got[0]+i {
				t.Fatalf("frames %v", got)
			}
		}
		h.hub.look(func() {
			first, last := h.hub.packets[0], h.hub.packets[len(got)-1]
			if last.At.Sub(first.At) != time.Duration(len(got)-1)*audio.Time || time.Since(last.At)-codec.OpusDelay > 2*time.Second || first.Voiced || !h.hub.packets[20].Voiced {
				t.Errorf("%+v to %+v", first, last)
			}
		})
		var o sound.Open
		h.card.set(func() { h.card.told[0].Decode(&o) })
		if o.Device != "mine" {
			t.Errorf("it opened %q", o.Device)
		}
		away()
		time.Sleep(time.Second)
		if h.card.count(sound.SayClose) != 1 || h.status().Microphone != client.Paused {
			t.Errorf("the microphone is %s", h.status().Microphone)
		}
	})
}

// A speech is one that the hub plays, and where it ended.
type speech struct {
	*sound.Playing
	at chan sound.Position // the last position
}

// say plays so many samples at the satellite, each of its own value, from another goroutine.
func (h *house) say(t *testing.T, samples int) *speech { return say(t, h.hub.Card, samples) }

func say(t *testing.T, c *sound.Card, samples int) (s *speech) {
	out, err := c.Output(t.Context(), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	s = &speech{at: make(chan sound.Position, 1)}
	if s.Playing, err = out.Play(audio.Rate, func(p sound.Position) {
		if p.End {
			s.at <- p
		}
	}); err != nil {
		t.Fatal(err)
	}
	go func() {
		pcm := make([]int16, samples)
		for i := range pcm {
			pcm[i] = int16(i%30000 + 1)
		}
		if s.Write(t.Context(), pcm) == nil {
			s.Finish()
		}
	}()
	return s
}

// TestSpeaking: what the hub plays is played to the sample, and the hub knows how far; after a cut
// it knows what was heard.
func TestSpeaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		s := h.say(t, 20000)
		if at := testkit.Receive(t, testkit.Patience, "the speech ends", s.at); at.Samples != 20000 || len(h.card.sounded()) != 20000 || h.card.sounded()[19999] != 20000 {
			t.Errorf("%d of %d samples were played", at.Samples, len(h.card.sounded()))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		s := h.say(t, 20000)
		time.Sleep(500 * time.Millisecond)
		s.Do(earshot.Cut)
		at := testkit.Receive(t, testkit.Patience, "the speech ends", s.at)
		if len(h.card.sounded()) > int(at.Samples)+16*5 || at.Samples > 16*530 || at.Samples < 16*400 {
			t.Errorf("cut at %d, when %d were played", at.Samples, len(h.card.sounded()))
		}
	})
}

// TestCutOvertakesSound: a cut gets to the device although it takes no sound.
func TestCutOvertakesSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		jam := make(chan struct{})
		defer close(jam)
		h.card.set(func() { h.card.jam = jam })
		s := h.say(t, 20000)
		time.Sleep(100 * time.Millisecond)
		s.Do(earshot.Cut)
		if at := testkit.Receive(t, testkit.Patience, "the speech ends", s.at); at.Samples != 0 || h.card.count(sound.SayDo) != 1 {
			t.Errorf("cut at %d", at.Samples)
		}
	})
}

// TestMute: a muted microphone is closed at once and not opened, whatever the hub does, and the hub
// knows it; also one that was muted before the satellite joined.
func TestMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		defer h.listen(t)()
		time.Sleep(2 * time.Second)
		h.speak(500 * time.Millisecond)
		h.Mute(true)
		n := len(h.hub.heard())
		h.speak(10 * time.Second)
		if got := len(h.hub.heard()); got != n || h.card.count(sound.SayOpen) != 1 || h.card.count(sound.SayClose) != 1 || h.status().Microphone != client.Muted {
			t.Errorf("%d packets came, then %d; it is %s, opened %d times", n, got-n, h.status().Microphone, h.card.count(sound.SayOpen))
		}
		h.Mute(false)
		time.Sleep(2 * time.Second)
		h.hub.look(func() {
			if !slices.Equal(h.hub.states, []satellite.State{{Muted: true}, {Muted: false}}) {
				t.Errorf("the hub was told %v", h.hub.states)
			}
		})
		if h.card.count(sound.SayOpen) != 2 || h.status().Microphone != client.Listening {
			t.Errorf("it is %s after that", h.status().Microphone)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, func(c *client.Config) { c.Muted = true })
		defer stop()
		defer h.listen(t)()
		h.speak(5 * time.Second)
		h.hub.lies.Store(true)
		h.hub.look(func() { // by whatever it may send
			for _, say := range []string{sound.SayOpen, sound.SayClose, sound.SayDo, sound.SayFinish, satellite.SayGate, satellite.SayAsk} {
				h.hub.now.Send(say, map[string]any{"number": 1000, "for": time.Hour})
			}
			h.hub.now.Send(sound.SayOpen, sound.Open{Number: 1001})
		})
		h.speak(5 * time.Second)
		if len(h.hub.heard()) != 0 || h.card.count(sound.SayOpen) != 0 || !h.hub.joined()[0].Muted {
			t.Errorf("%d packets came; the microphone was opened %d times", len(h.hub.heard()), h.card.count(sound.SayOpen))
		}
	})
}

// TestLost: when the connection goes in the middle of an utterance and of a reply, the reply is cut
// at once, where the hub says that it was; the utterance comes whole when there is a connection again,
// and the microphone is closed meanwhile once it is over.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		defer h.listen(t)()
		time.Sleep(3 * time.Second)
		s := h.say(t, 160000)
		h.card.set(func() { h.card.voiced = true })
		time.Sleep(2 * time.Second)
		first := h.hub.heard()[0]
		h.wire.pull(true)
		time.Sleep(50 * time.Millisecond)
		played := len(h.card.sounded())
		if s := h.status(); s.Connected || s.Why == "" || s.Microphone != client.Listening || h.card.count(sound.SayDo) != 1 {
			t.Errorf("status %+v", s)
		}
		time.Sleep(10 * time.Second)
		h.card.set(func() { h.card.voiced = false })
		time.Sleep(2 * time.Second)
		if h.status().Microphone != client.Paused || len(h.card.sounded()) != played {
			t.Errorf("the microphone is %s; %d samples were played on", h.status().Microphone, len(h.card.sounded())-played)
		}
		if at := testkit.Receive(t, testkit.Patience, "the speech ends", s.at); int(at.Samples) > played || played-int(at.Samples) > 16*60 {
			t.Errorf("%d samples were played, and the hub knows of %d", played, at.Samples)
		}
		h.wire.pull(false)
		time.Sleep(15 * time.Second)
		got := h.hub.heard()
		slices.Sort(got)
		got = slices.Compact(got) // by their times the hub knows those that it has
		if len(got) < 12*50+30 || got[0] != first || got[len(got)-1] != first+len(got)-1 {
			t.Errorf("%d packets, %d to %d", len(got), got[0], got[len(got)-1])
		}
		connected := 0
		for i, s := range h.statuses {
			if s.Connected != (i > 0 && h.statuses[i-1].Connected) {
				connected++
			}
		}
		if connected != 3 || !h.status().Connected {
			t.Errorf("it was told %d times that the connection is another", connected)
		}
		h.speak(time.Second)
		if after := h.hub.heard(); after[len(after)-1] <= got[len(got)-1] {
			t.Error("nothing is heard later")
		}
	})
}

// TestHealed: who speaks on while the connection is away is heard without a gap.
func TestHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		defer h.listen(t)()
		time.Sleep(3 * time.Second)
		h.card.set(func() { h.card.voiced = true })
		time.Sleep(2 * time.Second)
		h.wire.pull(true)
		time.Sleep(4 * time.Second)
		h.wire.pull(false)
		time.Sleep(10 * time.Second)
		got := h.hub.heard()
		slices.Sort(got)
		got = slices.Compact(got)
		if len(got) < 15*50 || got[len(got)-1] != got[0]+len(got)-1 || h.card.lives.Load() != 1 || h.card.count(sound.SayOpen) != 1 {
			t.Errorf("%d packets, %d to %d; the device was started %d times", len(got), got[0], got[len(got)-1], h.card.lives.Load())
		}
		if h.Dropped() != 0 {
			t.Errorf("%d packets were dropped", h.Dropped())
		}
	})
}

// TestSilentHub: a hub that says nothing is gone, even if the bus is there.
func TestSilentHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		time.Sleep(5 * time.Second)
		s := h.say(t, 160000)
		time.Sleep(time.Second)
		h.hub.mute.Store(true)
		time.Sleep(satellite.Silence + satellite.ClockEvery)
		if len(h.hub.joined()) < 2 || h.card.count(sound.SayDo) != 1 {
			t.Errorf("joined %d times", len(h.hub.joined()))
		}
		testkit.Receive(t, testkit.Patience, "the speech ends", s.at)
	})
}

// TestEnded: a satellite whose hub ends the session joins again at once.
func TestEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		time.Sleep(5 * time.Second)
		h.hub.look(func() { h.hub.now.Send(sound.SayDown, sound.Fault{Text: "another has the room"}) })
		time.Sleep(time.Second)
		if n := len(h.hub.joined()); n != 2 {
			t.Errorf("joined %d times", n)
		}
	})
}

// TestIdle: a satellite where nobody speaks sends at most 2 kB a second.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		defer h.listen(t)()
		time.Sleep(5 * time.Second)
		sent := func() int {
			h.wire.mu.Lock()
			defer h.wire.mu.Unlock()
			return h.wire.bytes
		}
		before := sent()
		time.Sleep(time.Minute)
		t.Logf("%d bytes a second, both ways", (sent()-before)/60)
		if perSecond := (sent() - before) / 60; perSecond > 2000 {
			t.Errorf("%d bytes a second", perSecond)
		}
	})
}

// TestDevice: a sound card that fails is told once, the session is joined anew, and all goes on when
// it is back.
func TestDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		defer h.listen(t)()
		h.speak(2 * time.Second)
		h.card.set(func() {
			h.card.server.Send(sound.SayDown, sound.Fault{Text: "the sound server is gone", Fix: "start it"})
		})
		time.Sleep(10 * time.Second)
		h.speak(2 * time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.notices) != 2 || h.notices[0].Key != "sound card" || h.notices[0].Cure != "start it" || !h.notices[1].Over {
			t.Errorf("told %v", h.notices)
		}
		if got := h.hub.heard(); len(h.hub.joined()) != 2 || h.card.lives.Load() != 2 || got[len(got)-1] < 13*50 {
			t.Errorf("joined %d times, with %d lives of the device", len(h.hub.joined()), h.card.lives.Load())
		}
	})
}

// TestNewHub: when the hub was started anew, and so numbers its streams as it did before, the device is
// another, too, also if somebody is speaking.
func TestNewHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		defer h.listen(t)()
		time.Sleep(3 * time.Second)
		h.card.set(func() { h.card.voiced = true })
		time.Sleep(time.Second)
		h.hub.look(func() { h.hub.now.Send(sound.SayOpen, sound.Open{Number: 1, Output: true}) })
		time.Sleep(5 * time.Second)
		got := h.hub.heard()
		if h.card.lives.Load() != 2 || len(h.hub.joined()) != 2 || h.status().Microphone != client.Listening || got[len(got)-1] < 8*50 {
			t.Errorf("%d lives of the device, joined %d times, %+v", h.card.lives.Load(), len(h.hub.joined()), h.status())
		}
	})
}

// TestNoCard: without a sound card the satellite says so, and stays.
func TestNoCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, func(c *client.Config) {
			c.Sound = func() (helper.Link, error) { return nil, &helper.MissingError{Name: sound.Helper} }
		})
		defer stop()
		time.Sleep(time.Minute)
		if s := h.status(); !s.Connected || s.Microphone != client.Missing || len(h.notices) != 1 || len(h.hub.joined()) != 1 {
			t.Errorf("%+v, told %v", s, h.notices)
		}
	})
}

// A spotter finds a name when the test says so.
type spotter struct {
	client.Recogniser

	mu     sync.Mutex
	called func()
	frames int
}

func (s *spotter) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (s *spotter) Spot(*audio.Frame)             { s.mu.Lock(); defer s.mu.Unlock(); s.frames++ }

// name has a name noticed, and returns in how many frames one was sought.
func (s *spotter) name() int {
	s.mu.Lock()
	called, n := s.called, s.frames
	s.mu.Unlock()
	called()
	return n
}

// TestWake: with a spotter nothing of the room leaves the machine until a name is noticed or the hub
// opens the gate; what was said just before comes, too.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seeks := new(spotter)
		h, stop := start(t, func(c *client.Config) {
			c.Wake, c.Spotter = true, func(names []string, called func()) client.Recogniser {
				if !slices.Equal(names, []string{"Earshot"}) {
					t.Errorf("it seeks %q", names)
				}
				seeks.mu.Lock()
				defer seeks.mu.Unlock()
				seeks.called = called
				return seeks
			}
		})
		defer stop()
		defer h.listen(t)()
		h.speak(10 * time.Second)
		if got := h.hub.heard(); len(got) != 0 || h.status().Microphone != client.Waiting {
			t.Errorf("%d packets came; it is %s", len(got), h.status().Microphone)
		}
		h.hub.look(func() {
			for _, p := range h.hub.quiet {
				p.At = time.Time{}
				if p.Level != audio.Silence || p.Frame != (audio.Frame{}) || string(p.Opus) != "\xf8\xff\xfe" {
					t.Fatalf("a quiet packet is %+v", p)
				}
			}
			if n := len(h.hub.quiet); n < 8 {
				t.Errorf("%d quiet packets", n)
			}
		})
		h.card.set(func() { h.card.voiced = true })
		time.Sleep(time.Second)
		if n := seeks.name(); n < 10*50 {
			t.Errorf("names were sought in %d frames", n)
		}
		time.Sleep(time.Second)
		if h.status().Microphone != client.Listening {
			t.Errorf("it is %s", h.status().Microphone)
		}
		h.card.set(func() { h.card.voiced = false })
		time.Sleep(9 * time.Second)
		if n := len(h.hub.heard()); n < 3*50 || n > 5*50 || h.status().Microphone != client.Waiting {
			t.Errorf("%d packets came after the name", n)
		}
		n := len(h.hub.heard())
		h.speak(time.Second)
		if got := len(h.hub.heard()); got != n {
			t.Errorf("%d more came", got-n)
		}
		h.hub.look(func() { h.hub.now.Send(satellite.SayGate, satellite.Gate{For: 5 * time.Second}) })
		h.speak(2 * time.Second)
		time.Sleep(time.Second)
		if got := len(h.hub.heard()); got < n+2*50 {
			t.Errorf("%d came when the hub asked", got-n)
		}
	})
}

// TestReplay: a message that comes again opens nothing, and ends the session; one of an earlier session
// does nothing.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := start(t, nil)
		defer stop()
		var opening []byte // of the microphone, as it was on the bus
		tap, err := h.wire.Subscribe(t.Context(), satellite.Prefix("kitchen")+"down.control", func(m bus.Message) {
			if opening == nil && bytes.Contains(m.Data, []byte(sound.SayOpen)) {
				opening = slices.Clone(m.Data)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer tap()
		time.Sleep(time.Second)
		h.listen(t)()
		away := h.listen(t)
		time.Sleep(time.Second)
		away()
		time.Sleep(time.Second)
		opens := h.card.count(sound.SayOpen)
		for range 2 { // of this session, and then of an earlier one
			h.wire.Publish(satellite.Prefix("kitchen")+"down.control", opening)
			time.Sleep(10 * time.Second)
		}
		if h.card.count(sound.SayOpen) != opens || len(h.hub.joined()) != 2 || !h.status().Connected {
			t.Errorf("the microphone was opened %d times; it joined %d times", h.card.count(sound.SayOpen), len(h.hub.joined()))
		}
	})
}

// TestRefused: who is not let in says why, and what to do.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []client.Status
		b := new(bus.Local)
		c := client.New(client.Config{
			ID: "kitchen", Connect: func(context.Context) (bus.Bus, error) { return b, nil }, Sound: helpertest.Dialer(sound.Helper, new(card).work), Media: helpertest.Dialer("media", encode),
			Notice: func(earshot.Notice) {}, Changed: func(s client.Status) { got = append(got, s) },
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.Run(ctx) })
		time.Sleep(time.Minute)
		stop, err := b.Subscribe(ctx, satellite.JoinPattern, func(m bus.Message) { m.Respond([]byte(`{"error":"kitchen is not paired","cure":"pair it"}`)) })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		cancel()
		testkit.Finish(t, testkit.Patience, "the satellite ends", running.Wait)
		stop()
		if len(got) != 3 || !strings.Contains(got[1].Why, "is on the bus") || !strings.Contains(got[2].Why, "not paired; pair it") {
			t.Errorf("%+v", got)
		}
	})
}

// A leavingBus goes away when somebody asks for something.
type leavingBus struct {
	bus.Bus
	gone atomic.Bool
}

func (l *leavingBus) Request(context.Context, string, []byte) ([]byte, error) {
	l.gone.Store(true)
	return nil, bus.ErrFull
}

func (l *leavingBus) Connected() (bool, <-chan struct{}) {
	is, changed := l.Bus.Connected()
	return is && !l.gone.Load(), changed
}

// TestGoneWhileAsking: a bus that goes away before the hub has answered is a lost connection.
func TestGoneWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var is client.Status
		c := client.New(client.Config{
			ID: "kitchen", Connect: func(context.Context) (bus.Bus, error) { return &leavingBus{Bus: new(bus.Local)}, nil },
			Sound: helpertest.Dialer(sound.Helper, new(card).work), Media: helpertest.Dialer("media", encode),
			Notice: func(earshot.Notice) {}, Changed: func(s client.Status) { is = s },
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.Run(ctx) })
		time.Sleep(time.Minute)
		cancel()
		testkit.Finish(t, testkit.Patience, "the satellite ends", running.Wait)
		if is.Connected || is.Why != "the connection was lost" {
			t.Errorf("%+v", is)
		}
	})
}

// A slowBus is one on which an answer takes its time.
type slowBus struct {
	bus.Local
	takes time.Duration
}

// Request implements [bus.Bus].
func (b *slowBus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	select {
	case <-time.After(b.takes):
		return b.Local.Request(ctx, subject, data)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TestSlowAnswer: a satellite is joined also if the answer takes longer on its way than the satellite first waits
// before it asks again.
func TestSlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBus{takes: 1200 * time.Millisecond}
		h := &house{card: new(card)}
		stop := h.run(t, b, client.Config{
			Connect: func(context.Context) (bus.Bus, error) { return b, nil },
			Sound:   helpertest.Dialer(sound.Helper, h.card.work), Media: helpertest.Dialer("media", encode),
		})
		defer stop()
		time.Sleep(time.Minute)
		if is := h.status(); !is.Connected {
			t.Errorf("%+v", is)
		}
	})
}

// TestEarlierOwner: a daemon that has lost the room to another one does not get its satellites back.
func TestEarlierOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var connected []bool
		var why string
		b := new(bus.Local)
		c := client.New(client.Config{
			ID: "kitchen", Connect: func(context.Context) (bus.Bus, error) { return b, nil }, Sound: helpertest.Dialer(sound.Helper, new(card).work), Media: helpertest.Dialer("media", encode),
			Notice: func(earshot.Notice) {}, Changed: func(s client.Status) {
				mu.Lock()
				defer mu.Unlock()
				connected, why = append(connected, s.Connected), s.Why
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.Run(ctx) })
		for n, tt := range []struct {
			fence    int64
			admitted bool
		}{{5, true}, {4, false}, {-1, false}, {4, false}, {5, true}, {6, true}, {0, true}, {1, true}} { // 0 is of a daemon that is alone, -1 refuses
			mu.Lock()
			connected = nil
			mu.Unlock()
			stop, err := b.Subscribe(ctx, satellite.JoinPattern, func(m bus.Message) {
				if tt.fence < 0 {
					m.Respond([]byte(`{"error": "lost the room"}`))
					return
				}
				m.Respond(fmt.Appendf(nil, `{"session": %d, "room": "the den", "fence": %d}`, n+1, tt.fence))
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			stop()
			mu.Lock()
			if slices.Contains(connected, true) != tt.admitted || !tt.admitted && !strings.Contains(why, "lost the room") {
				t.Errorf("%d: with the fence %d: connected %v, %s", n, tt.fence, connected, why)
			}
			mu.Unlock()
		}
		cancel()
		testkit.Finish(t, testkit.Patience, "the satellite ends", running.Wait)
	})
}

// TestReceipt: a satellite brings the next hub the last receipt that it was given, once, and none that is not
// needed any more.
func TestReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(bus.Local)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		c := client.New(client.Config{
			ID: "kitchen", Connect: func(context.Context) (bus.Bus, error) { return b, nil }, Sound: helpertest.Dialer(sound.Helper, new(card).work), Media: helpertest.Dialer("media", encode),
			Notice: func(earshot.Notice) {}, Changed: func(client.Status) {},
		})
		running.Go(func() { c.Run(ctx) })
		for n, tt := range []struct {
			brings string
			gives  []string // an empty one says that none is needed
		}{{"", []string{"one", "one two"}}, {"one two", nil}, {"", []string{"three", ""}}, {"", []string{"four"}}, {"four", nil}} {
			h := hub.New(hub.Config{Media: helpertest.Dialer("media", encode), Log: quietLog, FollowUp: func() time.Duration { return 0 }})
			s := h.Add(hub.SatelliteConfig{ID: "kitchen", Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "the kitchen"} }})
			ctx, stop := context.WithCancel(ctx)
			var parts sync.WaitGroup
			parts.Go(func() { h.Run(ctx, b) })
			parts.Go(func() {
				for ctx.Err() == nil {
					s.Run(ctx)
				}
			})
			time.Sleep(time.Minute)
			if got := string(s.TakeReceipt()); got != tt.brings || !s.State().Connected {
				t.Errorf("hub %d gets %q, want %q; connected: %v", n, got, tt.brings, s.State().Connected)
			}
			if len(s.TakeReceipt()) > 0 {
				t.Errorf("hub %d gets it twice", n)
			}
			for _, r := range tt.gives {
				if s.KeepReceipt([]byte(r)); r == "" {
					s.KeepReceipt(nil)
				}
			}
			time.Sleep(time.Second)
			stop()
			parts.Wait()
		}
		cancel()
		testkit.Finish(t, testkit.Patience, "the satellite ends", running.Wait)
	})
}
