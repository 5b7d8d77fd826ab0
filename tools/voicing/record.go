package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"earshot/internal/audio"
	"earshot/models/hear"
	"earshot/models/voiceprint/cast"
	"earshot/models/voicing"
)

// A take is a sound as an ear hears it, from its onset on.
type take struct {
	kind     string // empty for a voice
	instants [][voicing.Features]float64
}

// onsets is how many frames of a voice are of use: whether it is one is to be known by then.
const onsets = 12

// heard returns what is heard of a sound in a room with so much noise, as amplitude.
func heard(kind string, sound []float64, noise float64, d *rand.Rand) (t take) {
	frames := framed(sound, noise, d)
	t.kind = kind
	ear, open := hear.New(hear.DefaultConfig()), false
	var v voicing.Detector
	for i := range frames {
		f := &frames[i]
		edge := ear.Step(f)
		v.Step(f, false)
		open = edge == hear.Began || open && edge != hear.Nothing && edge != hear.End
		if open && f.Voiced && (kind != "" || len(t.instants) < onsets) {
			t.instants = append(t.instants, v.Features())
		}
	}
	return t
}

// framed returns a sound in a quiet room, in frames.
func framed(sound []float64, noise float64, d *rand.Rand) []audio.Frame {
	pcm := make([]float64, samplesOf(0.6)+len(sound)+samplesOf(0.5))
	copy(pcm[samplesOf(0.6):], sound)
	for i := range pcm {
		pcm[i] += noise * d.NormFloat64()
	}
	return cast.Frames(pcm)
}

// sound returns the nth sound of a kind, as loud as some are and through some microphone.
func (k kind) sound(seed uint64, n int) ([]float64, *rand.Rand) {
	d := rand.New(rand.NewPCG(seed, uint64(n)))
	return captured(k.make(d), n, d), d
}

// captured returns a sound as loud as some are, every third one through a microphone and a room.
func captured(sound []float64, n int, d *rand.Rand) []float64 {
	sound = loud(sound, -14-float64(n%5)*5)
	if n%3 == 1 {
		sound = cast.Some(uint64(n%40)).Through(sound, d)
	}
	return sound
}

// noises are those of rooms, as amplitudes: -80 to -55 dB.
var noises = []float64{3, 10, 30, 60}

// says returns how the nth of some people says a few words.
func says(ctx context.Context, people []cast.Person, seed uint64, n int) ([]float64, *rand.Rand, error) {
	d := rand.New(rand.NewPCG(seed, uint64(n)))
	words := strings.Fields(cast.Lines()[5*n%len(cast.Lines())])
	words = words[min(len(words)-1, d.IntN(5)):]
	mood := cast.Mood{Pitch: between(d, 0.9, 1.1), Pace: 1}
	sound, err := people[7*n%len(people)].Say(ctx, mood, strings.Join(words[:min(5, len(words))], " "))
	if err != nil {
		return nil, nil, fmt.Errorf("word %d: %w", n, err)
	}
	return captured(sound, n, d), d, nil
}

// record returns so many takes of each kind, and twenty times as many of voices.
func record(ctx context.Context, each int) (all []take, err error) {
	for _, k := range kinds {
		for n := range each {
			sound, d := k.sound(1, n)
			all = append(all, heard(k.name, sound, noises[n%len(noises)], d))
		}
	}
	for n := range 20 * each {
		sound, d, err := says(ctx, cast.Background(), 1, n)
		if err != nil {
			return nil, err
		}
		all = append(all, heard("", sound, noises[n%len(noises)], d))
	}
	return all, nil
}
