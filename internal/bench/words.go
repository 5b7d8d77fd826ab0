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
// a whole: the difference is what the ear costs. Both run at the same time, on
// recognisers of their own.
func words(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutVoice("words", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	ours, bare := newPupil(d), newPupil(d)
	ctx, stop := beside(ctx, ours.Run, bare.Run)
	rows, err := b.examine(ctx, d, ours, bare)
	return rows, errors.Join(err, stop())
}

// examine has every voice dictate.
func (b bench) examine(ctx context.Context, d dial, ours, bare *pupil) (rows []Row, err error) {
	said := strings.Split(strings.TrimSpace(sentencesText), "\n")
	said = said[:min(len(said), b.rounds)]
	said = append(said, calls[:min(len(calls), b.rounds)]...)
	var all [2]scores
	for _, voice := range voices {
		r, err := b.reel(ctx, voice, said...)
		if err != nil {
			return rows, err
		}
		of, err := b.dictate(ctx, d, r, ours, bare)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", voice, err)
		}
		rows = append(rows, row("word error rate, "+voice, "%", same(of[0].wer()), same(of[1].wer()), ""))
		all[0], all[1] = append(all[0], of[0]...), append(all[1], of[1]...)
	}
	return append(rows, all[0].summary(all[1])...), nil
}

// same is a spread of one value.
func same(v float64) Spread { return Spread{v, v, v} }

// dictate has both hear a reel.
func (b bench) dictate(ctx context.Context, d dial, r *reel, ours, bare *pupil) (of [2]scores, err error) {
	source, err := b.source(r, "dictation")
	if err != nil {
		return of, err
	}
	var answers [2][]answer
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		answers[0], err = ours.listen(ctx, d, r, source)
		return err
	})
	g.Go(func() (err error) {
		answers[1], err = bare.read(ctx, r)
		return err
	})
	if err := g.Wait(); err != nil {
		return of, err
	}
	return [2]scores{score(r, answers[0]), score(r, answers[1])}, nil
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
	l := conversation.Listener{Name: executive.DefaultConfig().Name}
	l.As = conversation.Spellings(l.Name)
	for i, a := range answers {
		p := r.passages[i]
		want := plain(p.text)
		u := earshot.Utterance{Text: earshot.Text(a.text), Confidence: 1}
		all = append(all, scored{
			call: slices.Contains(calls, p.text), called: l.Address(u, time.Now(), conversation.Attention{}) == conversation.Called,
			words: len(want), wrong: edits(want, plain(a.text)), utterances: a.utterances,
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

// summary returns what all voices come to, beside the bare.
func (all scores) summary(bare scores) []Row {
	unheard := all.count(func(s scored) bool { return s.utterances == 0 })
	parted := all.count(func(s scored) bool { return s.utterances > 1 })
	missed := func(s scored) bool { return s.call && !s.called }
	falsely := func(s scored) bool { return !s.call && s.called }
	ncalls := int(all.count(func(s scored) bool { return s.call }))
	return []Row{
		row("word error rate, all", "%", same(all.wer()), same(bare.wer()), fmt.Sprintf(
			"of %d things said, the ear took %.0f for nothing and parted %.0f; sound comes as fast as it is read, so that no open sentence is waited for",
			len(all), unheard, parted)),
		row("to understand a second of speech", "s", spread(all.factors()), spread(bare.factors()),
			"the real-time factor: with decoder, ear and gate, beside the recogniser alone"),
		row("calls by name not understood", fmt.Sprintf("of %d", ncalls), same(all.count(missed)), same(bare.count(missed)), ""),
		row("sentences taken for calls", fmt.Sprintf("of %d", len(all)-ncalls), same(all.count(falsely)), same(bare.count(falsely)), ""),
	}
}
