package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/models/stt"
	"earshot/providers/microphone"
	"earshot/satellite"
	"earshot/satellite/client"
	"earshot/satellite/hub"
)

// TestReal: by a real server of the bus, the real hub, a real sound card and real Opus, what is said
// into the satellite's microphone comes to the hub, and what the hub plays comes out of the
// satellite's loudspeaker to the sample. When the server of the bus is killed, the satellite says so,
// and hears again when there is another.
func TestReal(t *testing.T) {
	dir := helpertest.Build(t, helper.SoundProgram, helper.SpeechProgram)
	room := soundtest.Start(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	dialer := func(name string, args ...string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: name, Path: filepath.Join(dir, name), Args: args, Env: room.Env(), Log: log})
		}
	}
	seed, public := natstest.NewKey(t)
	rights := satellite.RightsOf("kitchen")
	listen := fmt.Sprintf("127.%d.%d.1:4223", os.Getpid()>>8&0x7f+1, os.Getpid()&0xff) // the same when it is started again, and nobody else's
	server := natstest.Start(t, natsserver.Config{Listen: listen, Users: []natsserver.User{{Key: public, Rights: rights}}})
	ctx, stop := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	var conns []*nats.Conn
	defer func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the hub and the satellite end", parts.Wait)
		for _, c := range conns {
			c.Close()
		}
	}()
	connect := func(ctx context.Context, cfg nats.Config) (bus.Bus, error) {
		c, err := nats.Connect(ctx, cfg)
		if err == nil {
			conns = append(conns, c)
		}
		return c, err
	}
	b, err := connect(ctx, server.Config())
	if err != nil {
		t.Fatal(err)
	}

	h := hub.New(hub.Config{Media: dialer(helper.SpeechProgram, "media"), Log: log, FollowUp: func() time.Duration { return 0 }})
	kitchen := h.Add(hub.SatelliteConfig{ID: "kitchen", Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "the kitchen"} }})
	for _, run := range []func(context.Context) error{func(ctx context.Context) error { return h.Run(ctx, b) }, h.Decode, kitchen.Run} {
		parts.Go(func() {
			for ctx.Err() == nil {
				if err := run(ctx); err != nil {
					log.Info("a part of the hub ended", "err", err)
				}
			}
		})
	}
	var mu sync.Mutex
	var status client.Status
	var heard []int16
	parts.Go(func() {
		for ctx.Err() == nil {
			in, err := kitchen.Card.Input(ctx, "")
			if err != nil {
				continue // the session ended at this moment
			}
			for f, err := range in.Frames(ctx) {
				if err == nil {
					mu.Lock()
					heard = append(heard, f.PCM[:]...)
					mu.Unlock()
				}
			}
		}
	})
	far := client.New(client.Config{
		ID: "kitchen", Sound: dialer(helper.SoundProgram), Media: dialer(helper.SpeechProgram, "media"),
		Connect: func(ctx context.Context) (bus.Bus, error) { return connect(ctx, server.UserConfig(seed, rights)) },
		Notice:  func(n earshot.Notice) { log.Info(n.Text) },
		Changed: func(s client.Status) {
			mu.Lock()
			defer mu.Unlock()
			status = s
			log.Info("the satellite", "connected", s.Connected, "why", s.Why, "microphone", s.Microphone)
		},
	})
	parts.Go(func() { far.Run(ctx) })
	is := func(ok func() bool) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return ok()
		}
	}
	sentence := spoken(t, "please tell me what the weather is like tomorrow")
	hear := func() {
		is(func() bool { heard = nil; return true })()
		testkit.Await(t, testkit.Patience, "it listens", is(func() bool { return status.Microphone == client.Listening && len(heard) > audio.Rate }))
		if err := room.Play(ctx, sentence); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, testkit.Patience, "the sentence is heard at the hub", is(func() bool { return alike(levels(heard), levels(sentence)) > 0.95 }))
	}
	hear()

	record, err := room.Record(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer record.Stop()
	s := say(t, kitchen.Card, 2*audio.Rate)
	if at := testkit.Receive(t, testkit.Patience, "the end of the speech", s.at); at.Samples != 2*audio.Rate {
		t.Errorf("%d samples were played", at.Samples)
	}
	testkit.Await(t, testkit.Patience, "all that was played is recorded", func() bool { return len(loud(record.PCM(0))) >= 2*audio.Rate })
	for i, s := range loud(record.PCM(0)) {
		if s != int16(i%30000+1) {
			t.Fatalf("sample %d is %d", i, s)
		}
	}

	server.Kill(t)
	testkit.Await(t, testkit.Patience, "it is not connected", is(func() bool { return !status.Connected && status.Why != "" }))
	server.Begin(t)
	hear()
}

