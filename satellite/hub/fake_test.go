package hub_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/satellite"
	"earshot/satellite/hub"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(int) { helpertest.Remove() }))
}

// decoder stands in for the helper that decodes: a packet is a number, which becomes the first sample.
func decoder(_ context.Context, s *helper.Server) error {
	var parts sync.WaitGroup
	parts.Go(func() { s.Controls(func(helper.Control) error { return nil }) })
	err := s.Sounds(func(m helper.Sound) error {
		var out []byte
		codec.EachPacket(m.Data, func(p codec.Packet) error {
			if len(p.Data) >= 2 {
				f := audio.Frame{At: p.At}
				f.PCM[0] = int16(binary.LittleEndian.Uint16(p.Data))
				out = codec.AppendFrame(out, p.Speaker, 0, f.Append(nil))
			}
			return nil
		})
		return s.SendSound(0, out)
	})
	parts.Wait()
	return err
}

// A far is the satellite's end of a session, which a test can have do wrong things.
type far struct {
	*helper.Server
	t     *testing.T
	ahead time.Duration // of its clock

	process string // its name

	hushes bool // it says every second that it is quiet

	mute bool                        // it never answers a question for the time
	take func(c helper.Control) bool // sees each message first, and reports whether that was all

	mu     sync.Mutex
	input  uint32
	plays  uint32
	opened chan struct{} // closed when an input is open
	heard  []string
	played int // bytes
	number uint16
}

// now is the time of its clock.
func (f *far) now() time.Time { return time.Now().Add(f.ahead) }

// work is what a satellite does.
func (f *far) work(_ context.Context, s *helper.Server) error {
	f.mu.Lock()
	f.Server = s
	f.mu.Unlock()
	var parts sync.WaitGroup
	parts.Go(func() {
		s.Sounds(func(m helper.Sound) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.played += len(m.Data)
			return nil
		})
	})
	s.Send(sound.SayReady, nil)
	err := s.Controls(f.control)
	parts.Wait()
	return err
}

func (f *far) control(c helper.Control) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = append(f.heard, c.Name)
	if f.take != nil && f.take(c) {
		return nil
	}
	switch c.Name {
	case satellite.SayAsk:
		var a satellite.TimeRequest
		c.Decode(&a)
		if !f.mute {
			f.Send(satellite.SayTime, satellite.TimeReply{Number: a.Number, At: f.now().UnixNano()})
		}
	case sound.SayOpen:
		var o sound.Open
		c.Decode(&o)
		f.Send(sound.SayOpened, sound.Opened{Number: o.Number, Device: "far"})
		if !o.Output {
			f.input = o.Number
			close(f.opened)
		}
	case sound.SayClose:
		var s sound.Stream
		c.Decode(&s)
		f.Send(sound.SayClosed, s)
	case sound.SayPlay:
		var p sound.Play
		c.Decode(&p)
		f.plays = p.Number
		f.Send(sound.SayPlayed, sound.Played{Play: p.Number, Credit: 1000})
	}
	return nil
}

// says sends a packet that was captured at a time of its own clock.
func (f *far) says(at time.Time, change func(*satellite.Packet)) error {
	f.mu.Lock()
	f.number++
	p := satellite.Packet{Frame: audio.Frame{At: at, Voiced: true}, Opus: binary.LittleEndian.AppendUint16(nil, f.number), Level: -20}
	stream := f.input
	f.mu.Unlock()
	if change != nil {
		change(&p)
	}
	return f.SendSound(stream, p.Append(nil))
}

// hush sends the packet of a second in which nobody speaks.
func (f *far) hush(level int8) error {
	return f.says(f.now(), func(p *satellite.Packet) { p.Quiet, p.Voiced, p.Level = true, false, level })
}

// A strict is a bus that refuses subscriptions.
type strict struct {
	bus.Local
	refuses atomic.Bool
}

// Subscribe implements [bus.Bus].
func (b *strict) Subscribe(ctx context.Context, pattern string, take func(bus.Message)) (func(), error) {
	if b.refuses.Load() {
		return nil, bus.ErrRefused
	}
	return b.Local.Subscribe(ctx, pattern, take)
}

