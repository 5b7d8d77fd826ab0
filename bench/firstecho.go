package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/models/hear"
)

// intoFirst is how long the first reply in a room has been heard when somebody
// interrupts it.
var intoFirst = []time.Duration{time.Second, 1400 * time.Millisecond, 1800 * time.Millisecond, 2200 * time.Millisecond, 2600 * time.Millisecond, 3 * time.Second}

// takes is how often each time is tried in a room.
const takes = 3

// firstEchoes measures who is heard that interrupts the first reply that is ever played
// in a room, while the canceller learns it; and whether the agent hears itself then.
func firstEchoes(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("first-echo", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, c, err := b.gather(ctx)
	if err != nil {
		return nil, err
	}
	heard, rooms := make([]int, len(intoFirst)), min(b.rounds, len(echoRooms))
	ducks, pauses := 0, 0
	var mu sync.Mutex
	g, during := errgroup.WithContext(ctx)
	g.SetLimit(2)
	for i, room := range echoRooms[:rooms] {
		for take := range takes {
			room.Jitter, room.Seed = 5*time.Millisecond, uint64(1000+i*takes+take)
			g.Go(func() error {
				alone, _, err := c.opens(during, d, room, take, 0, line{})
				mu.Lock()
				defer mu.Unlock()
				ducks, pauses = ducks+alone.ducks, pauses+alone.pauses
				return err
			})
			for k, into := range intoFirst {
				g.Go(func() error {
					_, cut, err := c.opens(during, d, room, take, into, c.interrupting[(3*i+5*k+take)%len(c.interrupting)])
					mu.Lock()
					defer mu.Unlock()
					if cut {
						heard[k]++
					}
					return err
				})
			}
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(intoFirst)+1)
	for k, into := range intoFirst {
		rows = append(rows, Row{
			Name: fmt.Sprintf("B11 heard %.1f s into the first reply in a room", into.Seconds()), Unit: "%",
			Ours: same(100 * float64(heard[k]) / float64(rooms*takes)), Note: fmt.Sprintf("%d of %d who interrupt it", heard[k], rooms*takes),
		})
	}
	return append(rows, Row{Name: "B11 pauses for nobody in it", Unit: fmt.Sprintf("in %d", rooms*takes), Ours: same(float64(pauses)), Note: fmt.Sprintf("first replies of 8 s; lowered %d times", ducks)}), ctx.Err()
}

// Edges are how often an ear took something for somebody.
type edges struct{ ducks, pauses int }

// opens has the agent talk for eight seconds in a room in which nothing was played
// before, and somebody say l after so much of it unless l is empty; and reports whether
// the ear noticed that.
func (c company) opens(ctx context.Context, d dial, room soundtest.Room, take int, into time.Duration, l line) (found edges, cut bool, err error) {
	whole := inSamples(9 * time.Second)
	far, near := make([]int16, whole), make([]int16, whole)
	for at, j := inSamples(time.Second), take; at < whole; j++ {
		at += copy(far[at:], c.agent[j%len(c.agent)].pcm) + inSamples(150*time.Millisecond)
	}
	at := inSamples(time.Second + into)
	said := passage{l.text, at + max(0, onset(l.pcm)), at + copy(near[at:], l.pcm)}
	ear, now := hear.New(hear.DefaultConfig()), 0
	for f, err := range sound.Rehearse(ctx, d.to(soundHelper, sound.RehearseArg), room.Takes(time.Unix(0, 0), far, room.Captured(far, near))) {
		if err != nil {
			return edges{}, false, err
		}
		now += audio.Samples
		switch ear.Step(f) {
		case hear.Began:
			found.ducks++
		case hear.Lasts:
			found.pauses++
			cut = cut || now > said.from && now < min(said.to, said.from+inSamples(1500*time.Millisecond))
		}
	}
	return found, cut, ctx.Err()
}