// loud returns pcm without its silence.
func loud(pcm []int16) []int16 {
	return slices.DeleteFunc(slices.Clone(pcm), func(s int16) bool { return s == 0 })
}

// spoken returns the sound of words, made by flite.
func spoken(t *testing.T, words string) []int16 {
	t.Helper()
	out, err := testkit.Command(t, "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
		"flite=text='"+words+"':voice=slt", "-ar", "16000", "-ac", "1", "-f", "s16le", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(out)/2)
	audio.DecodePCM(pcm, out)
	return pcm
}

// levels returns the levels of every 20 ms, above those of silence.
func levels(pcm []int16) (all []float64) {
	for frame := range slices.Chunk(pcm, audio.Samples) {
		all = append(all, max(0, audio.Level(frame)+60))
	}
	return all
}

// alike returns the correlation of two envelopes, where they fit best.
func alike(got, want []float64) (best float64) {
	for shift := range len(got) {
		var gg, ww, gw float64
		for i, w := range want {
			g := 0.0
			if i+shift < len(got) {
				g = got[i+shift]
			}
			gg, ww, gw = gg+g*g, ww+w*w, gw+g*w
		}
		best = max(best, gw/math.Sqrt(gg*ww+1))
	}
	return best
}

// TestRealWake: with a real spotter, real sound and Opus, what somebody says does not leave the machine
// until they say the agent's name.
func TestRealWake(t *testing.T) {
	dir := helpertest.Build(t, helper.SoundProgram, helper.SpeechProgram)
	room := soundtest.Start(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	dialer := func(name string, args ...string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: name, Path: filepath.Join(dir, name), Args: args, Env: room.Env(), Log: log})
		}
	}
	h := &house{wire: new(wire)}
	stop := h.run(t, h.wire, client.Config{
		Connect: func(context.Context) (bus.Bus, error) { return h.wire, nil },
		Sound:   dialer(helper.SoundProgram), Media: dialer(helper.SpeechProgram, "media"),
		Wake: true,
		Spotter: func(names []string, called func()) client.Recogniser {
			return stt.New(stt.Config{Dial: dialer(helper.SpeechProgram, "hear"), Names: names, Log: log, On: func(stt.Phrase) { called() }})
		},
	})
	defer stop()
	defer h.listen(t)()
	quiets := func() (n int) {
		h.hub.look(func() { n = len(h.hub.quiet) })
		return n
	}
	testkit.Await(t, testkit.Patience, "it listens", func() bool { return quiets() > 2 })
	play := func(words string) {
		t.Helper()
		if err := room.Play(t.Context(), spoken(t, words)); err != nil {
			t.Fatal(err)
		}
	}
	play("please tell me what the weather is like tomorrow")
	before := quiets()
	testkit.Await(t, testkit.Patience, "some time", func() bool { return quiets() > before+2 })
	if n := len(h.hub.heard()); n > 0 {
		t.Errorf("%d packets came, and nobody said a name", n)
	}
	testkit.Await(t, testkit.Patience, "the name to be noticed", func() bool {
		play("earshot. what time is it?")
		return len(h.hub.heard()) > 0
	})
}

// A chooser recognises at the satellite, or here if there is no satellite.
type chooser struct {
	*stt.Recogniser
	far *hub.Satellite

	mu    sync.Mutex
	here  int // how many were recognised here
	there bool
}

