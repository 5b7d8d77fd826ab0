package stt

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// A helperSession is one life of the helper. It records what the helper has been told, so that the
// next one can be told all of it again.
type helperSession struct {
	r    *Recogniser
	link helper.Link
	kill context.CancelCauseFunc
	load helper.LoadTimer
	more chan struct{} // there may be something to send
	buf  []byte        // of send alone: the sound that is being sent

	// Under the recogniser's mutex:
	active  []*hearing   // whose sound is being sent; the one that waits longest first
	stream  uint32       // of the newest of them
	stale   int          // results for those that are over, since it began
	spot    uint32       // the stream in which phrases are sought
	spotted [4]time.Time // when the last such streams began
	frames  int          // of all such streams
	phrases int          // found in them
}

// A hearing is an utterance that is being sent.
type hearing struct {
	of       *Session
	stream   uint32 // 0 until something of it was sent
	sent     int    // samples of it
	complete bool   // its end was sent
	partials int    // results for it
}

const (
	// mostStale is how many results may come for earlier utterances while one is heard: those that
	// were in the pipe.
	mostStale = 64

	// framesOfPhrase is how many frames the shortest phrase has, on average over everything heard:
	// nobody says two phrases within 100 ms.
	framesOfPhrase = 5
)

// poke wakes send.
func (l *helperSession) poke() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// send sends what there is to send until ctx ends or sending fails, which the helper's end
// explains.
func (l *helperSession) send(ctx context.Context) {
	l.r.mu.Lock()
	open := wire.OpenHear{Names: l.r.config.Names, Phrases: l.r.config.Phrases, Means: l.r.means}
	l.r.mu.Unlock()
	err := l.link.Send(wire.OpenName, open)
	if err == nil {
		l.r.loading(l)
	}
	for err == nil {
		next, dropped := l.next()
		if dropped > 0 {
			l.r.config.Log.Info("sound was dropped in which phrases were sought", "frames", dropped)
		}
		if next != nil {
			err = next()
			continue
		}
		select {
		case <-l.more:
		case <-ctx.Done():
			return
		}
	}
}

// burst is how many samples are sent at once: 100 ms, so that urgent messages never wait long.
const burst = audio.Rate / 10

// next returns what sends the next thing, urgent ones first, or nil if there is none; and how many
// frames were dropped, if it is time to say so.
func (l *helperSession) next() (send func() error, dropped int) {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != l {
		return nil, 0 // it is not ready
	}
	if len(r.spots.frames) > 0 {
		dropped = r.spots.report(time.Now())
		return l.spotting(r.spots.pop()), dropped
	}
	if i := slices.IndexFunc(l.active, func(h *hearing) bool { return h.of.over }); i >= 0 {
		cancel := wire.Cancel{Stream: l.active[i].stream}
		l.active = slices.Delete(l.active, i, i+1)
		return func() error {
			if cancel.Stream == 0 {
				return nil // nothing of it was sent
			}
			return l.link.Send(wire.CancelName, cancel)
		}, 0
	}
	l.admit()
	return l.hear(), 0
}

// admit has more utterances heard, if there are any and they may be.
func (l *helperSession) admit() {
	may := 1
	if l.r.ready.Concurrent && !slices.ContainsFunc(l.r.sessions, (*Session).suspect) {
		may = most
	}
	for _, s := range l.r.sessions {
		if len(l.active) >= may {
			return
		}
		if !l.hears(s) {
			l.active = append(l.active, &hearing{of: s})
		}
	}
}

// hears reports whether s is being sent.
func (l *helperSession) hears(s *Session) bool {
	return slices.ContainsFunc(l.active, func(h *hearing) bool { return h.of == s })
}

// sound returns what sends samples of a stream.
func (l *helperSession) sound(stream uint32, pcm []int16) func() error {
	l.buf = audio.AppendPCM(l.buf[:0], pcm)
	return func() error { return l.link.SendSound(stream, l.buf) }
}

// spotting adds a frame to the stream in which phrases are sought.
func (l *helperSession) spotting(s spot) func() error {
	if s.fresh || l.spot == 0 {
		l.spot++
		l.spotted[l.spot%uint32(len(l.spotted))] = s.at
	}
	l.frames++
	return l.sound(l.spot|wire.Spot, s.pcm[:])
}

