package client_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/deck"
	"earshot/internal/testkit"
	"earshot/satellite"
	"earshot/satellite/client"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(int) { helpertest.Remove() }))
}

var quietLog = slog.New(slog.NewTextHandler(io.Discard, nil))

// A wire is a bus that can be pulled out, and counts what the satellite publishes.
type wire struct {
	bus.Local

	mu      sync.Mutex
	out     bool
	changed chan struct{}
	bytes   int
}

func (w *wire) pull(out bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = out
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

func (w *wire) Publish(subject string, data []byte) error {
	w.mu.Lock()
	out := w.out
	w.bytes += len("PUB   \r\n\r\n") + len(subject) + len("1234") + len(data)
	w.mu.Unlock()
	if out {
		return bus.ErrFull
	}
	return w.Local.Publish(subject, data)
}

func (w *wire) Connected() (bool, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return !w.out, w.changed
}

// A card is an honest earshot-sound in simulated time: it captures frames whose first sample is their
// number, and plays through a real deck.
type card struct {
	lives atomic.Int32

	mu     sync.Mutex
	server *helper.Server
	input  uint32 // number of the open capture, or 0
	output uint32
	deck   *deck.Deck
	voiced bool
	jam    chan struct{} // if set, no sound is read until it is closed
	frames int16
	played []int16 // what was played, without silence
	told   []helper.Control
}

func (f *card) work(ctx context.Context, s *helper.Server) error {
	f.lives.Add(1)
	f.set(func() { f.server, f.input, f.output, f.deck = s, 0, 0, deck.New(1) })
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	parts.Go(func() { each(ctx, audio.Time, f.capture) })
	parts.Go(func() { each(ctx, 10*time.Millisecond, f.play) })
	parts.Go(func() {
		s.Sounds(func(m helper.Sound) error {
			f.mu.Lock()
			jam, d := f.jam, f.deck
			f.mu.Unlock()
			if jam != nil {
				<-jam
			}
			pcm := make([]int16, len(m.Data)/2)
			audio.DecodePCM(pcm, m.Data)
			return d.Add(m.Stream, pcm)
		})
	})
	s.Send(sound.SayReady, nil)
	return s.Controls(f.obey)
}

// each calls f at an interval until ctx ends or f returns an error.
func each(ctx context.Context, interval time.Duration, f func(now time.Time) error) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if f(now) != nil {
				return
			}
		}
	}
}

func (f *card) obey(c helper.Control) error {
	var number sound.Stream
	var n struct {
		Output  bool            `json:"output"`
		Control earshot.Control `json:"control"`
		Samples int64           `json:"samples"`
	}
	if c.Name == sound.SayPlay {
		var p sound.Play
		c.Decode(&p)
		f.set(func() { f.told = append(f.told, c); f.deck.Play(p.Number, p.Rate) })
		return f.server.Send(sound.SayPlayed, sound.Played{Play: p.Number, Credit: deck.Most(p.Rate)})
	}
	c.Decode(&n)
	c.Decode(&number)
	var answer any
	name := sound.SayOpened
	f.set(func() {
		f.told = append(f.told, c)
		switch c.Name {
		case sound.SayOpen:
			answer = sound.Opened{Number: number.Number, Device: "fake"}
			if n.Output {
				f.output, f.deck = number.Number, deck.New(1)
			} else {
				f.input = number.Number
			}
		case sound.SayClose:
			name, answer = sound.SayClosed, number
			switch number.Number {
			case f.input:
				f.input = 0
			case f.output:
				f.output = 0
			}
		case sound.SayDo:
			f.deck.Do(number.Number, n.Control)
		case sound.SayFinish:
			f.deck.Finish(number.Number, n.Samples)
		}
	})
	if answer == nil {
		return nil
	}
	return f.server.Send(name, answer)
}

func (f *card) capture(now time.Time) error {
	frame := audio.Frame{At: now.Add(-audio.Time)}
	f.mu.Lock()
	f.frames++
	number := f.input
	frame.PCM[0], frame.Voiced = f.frames, f.voiced
	f.mu.Unlock()
	if number == 0 {
		return nil
	}
	return f.server.SendSound(number, frame.Append(nil))
}

