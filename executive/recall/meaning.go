package recall

import (
	"context"
	"log/slog"
	"slices"
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
	mostNear  = 24               // events of which the meaning is nearest
	patience  = 10 * time.Second // how long a search waits for what means the same; then it goes on with words
	mostFiles = 6                // passages of files

	// mostEmbedded is of how many bytes of a text a vector is made. No model has more tokens than bytes,
	// and servers refuse a text of more than 512 tokens.
	mostEmbedded = 480
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
		r.Log.Debug("a search goes on with words alone", "err", err)
		return nil
	}
	for i, e := range found {
		p := passage{id: e.ID, at: e.At, visibility: e.Visibility, sources: []earshot.EventID{e.ID}}
		if text, ok := tool.Words(e.Body); ok {
			p.by, p.text = r.Name(e.Author), string(text)
		} else if f, holds := r.Facts.Get(e.ID, r.Now()); holds {
			p = remembered(f)
		} else {
			continue
		}
		if e.ID != s.About && p.visibility.Allows(s.Audience) {
			list = append(list, ranked{passage: p, score: -float64(i)})
		}
	}
	return list
}

// remembered returns a fact as a passage.
func remembered(f memory.Entry) passage {
	return passage{id: f.Event.ID, at: f.Since, by: "remembered", text: string(f.Text), visibility: f.Event.Visibility, sources: []earshot.EventID{f.Event.ID}}
}

// inFiles returns passages of the agent's files with words of the queries, if everybody who asks may have
// files read. Whoever may see the answer may see them: those of others are in folders of their own.
func (r Searcher) inFiles(ctx context.Context, s tool.Scope, queries []string) (list []ranked) {
	barred := func(p participants.Participant) bool {
		return p.ID == "" || p.ID == participants.Generic || !p.Can(participants.UseTools)
	}
	if r.Files == nil || len(s.Askers) == 0 || slices.ContainsFunc(s.Askers, barred) {
		return nil
	}
	wanted := make(map[string]bool)
	for _, q := range queries {
		for _, w := range stems(q, mostWords) {
			wanted[w] = true
		}
	}
	score := func(text string) (n float64) {
		for _, w := range stems(text, mostEmbedded) {
			if wanted[w] {
				n++
			}
		}
		return n
	}
	for _, f := range r.Files.Search(ctx, s, score, mostFiles) {
		list = append(list, ranked{score: f.Score, passage: passage{
			id: earshot.EventID("file " + f.File + "\n" + f.Text), by: "the file " + f.File, text: f.Text, visibility: s.Visibility, sources: f.Sources,
		}})
	}
	return list
}

const (
	quiet = 10 * time.Second // how long nothing is put on record before vectors are made
	retry = time.Minute      // how long after a failure
	later = 10 * time.Minute // how often it is looked whether there may be something to do

	// share is what part of the time vectors are made at most: an engine has other work.
	share = 10
)

// A Filler has a model make the vectors of what was said, by which a search finds what means the same. It
// does so while nobody talks, a few at a time, the newest first. All fields are required.
type Filler struct {
	Settings func() executive.Config
	Rests    func() bool            // this machine has to save power
	Still    func() bool            // nobody talks, and nobody waits
	Grown    func() <-chan struct{} // closed when something is put on record

	// Pending returns events whose words have no vector of a model yet, with these words.
	Pending func(ctx context.Context, model string, n int) (of []earshot.Event, texts []string, err error)
	Embed   func(ctx context.Context, of executive.Embedding, p llm.Priority, texts []string) ([][]float32, error)
	Keep    func(ctx context.Context, model string, of []earshot.Event, all [][]float32) error
	Log     *slog.Logger
}

// Run makes vectors until ctx ends.
func (f Filler) Run(ctx context.Context) {
	for wait := quiet; ; {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-f.Grown():
			timer.Stop()
			wait = quiet
		case <-timer.C:
			wait = f.fill(ctx)
		}
	}
}

// fill makes a few vectors, and returns when to come again.
func (f Filler) fill(ctx context.Context) time.Duration {
	set := f.Settings()
	of := set.Recall.Embedding
	switch {
	case !set.Enabled || !set.Recall.Enabled || of.Model == "" || f.Rests():
		return later
	case !f.Still():
		return quiet
	}
	began := time.Now()
	events, texts, err := f.Pending(ctx, of.Key(), llm.MaxTexts)
	if err == nil && len(events) == 0 {
		return later
	}
	for i, t := range texts {
		texts[i] = language.WholeRunes(t[:min(len(t), mostEmbedded)])
	}
	var all [][]float32
	if err == nil {
		all, err = f.Embed(ctx, of, llm.Memory, texts)
	}
	if err == nil {
		err = f.Keep(ctx, of.Key(), events, all)
	}
	if err != nil {
		f.Log.Debug("what was said is not found by its meaning yet", "err", err)
		return retry
	}
	return (share - 1) * time.Since(began)
}