// hear returns what sends the next part of an utterance, some of its sound or its end; or nil. They
// take turns, so that one which is sent again from its beginning delays no other.
func (l *helperSession) hear() func() error {
	for i, h := range l.active {
		pcm := h.of.pcm[h.sent:]
		switch {
		case len(pcm) > 0:
			pcm = pcm[:min(len(pcm), burst)]
			h.sent += len(pcm)
		case !h.of.ended.IsZero() && !h.complete:
			h.complete = true
		default:
			continue
		}
		if h.stream == 0 {
			l.stream++
			h.stream, l.stale = l.stream, 0
		}
		copy(l.active[i:], l.active[i+1:])
		l.active[len(l.active)-1] = h
		return l.sound(h.stream, pcm)
	}
	return nil
}

// control handles the helper's messages.
func (l *helperSession) control(c helper.Control) error {
	switch c.Name {
	case wire.ReadyName:
		if !l.load.Stop() {
			return fmt.Errorf("%w: ready twice", helper.ErrProtocol)
		}
		ready, err := wire.DecodeReadyHear(c)
		if err != nil {
			return err
		}
		l.r.found(l, ready)
		return nil
	case wire.FaultName:
		return helper.DecodeFault(c)
	case wire.PartialName, wire.FinalName:
		h, err := wire.DecodeHypothesis(c)
		if err != nil {
			return err
		}
		return l.understood(h, c.Name == wire.FinalName)
	case wire.PhraseName:
		p, err := wire.DecodePhrase(c)
		if err != nil {
			return err
		}
		return l.phrase(p)
	}
	return fmt.Errorf("%w: %q", helper.ErrProtocol, c.Name)
}

// understood passes a result to its session. One for a past utterance is late; too many of those,
// or any other, are lies.
func (l *helperSession) understood(h wire.Hypothesis, final bool) error {
	l.r.mu.Lock()
	i := slices.IndexFunc(l.active, func(a *hearing) bool { return a.stream == h.Stream && h.Stream > 0 })
	if i < 0 {
		l.stale++
		lie := h.Stream > l.stream || l.stale > mostStale
		l.r.mu.Unlock()
		return falsely(lie)
	}
	a, lie := l.active[i], false
	s := a.of
	if final {
		if lie = !a.complete; !lie {
			l.active, l.r.means = slices.Delete(l.active, i, i+1), h.Means
			s.unlist() // or it would be recognised again
		}
	} else {
		a.partials++
		lie = a.partials > a.sent/burst+1 // no helper has results more often than that
	}
	lag := lasts(l.r.ready.Tail)
	l.r.mu.Unlock()
	switch {
	case lie:
	case final:
		s.finish(result(h, lag, true))
	default:
		s.tell(result(h, lag, false))
	}
	return falsely(lie)
}

// falsely returns the fault of a helper that lies.
func falsely(lie bool) error {
	if !lie {
		return nil
	}
	return fmt.Errorf("%w: the helper reported something that it was not sent", helper.ErrProtocol)
}

// result converts h, from a recogniser whose words may lag.
func result(h wire.Hypothesis, lag time.Duration, final bool) Result {
	return Result{Text: h.Text, Heard: lasts(h.Heard), Lag: lag, Confidence: h.Confidence, Final: final}
}

// phrase reports a phrase.
func (l *helperSession) phrase(p wire.Phrase) error {
	stream := p.Stream &^ wire.Spot
	l.r.mu.Lock()
	l.phrases++
	few := len(l.r.config.Phrases) + len(l.r.config.Names) // they may be found at once
	lie := stream == 0 || stream > l.spot || p.Sample > l.frames*audio.Samples || !l.r.config.seeks(p.Text) || l.phrases > l.frames/framesOfPhrase+few
	recent := stream+uint32(len(l.spotted)) > l.spot
	at := l.spotted[stream%uint32(len(l.spotted))]
	l.r.mu.Unlock()
	if !lie && recent { // otherwise it is too late to act on it
		l.r.config.On(Phrase{Text: p.Text, At: at.Add(lasts(p.Sample))})
	}
	return falsely(lie)
}
