//go:build cgo

package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

const (
	// partialEvery is how many samples pass between two interim results: 100 ms, about a syllable.
	partialEvery = audio.Rate / 10

	// longest is how much of an utterance is heard, a little more than the daemon sends. The rest is
	// dropped.
	longest = 32 * audio.Rate

	// mostStreams is how many utterances may be heard at once, twice as many as the daemon sends, and
	// how many may be cancelled before they have begun.
	mostStreams = 16

	// opens and steps are how long the libraries may take to load a set, and for anything else. The
	// daemon waits as long for each.
	opens = 20 * time.Second
	steps = 20 * time.Second

	// corrects is how long a second set may take for the words of an utterance that has ended. After
	// that, somebody would wait for an answer in vain, and the first words count.
	corrects = 300 * time.Millisecond
)

// hear recognises with the set of models that the daemon names; see package wire. When it is slow,
// the sound of each utterance waits in memory, up to its longest; the daemon bounds their number.
func hear(_ context.Context, s *helper.Server, _ []string) error {
	h := &hearing{
		s: s, Requests: wire.NewRequests[wire.OpenHear](), correcting: make(chan struct{}, 1),
		streams: make(map[uint32]*stream), cancelled: make(map[uint32]bool),
	}
	defer h.parts.Wait()
	defer h.stop()
	return h.Serve(s, h.control, h.open, h.take)
}

// A hearing is all that is heard by one process.
type hearing struct {
	*wire.Requests[wire.OpenHear]
	s          *helper.Server
	first      recogniser
	second     recogniser    // corrects the first; may be nil
	correcting chan struct{} // of capacity 1: the second is at work
	parts      sync.WaitGroup

	mu        sync.Mutex
	streams   map[uint32]*stream // that have begun and not ended
	newest    uint32             // of those that have begun
	cancelled map[uint32]bool    // that have not begun
}

// A stream is the sound of an utterance on its way to its goroutine.
type stream struct {
	number uint32
	more   sync.Cond // anything below

	// Under the mutex of its hearing:
	pcm   []int16 // that was not heard yet
	taken int     // samples of it in all
	ended bool
	over  bool // it was cancelled
}

// cancel ends a stream early.
func (st *stream) cancel() {
	st.over = true
	st.more.Signal()
}

// stop cancels all streams.
func (h *hearing) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, st := range h.streams {
		st.cancel()
	}
}

// open loads the sets.
func (h *hearing) open() (ready any, err error) {
	defer h.s.Guard(opens)()
	if h.first, err = openRecogniser(h.Config.Set, h.Config.Language); err != nil {
		return nil, err
	}
	if h.Config.Second != "" {
		h.second, err = openRecogniser(h.Config.Second, h.Config.Language)
	}
	return h.first.ready(), err
}

// control handles the daemon's messages.
func (h *hearing) control(c helper.Control) error {
	if c.Name != wire.CancelName {
		return h.Control(c)
	}
	var m wire.Cancel
	if err := c.Decode(&m); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if st := h.streams[m.Stream]; st != nil {
		st.cancel()
	} else if m.Stream > h.newest {
		if len(h.cancelled) == mostStreams {
			return fmt.Errorf("%w: too many are cancelled that never began", helper.ErrProtocol)
		}
		h.cancelled[m.Stream] = true
	}
	return nil
}

// take handles sound.
func (h *hearing) take(m helper.Sound) error {
	if m.Stream&wire.Spot != 0 {
		return nil // it seeks no phrases
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	st := h.streams[m.Stream]
	if st == nil && m.Stream > h.newest {
		var err error
		if st, err = h.begin(m.Stream); err != nil {
			return err
		}
	}
	if st == nil || st.ended {
		return nil
	}
	if n := min(len(m.Data)/2, longest-st.taken); n > 0 {
		had := len(st.pcm)
		st.pcm = append(st.pcm, make([]int16, n)...)
		audio.DecodePCM(st.pcm[had:], m.Data)
		st.taken += n
	}
	st.ended = len(m.Data) == 0
	st.more.Signal()
	return nil
}

// begin begins an utterance, and returns nil if it was cancelled already.
func (h *hearing) begin(number uint32) (*stream, error) {
	over := h.cancelled[number]
	h.newest = number
	maps.DeleteFunc(h.cancelled, func(n uint32, _ bool) bool { return n <= number })
	if over {
		return nil, nil
	}
	if len(h.streams) == mostStreams {
		return nil, fmt.Errorf("%w: too many utterances at once", helper.ErrProtocol)
	}
	st := &stream{number: number, more: sync.Cond{L: &h.mu}}
	h.streams[number] = st
	h.parts.Go(func() {
		h.hear(st)
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.streams, number)
	})
	return st, nil
}

// next returns the next samples of a stream, at most those until the next interim result, in buf. It
// waits for them, and reports false when there are no more.
func (h *hearing) next(st *stream, heard int, buf []float32) (pcm []float32, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(st.pcm) == 0 && !st.ended && !st.over {
		st.more.Wait()
	}
	if st.over || len(st.pcm) == 0 {
		return nil, false
	}
	pcm = buf[:min(len(st.pcm), partialEvery-heard%partialEvery)]
	for i := range pcm {
		pcm[i] = float32(st.pcm[i]) / (1 << 15)
	}
	st.pcm = st.pcm[:copy(st.pcm, st.pcm[len(pcm):])] // there is room again for what comes
	return pcm, true
}

// hear recognises an utterance.
func (h *hearing) hear(st *stream) {
	u := h.first.begin()
	defer u.close()
	var all []float32 // if it is to be corrected
	var said string
	buf := make([]float32, partialEvery)
	heard := 0
	for {
		pcm, ok := h.next(st, heard, buf)
		if !ok {
			break
		}
		if h.second != nil {
			all = append(all, pcm...)
		}
		text, based := h.step(u, pcm)
		if heard += len(pcm); heard%partialEvery != 0 || text == said || text == "" {
			continue
		}
		said = text
		h.s.Send(wire.PartialName, wire.Hypothesis{Stream: st.number, Text: tidy(text), Heard: based})
	}
	if h.gone(st) {
		return
	}
	text, confidence := h.finish(u)
	if text != "" && h.second != nil {
		text, confidence = h.correct(all, text, confidence)
	}
	if h.gone(st) {
		return
	}
	h.s.Send(wire.FinalName, wire.Hypothesis{Stream: st.number, Text: tidy(text), Heard: heard, Confidence: confidence})
}

// gone reports whether nobody wants the words of a stream any more.
func (h *hearing) gone(st *stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return st.over
}

func (h *hearing) step(u utterance, pcm []float32) (text string, heard int) {
	defer h.s.Guard(steps)()
	u.feed(pcm)
	return u.text()
}

func (h *hearing) finish(u utterance) (text string, confidence float64) {
	defer h.s.Guard(steps)()
	return u.finish()
}

// correct returns what the second set understands, or the first words if it is too slow or at work
// already.
func (h *hearing) correct(pcm []float32, text string, confidence float64) (string, float64) {
	select {
	case h.correcting <- struct{}{}:
	default:
		return text, confidence
	}
	var better string
	var sure float64
	found := make(chan struct{})
	h.parts.Go(func() {
		defer func() { <-h.correcting }()
		defer h.s.Guard(steps)()
		u := h.second.begin()
		defer u.close()
		u.feed(pcm)
		better, sure = u.finish()
		close(found)
	})
	select {
	case <-found:
		if better != "" {
			return better, sure
		}
	case <-time.After(corrects):
	}
	return text, confidence
}