// A house is a hub with the satellite "kitchen", in a synctest bubble.
type house struct {
	t    *testing.T
	bus  *strict
	hub  *hub.Hub
	sat  *hub.Satellite
	dies chan error // why sessions ended

	camera bool // the satellites that join have one

	beside sync.WaitGroup

	mu     sync.Mutex
	told   []string
	frames []audio.Frame
	lost   error // why the last input ended
}

// live runs test in a house.
func live(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		h := &house{t: t, bus: new(strict), dies: make(chan error, 100)}
		h.hub = hub.New(hub.Config{
			Media: helpertest.Dialer("media", decoder), Log: log,
			FollowUp: func() time.Duration { return 8 * time.Second },
		})
		h.sat = h.hub.Add(hub.SatelliteConfig{
			ID: "kitchen", Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "Kitchen", Names: []string{"Earshot"}} },
			Tell: func(text string) {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.told = append(h.told, text)
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		var parts sync.WaitGroup
		parts.Go(func() { h.hub.Run(ctx, h.bus) })
		parts.Go(func() { h.hub.Decode(ctx) })
		parts.Go(func() {
			for ctx.Err() == nil {
				if err := h.sat.Run(ctx); err != nil {
					h.dies <- err
				}
			}
		})
		parts.Go(func() { h.listen(ctx) })
		synctest.Wait()
		test(t, h)
		stop()
		parts.Wait()
		h.beside.Wait()
	})
}

// listen keeps what the microphone hears, whenever it can be opened.
func (h *house) listen(ctx context.Context) {
	for ctx.Err() == nil {
		in, err := h.sat.Card.Input(ctx, "")
		if err != nil {
			return
		}
		for f, err := range in.Frames(ctx) {
			h.mu.Lock()
			if err == nil {
				h.frames = append(h.frames, *f)
			} else {
				h.lost = err
			}
			h.mu.Unlock()
		}
	}
}

// heard returns the frames that came, and forgets them.
func (h *house) heard() []audio.Frame {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.frames
	h.frames = nil
	return all
}

// tells returns what people were told.
func (h *house) tells() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.told)
}

// ask asks to join.
func (h *house) ask(id string, j any) satellite.Welcome {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), 5*time.Second)
	defer stop()
	data, err := json.Marshal(j)
	if err != nil {
		h.t.Fatal(err)
	}
	var w satellite.Welcome
	answer, err := h.bus.Request(ctx, satellite.Prefix(id)+"join", data)
	if err != nil || json.Unmarshal(answer, &w) != nil {
		h.t.Fatalf("asking to join: %v, %q", err, answer)
	}
	return w
}

// join has a satellite join and waits until its microphone is open, unless it does not let that happen.
func (h *house) join(f *far) (f2 *far, leave func()) {
	h.t.Helper()
	w := h.ask("kitchen", satellite.Join{Version: satellite.Version, Build: "test", Camera: h.camera, Process: f.process})
	if err := w.Err(); err != nil {
		h.t.Fatal(err)
	}
	if f.hushes {
		defer func() {
			over := make(chan struct{})
			h.beside.Go(func() {
				for {
					select {
					case <-time.After(satellite.QuietEvery):
						f.hush(-60)
					case <-over:
						return
					}
				}
			})
			was := leave
			leave = func() { close(over); was() }
		}()
	}
	f.t, f.opened = h.t, make(chan struct{})
	ctx, stop := context.WithCancel(h.t.Context())
	c, err := satellite.Open(ctx, h.bus, "kitchen", w.Session, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var life sync.WaitGroup
	life.Go(func() {
		if err := helper.Serve(ctx, "satellite", c.Conn, f.work); err != nil && !errors.Is(err, satellite.ErrGap) {
			h.t.Errorf("the satellite ended with %v", err)
		}
	})
	synctest.Wait()
	return f, func() {
		c.HangUp()
		stop()
		life.Wait()
		c.Close()
	}
}

// speak sends n packets, one every 20 ms, of which the first was captured 20 ms ago.
func (f *far) speak(n int) {
	for range n {
		time.Sleep(audio.Time)
		if err := f.says(f.now().Add(-audio.Time), nil); err != nil {
			f.t.Fatal(err)
		}
	}
}

// levelOf returns the level of frames.
func levelOf(frames []audio.Frame) float64 {
	sum := 0.0
	for i := range frames {
		sum += math.Pow(10, audio.Level(frames[i].PCM[:])/10)
	}
	return 10 * math.Log10(sum/float64(len(frames)))
}
