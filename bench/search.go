package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/store"
)

// searched is how many sentences are searched: all that a house of talkative people
// says in some years, if nothing else is asked for. With a single round, as in a test,
// there are fewer.
func (b bench) searched() int {
	switch {
	case b.past > 0:
		return b.past
	case b.rounds == 1:
		return 2_000
	}
	return 1_000_000
}

// searching measures how long it takes to find something in a million sentences, beside a
// plain read of as many rows by their keys.
func searching(ctx context.Context, b bench) (rows []Row, err error) {
	directory, err := b.grown(ctx, b.searched())
	if err != nil {
		return nil, err
	}
	archive, err := store.OpenReader(ctx, store.Config{Directory: directory})
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	bare, err := sql.Open("sqlite", "file:"+directory+"/earshot.db?mode=ro")
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	p := newPast(1)
	desk := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}
	attic := earshot.Audience{Room: quietRoom, Members: []earshot.ParticipantID{"hana"}}
	stranger := earshot.Audience{Room: "cellar", Members: []earshot.ParticipantID{"hana"}}
	for _, class := range []struct {
		name    string
		who     earshot.Audience
		queries []string
	}{
		{"a rare word", desk, []string{rareWords[0].word, p.words[50_000], p.words[40_000], p.words[59_999]}},
		{"a common word", desk, p.words[:8]},
		{"several words", desk, []string{
			p.words[0] + " " + p.words[3], p.words[2] + " " + p.words[300], p.words[20] + " " + p.words[21] + " " + p.words[22],
			p.words[100] + " " + p.words[101], p.words[1] + " " + p.words[5_000]}},
		{"a whole sentence", desk, []string{strings.Join(p.words[:12], " "), strings.Join(p.words[5:30], " "), p.words[0] + " " + strings.Join(p.words[1_000:1_010], " ")}},
		{"accents, capitals, no spaces", desk, []string{"uberraschung", "ÜBERRASCHUNG", rareWords[2].word, strings.ToUpper(p.words[0])}},
		{"a word that nobody said", desk, []string{"nobodysaidthis", p.words[0] + " nobodysaidthis", p.words[0] + " " + p.words[1] + " nobodysaidthis"}},
		{"where little is said", attic, []string{p.words[0], p.words[100], p.words[0] + " " + p.words[1], p.words[2_000], rareWords[0].word}},
		{"where nothing is said", stranger, []string{p.words[0], p.words[100], p.words[0] + " " + p.words[1]}},
		{"a phrase", desk, []string{quote(p.words[0], p.words[3]), quote(p.words[20], p.words[21]), quote(p.words[100], p.words[101]), quote(p.words[2], p.words[300])}},
		{"the beginning of a word", desk, []string{p.words[0][:2] + "*", p.words[100][:4] + "*", p.words[1_000][:3] + "*", p.words[5_000] + "*"}},
		{"somebody's words of a day", desk, []string{
			"from:ben on:" + day(300) + " " + p.words[0], "on:" + day(500) + " " + p.words[20], "from:ben since:" + day(20) + " " + p.words[100], "before:" + day(700) + " " + p.words[1]}},
	} {
		r := archive.For(class.who)
		i := 0
		ours := func() ([]float64, error) {
			i++
			began := time.Now()
			_, err := r.Search(ctx, class.queries[i%len(class.queries)], 20)
			took := time.Since(began)
			return []float64{inMillis(took)}, err
		}
		plain := func() ([]float64, error) {
			began := time.Now()
			err := readRows(ctx, bare, 20)
			return []float64{inMillis(time.Since(began))}, err
		}
		o, p, worst, err := b.compare95(ours, plain)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", class.name, err)
		}
		rows = append(rows, row("search a million sentences: "+class.name, "ms", o, p, fmt.Sprintf("p95 %s ms", number(worst))).goal("p95", worst, cmp.Or(searchGoals[class.name], 25)))
	}
	r := archive.For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"stranger"}})
	told, err := b.inferred(ctx, r)
	if err != nil {
		return nil, err
	}
	rows = append(rows, told)
	for _, guess := range []struct{ name, private, nowhere string }{
		{"a word", privateWord, nowhereWord}, {"a beginning", privateWord[:6] + "*", nowhereWord[:6] + "*"},
		{"a word and a common one", privateWord + " " + p.words[0], nowhereWord + " " + p.words[0]}, {"a phrase", quote(privateWord, p.words[0]), quote(nowhereWord, p.words[0])},
	} {
		guessed, err := b.guessed(ctx, r, guess.private, guess.nowhere)
		if err != nil {
			return nil, err
		}
		guessed.Name = "search a million sentences: guessed by its time that others said it in private: " + guess.name
		rows = append(rows, guessed)
	}
	return rows, nil
}

