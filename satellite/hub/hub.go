// Package hub is the daemon's side of satellites. A [Satellite] is a sound card, as
// [earshot/internal/sound] has it, in a helper on another machine, and may have a camera there. A
// session with it begins when the satellite joins, and ends when nothing is heard of it, when it does
// what it must not, or when it joins again.
//
// What is captured comes as packets, which one helper decodes for all satellites. The frames that
// are made of them have times of the hub's own clock, as far as those can be true.
//
// What happens when a reader is slow: packets wait on the bus while frames are handed on in time,
// and the session ends when too many wait. What the decoder cannot take in two seconds, or one while it
// starts, is dropped, and the next frame says how many are missing. The sound of an utterance that a
// satellite recognises is kept until its words have come, half a minute at most.
package hub

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/satellite"
)

// Config is what a hub is made of.
type Config struct {
	Media helper.Dialer // of the decoder
	Log   *slog.Logger

	// FollowUp returns for how long after a reply somebody may answer without a name.
	FollowUp func() time.Duration

	// Shared says that other hubs are on the bus, and have satellites that this one does not know.
	Shared bool

	// Dropped, if set, receives how many packets or messages were not used. It must not wait.
	Dropped func(n int)
}

// A Hub serves satellites. Its methods may be called from many goroutines.
type Hub struct {
	cfg  Config
	opus *codec.Opus

	mu      sync.Mutex
	bus     bus.Bus // while it runs
	all     map[string]*Satellite
	session uint64 // the last one
	speaker uint32 // the last one of the decoder
}

// lead is how much of what is said waits for the decoder, which takes a moment to start.
const lead = time.Second

// New returns a hub without satellites.
func New(cfg Config) *Hub {
	h := &Hub{cfg: cfg, all: make(map[string]*Satellite)}
	h.opus = codec.NewOpus(codec.OpusConfig{Dial: cfg.Media, Lead: lead, Heard: h.heard})
	return h
}

// Decode is one life of the decoder, as [codec.Opus.Run] is.
func (h *Hub) Decode(ctx context.Context) error { return h.opus.Run(ctx) }

// maxJoin is how many bytes a request to join may have: a receipt fits.
const maxJoin = 4<<10 + 2*earshot.MaxReceipt

// Run answers who asks to join on a bus, until ctx ends. It must not be called twice at a time.
func (h *Hub) Run(ctx context.Context, b bus.Bus) error {
	h.mu.Lock()
	h.bus = b
	h.mu.Unlock()
	stop, err := b.Subscribe(ctx, satellite.JoinPattern, h.join)
	if err != nil {
		return err
	}
	defer stop()
	<-ctx.Done()
	return nil
}

// join takes a request to join.
func (h *Hub) join(m bus.Message) {
	if m.Respond == nil {
		return
	}
	id := strings.Split(m.Subject, ".")[2] // the pattern has four words
	h.mu.Lock()
	s := h.all[id]
	h.mu.Unlock()
	var in satellite.Join
	switch {
	case s == nil && h.cfg.Shared: // it is another's
	case s == nil:
		answer(m.Respond, satellite.Welcome{Problem: "this satellite is not paired, or was removed", Cure: satellite.PairAgain(id)})
	case len(m.Data) > maxJoin || json.Unmarshal(m.Data, &in) != nil:
		answer(m.Respond, satellite.Welcome{Problem: "the request to join cannot be read", Cure: "update earshot on both machines"})
	case in.Version != satellite.Version:
		answer(m.Respond, satellite.Welcome{Problem: "the hub has another version of satellites", Cure: "update earshot on both machines"})
	default:
		if w := s.cfg.Welcome(); w.Problem != "" { // also where its sessions are not run
			answer(m.Respond, w)
			return
		}
		s.offer(request{in, m.Respond, time.Now()})
	}
}

// answer answers a request to join. If that fails, the satellite asks again.
func answer(respond func([]byte) error, w satellite.Welcome) {
	data, err := json.Marshal(w)
	if err == nil {
		_ = respond(data)
	}
}

// Add adds a satellite, which may then join.
func (h *Hub) Add(cfg SatelliteConfig) *Satellite {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.speaker++
	s := &Satellite{cfg: cfg, hub: h, speaker: h.speaker, joins: make(chan request, 1)}
	s.Card = sound.New(func() (helper.Link, error) { return newLink(s), nil }, h.cfg.Log.With("satellite", cfg.ID))
	h.all[cfg.ID] = s
	return s
}

// connected waits until the bus is connected, until some time at most, and reports whether it is: the lane
// of sound may come back later than the one by which somebody asked to join.
func (h *Hub) connected(ctx context.Context, until time.Time) bool {
	ctx, stop := context.WithDeadline(ctx, until)
	defer stop()
	h.mu.Lock()
	b := h.bus
	h.mu.Unlock()
	for {
		is, changed := b.Connected()
		if is {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// next returns the bus and the number of a new session, which rises from one life of the daemon to the
// next, too.
func (h *Hub) next() (bus.Bus, uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = max(h.session+1, uint64(time.Now().UnixNano()))
	return h.bus, h.session
}

// heard hands a decoded frame to its satellite.
func (h *Hub) heard(speaker uint32, f *audio.Frame) {
	h.mu.Lock()
	var l *link
	for _, s := range h.all {
		if s.speaker == speaker {
			l = s.current()
		}
	}
	h.mu.Unlock()
	if l != nil {
		l.capture.decoded(f)
	}
}

// dropped counts what was not used.
func (h *Hub) dropped(n int) {
	if h.cfg.Dropped != nil {
		h.cfg.Dropped(n)
	}
}
