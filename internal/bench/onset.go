package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/models/hear"
	"earshot/models/voiceprint/cast"
)

// An edition is who speaks over the agent in which rooms, and what they say: rules are
// made with one, figures are those of another.
type edition struct {
	seed   uint64
	people []cast.Person
	lines  []string
}

// editions are who is heard by whoever makes the rules, and who is not.
var editions = map[crop]edition{
	tuning: {201, []cast.Person{
		{Engine: cast.Flite, Voice: "rms", Tract: 1, Pitch: 1, Pace: 1},
		{Engine: cast.Flite, Voice: "awb", Tract: 1, Pitch: 1, Pace: 1},
		{Engine: cast.Flite, Voice: "kal16", Tract: 1, Pitch: 1, Pace: 1},
	}, intrusions},
	unseen: {301, []cast.Person{
		{Engine: cast.Espeak, Voice: "en-us+f3", Tract: 1, Pitch: 1, Pace: 1},
		{Engine: cast.Flite, Voice: "rms", Tract: 1.1, Pitch: 1.2, Pace: 1},
		{Engine: cast.Espeak, Voice: "en-gb+m2", Tract: 1, Pitch: 1, Pace: 1},
		{Engine: cast.Flite, Voice: "awb", Tract: 0.92, Pitch: 1, Pace: 1},
	}, []string{
		"wait i meant the tides of the river", "but why does it happen twice a day", "that is not what i wanted to know",
		"hold on for a second", "earshot be quiet please", "sorry can you say that again",
	}},
}

// alone is how long the agent speaks while nobody else does.
const alone = 30 * time.Second

// onsetsInEcho measures how soon the ear alone notices people who speak over the agent
// in rooms where its own sound is in the microphone, and how often it takes that for
// somebody: what the agent does at once, to lower its voice, and then, to pause. It takes
// no time of its own: what a room captures goes through the real canceller as fast as
// that can.
func onsetsInEcho(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("onset-echo", []string{"speech"}, "flite", "espeak-ng"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	c, err := b.company(ctx)
	if err != nil {
		return nil, err
	}
	e := editions[unseen]
	var o onsets
	g, during := errgroup.WithContext(ctx)
	g.SetLimit(2)
	for i, room := range echoRooms[:min(b.rounds, len(echoRooms))] {
		room.Jitter, room.Seed = 5*time.Millisecond, e.seed+uint64(i)
		g.Go(func() error { return o.nobody(during, d, c, room, i) })
		for k := range 4 {
			g.Go(func() error {
				who, text := e.people[(i+k)%len(e.people)], e.lines[(i+2*k)%len(e.lines)]
				pcm, err := says(during, who, text)
				if err != nil {
					return err
				}
				l := line{text, loudAs(floats(pcm), -26)}
				return o.somebody(during, d, c, room, l, i+k)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return o.rows()
}

func floats(pcm []int16) []float64 {
	f := make([]float64, len(pcm))
	for i, s := range pcm {
		f[i] = float64(s)
	}
	return f
}

// Onsets are what came of them.
type onsets struct {
	mu                sync.Mutex
	asked             int
	duck, soft, still []float64 // ms
	early             int       // already lowered
	minutes           float64   // of the agent alone
	ducks, pauses     int       // for nobody, in these
	softly            float64
	softDucks         int
	first             int // ducks in the first seconds, while the room is not known
}

// somebody notes when somebody is noticed.
func (o *onsets) somebody(ctx context.Context, d dial, c company, room soundtest.Room, l line, n int) error {
	t, err := c.tape(ctx, d, room, l, n)
	if err != nil {
		return err
	}
	ear := hear.New(hear.DefaultConfig())
	began, lasts, before := -1.0, -1.0, false
	in := false
	for i := range t.frames {
		f := &t.frames[i]
		f.Own = true
		edge := ear.Step(f)
		after := micros(time.Duration(i+1)*audio.Time-inTime(t.onset)) / 1000
		switch edge {
		case hear.Began:
			in = true
			if after >= 0 && began < 0 {
				began = after
			}
		case hear.Lasts:
			if after >= 0 && lasts < 0 {
				lasts = after
			}
		case hear.Nothing, hear.End:
			in = false
		}
		if after < 0 {
			before = in
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	switch {
	case before:
		o.early++
	case began >= 0:
		o.duck = append(o.duck, began)
		if room.Echo <= talking {
			o.soft = append(o.soft, began)
		}
	}
	if lasts >= 0 {
		o.still = append(o.still, lasts)
	}
	return nil
}

// nobody notes how often the agent is taken for somebody.
func (o *onsets) nobody(ctx context.Context, d dial, c company, room soundtest.Room, n int) error {
	whole := inSamples(converged + alone)
	var far []int16
	for ; len(far) < whole; n++ {
		far = append(far, c.agent[n%len(c.agent)].pcm...)
		far = append(far, make([]int16, inSamples(time.Duration(100+n*137%700)*time.Millisecond))...)
	}
	captured := room.Captured(far[:whole], make([]int16, whole))
	ear, ducks, pauses, first, i := hear.New(hear.DefaultConfig()), 0, 0, 0, 0
	for f, err := range sound.Rehearse(ctx, d.to(soundHelper, sound.RehearseArg), room.Takes(time.Unix(0, 0), far[:whole], captured)) {
		if err != nil {
			return err
		}
		i++
		switch edge := ear.Step(f); {
		case edge == hear.Began && inTime(i*audio.Samples) < converged:
			first++
		case edge == hear.Began:
			ducks++
		case edge == hear.Lasts && inTime(i*audio.Samples) >= converged:
			pauses++
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.minutes += alone.Minutes()
	o.ducks, o.pauses, o.first = o.ducks+ducks, o.pauses+pauses, o.first+first
	if room.Echo <= -10 {
		o.softly += alone.Minutes()
		o.softDucks += ducks
	}
	return ctx.Err()
}

// rows returns the table.
func (o *onsets) rows() ([]Row, error) {
	if len(o.duck) == 0 || len(o.soft) == 0 || len(o.still) == 0 || o.minutes == 0 {
		return nil, errors.New("nobody was noticed")
	}
	return []Row{
		Row{Name: "B2 onset → duck, ear alone, with echo", Unit: "ms", Ours: spread(o.duck), Note: fmt.Sprintf("p95 %s; %d of %d; %d more times it was lowered already", number(most(o.duck)), len(o.duck), o.asked, o.early)}.goal("p95", most(o.duck), 180),
		{Name: "B2 the same, where the echo is no louder than people", Unit: "ms", Ours: spread(o.soft), Note: fmt.Sprintf("p95 %s", number(most(o.soft)))},
		{Name: "B2 onset → pause, ear alone, with echo", Unit: "ms", Ours: spread(o.still), Note: fmt.Sprintf("p95 %s; %d of %d", number(most(o.still)), len(o.still), o.asked)},
		{Name: "B11 lowered for nobody", Unit: "a minute", Ours: same(float64(o.ducks) / o.minutes), Note: fmt.Sprintf("of its own speech, when it has spoken for 8 s; where echo is -10 dB or less %.2f; paused %.2f; %d in the first 8 s of %d rooms", float64(o.softDucks)/o.softly, float64(o.pauses)/o.minutes, o.first, int(o.minutes/alone.Minutes()))},
	}, nil
}