// searchGoals are how many milliseconds a search may take that is not answered by the newest of a
// few words: it goes through all that have any of them.
var searchGoals = map[string]float64{"a whole sentence": 100, "the beginning of a word": 200, "a phrase": 50, "somebody's words of a day": 50}

// inferred measures whether the time of a search tells that a word is in what the reader may
// not see: beside one that is nowhere.
func (b bench) inferred(ctx context.Context, r *store.Reader) (Row, error) {
	searched := func(word string) round {
		return func() ([]float64, error) {
			began := time.Now()
			found, err := r.Search(ctx, word, 20)
			if err == nil && len(found) > 0 {
				err = fmt.Errorf("%s is found by a stranger", word)
			}
			return []float64{inMillis(time.Since(began))}, err
		}
	}
	o, p, err := b.compare(searched(privateWord), searched(nowhereWord))
	return row("search a million sentences: a word that others said in private", "ms", o, p, "bare: one that nobody said"), err
}

// guessed measures how often somebody guesses right, by which of two searches takes longer, which
// of them is for what others have said in private, where the other is for what nobody said. The
// two come one behind the other, either first by chance. Who knows nothing guesses right half of
// the time; three times in a thousand chance alone takes it beyond the goal.
func (b bench) guessed(ctx context.Context, r *store.Reader, private, nowhere string) (Row, error) {
	random := rand.New(rand.NewPCG(5, uint64(len(private))))
	took := func(query string) (time.Duration, error) {
		began := time.Now()
		found, err := r.Search(ctx, query, 20)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("%s is found by a stranger", query)
		}
		return time.Since(began), err
	}
	n, right := 4*max(b.rounds*b.repeats, 5), 0
	for range n {
		queries := [2]string{private, nowhere}
		first := random.IntN(2)
		var of [2]time.Duration
		for _, i := range []int{first, 1 - first} {
			var err error
			if of[i], err = took(queries[i]); err != nil {
				return Row{}, err
			}
		}
		if of[0] > of[1] {
			right++
		}
	}
	share, chance := 100*float64(right)/float64(n), 300*0.5/math.Sqrt(float64(n))
	note := fmt.Sprintf("%d of %d guesses", right, n)
	return (Row{Unit: "%", Ours: Spread{share, share, share}, Note: note}).goal("from 50", math.Round(10*math.Abs(share-50))/10, math.Ceil(10*chance)/10), nil
}

// quote makes a phrase of words.
func quote(words ...string) string { return `"` + strings.Join(words, " ") + `"` }

// day returns a day so many days ago.
func day(ago int) string { return time.Now().AddDate(0, 0, -ago).Format(time.DateOnly) }

// inMillis returns how long something took, as a sample.
func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// compare95 is compare, and returns the 95th percentile of ours too, the median of the
// repeats.
func (b bench) compare95(ours, bare round) (o, p Spread, worst float64, err error) {
	var all []float64
	kept := func() ([]float64, error) {
		samples, err := ours()
		all = append(all, samples...)
		return samples, err
	}
	if o, p, err = b.compare(kept, bare); err != nil {
		return o, p, 0, err
	}
	slices.Sort(all)
	return o, p, all[int(0.95*float64(len(all)-1)+0.5)], nil
}

// readRows reads so many rows from the end of the journal.
func readRows(ctx context.Context, db *sql.DB, n int) error {
	rows, err := db.QueryContext(ctx, "SELECT sequence, payload, sum FROM journal ORDER BY sequence DESC LIMIT ?", n)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var sequence, sum int64
		var payload []byte
		if err := rows.Scan(&sequence, &payload, &sum); err != nil {
			return err
		}
	}
	return rows.Err()
}