func (f *card) play(time.Time) error {
	f.mu.Lock()
	d := f.deck
	open := f.output != 0
	f.mu.Unlock()
	if !open {
		return nil
	}
	pcm := make([]int16, audio.Rate/100)
	d.Next(pcm)
	f.set(func() {
		for _, s := range pcm {
			if s != 0 {
				f.played = append(f.played, s)
			}
		}
	})
	if r, ok := d.Played(0); ok {
		return f.server.Send(sound.SayPlayed, r)
	}
	return nil
}

// set changes f, or looks at it.
func (f *card) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// count returns how often the device was told something.
func (f *card) count(name string) (n int) {
	f.set(func() {
		for _, c := range f.told {
			if c.Name == name {
				n++
			}
		}
	})
	return n
}

// encode is a media helper whose Opus is the first sample of each 20 ms.
func encode(_ context.Context, s *helper.Server) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() {
		s.Sounds(func(m helper.Sound) error {
			if len(m.Data) == 0 {
				return s.SendSound(m.Stream, nil)
			}
			_, pcm, err := codec.DecodeSpeech(nil, m.Data)
			if err != nil {
				return err
			}
			return s.SendSound(m.Stream, binary.LittleEndian.AppendUint16([]byte{'o'}, uint16(pcm[0])))
		})
	})
	return s.Controls(func(helper.Control) error { return nil })
}

// A fakeHub is one that has a sound card at the satellite.
type fakeHub struct {
	*sound.Card
	t     *testing.T
	bus   bus.Bus
	links chan *link
	mute  atomic.Bool // it asks for no time
	lies  atomic.Bool

	mu      sync.Mutex
	session uint64
	joins   []satellite.Join
	packets []satellite.Packet // that are no quiet ones
	quiet   []satellite.Packet
	states  []satellite.State
	words   []satellite.Words
	now     *link
}

// A link is a session at the hub, as a helper.
type link struct {
	*helper.Peer
	hub  *fakeHub
	conn *satellite.Conn
	end  chan struct{}
	once sync.Once
}

func (l *link) HangUp() { l.Kill() }
func (l *link) Kill()   { l.once.Do(func() { close(l.end); l.conn.HangUp() }) }
func (l *link) Wait(context.Context) error {
	<-l.end
	return nil
}

func (h *fakeHub) join(m bus.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var j satellite.Join
	if err := json.Unmarshal(m.Data, &j); err != nil {
		h.t.Error(err)
	}
	h.joins = append(h.joins, j)
	h.session++
	conn, err := satellite.OpenHub(context.Background(), h.bus, "kitchen", h.session, nil)
	if err != nil {
		h.t.Error(err)
		return
	}
	l := &link{hub: h, conn: conn, end: make(chan struct{})}
	l.Peer = helper.NewPeer("kitchen", conn.Conn, l)
	if h.now != nil {
		h.now.Kill()
	}
	h.now = l
	select {
	case old := <-h.links:
		old.conn.HangUp()
		go old.conn.Close()
	default:
	}
	h.links <- l
	w, _ := json.Marshal(satellite.Welcome{Session: h.session, Room: "the kitchen", Names: []string{"Earshot"}})
	m.Respond(w)
}

