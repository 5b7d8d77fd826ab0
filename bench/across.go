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
	for _, x := range c.interruptions(b.rounds) {
		t, err := c.tape(ctx, d, x)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", x, err)
		}
		asker, err := b.asker(ctx, d, x.voice)
		if err != nil {
			return nil, err
		}
		asker.asks = nil // people are as loud as the room says
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
			if x.room.Echo <= talking {
				soft = append(soft, lowered)
			}
		}
		if silent, _, is := y.since(t.onset, earshot.Pause, earshot.Cut); is {
			still = append(still, silent)
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

// An interruption is somebody who begins to speak, while the agent does, in a room.
type interruption struct {
	room  soundtest.Room
	voice string
	line  line
	n     int // of what the agent says
}

// String says which it is.
func (x interruption) String() string {
	return fmt.Sprintf("%.0f dB %s %q", x.room.Echo, x.voice, x.line.text)
}

// interruptions are two in each of so many rooms.
func (c company) interruptions(rooms int) (all []interruption) {
	for i, room := range echoRooms[:min(rooms, len(echoRooms))] {
		room.Jitter, room.Seed = 5*time.Millisecond, uint64(i+101)
		for k := range 2 {
			voice := (i + k) % (len(voices) - 1)
			l := c.interrupting[voice*len(intrusions)+(i+2*k)%len(intrusions)]
			all = append(all, interruption{room, voices[1+voice], l, i + k})
		}
	}
	return all
}

// tape returns what is left of a room in which somebody interrupts the agent.
func (c company) tape(ctx context.Context, d dial, x interruption) (*tape, error) {
	s := c.play(x)
	captured, frames, err := s.clean(ctx, d, s.near)
	if err != nil {
		return nil, err
	}
	from := s.at - inSamples(lead)
	return &tape{onset: s.onset - from, pcm: captured[from:], frames: frames[from/audio.Samples:]}, nil
}

// A talkover is what an interruption is made of, each on a track of its own.
type talkover struct {
	room      soundtest.Room
	far, near []int16
	at, onset int // the samples at which what is said begins, and its voice
}

// play has somebody interrupt the agent, who speaks without a pause, in the middle of
// a sentence.
func (c company) play(x interruption) talkover {
	at, whole := inSamples(converged), inSamples(converged+gap+2*time.Second)
	var far []int16
	for n := x.n; len(far) < whole; n++ {
		far = append(far, c.agent[n%len(c.agent)].pcm...)
	}
	for at < whole-len(x.line.pcm) && audio.Level(far[at:at+inSamples(300*time.Millisecond)]) < -30 {
		at += audio.Samples // it is between two sentences
	}
	near := make([]int16, whole)
	copy(near[at:], x.line.pcm)
	return talkover{x.room, far[:whole], near, at, at + max(0, onset(x.line.pcm))}
}

// clean returns what is captured in the room while near is said, and what is left of it.
func (s talkover) clean(ctx context.Context, d dial, near []int16) (captured []int16, frames []audio.Frame, err error) {
	captured = s.room.Captured(s.far, near)
	takes := s.room.Takes(time.Unix(0, 0), s.far, captured)
	for f, err := range sound.Rehearse(ctx, d.to(soundHelper, sound.RehearseArg), takes) {
		if err != nil {
			return nil, nil, err
		}
		frames = append(frames, *f)
	}
	return captured, frames, ctx.Err()
}
