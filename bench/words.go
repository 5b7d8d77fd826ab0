package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	recordings "earshot/internal/trial"
	"earshot/language"
)

// sentencesText is what is said to be understood: twenty sentences as people
// say them to a machine and to each other.
//
//go:embed sentences.txt
var sentencesText string

// calls are sentences to the agent.
var calls = []string{
	"earshot what time is it",
	"hey earshot can you hear me",
	"earshot please turn the lights off",
}

// words measures what is understood of twenty sentences in four voices that
// come from a file, through the ear and the microphone to the recogniser, as by
// earshot replay. The bare thing is a recogniser that is given each sentence as
// a whole, for two of the voices: the difference is what the ear costs. Two run
// at the same time, on recognisers of their own.
func words(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("words", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	one, other := newPupil(d, nil), newPupil(d, nil)
	ctx, stop := beside(ctx, one.Run, other.Run)
	rows, err := b.examine(ctx, d, one, other)
	return rows, errors.Join(err, stop())
}

// A lesson is a voice that dictates, to an ear or to a recogniser alone.
type lesson struct {
	voice string
	ear   bool
}

// plan is what the two recognisers hear, side by side.
var plan = [][2]lesson{
	{{"slt", true}, {"slt", false}},
	{{"rms", true}, {"rms", false}},
	{{"awb", true}, {"kal16", true}},
}

// examine teaches both pupils.
func (b bench) examine(ctx context.Context, d dial, pupils ...*pupil) (rows []Row, err error) {
	of := make(map[lesson]scores)
	for _, step := range plan {
		var result [2]scores
		g, ctx := errgroup.WithContext(ctx)
		for i, l := range step {
			g.Go(func() (err error) {
				if result[i], err = b.teach(ctx, d, l, pupils[i]); err != nil {
					err = fmt.Errorf("%s: %w", l.voice, err)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		of[step[0]], of[step[1]] = result[0], result[1]
	}
	var ours, bare scores
	for _, voice := range voices {
		o, p := of[lesson{voice, true}], of[lesson{voice, false}]
		r := Row{Name: "word error rate, " + voice, Unit: "%", Ours: same(o.wer())}
		if p != nil {
			r = row(r.Name, r.Unit, r.Ours, same(p.wer()), "")
		}
		ours, bare, rows = append(ours, o...), append(bare, p...), append(rows, r)
	}
	return append(rows, ours.summary(bare)...), nil
}

// same is a spread of one value.
func same(v float64) Spread { return Spread{v, v, v} }

// teach has a pupil hear one lesson.
func (b bench) teach(ctx context.Context, d dial, l lesson, p *pupil) (scores, error) {
	said := strings.Split(strings.TrimSpace(sentencesText), "\n")
	said = said[:min(len(said), b.rounds)]
	if l.ear {
		said = append(said, calls[:min(len(calls), b.rounds)]...)
	}
	r, err := b.reel(ctx, l.voice, said...)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	if !l.ear {
		answers, err := p.read(ctx, r)
		return score(r, answers), err
	}
	source, err := b.source(r, l.voice)
	if err != nil {
		return nil, err
	}
	answers, err := p.listen(ctx, d, r, source)
	return score(r, answers), err
}

// Scores are how good the answers to some passages are.
type scores []scored

// scored is how good one is.
type scored struct {
	call       bool // it calls the agent
	called     bool // and was understood so
	words      int  // that were said
	wrong      int
	utterances int // that the ear made of it
	factor     float64
}

// score compares answers with what was said.
func score(r *reel, answers []answer) (all scores) {
	l := conversation.AddressClassifier{Name: executive.DefaultConfig().Name}
	l.As = conversation.Spellings(l.Name)
	for i, a := range answers {
		p := r.passages[i]
		want := recordings.Words(p.text)
		u := earshot.Utterance{Text: earshot.Text(a.text), Confidence: 1}
		all = append(all, scored{
			call: slices.Contains(calls, p.text), called: l.Address(u, time.Now(), conversation.SpeechContext{Rested: true}) == conversation.Called,
			words: len(want), wrong: language.Edits(want, recordings.Words(a.text)), utterances: a.utterances,
			factor: a.took.Seconds() / p.lasts().Seconds(),
		})
	}
	return all
}

// wer returns the word error rate of the sentences in percent. What calls the
// agent does not count: its name is in no dictionary.
func (all scores) wer() float64 {
	wrong, words := 0, 0
	for _, s := range all {
		if !s.call {
			wrong, words = wrong+s.wrong, words+s.words
		}
	}
	return 100 * float64(wrong) / float64(words)
}

// count returns how many are so.
func (all scores) count(so func(scored) bool) float64 {
	n := 0
	for _, s := range all {
		if so(s) {
			n++
		}
	}
	return float64(n)
}

// factors returns how long a second of each took.
func (all scores) factors() (f []float64) {
	for _, s := range all {
		f = append(f, s.factor)
	}
	return f
}

// summary returns what all voices come to.
func (all scores) summary(bare scores) []Row {
	unheard := all.count(func(s scored) bool { return s.utterances == 0 })
	parted := all.count(func(s scored) bool { return s.utterances > 1 })
	named := all.count(func(s scored) bool { return s.call })
	one := func(name, unit string, v float64, note string) Row {
		return Row{Name: name, Unit: unit, Ours: same(v), Note: note}
	}
	return []Row{
		one("word error rate, all", "%", all.wer(), fmt.Sprintf(
			"of %d things said, the ear took %.0f for nothing and parted %.0f; they come as fast as they are understood, so that no open sentence is waited for",
			len(all), unheard, parted)),
		row("to understand a second of speech", "s", spread(all.factors()), spread(bare.factors()),
			"the real-time factor: with decoder, ear and gate, beside the recogniser alone"),
		one("calls by name not understood", fmt.Sprintf("of %.0f", named), all.count(func(s scored) bool { return s.call && !s.called }), ""),
		one("sentences taken for calls", fmt.Sprintf("of %.0f", float64(len(all))-named), all.count(func(s scored) bool { return !s.call && s.called }), ""),
	}
}