// Run implements [helper.Link].
func (l *link) Run(ctx context.Context, to helper.Handler) error {
	ctx, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer l.conn.Close()
	defer asking.Wait()
	defer stop()
	h := l.hub
	asking.Go(func() {
		select {
		case <-l.Greeted():
		case <-ctx.Done():
			return
		}
		each(ctx, satellite.ClockEvery, func(time.Time) error {
			if h.mute.Load() {
				return nil
			}
			return l.Send(satellite.SayAsk, satellite.TimeRequest{Number: 1})
		})
	})
	return l.Peer.Run(ctx, helper.Handler{
		Control: func(c helper.Control) error {
			switch c.Name {
			case satellite.SayTime:
				return nil
			case satellite.SayState:
				var s satellite.State
				err := c.Decode(&s)
				h.mu.Lock()
				defer h.mu.Unlock()
				h.states = append(h.states, s)
				return err
			case satellite.SayWords:
				w, err := satellite.DecodeWords(c)
				h.mu.Lock()
				defer h.mu.Unlock()
				h.words = append(h.words, w)
				return err
			}
			return to.Control(c)
		},
		Sound: func(s helper.Sound) error {
			var p satellite.Packet
			if err := p.Decode(s.Data); err != nil {
				return err
			}
			p.Opus = slices.Clone(p.Opus)
			f := p.Frame
			h.mu.Lock()
			if p.Quiet {
				h.quiet = append(h.quiet, p)
			} else {
				h.packets = append(h.packets, p)
				f.PCM[0] = int16(binary.LittleEndian.Uint16(p.Opus[1:]))
			}
			h.mu.Unlock()
			if time.Since(p.At) > time.Second {
				return nil // a real hub takes what was kept at its pace
			}
			return to.Sound(helper.Sound{Stream: s.Stream, Data: f.Append(nil)})
		},
	})
}

// look calls f with the mutex locked.
func (h *fakeHub) look(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// A house is a hub with a satellite.
type house struct {
	*client.Client
	hub  *fakeHub
	card *card
	wire *wire

	mu       sync.Mutex
	statuses []client.Status
	notices  []earshot.Notice
}

// start runs a hub and a satellite until stop is called, within a bubble of synctest.
func start(t *testing.T, change func(*client.Config)) (h *house, stop func()) {
	h = &house{card: new(card), wire: new(wire)}
	cfg := client.Config{
		Connect: func(context.Context) (bus.Bus, error) { return h.wire, nil },
		Sound:   helpertest.Dialer(sound.Helper, h.card.work), Media: helpertest.Dialer("media", encode),
	}
	if change != nil {
		change(&cfg)
	}
	return h, h.run(t, h.wire, cfg)
}

// run runs a hub that is on a bus, and a satellite, until stop is called.
func (h *house) run(t *testing.T, b bus.Bus, cfg client.Config) (stop func()) {
	h.hub = &fakeHub{t: t, bus: b, links: make(chan *link, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	hubStop, err := b.Subscribe(ctx, satellite.JoinPattern, h.hub.join)
	if err != nil {
		t.Fatal(err)
	}
	h.hub.Card = sound.New(func() (helper.Link, error) {
		select {
		case l := <-h.hub.links:
			return l, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, quietLog)
	cfg.ID = "kitchen"
	cfg.Notice = func(n earshot.Notice) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.notices = append(h.notices, n)
	}
	cfg.Changed = func(s client.Status) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.statuses = append(h.statuses, s)
	}
	h.Client = client.New(cfg)
	var parts sync.WaitGroup
	parts.Go(func() { h.Run(ctx) })
	parts.Go(func() {
		for ctx.Err() == nil {
			if err := h.hub.Run(ctx); errors.Is(err, helper.ErrProtocol) && !h.hub.lies.Load() {
				t.Error(err)
			}
		}
	})
	return func() {
		cancel()
		hubStop()
		testkit.Finish(t, testkit.Patience, "the hub and the satellite end", parts.Wait)
		select {
		case l := <-h.hub.links:
			l.conn.Close()
		default:
		}
	}
}

// status returns what was told last.
func (h *house) status() client.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.statuses[len(h.statuses)-1]
}

// joined returns who has asked to join.
func (h *fakeHub) joined() (all []satellite.Join) {
	h.look(func() { all = slices.Clone(h.joins) })
	return all
}

// sounded returns what was played.
func (f *card) sounded() (all []int16) {
	f.set(func() { all = slices.Clone(f.played) })
	return all
}

// heard returns the numbers of the frames that the hub has got in packets.
func (h *fakeHub) heard() (all []int) {
	h.look(func() {
		for _, p := range h.packets {
			all = append(all, int(binary.LittleEndian.Uint16(p.Opus[1:])))
		}
	})
	return all
}
