package client_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/testkit"
	"earshot/models/see"
	sight "earshot/models/see/wire"
	"earshot/satellite"
	"earshot/satellite/client"
	"earshot/satellite/hub"
)

// A lens is an honest earshot-camera: it sees five pictures a second, and gives one to whoever asks.
type lens struct {
	lives, open atomic.Int32
	fault       atomic.Pointer[helper.Fault] // it cannot be opened
	jpeg        []byte

	mu    sync.Mutex
	asked sight.Open
}

func (l *lens) work(ctx context.Context, s *helper.Server) error {
	l.lives.Add(1)
	l.open.Add(1)
	defer l.open.Add(-1)
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	return s.Controls(func(c helper.Control) error {
		if c.Name == sight.OpenName {
			l.mu.Lock()
			c.Decode(&l.asked)
			l.mu.Unlock()
			if f := l.fault.Load(); f != nil {
				return s.Send(sight.FaultName, f)
			}
			n := uint64(0)
			parts.Go(func() {
				each(ctx, 200*time.Millisecond, func(time.Time) error {
					n++
					return s.Send(sight.ObservationName, sight.Observation{Number: n, Width: 640, Height: 480})
				})
			})
			return s.Send(sight.ReadyName, sight.Ready{Width: 640, Height: 480})
		}
		var look sight.Look
		c.Decode(&look)
		parts.Go(func() {
			s.Send(sight.PictureName, sight.Picture{Request: look.Request, Bytes: len(l.jpeg), Width: 640, Height: 480})
			for part := range slices.Chunk(l.jpeg, sight.MaxChunk) {
				s.SendSound(look.Request, part)
			}
			s.SendSound(look.Request, nil)
		})
		return nil
	})
}

// A gauge is a bus that keeps the size of the largest message.
type gauge struct {
	bus.Bus
	most atomic.Int64
}

func (g *gauge) Publish(subject string, data []byte) error {
	for was := g.most.Load(); int64(len(data)) > was && !g.most.CompareAndSwap(was, int64(len(data))); was = g.most.Load() {
	}
	return g.Bus.Publish(subject, data)
}

// A watched is a real hub, which watches through the camera of a satellite.
type watched struct {
	*client.Client
	sat     *hub.Satellite
	lens    *lens
	wire    *wire
	session *gauge
	own     *gauge
	seen    atomic.Int32 // observations

	mu      sync.Mutex
	status  client.Status
	notices []earshot.Notice
}

// now returns the status.
func (w *watched) now() client.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// watch runs a hub and a satellite with a camera, until stop is called.
func watch(t *testing.T) (w *watched, stop func()) {
	w = &watched{lens: &lens{jpeg: bytes.Repeat([]byte("picture "), 300<<10/8)}, wire: new(wire)}
	w.session, w.own = &gauge{Bus: w.wire}, &gauge{Bus: w.wire}
	h := hub.New(hub.Config{Media: helpertest.Dialer("media", encode), Log: quietLog, FollowUp: func() time.Duration { return 0 }})
	w.sat = h.Add(hub.SatelliteConfig{ID: "kitchen", Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "the kitchen"} }})
	w.Client = client.New(client.Config{
		ID: "kitchen", Connect: func(context.Context) (bus.Bus, error) { return w.session, nil },
		Sound: helpertest.Dialer(sound.Helper, new(card).work), Media: helpertest.Dialer("media", encode),
		Camera: &client.Camera{
			Dial: helpertest.Dialer("camera", w.lens.work), Source: func() string { return "mine" },
			Connect: func(context.Context) (bus.Bus, func(), error) { return w.own, func() {}, nil },
		},
		Notice: func(n earshot.Notice) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notices = append(w.notices, n)
		},
		Changed: func(s client.Status) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.status = s
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	parts.Go(func() { h.Run(ctx, w.wire) })
	parts.Go(func() { w.Run(ctx) })
	parts.Go(func() {
		for ctx.Err() == nil {
			w.sat.Run(ctx)
		}
	})
	time.Sleep(5 * time.Second)
	return w, func() {
		cancel()
		testkit.Finish(t, testkit.Patience, "the hub and the satellite end", parts.Wait)
	}
}

