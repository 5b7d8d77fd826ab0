package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
)

// converged is how long the agent has been speaking when somebody speaks over it: the
// canceller knows the room by then.
const converged = 8 * time.Second

// talking is how loud people are, in dB of what the agent plays: what comes back of that
// is louder in some rooms.
const talking = -9.0

// yieldingAcross measures B2 with echo.
func yieldingAcross(ctx context.Context, b bench) ([]Row, error) {
	return b.onStage(ctx, "yield-echo", b.acrossEcho)
}

// acrossEcho measures how soon the agent ducks, and is silent, for people who speak over
// it in rooms where its own sound is in the microphone, as loud as they are or louder:
// what the microphone captures goes through the real canceller, and from there the way
// that all of it goes.
func (b bench) acrossEcho(ctx context.Context, d dial, s *stage) ([]Row, error) {
	c, err := b.company(ctx)
	if err != nil {
		return nil, err
	}
	var duck, soft, still []float64
	all, before := 0, 0
	for i, room := range echoRooms[:min(b.rounds, len(echoRooms))] {
		room.Jitter, room.Seed = 5*time.Millisecond, uint64(i+101)
		for k := range 2 {
			voice := voices[1+(i+k)%3]
			l := c.interrupting[(i+k)%3*len(intrusions)+(i+2*k)%len(intrusions)]
			t, err := c.tape(ctx, d, room, l, i+k)
			if err != nil {
				return nil, fmt.Errorf("room %d: %w", i, err)
			}
			asker, err := b.asker(ctx, d, voice)
			if err != nil {
				return nil, err
			}
			y, err := b.yield(ctx, s, t, asker, "")
			if err != nil {
				return nil, err
			}
			all++
			lowered, was, is := y.since(t.onset, earshot.Duck, earshot.Pause, earshot.Cut)
			switch {
			case was:
				before++
			case is:
				duck = append(duck, lowered)
				if room.Echo <= talking {
					soft = append(soft, lowered)
				}
			}
			if silent, _, is := y.since(t.onset, earshot.Pause, earshot.Cut); is {
				still = append(still, silent)
			}
		}
	}
	if len(duck) == 0 || len(soft) == 0 || len(still) == 0 {
		return nil, fmt.Errorf("nothing that was said over an echo interrupted anything, %d times", all)
	}
	note := fmt.Sprintf("%d of %d in %d rooms; %d more times it was lowered already, for its own sound", len(duck), all, all/2, before)
	return []Row{
		Row{Name: "B2 onset → duck, with echo", Unit: "ms", Ours: spread(duck), Note: "p95 " + number(most(duck)) + "; " + note}.goal("p95", most(duck), 180),
		{Name: "B2 the same, where the echo is no louder than people", Unit: "ms", Ours: spread(soft), Note: "p95 " + number(most(soft))},
		{Name: "B2 onset → silence, with echo", Unit: "ms", Ours: spread(still), Note: fmt.Sprintf("p95 %s; %d of %d", number(most(still)), len(still), all)},
	}, nil
}

// since returns how long after a sample of the tape it was first told one of these, in
// milliseconds, and whether it had been lowered or paused when that was heard.
func (y reaction) since(sample int, any ...earshot.Control) (after float64, before, ok bool) {
	for _, c := range y.told {
		at := micros(c.at.Sub(y.began.Add(inTime(sample)))) / 1000
		if at < 0 {
			before = c.what != earshot.Resume
		} else if slices.Contains(any, c.what) {
			return at, before, true
		}
	}
	return 0, before, false
}

// tape returns what is left of a room in which the agent speaks and somebody begins to.
func (c company) tape(ctx context.Context, d dial, room soundtest.Room, l line, n int) (*tape, error) {
	at, whole := inSamples(converged), inSamples(converged+gap+2*time.Second)
	var far []int16
	for ; len(far) < whole; n++ {
		far = append(far, c.agent[n%len(c.agent)].pcm...)
	}
	for at < whole-len(l.pcm) && audio.Level(far[at:at+inSamples(300*time.Millisecond)]) < -30 {
		at += audio.Samples // it is between two sentences
	}
	near := make([]int16, whole)
	copy(near[at:], l.pcm)
	captured := room.Captured(far[:whole], near)
	from := at - inSamples(lead)
	t := &tape{onset: at - from + max(0, onset(l.pcm)), pcm: captured[from:]}
	base, heard := time.Unix(0, 0), 0
	for f, err := range sound.Rehearse(ctx, d.to(soundHelper, sound.RehearseArg), room.Takes(base, far[:whole], captured)) {
		if err != nil {
			return nil, err
		}
		if heard >= from {
			t.frames = append(t.frames, *f)
		}
		heard += audio.Samples
	}
	return t, ctx.Err()
}
