package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/models/hear"
	"earshot/models/voiceprint/cast"
)

// overheard are people, and what they say over the agent, with whom no rule was made;
// and the seed of the rooms where they do.
var overheard = struct {
	seed   uint64
	people []cast.Person
	lines  []string
}{301, []cast.Person{
	{Engine: cast.Espeak, Voice: "en-us+f3", Tract: 1, Pitch: 1, Pace: 1},
	{Engine: cast.Flite, Voice: "rms", Tract: 1.1, Pitch: 1.2, Pace: 1},
	{Engine: cast.Espeak, Voice: "en-gb+m2", Tract: 1, Pitch: 1, Pace: 1},
	{Engine: cast.Flite, Voice: "awb", Tract: 0.92, Pitch: 1, Pace: 1},
}, []string{
	"wait i meant the tides of the river", "but why does it happen twice a day", "that is not what i wanted to know",
	"hold on for a second", "earshot be quiet please", "sorry can you say that again",
}}

// overheard returns interruptions by these, as loud as the others are: four in each of
// so many rooms.
func (c company) overheard(ctx context.Context, rooms int) (all []interruption, err error) {
	for i, room := range echoRooms[:min(rooms, len(echoRooms))] {
		room.Jitter, room.Seed = 5*time.Millisecond, overheard.seed+uint64(i)
		for k := range 4 {
			who, text := overheard.people[(i+k)%len(overheard.people)], overheard.lines[(i+2*k)%len(overheard.lines)]
			pcm, err := says(ctx, who, text)
			if err != nil {
				return nil, err
			}
			level := audio.Level(c.interrupting[(5*i+k)%len(c.interrupting)].pcm)
			all = append(all, interruption{room, who.Voice, line{text, loudAs(floats(pcm), level)}, i + k})
		}
	}
	return all, nil
}

// alone is how long the agent speaks while nobody else does.
const alone = 30 * time.Second