func (c *chooser) Begin(on func(stt.Result)) microphone.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.far.Recognise(on, c.begin); c.there && u != nil {
		return u
	}
	c.here++
	return c.Recogniser.Begin(on)
}

func (c *chooser) begin(on func(stt.Result)) *stt.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here++
	return c.Recogniser.Begin(on)
}

// TestRealRecognition: with real helpers, a microphone at the hub gets words while somebody speaks and when
// they have finished, as with the recogniser of the hub and as soon, from the satellite, of the sound that
// it has captured itself.
func TestRealRecognition(t *testing.T) {
	dir := helpertest.Build(t, helper.SoundProgram, helper.SpeechProgram)
	room := soundtest.Start(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	dialer := func(name string, args ...string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: name, Path: filepath.Join(dir, name), Args: args, Env: room.Env(), Log: log})
		}
	}
	b := new(bus.Local)
	h := hub.New(hub.Config{Media: dialer(helper.SpeechProgram, "media"), Log: log, FollowUp: func() time.Duration { return 0 }})
	kitchen := h.Add(hub.SatelliteConfig{ID: "kitchen", Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "the kitchen", Names: []string{"Earshot"}} }})
	ears := &chooser{Recogniser: stt.New(stt.Config{Dial: dialer(helper.SpeechProgram, "hear"), Names: []string{"Earshot"}, Log: log}), far: kitchen}
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: microphone.OnCard(kitchen.Card, ""), Recogniser: ears})
	far := client.New(client.Config{
		ID: "kitchen", Sound: dialer(helper.SoundProgram), Media: dialer(helper.SpeechProgram, "media"),
		Connect: func(context.Context) (bus.Bus, error) { return b, nil }, Notice: func(n earshot.Notice) { log.Info(n.Text) },
		Recogniser: func(names []string, _ func()) client.Recogniser {
			return stt.New(stt.Config{Dial: dialer(helper.SpeechProgram, "hear"), Names: names, Log: log})
		},
	})
	type heard struct {
		text  string
		words int // interim ones
		after time.Duration
	}
	utterances, words := make(chan heard, 100), 0
	emit := func(_ context.Context, e earshot.Event) error {
		switch is := e.Body.(type) {
		case earshot.Speech:
			if is.Stage == earshot.VoiceWords {
				words++
			}
		case earshot.Utterance:
			utterances <- heard{string(is.Text), words, time.Since(e.At.Add(is.Lasted))}
			words = 0
		}
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	defer func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the hub and the satellite end", parts.Wait)
	}()
	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error { return h.Run(ctx, b) }, h.Decode, kitchen.Run, ears.Run,
		func(ctx context.Context) error { return mic.Run(ctx, emit) }, func(ctx context.Context) error { far.Run(ctx); return nil },
	} {
		parts.Go(func() {
			for ctx.Err() == nil {
				if err := run(ctx); err != nil {
					log.Info("a part ended", "err", err)
				}
			}
		})
	}
	testkit.Await(t, testkit.Patience, "the satellite recognises", func() bool { return kitchen.State().Recognises })
	sentence := spoken(t, "please tell me what the weather is like tomorrow")
	say := func(there bool) heard {
		t.Helper()
		ears.mu.Lock()
		ears.there = there
		ears.mu.Unlock()
		if err := room.Play(ctx, sentence); err != nil {
			t.Fatal(err)
		}
		u := testkit.Receive(t, testkit.Patience, "the sentence", utterances)
		t.Logf("at the satellite: %t; %+v", there, u)
		return u
	}
	say(false) // until each has learned how the microphone sounds
	say(true)
	ears.here = 0
	here, there := say(false), say(true)
	if ears.here != 1 || !strings.Contains(there.text, "weather") || !strings.Contains(here.text, "weather") || there.words == 0 {
		t.Errorf("%d were recognised here; %+v, at the satellite %+v", ears.here, here, there)
	}
}
