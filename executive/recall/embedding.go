package recall

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/executive/tool"
	"earshot/language"
	"earshot/llm"
	"earshot/participants"
)

const (
	mostNear     = 24               // events of which the meaning is nearest
	mostFiles    = 6                // passages of files
	patience     = 10 * time.Second // how long a search waits for vectors; then it goes on with words
	mostEmbedded = 480              // bytes of a text of which a vector is made: some servers refuse 512 tokens
)

// near returns what means nearly what a question says and everybody in the audience may know, the nearest
// first. Of what is remembered, only what holds is returned.
func (r Searcher) near(ctx context.Context, s tool.Scope, question string) (list []ranked) {
	if r.Nearest == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := r.Nearest(ctx, s.Audience, question, mostNear)
	if err != nil {
		r.Log.Debug("a search goes on with words alone", "err", llm.Unquoted(err))
	}
	for i, e := range found {
		p, ok := r.said(e)
		if f, holds := r.Facts.Get(e.ID, r.Now()); holds {
			p, ok = remembered(f), true
		}
		if ok && e.ID != s.About && e.Visibility.Allows(s.Audience) {
			list = append(list, ranked{passage: p, score: -float64(i)})
		}
	}
	return list
}

// said returns what was said as a passage, and remembered a fact.
func (r Searcher) said(e earshot.Event) (p passage, ok bool) {
	text, ok := tool.Words(e.Body)
	return passage{id: e.ID, at: e.At, by: r.Name(e.Author), text: string(text), visibility: e.Visibility, sources: []earshot.EventID{e.ID}}, ok
}

func remembered(f memory.Entry) passage {
	return passage{id: f.Event.ID, at: f.Since, by: "remembered", text: string(f.Text), visibility: f.Event.Visibility, sources: []earshot.EventID{f.Event.ID}}
}

// inFiles returns passages of the agent's files with words of the queries, if everybody who asks may have
// files read. Whoever may see the answer may see them: those of others are in folders of their own.
func (r Searcher) inFiles(ctx context.Context, s tool.Scope, queries []string) (list []ranked) {
	barred := func(p participants.Participant) bool {
		return p.ID == "" || participants.Unnamed(p.ID) || !p.Can(participants.UseTools)
	}
	if r.Files == nil || len(s.Askers) == 0 || slices.ContainsFunc(s.Askers, barred) {
		return nil
	}
	wanted := stems(strings.Join(queries, " "), mostQueries*mostWords)
	score := func(text string) float64 {
		has := stems(text, math.MaxInt)
		return float64(len(slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return !slices.Contains(has, w) })))
	}
	for _, f := range r.Files.Search(ctx, s, score, mostFiles) {
		list = append(list, ranked{score: f.Score, passage: passage{
			id: earshot.EventID("file " + f.File + "\n" + f.Text), at: f.At, by: "the file " + f.File, text: f.Text, visibility: s.Visibility, sources: f.Sources,
		}})
	}
	return list
}

const (
	quiet = 10 * time.Second // how long nothing is put on record before vectors are made
	retry = time.Minute      // how long after a failure
	later = 10 * time.Minute // how often it is looked whether there may be something to do
)

// An Indexer has a model make the vectors of what was said, by which a search finds what means the same,
// while nobody talks, a few at a time, the newest first. All fields are required.
type Indexer struct {
	Settings func() executive.Config
	Rests    func() bool            // this machine has to save power
	Still    func() bool            // nobody talks, and nobody waits
	Grown    func() <-chan struct{} // closed when something is put on record

	// Pending returns events whose words have no vector of a model yet, with these words.
	Pending func(ctx context.Context, model string, n int) ([]earshot.Event, []earshot.Text, error)
	Embed   func(ctx context.Context, engine, model string, p llm.Priority, texts []string) ([][]float32, error)
	Keep    func(ctx context.Context, model string, of []earshot.Event, all [][]float32) error
	Log     *slog.Logger

	failed bool // the last time
}

// Run makes vectors until ctx ends.
func (f *Indexer) Run(ctx context.Context) {
	for wait, grown := quiet, f.Grown(); ctx.Err() == nil; {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-grown:
			wait, grown = quiet, f.Grown()
		case <-timer.C:
			grown = f.Grown() // first, so that nothing is missed
			wait = f.index(ctx)
		}
		timer.Stop()
	}
}

// index makes a few vectors, and returns when to come again.
func (f *Indexer) index(ctx context.Context) time.Duration {
	set := f.Settings()
	of := set.Recall.Embedding
	switch {
	case !set.Enabled || !set.Recall.Enabled || of.Model == "" || f.Rests():
		return later
	case !f.Still():
		return quiet
	}
	began, n := time.Now(), llm.MaxTexts
	if f.failed {
		n = 1 // some servers fail at one text, for ever
	}
	events, texts, err := f.Pending(ctx, of.Key(), n)
	if err == nil && len(events) == 0 {
		return later
	}
	var all [][]float32
	var beginnings []string
	for _, t := range texts {
		beginnings = append(beginnings, language.WholeRunes(string(t[:min(len(t), mostEmbedded)])))
	}
	if err == nil {
		all, err = f.Embed(ctx, of.Engine, of.Model, llm.Memory, beginnings)
	}
	if bad, is := errors.AsType[*llm.Error](err); is && n == 1 && (bad.Fault == llm.Broken || bad.Fault == llm.BadAnswer) {
		all, err = make([][]float32, 1), nil // nothing is near it
	}
	if err == nil {
		err = f.Keep(ctx, of.Key(), events, all)
	}
	if f.failed = err != nil; f.failed {
		f.Log.Debug("what was said is not found by its meaning yet", "err", llm.Unquoted(err))
		return retry
	}
	return 9 * time.Since(began) // an engine has other work
}