// onsetsInEcho measures how soon the ear alone notices people who speak over the agent
// in rooms where its own sound is in the microphone, and how often it takes that for
// somebody: what the agent does at once, to lower its voice, and then, to pause. The
// people are those of yield-echo, and others. It takes no time of its own: what a room
// captures goes through the real canceller as fast as that can. The bare thing is how
// soon anybody could know who knows what was said: see [talkover.limit].
func onsetsInEcho(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("onset-echo", []string{"speech"}, "flite", "espeak-ng"); rows != nil {
		return rows, nil
	}
	d, c, err := b.gather(ctx)
	if err != nil {
		return nil, err
	}
	others, err := c.overheard(ctx, b.rounds)
	if err != nil {
		return nil, err
	}
	o := onsets{known: make([]noticed, 2*min(b.rounds, len(echoRooms))), unseen: make([]noticed, len(others))}
	g, during := errgroup.WithContext(ctx)
	g.SetLimit(2)
	hear := func(all []interruption, into []noticed) {
		for i, x := range all {
			g.Go(func() (err error) {
				into[i], err = c.notice(during, d, x)
				return err
			})
		}
	}
	hear(c.interruptions(b.rounds), o.known)
	hear(others, o.unseen)
	for i := range others {
		if x := others[i]; i%4 == 0 {
			g.Go(func() error { return o.nobody(during, d, c, x.room, x.n) })
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

// Noticed is what an ear makes of an interruption, in milliseconds after its onset: less
// than 0 is never.
type noticed struct {
	interruption
	began, lasts, limit float64
	early               bool // it had taken the agent for somebody just before
}

// String says of which it is, and when.
func (n noticed) String() string {
	return fmt.Sprintf("%v %.0f/%.0f, limit %.0f", n.interruption, n.began, n.lasts, n.limit)
}

// notice has an ear hear an interruption.
func (c company) notice(ctx context.Context, d dial, x interruption) (n noticed, err error) {
	s := c.play(x)
	n = noticed{interruption: x, began: -1, lasts: -1}
	if n.limit, err = s.limit(ctx, d); err != nil {
		return n, err
	}
	_, frames, err := s.clean(ctx, d, s.near)
	if err != nil {
		return n, err
	}
	ear, in := hear.New(hear.DefaultConfig()), false
	for i := range frames {
		frames[i].Own = true
		edge, after := ear.Step(&frames[i]), s.after(i)
		switch edge {
		case hear.Began:
			in = true
			if after >= 0 && n.began < 0 {
				n.began = after
			}
		case hear.Lasts:
			if after >= 0 && n.lasts < 0 {
				n.lasts = after
			}
		case hear.Nothing, hear.End:
			in = false
		}
		if after < 0 {
			n.early = in
		}
	}
	return n, nil
}

// after returns how many milliseconds after the onset frame i is over.
func (s talkover) after(i int) float64 {
	return float64((i+1)*audio.Samples-s.onset) * 1000 / audio.Rate
}

const (
	// audibly is how much louder somebody is in a band than what is left of an echo,
	// in dB, and amply in how many bands, where anybody could tell who knows both.
	audibly = 6
	amply   = 3

	// hush is the level of what nobody hears in a band, in dB.
	hush = -72
)

// limit returns after how many milliseconds somebody can be noticed at best: when a frame
// is over in which that sound, as it was before it came into the room, is audibly in some
// bands above all that is left of the room while nobody but the agent speaks there; -1 if
// there is none. Who has to tell one from the other needs more.
func (s talkover) limit(ctx context.Context, d dial) (float64, error) {
	_, frames, err := s.clean(ctx, d, make([]int16, len(s.near)))
	if err != nil {
		return 0, err
	}
	var left []int16
	for i := range frames {
		left = append(left, frames[i].PCM[:]...)
		if s.after(i) < 0 {
			continue
		}
		n, rest := 0, audio.Bands(left)
		for band, level := range audio.Bands(s.near[:len(left)]) {
			if level > hush && level > rest[band]+audibly {
				n++
			}
		}
		if n >= amply {
			return s.after(i), nil
		}
	}
	return -1, nil
}

// Onsets are what came of them.
type onsets struct {
	known, unseen []noticed

	mu            sync.Mutex
	minutes       float64 // of the agent alone
	ducks, pauses int     // for nobody, in these
	softly        float64
	softDucks     int
	first         int // ducks in the first seconds, while the room is not known
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
	known, err := timely("as in yield-echo", o.known, slices.Values(o.known))
	if err != nil {
		return nil, err
	}
	late := func(yield func(noticed) bool) {
		for _, n := range o.unseen {
			if !n.early && (n.began < 0 || n.began > sooner) && !yield(n) {
				return
			}
		}
	}
	unseen, err := timely("others", o.unseen, late)
	if err != nil {
		return nil, err
	}
	softly := float64(o.softDucks) / o.softly
	return append(append(known, unseen...),
		Row{Name: "B11 lowered for nobody, where echo is -10 dB or less", Unit: "a minute", Ours: same(softly), Note: "of its own speech, when it has spoken for 8 s"}.goal("", softly, 1),
		Row{Name: "B11 lowered for nobody", Unit: "a minute", Ours: same(float64(o.ducks) / o.minutes), Note: fmt.Sprintf("in all rooms; paused %.2f; %d in the first 8 s of %d rooms", float64(o.pauses)/o.minutes, o.first, int(o.minutes/alone.Minutes()))}), nil
}

// sooner is when somebody should have been noticed, in milliseconds.
const sooner = 180

// never is what counts of those who are not noticed, in milliseconds: longer than what
// any of them says.
const never = 5000

// timely returns the rows of some interruptions, and tells of some of them.
func timely(which string, all []noticed, tell iter.Seq[noticed]) ([]Row, error) {
	var duck, soft, still, limit []float64
	var early, missed, unbelieved int
	for _, n := range all {
		if n.early {
			early++
			continue
		}
		if n.limit >= 0 {
			limit = append(limit, n.limit)
		}
		began, lasts := n.began, n.lasts
		if began < 0 {
			began, missed = never, missed+1
		}
		if lasts < 0 {
			lasts, unbelieved = never, unbelieved+1
		}
		duck, still = append(duck, began), append(still, lasts)
		if n.room.Echo <= talking {
			soft = append(soft, began)
		}
	}
	if len(soft) == 0 || missed == len(duck) || unbelieved == len(still) || len(limit) == 0 {
		return nil, errors.New("nobody was noticed")
	}
	note := fmt.Sprintf("p95 %s, limit %s; %d of %d, who is not noticed counts as %d; %d more times it was lowered already", number(most(duck)), number(most(limit)), len(duck)-missed, len(duck), never, early)
	for n := range tell {
		note += "; " + n.String()
	}
	return []Row{
		row("B2 onset → duck, ear alone, "+which, "ms", spread(duck), spread(limit), note).goal("p95", most(duck), sooner),
		{Name: "B2 the same, where the echo is no louder than people, " + which, Unit: "ms", Ours: spread(soft), Note: fmt.Sprintf("p95 %s", number(most(soft)))},
		{Name: "B2 onset → pause, ear alone, " + which, Unit: "ms", Ours: spread(still), Note: fmt.Sprintf("p95 %s; %d of %d", number(most(still)), len(still)-unbelieved, len(still))},
	}, nil
}
