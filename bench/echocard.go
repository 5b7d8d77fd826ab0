package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/providers/microphone"
)

// A parlour is a room of PulseAudio in which three quarters of a minute of dialogue are
// performed.
type parlour struct {
	leak   int  // percent of PulseAudio's volume at which the loudspeaker is heard
	system bool // PulseAudio takes the echo out, not earshot
}

// parlours are where the sound server cancels the echo, and where it does not and the
// agent is heard 6, 10, 13 and 20 dB softer than it speaks.
var parlours = []parlour{{leak: 60, system: true}, {leak: 79}, {leak: 68}, {leak: 60}, {leak: 46}}

// unplayed is how long it is silent before a dialogue: the first two seconds that
// are played into a loudspeaker that has just been made are lost.
const unplayed = 4 * time.Second

// echoesOnCard measures the same as echoes where the devices are real ones of a sound
// server, in its own time. The bare thing is the ear on what the microphone captured,
// without a canceller.
func echoesOnCard(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("echo-card", []string{"speech", "pulse"}, "flite", "pulseaudio", "pactl", "parec", "pacat"); rows != nil {
		return rows, nil
	}
	d, c, err := b.gather(ctx)
	if err != nil {
		return nil, err
	}
	p := newPupil(d, nil)
	ctx, stop := beside(ctx, p.Run)
	defer func() { err = errors.Join(err, stop()) }()
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	own, system := echoed{dial: d, pupil: p}, echoed{dial: d, pupil: p}
	for i, room := range parlours[:min(b.rounds, len(parlours))] {
		into := &own
		if room.system {
			into = &system
		}
		lasts := min(45*time.Second, time.Duration(b.rounds)*5*time.Second)
		if err := b.hold(ctx, into, room, c.write(i+3, lasts+15*time.Second, true)); err != nil {
			return nil, fmt.Errorf("room %d of PulseAudio: %w", i+1, err)
		}
	}
	for _, e := range []*echoed{&own, &system} {
		if e.spotted, err = spot(ctx, d, e.missed); err != nil {
			return nil, err
		}
	}
	return append(own.onCard("B11 through PulseAudio"), system.onCard("B11 with PulseAudio's canceller")...), nil
}

// hold holds a dialogue in a room.
func (b bench) hold(ctx context.Context, e *echoed, room parlour, p play) error {
	server, err := soundtest.New(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	leak := server.Leak
	if room.system {
		leak = server.LeakCancelled
	}
	if err := leak(room.leak); err != nil {
		return err
	}
	d := e.dial
	d.env = server.Env()
	card := sound.New(d.to(soundHelper), silent)
	during, stop := beside(ctx, card.Run)
	defer stop()
	raw, err := record(server, soundtest.Source)
	if err != nil {
		return err
	}
	p.later(inSamples(unplayed))
	var frames []audio.Frame
	if frames, err = converse(during, server, card, p); err == nil {
		err = stop()
	}
	if err = errors.Join(err, raw.stop()); err != nil {
		return err
	}
	captured, _ := raw.sound()
	return e.look(ctx, b, p, frames, captured)
}

// later moves all of it back.
func (p *play) later(by int) {
	silence := make([]int16, by)
	p.far, p.near = append(silence, p.far...), append(silence[:by:by], p.near...)
	for _, some := range [][]passage{p.said, p.cuts, p.replies} {
		for i := range some {
			some[i].from, some[i].to = some[i].from+by, some[i].to+by
		}
	}
}

// converse plays both tracks of a dialogue, each into its own device, and returns what
// earshot's microphone gave.
func converse(ctx context.Context, server *soundtest.Server, card *sound.Card, p play) (frames []audio.Frame, err error) {
	hearing, deaf := context.WithCancel(ctx)
	defer deaf()
	open := &opening{Capture: microphone.OnCard(card, ""), open: make(chan struct{})}
	var listening sync.WaitGroup
	listening.Go(func() {
		for f, err := range open.Frames(hearing) {
			if err != nil {
				break // that nothing more comes is seen
			}
			frames = append(frames, *f)
		}
	})
	if _, err := await("the microphone is open", open.open); err != nil {
		return nil, err
	}
	out, err := card.Output(ctx, "", 1)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	ended := make(chan struct{})
	speech, err := out.Play(audio.Rate, func(at sound.Position) {
		if at.End {
			close(ended)
		}
	})
	if err != nil {
		return nil, err
	}
	var people sync.WaitGroup
	talking, hush := context.WithCancel(ctx)
	defer hush()
	var fault error
	people.Go(func() {
		if err := server.Play(talking, p.near[:p.said[len(p.said)-1].to]); talking.Err() == nil {
			fault = err
		}
	})
	if err = speech.Write(ctx, p.far); err == nil {
		speech.Finish()
		<-ended
	}
	hush()
	people.Wait()
	deaf()
	listening.Wait()
	return frames, errors.Join(err, fault)
}

// look notes what came of a dialogue.
func (e *echoed) look(ctx context.Context, b bench, p play, frames []audio.Frame, captured []int16) error {
	ours, clean, err := overhear(each(frames))
	if err != nil {
		return err
	}
	source, err := b.source(&reel{pcm: captured}, "captured")
	if err != nil {
		return err
	}
	bare, _, err := overhear(codec.Open(ctx, e.dial.to(speechHelper, "media"), source))
	if err != nil {
		return err
	}
	if clean, ours, err = p.align(clean, ours); err != nil {
		return err
	}
	if captured, bare, err = p.align(captured, bare); err != nil {
		return err
	}
	return e.judge(ctx, p, ours, bare, clean, captured)
}

// each yields frames as if they came.
func each(frames []audio.Frame) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		for i := range frames {
			if !yield(&frames[i], nil) {
				return
			}
		}
	}
}

