//go:build cgo

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gordonklaus/portaudio"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/deck"
)

// idle is how long silence is played before the device is stopped, which saves about one per cent
// of a core. It is longer than the pauses of a conversation, since starting takes time, and so
// long that nothing of a speech is left in the device: stopping discards what is.
const idle = 10 * time.Second

// A playback is an open loudspeaker.
type playback struct {
	device
	open      sound.Open // what was asked for
	rate      int        // of the device, in samples a second
	size      int        // samples that the device holds when it is full
	deck      *deck.Deck
	underruns underruns

	// The microphone is told what is played at its own rate.
	down  *audio.Resampler
	told  []int16
	rests bool // the device is stopped; guarded by card.mu
	gap   bool // what is heard next does not continue what was heard before
}

// underruns counts how often the device ran empty.
type underruns struct {
	n     int
	since time.Time // when that was last reported
}

// note counts one more, and returns the count once a minute, else 0.
func (g *underruns) note(now time.Time) int {
	g.n++
	if now.Sub(g.since) < time.Minute {
		return 0
	}
	n := g.n
	g.n, g.since = 0, now
	return n
}

// startPlayback starts the loop of a stream that is open. A loudspeaker that is opened again keeps
// its deck.
func (c *card) startPlayback(at place, o sound.Open, size int, s *portaudio.Stream, buf []int16) {
	rate, _ := frameOf(o)
	k := &playback{device: newDevice(c, at, s, buf), open: o, rate: rate, size: size, down: audio.NewResampler(rate, audio.Rate), gap: true}
	c.mu.Lock()
	if c.deck == nil || c.deckOf != o.Number {
		c.deck, c.deckOf = deck.New(o.Volume), o.Number
	}
	k.deck, c.playback = c.deck, k
	c.mu.Unlock()
	c.loops.Go(k.run)
}

// run gives the device the deck's sound until it is closed or fails.
func (k *playback) run() {
	err := k.write()
	k.close()
	k.gone(err, func() { k.card.playback = nil })
}

// write writes one block after another. The device sets the pace.
func (k *playback) write() error {
	silent := 0
	for {
		select {
		case <-k.stop:
			return nil
		default:
		}
		if k.deck.Next(k.buf) {
			silent = 0
		} else if silent += len(k.buf); k.lasts(int64(silent)) >= idle {
			if err := k.rest(); err != nil {
				return err
			}
			silent = 0
			continue
		}
		if err := k.put(); err != nil {
			return err
		}
	}
}

// put writes a block, and reports how far the device has come.
func (k *playback) put() error {
	err := k.stream.Write()
	switch {
	case err == portaudio.OutputUnderflowed:
		k.gap = true
		if n := k.underruns.note(time.Now()); n > 0 {
			fmt.Fprintf(os.Stderr, "the loudspeaker stuttered %d times: the machine is busy\n", n)
		}
	case err != nil:
		return err
	}
	held := k.held()
	k.heard(held)
	if r, ok := k.deck.Played(held); ok {
		return k.card.server.Send(sound.SayPlayed, r)
	}
	return nil
}

// held returns how many samples were written and not heard yet: those in the device, and those on
// their way after it.
func (k *playback) held() int64 {
	free, err := k.stream.AvailableToWrite()
	if err != nil {
		free = 0
	}
	k.card.mu.Lock()
	defer k.card.mu.Unlock()
	return int64(max(0, k.size-free)) + int64(k.delay*time.Duration(k.rate)/time.Second)
}

// lasts returns how long n samples of the device last.
func (k *playback) lasts(n int64) time.Duration {
	return time.Duration(n) * time.Second / time.Duration(k.rate)
}

// heard tells the microphone what it is going to hear: the block written last, after what is held.
// At another rate, that begins with the end of the block before, and lacks the end of this one.
func (k *playback) heard(held int64) {
	if k.gap {
		k.told = k.down.Flush(k.told[:0]) // which is not heard any more
	}
	at := time.Now().Add(k.lasts(held-int64(len(k.buf))) - time.Duration(k.down.Behind()*float64(time.Second)/float64(k.rate)))
	k.told = k.down.Append(k.told[:0], k.buf)
	k.card.mu.Lock()
	defer k.card.mu.Unlock()
	k.card.far.Played(k.told, at, k.gap)
	k.gap = false
}

// rest stops the device until there is something to play.
func (k *playback) rest() error {
	k.gap = true
	k.resting(true)
	defer k.resting(false)
	done := k.card.server.Guard(opening)
	err := k.stream.Abort()
	done()
	if err != nil {
		return err
	}
	select {
	case <-k.deck.Woken():
	case <-k.stop:
		return nil
	}
	done = k.card.server.Guard(opening)
	defer done()
	return k.stream.Start()
}

// resting records whether the device is stopped; meanwhile the server may do with the stream what
// it likes.
func (k *playback) resting(rests bool) {
	k.card.mu.Lock()
	defer k.card.mu.Unlock()
	k.rests, k.away = rests, time.Time{}
}
