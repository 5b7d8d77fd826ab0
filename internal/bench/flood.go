package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/store"
)

const (
	floodGoal   = 50  // milliseconds of a commit, whatever is in it
	floodMemory = 150 // MB
)

// A commitMeter is how long each commit took, in milliseconds.
type commitMeter struct {
	mu   sync.Mutex
	took []float64
}

// Committed implements [store.Meter].
func (c *commitMeter) Committed(took time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, inMillis(took))
}

// Kept implements [store.Meter].
func (*commitMeter) Kept(earshot.Event) {}

// take returns what there is, once.
func (c *commitMeter) take() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.took
	c.took = nil
	return took
}

// flooding measures what somebody can do to the index who may send messages: the longest texts
// of random words, each with the next ordinary message, and then all of them taken back. The
// bare thing is the same message without its words: as many bytes of a single one.
func flooding(ctx context.Context, b bench) (rows []Row, err error) {
	directory, err := os.MkdirTemp(b.dir, "flood-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	var c commitMeter
	s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent, Meter: &c})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	random := rand.New(rand.NewPCG(1, 2))
	said := func(text string, members ...earshot.ParticipantID) ([]float64, earshot.EventID, error) {
		v := earshot.Visibility{Scope: earshot.Public}
		if len(members) > 0 {
			v = earshot.Visibility{Scope: earshot.Private, Members: members}
		}
		kept, err := s.Append(ctx, earshot.Event{Room: earshot.Desk, Author: "ann", Visibility: v, Body: earshot.Message{Text: earshot.Text(text)}})
		if err != nil {
			return nil, "", err
		}
		return c.take(), kept[0].ID, nil
	}
	n := max(4, b.rounds*b.repeats)
	var long, bare, ordinary, taken []float64
	var all []earshot.EventID
	for i := range n {
		var members []earshot.ParticipantID
		if i%2 == 0 {
			members = []earshot.ParticipantID{"ann", "bob"}
		}
		for _, one := range []struct {
			text string
			took *[]float64
		}{
			{gibberish(random, earshot.MaxText), &long}, {strings.Repeat("word ", earshot.MaxText/5), &bare}, {"the tide comes in at seven", &ordinary},
		} {
			took, id, err := said(one.text, members...)
			if err != nil {
				return nil, err
			}
			*one.took, all = append(*one.took, took...), append(all, id)
		}
	}
	memory, err := resident()
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(all); i += 3 {
		e := earshot.Event{Room: earshot.Desk, Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Withdrawal{Of: all[i]}}
		if _, err := s.Append(ctx, e); err != nil {
			return nil, err
		}
	}
	if err := s.Clean(ctx); err != nil {
		return nil, err
	}
	taken = c.take()
	o, p := spread(long), spread(bare)
	same := spread([]float64{memory})
	return []Row{
		row("flood: commit of 64 KB of random words", "ms", o, p, "").goal("", o.Max, floodGoal),
		{Name: "flood: commit of an ordinary message beside it", Unit: "ms", Ours: spread(ordinary)},
		(Row{Name: "flood: commits that take it back", Unit: "ms", Ours: spread(taken)}).goal("", spread(taken).Max, floodGoal),
		(Row{Name: "flood: memory (VmHWM)", Unit: "MB", Ours: same}).goal("", memory, floodMemory),
	}, nil
}

// gibberish returns random words of so many bytes.
func gibberish(random *rand.Rand, bytes int) string {
	b := make([]byte, 0, bytes)
	for len(b) < bytes-8 {
		for range 3 + random.IntN(5) {
			b = append(b, byte('a'+random.IntN(26)))
		}
		b = append(b, ' ')
	}
	return string(b)
}

// resident returns the most memory that this process has had, in MB.
func resident() (float64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	return kb * 1024 / 1e6, err
}
