package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound/soundtest"
	"earshot/models/voiceprint"
	"earshot/outlets/loudspeaker"
	"earshot/speakers"
)

// overtures are how people begin to speak over an agent.
var overtures = []string{
	"no tell me about the moon", "stop talking", "wait i meant the tides of the river",
	"but why does it happen twice a day", "that is not what i wanted to know",
}

// yielding measures B2: how soon the agent falls silent for somebody who speaks over
// it, and how often it stops for what is no interruption, a cough or a television.
// All of it is recorded, annotated by the voice detector, and comes as it would from
// a microphone, through the ear, a real recogniser, the room, which tells voices
// apart, and the floor to a real deck; without the buffers of devices. The agent can
// be heard the while, and who asks is known by their voice.
func yielding(ctx context.Context, b bench) ([]Row, error) {
	return b.onStage(ctx, "yield", b.overtures, b.falseStops)
}

// onStage measures what is measured on a stage, with people of other voices.
func (b bench) onStage(ctx context.Context, name string, acts ...func(context.Context, dial, *stage) ([]Row, error)) (rows []Row, err error) {
	if rows := withoutVoice(name, []string{"speech"}, "flite", "espeak-ng"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := newStage(d)
	ctx, stop := beside(ctx, func(ctx context.Context) error { // on a busy machine it is taken for dead
		for {
			began := time.Now()
			if err := s.Run(ctx); ctx.Err() != nil || time.Since(began) < lead {
				return err
			}
		}
	})
	defer func() { err = errors.Join(err, stop()) }()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	for _, act := range acts {
		more, err := act(ctx, d, s)
		if rows = append(rows, more...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// A reaction is what came of something that was heard while the agent spoke.
type reaction struct {
	began     time.Time // when the tape did
	told      []controlled
	cut, held bool // it was cut, or paused and never went on
	broken    bool // what was played is not what was said
	noted     *noted
}

// waits returns how long it was paused each time before it went on, in milliseconds.
func (y reaction) waits() (all []float64) {
	var since time.Time
	for _, c := range y.told {
		switch {
		case c.what == earshot.Pause && since.IsZero():
			since = c.at
		case c.what != earshot.Pause && !since.IsZero():
			if c.what != earshot.Cut {
				all = append(all, micros(c.at.Sub(since))/1000)
			}
			since = time.Time{}
		}
	}
	return all
}

// yield plays a tape while the agent, which yields in some style, speaks to somebody of
// that voice.
func (b bench) yield(ctx context.Context, s *stage, t *tape, asker inquirer, style string) (y reaction, err error) {
	book, err := speakers.Open("", speakers.DefaultConfig())
	if err != nil {
		return y, err
	}
	table, roll := newTurntable(), make(chan time.Time, 1)
	y.noted = &noted{book: book}
	err = s.play(ctx, scene{
		loud: loudspeaker.New(loudspeaker.DefaultConfig(), table.open, new(cipher)), capture: rolling{t, roll, true, asker.asks},
		voices: book, asker: asker.voice, asks: asker.asks != nil, style: style, notes: y.noted.note,
		act: func(ctx context.Context) error {
			y.began = time.Now()
			y.noted.begin(y.began, asker.voice)
			roll <- y.began
			<-ctx.Done() // the tape is over, and what was on it understood
			y.held = !table.goesOn()
			y.told = table.told()
			_, _, whole := soundtest.Follow(table.recorded())
			y.broken = !whole
			return nil
		},
	})
	y.cut = slices.ContainsFunc(y.told, func(c controlled) bool { return c.what == earshot.Cut })
	return y, err
}

// longest is how long a pause may last of which nothing comes.
const longestPause = 6 * time.Second

// goesOn waits until the speech does, and reports whether it did.
func (t *turntable) goesOn() bool {
	look := time.NewTicker(audio.Time)
	defer look.Stop()
	for end := time.Now().Add(longestPause); time.Now().Before(end); {
		<-look.C
		told := t.told()
		if len(told) == 0 {
			return true
		}
		if last := told[len(told)-1]; last.what == earshot.Cut || last.what != earshot.Pause && time.Since(last.at) > lead {
			return last.what != earshot.Cut
		}
	}
	return false
}

// when returns how long after a sample of the tape it was first told one of these,
// in milliseconds.
func (y reaction) when(sample int, any ...earshot.Control) (after float64, ok bool) {
	for _, c := range y.told {
		if slices.Contains(any, c.what) {
			return micros(c.at.Sub(y.began.Add(inTime(sample)))) / 1000, true
		}
	}
	return 0, false
}

// overtures measures how soon the agent ducks, and is silent, for people who speak
// over it: those who ask themselves.
func (b bench) overtures(ctx context.Context, d dial, s *stage) ([]Row, error) {
	var duck, still, word []float64
	broken, all, hesitated := 0, 0, 0
	for i := range min(b.rounds, len(overtures)*len(voices)) {
		voice := voices[i%len(voices)]
		t, err := b.tape(ctx, d, voice, overtures[i/len(voices)])
		if err != nil {
			return nil, err
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
		if err := y.noted.enter(fmt.Sprintf("cuts: %s %q", voice, overtures[i/len(voices)])); err != nil {
			return nil, err
		}
		hesitated += min(1, len(y.waits()))
		if y.broken {
			broken++
		}
		add := func(to *[]float64, any ...earshot.Control) {
			if after, ok := y.when(t.onset, any...); ok {
				*to = append(*to, after)
			}
		}
		add(&duck, earshot.Duck, earshot.Pause, earshot.Cut)
		add(&still, earshot.Pause, earshot.Cut)
		add(&word, earshot.Cut)
	}
	if len(duck) == 0 || len(still) == 0 {
		return nil, fmt.Errorf("nothing that was said interrupted anything, %d times", all)
	}
	const peers = "beside it LiveKit's agents: 582 to 587 ms by default, 221 ms tuned"
	rows := []Row{
		Row{Name: "B2 onset → duck, median", Unit: "ms", Ours: spread(duck), Note: fmt.Sprintf("%d of %d", len(duck), all)}.goal("p50", spread(duck).P50, 100),
		Row{Name: "B2 onset → duck", Unit: "ms", Ours: spread(duck), Note: "p95 " + number(most(duck))}.goal("p95", most(duck), 150),
		Row{Name: "B2 onset → silence", Unit: "ms", Ours: spread(still), Note: fmt.Sprintf("p95 %s; %d of %d; %s", number(most(still)), len(still), all, peers)}.goal("p95", most(still), 250),
		{Name: "B2 onset → cut by words", Unit: "ms", Note: "none of them cut"},
	}
	if len(word) > 0 {
		rows[3].Ours, rows[3].Note = spread(word), fmt.Sprintf("%d of %d cut; %d had gone on before; %d recordings are not what was said", len(word), all, hesitated, broken)
	}
	return rows, nil
}

// most returns the 95th percentile.
func most(samples []float64) float64 {
	slices.Sort(samples)
	return samples[int(0.95*float64(len(samples)-1)+0.5)]
}

// An inquirer is who is in talk with the agent.
type inquirer struct {
	voice *earshot.Voice
	asks  *tape // a sentence of theirs, which is understood before; nil if none is
}

// asker returns who a voice is, that has said a sentence.
func (b bench) asker(ctx context.Context, d dial, voice string) (a inquirer, err error) {
	t, err := b.tape(ctx, d, voice, "earshot please tell me about the tides and why they come and go twice every day")
	if err != nil {
		return a, err
	}
	x := voiceprint.New()
	for i := range t.frames {
		x.Step(&t.frames[i])
	}
	v, ok := x.Voice(somebody.String())
	if !ok {
		return a, errors.New("a sentence is too short for a print of a voice")
	}
	return inquirer{&v, t}, nil
}

// A collection is distractions, and who is in talk with the agent while they are heard.
type collection struct {
	name, asker string
	make        func(context.Context, bench) ([]distraction, error)
}

// collections are those of which there are figures.
var collections = []collection{
	{"known when the rules were written", voices[0], func(ctx context.Context, b bench) ([]distraction, error) { return b.distractions(ctx) }},
	{"not known", unseen.asker(), unseen.distractions},
}

// falseStops measures for how many of the distractions the agent stops, whether it goes
// on at the sample where it paused, and how soon.
func (b bench) falseStops(ctx context.Context, d dial, s *stage) (rows []Row, err error) {
	var waits []float64
	for _, c := range collections {
		r, w, err := b.collected(ctx, d, s, c)
		if err != nil {
			return nil, fmt.Errorf("distractions %s: %w", c.name, err)
		}
		rows, waits = append(rows, r...), append(waits, w...)
	}
	on := Row{Name: "B2 paused for nothing → goes on", Note: "not measured: nothing paused it"}
	if len(waits) > 0 {
		on.Unit, on.Ours = "ms", spread(waits)
		on.Note = fmt.Sprintf("p95 %s; %d pauses", number(most(waits)), len(waits))
		on = on.goal("max", slices.Max(waits), 400)
	}
	return append(rows, on), nil
}

// mayPause is how many of thirty distractions may pause the agent.
const mayPause = 8

// collected measures one collection, and returns how long the agent was paused each time.
func (b bench) collected(ctx context.Context, d dial, s *stage, c collection) (rows []Row, waits []float64, err error) {
	all, err := c.make(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	asker, err := b.asker(ctx, d, c.asker)
	if err != nil {
		return nil, nil, err
	}
	var heard, stopped, broken int
	var which, paused []string
	for i, one := range all[:min(len(all), b.rounds)] {
		y, err := b.distract(ctx, d, s, one, asker, "")
		if err != nil {
			return nil, nil, fmt.Errorf("%d, %s: %w", i, one.kind, err)
		}
		if err := y.noted.enter(fmt.Sprintf("goes on: %s, %d %s", c.name, i, one.kind)); err != nil {
			return nil, nil, err
		}
		heard, waits = heard+1, append(waits, y.waits()...)
		name := fmt.Sprintf("%d %s", i, one.kind)
		if _, was := y.when(0, earshot.Pause); was {
			paused = append(paused, name)
		}
		if y.broken {
			broken++
		}
		if y.cut || y.held {
			stopped++
			which = append(which, name)
		}
	}
	note := fmt.Sprintf("of %d; %d went on at another sample", heard, broken)
	return []Row{
		count("B2 false stops, "+c.name, stopped, strings.Join(append([]string{note}, which...), "; ")).goal("max", float64(stopped), 2),
		count("B2 false pauses, "+c.name, len(paused), strings.Join(append([]string{fmt.Sprintf("of %d", heard)}, paused...), "; ")).
			goal("max", float64(len(paused)), float64(mayPause*heard/30)),
	}, waits, nil
}

// count is a row of one number.
func count(name string, n int, note string) Row {
	return Row{Name: name, Unit: "times", Ours: Spread{float64(n), float64(n), float64(n)}, Note: note}
}

// distract plays a distraction while the agent speaks.
func (b bench) distract(ctx context.Context, d dial, s *stage, one distraction, asker inquirer, style string) (reaction, error) {
	r := &reel{pcm: slices.Concat(make([]int16, inSamples(lead)), one.pcm, make([]int16, inSamples(gap)))}
	breathe(r.pcm)
	t, err := b.annotate(ctx, d, r)
	if err != nil {
		return reaction{}, err
	}
	return b.yield(ctx, s, t, asker, style)
}