// align lets what was captured, and found in it, begin where the dialogue does: where
// the first thing that somebody says is most like it.
func (p play) align(captured []int16, all []remark) ([]int16, []remark, error) {
	first := p.said[0]
	said, by, most := p.near[first.from:first.to], 0, 0.0
	for at := first.from; at+len(said) <= len(captured) && at < first.to+inSamples(unplayed); at++ {
		like := 0.0
		for i := 0; i < len(said); i += 2 {
			like += float64(said[i]) * float64(captured[at+i])
		}
		if like = math.Abs(like); like > most {
			most, by = like, at-first.from
		}
	}
	if most == 0 {
		return nil, nil, errors.New("the first thing that somebody says is not in what was captured")
	}
	for i := range all {
		all[i].from, all[i].lasts, all[i].to = all[i].from-by, all[i].lasts-by, all[i].to-by
	}
	return captured[by:], all, nil
}

// onCard returns the rows of what happened in real time.
func (e *echoed) onCard(what string) []Row {
	if e.asked == 0 {
		return []Row{{Name: what, Note: "not measured: nobody interrupted"}}
	}
	lowered := Row{Name: what + ": echo lowered by", Note: "not measured: there was one reply"}
	if len(e.erle) > 0 {
		lowered = Row{Name: lowered.Name, Unit: "dB", Ours: spread(e.erle)}
	}
	missed := 100 * float64(e.asked-len(e.heard)-e.spotted) / float64(e.asked)
	return []Row{
		Row{Name: what + ": self-turns", Unit: fmt.Sprintf("in %.1f minutes", e.minutes), Ours: same(float64(e.turns)),
			Note: "dialogue in its own time, through the devices of a sound server"}.goal("", float64(e.turns), 0),
		row(what+": pauses for nobody", fmt.Sprintf("in %.1f minutes", e.minutes), same(float64(e.pauses)), same(float64(e.barely)),
			"bare is the same ear on what the microphone captured"),
		Row{Name: what + ": real cuts missed", Unit: "%", Ours: same(missed), Note: fmt.Sprintf(
			"%d of %d were noticed by the ear while they were said, %d more by who listens for stop phrases", len(e.heard), e.asked, e.spotted)}.goal("", missed, 5),
		lowered,
	}
}
