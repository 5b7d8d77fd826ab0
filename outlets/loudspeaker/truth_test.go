package loudspeaker_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/playback/playbacktest"
	"earshot/internal/sound"
	"earshot/internal/sound/deck"
	"earshot/internal/sound/soundtest"
	"earshot/outlets/loudspeaker"
)

// A machine is a loudspeaker with the real deck and a device that takes blocks of any length, holds
// some sound back, and records what it is given.
type machine struct {
	*deck.Deck
	blocks []int // their lengths, over and over
	held   int64

	mu       sync.Mutex
	changed  sync.Cond
	credit   int
	sent     int64
	end      bool
	recorded [][]int16
	running  sync.WaitGroup
}

func newMachine(blocks []int, held int64) *machine {
	m := &machine{Deck: deck.New(1), blocks: blocks, held: held, credit: deck.Most(audio.Rate)}
	m.changed.L = &m.mu
	return m
}

func (m *machine) open(context.Context, string, float64) (loudspeaker.Player, error) { return m, nil }

func (m *machine) Lost() <-chan struct{} { return nil }
func (m *machine) Err() error            { return nil }
func (m *machine) Close()                { m.running.Wait() }

func (m *machine) Play(rate int, moved func(sound.Position)) (loudspeaker.Playing, error) {
	m.Deck.Play(1, rate)
	m.running.Go(func() { m.run(moved) })
	return spin{m}, nil
}

// longest is how much the device plays at most, in samples, in case the deck never ends.
const longest = 20 * audio.Rate

// run is the device: playing a block takes as long as the block is.
func (m *machine) run(moved func(sound.Position)) {
	out := int64(0)
	for i := 0; ; i++ {
		pcm := make([]int16, m.blocks[i%len(m.blocks)])
		m.Next(pcm)
		out += int64(len(pcm))
		time.Sleep(time.Duration(len(pcm)) * time.Second / audio.Rate)
		r, news := m.Played(min(m.held, out))
		m.mu.Lock()
		m.recorded = append(m.recorded, pcm)
		m.credit += r.Credit
		r.End = r.End || out > longest
		news, m.end = news || r.End, r.End
		m.changed.Broadcast()
		m.mu.Unlock()
		if news {
			moved(sound.Position{Samples: r.Samples, End: r.End})
		}
		if m.end {
			return
		}
	}
}

// A spin is one playing on a machine.
type spin struct{ *machine }

func (s spin) Write(_ context.Context, pcm []int16) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(pcm) > 0 {
		for s.credit == 0 && !s.end {
			s.changed.Wait()
		}
		if s.end {
			return sound.ErrOver
		}
		n := min(len(pcm), s.credit)
		if err := s.Add(1, pcm[:n]); err != nil {
			return err
		}
		s.credit, s.sent, pcm = s.credit-n, s.sent+int64(n), pcm[n:]
	}
	return nil
}

func (s spin) Do(c earshot.Control) { s.Deck.Do(1, c) }

func (s spin) Finish() {
	s.mu.Lock()
	sent := s.sent
	s.mu.Unlock()
	s.Deck.Finish(1, sent)
}

// TestTheRecordingIsWhatWasHeard: whatever a speech is told, at whatever sample, its recording is
// the speech up to some word, in order, with nothing lost, and nothing repeated but for fades; and
// that word is the one reported as heard.
func TestTheRecordingIsWhatWasHeard(t *testing.T) {
	said := playbacktest.Clauses("one two three four. ", "five six, ", "seven eight nine ten eleven. ", "twelve.")
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(40, 640), 1, 8).Draw(rt, "blocks")
		held := rapid.Int64Range(0, 3000).Draw(rt, "held")
		disturbed := playbacktest.Disturbances(rt)
		var fault string
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(lengths, held)
			end := performOn(t, m, said, disturbed)
			least, most, follows := soundtest.Follow(m.recorded)
			fault = playbacktest.Compare(least, most, follows, len(strings.Fields(playbacktest.Text(said, end))), 12, disturbed[len(disturbed)-1].What == earshot.Cut)
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// performOn says everything on m with the given disturbances, and returns how far it was heard.
func performOn(t *testing.T, m *machine, said []earshot.Clause, disturbed []playbacktest.Disturbance) earshot.Heard {
	l := loudspeaker.New(loudspeaker.DefaultConfig(), m.open, new(playbacktest.Cipher))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx, func(earshot.Outlet) func() { return func() {} }) })
	synctest.Wait()
	hears := playbacktest.Listen()
	s, err := l.Open(ctx, earshot.Opening{}, hears.Hear)
	if err != nil {
		t.Fatal(err)
	}
	wait := say(t, s, said)
	for _, d := range disturbed {
		time.Sleep(d.After)
		s.Do(d.What)
	}
	wait()
	for !hears.At().End {
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	running.Wait()
	return hears.At()
}