// camera runs the hub's side until stop is called, which returns how it ended.
func (w *watched) camera(t *testing.T) (c *see.Camera, stop func() error) {
	c = see.New(see.Config{
		Name: "kitchen", Dial: w.sat.Camera, Open: sight.Open{Source: "what the hub would like", Width: 640, Height: 480},
		On: func(see.Observation) { w.seen.Add(1) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	time.Sleep(2 * time.Second)
	return c, func() error {
		cancel()
		return testkit.Receive(t, testkit.Patience, "the camera ends", ended)
	}
}

// TestCamera: the hub sees through the camera of the satellite as through one of its own, and pictures
// come whole, at a bounded rate and by connections of their own; which camera that is, the hub cannot say.
func TestCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := watch(t)
		defer stop()
		if mode, _ := w.sat.CameraMode(); mode != earshot.Live || w.now().Camera != client.CameraOff || w.lens.lives.Load() != 0 {
			t.Errorf("before anybody watches, it is %s, %s", mode, w.now().Camera)
		}
		c, close := w.camera(t)
		if n := w.seen.Load(); n < 8 || n > 12 || w.now().Camera != client.CameraOn || w.lens.asked.Source != "mine" {
			t.Errorf("%d pictures were seen through %q, which is %s", n, w.lens.asked.Source, w.now().Camera)
		}
		began := time.Now()
		p, err := c.Look(t.Context(), time.Time{}, false)
		if took := time.Since(began); err != nil || !bytes.Equal(p.JPEG, w.lens.jpeg) || took < 250*time.Millisecond || took > time.Second {
			t.Errorf("a picture of %d bytes within %v, %v", len(p.JPEG), took, err)
		}
		if s, own := w.session.most.Load(), w.own.most.Load(); s > 1000 || own < sight.MaxChunk || own > 2*sight.MaxChunk {
			t.Errorf("messages of up to %d bytes came with the sound, and of %d beside it", s, own)
		}
		if err := close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if w.lens.open.Load() != 0 || w.now().Camera != client.CameraOff {
			t.Errorf("the camera is %s when nobody watches", w.now().Camera)
		}
	})
}

// TestCameraMuted: a satellite that is muted closes its camera, and opens none, whatever the hub does.
func TestCameraMuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := watch(t)
		defer stop()
		_, close := w.camera(t)
		_, changed := w.sat.CameraMode()
		w.Mute(true)
		testkit.Receive(t, testkit.Patience, "the hub knows", changed)
		time.Sleep(time.Second)
		if mode, _ := w.sat.CameraMode(); mode != earshot.Paused || w.lens.open.Load() != 0 || w.now().Camera != client.CameraOff {
			t.Errorf("it is %s, and the camera %s", mode, w.now().Camera)
		}
		close()
		_, close = w.camera(t) // it asks all the same
		time.Sleep(10 * time.Second)
		if n := w.lens.lives.Load(); n != 1 {
			t.Errorf("it was opened %d times", n)
		}
		close()
		w.Mute(false)
		time.Sleep(time.Second)
		seen := w.seen.Load()
		_, close = w.camera(t)
		if w.seen.Load() == seen || w.now().Camera != client.CameraOn {
			t.Errorf("after that it is %s", w.now().Camera)
		}
		close()
	})
}

// TestCameraFails: the hub and the people at the satellite are told why there are no pictures, once, and
// that there are again. A camera that cannot be opened for long is no reason not to try again.
func TestCameraFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := watch(t)
		defer stop()
		w.lens.fault.Store(&helper.Fault{Text: "somebody else uses it", Cure: "close that", Lasting: true})
		for range 2 {
			_, close := w.camera(t)
			if w.now().Camera != client.CameraMissing {
				t.Errorf("it is %s", w.now().Camera)
			}
			close()
		}
		c := see.New(see.Config{Dial: w.sat.Camera})
		if err := c.Run(t.Context()); err == nil || earshot.Cure(err) != "close that" || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("the hub is told %v", err)
		}
		w.lens.fault.Store(nil)
		_, close := w.camera(t)
		close()
		w.mu.Lock()
		defer w.mu.Unlock()
		if n := w.notices; len(n) != 2 || n[0].Text != "somebody else uses it" || n[0].Cure != "close that" || !n[1].Over {
			t.Errorf("people were told %+v", n)
		}
	})
}

// TestCameraLost: without a connection the camera is closed, and the hub knows; it may be opened when the
// satellite is back.
func TestCameraLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := watch(t)
		defer stop()
		c := see.New(see.Config{Dial: w.sat.Camera})
		over := make(chan earshot.Mode, 1)
		go func() { // whoever learns that there are no pictures knows already that the satellite is gone
			c.Run(t.Context())
			mode, _ := w.sat.CameraMode()
			over <- mode
		}()
		time.Sleep(2 * time.Second)
		w.wire.pull(true)
		if mode := testkit.Receive(t, testkit.Patience, "the camera ends", over); mode != earshot.Paused {
			t.Error("the camera is lost, and its satellite is not")
		}
		time.Sleep(10 * time.Second)
		if mode, _ := w.sat.CameraMode(); mode != earshot.Paused || w.lens.open.Load() != 0 {
			t.Errorf("it is %s; %d cameras are open", mode, w.lens.open.Load())
		}
		w.wire.pull(false)
		time.Sleep(20 * time.Second)
		seen := w.seen.Load()
		_, close := w.camera(t)
		if w.seen.Load() == seen {
			t.Error("nothing is seen after that")
		}
		close()
	})
}
