package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"earshot"
	"earshot/models/voiceprint/cast"
	"earshot/speakers"
)

// A verdict is what a book says of a saying.
type verdict struct {
	who   int // who said it
	known bool
	named bool // it was said to be somebody's
	right bool // theirs
	sure  float64
}

// openSet measures whom a book with its defaults takes the sayings of people for, of whom
// some are known, at the bound that it calls sure.
func openSet(all []saying, draws int) (rows []Row, err error) {
	for _, r := range []struct{ name, through string }{{"", channels[0].Name}, {", through another microphone", channels[2].Name}} {
		luck := rand.New(rand.NewPCG(8, 9))
		var some []verdict
		for range draws {
			v, err := judged(all, r.through, luck)
			if err != nil {
				return nil, err
			}
			some = append(some, v...)
		}
		right := func(v verdict) bool { return v.named && v.right }
		wrong := func(v verdict) bool { return v.named && !v.right }
		of := func(known bool) []verdict {
			return slices.DeleteFunc(slices.Clone(some), func(v verdict) bool { return v.known != known })
		}
		named := rated("B12 known people named right"+r.name, of(true), right)
		named.Note += fmt.Sprintf("; %.1f %% are taken for somebody else who is known, the others for nobody", rateOf(of(true), wrong, nil))
		rows = append(rows, named, rated("B12 unknown people taken for known"+r.name, of(false), wrong))
	}
	return rows, nil
}

// judged draws people as assemble does, lets a book know some of them by three sayings
// each through the first channel, and returns what it says of all others.
func judged(all []saying, through string, luck *rand.Rand) (some []verdict, err error) {
	people := luck.Perm(all[len(all)-1].who + 1)[:inRoom]
	book, err := speakers.Open("", speakers.DefaultConfig())
	if err != nil {
		return nil, err
	}
	now := time.Unix(0, 0)
	is := func(s saying) *earshot.Voice {
		return &earshot.Voice{Heard: s.heard, Print: s.print, Channel: s.channel}
	}
	name := func(who int) earshot.ParticipantID { return earshot.ParticipantID(fmt.Sprint("person ", who)) }
	for _, who := range people[:known] {
		for _, s := range of(all, who, channels[0].Name) {
			if s.what >= learnt || s.print == nil {
				continue
			}
			now = now.Add(time.Minute)
			book.Whose(is(s), now)
			if _, err := book.Teach(now, name(who), speakers.Attestation{By: "bench", At: now}); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range all {
		at := slices.Index(people, s.who)
		if at < 0 || s.what < learnt || s.channel != through || s.print == nil {
			continue
		}
		if s.channel == cast.Noisy.Name { // the noise is in the room, and the microphone the same
			s.channel = cast.Clean.Name
		}
		j := book.Guess(is(s), now)
		v := verdict{who: s.who, known: at < known, named: j.Speaker.ID != "", sure: j.Sure}
		if one, ok := book.Speaker(j.Speaker); ok {
			v.right = one.Who == name(s.who)
		}
		some = append(some, v)
	}
	return some, nil
}

// rateOf returns of how many of 100 verdicts something is so, where people were drawn so
// often as said; nil is once.
func rateOf(all []verdict, is func(verdict) bool, counts []float64) float64 {
	var n, of float64
	for _, v := range all {
		weight := 1.0
		if counts != nil {
			weight = counts[v.who]
		}
		of += weight
		if is(v) {
			n += weight
		}
	}
	return 100 * n / max(of, 1e-9)
}

// drawn returns where a rate lies if other people had been drawn.
func drawn(all []verdict, is func(verdict) bool) (low, high float64) {
	const draws = 200
	luck := rand.New(rand.NewPCG(1, 2))
	people := 0
	for _, v := range all {
		people = max(people, v.who+1)
	}
	rates := make([]float64, draws)
	for i := range rates {
		counts := make([]float64, people)
		for range people {
			counts[luck.IntN(people)]++
		}
		rates[i] = rateOf(all, is, counts)
	}
	slices.Sort(rates)
	return rates[draws/40], rates[draws-1-draws/40]
}

// rated is a row of a rate, with its interval.
func rated(name string, all []verdict, is func(verdict) bool) Row {
	rate := rateOf(all, is, nil)
	low, high := drawn(all, is)
	high = max(high, rate) // of few draws it need not be
	return Row{Name: name, Unit: "%", Ours: Spread{rate, high, high}, Note: fmt.Sprintf(
		"95 %% of draws of people lie between %.1f and %.1f %% (p99 shows the upper); %d of %d people are known by %d sayings each, as a book does with its defaults", low, high, known, inRoom, learnt)}
}
