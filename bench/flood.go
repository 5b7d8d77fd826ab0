package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/server/client"
	"earshot/store"
)

const (
	floodGoal   = 50  // milliseconds of a commit, whatever is in it
	floodMemory = 150 // MB
)

// A commitMeter is how long each commit took, in milliseconds.
type commitMeter struct {
	mu   sync.Mutex
	took []float64
}

// Committed implements [store.Meter].
func (c *commitMeter) Committed(took time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, inMillis(took))
}

// Kept implements [store.Meter].
func (*commitMeter) Kept(earshot.Event) {}

// take returns what there is, once.
func (c *commitMeter) take() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.took
	c.took = nil
	return took
}

// floods are the longest texts that may be sent, by what makes each a burden: terms that are all
// different, letters that stand for several, marks, words without end, and nothing but ends.
var floods = []struct {
	name string
	of   func(r *rand.Rand) string // a word of it
}{
	{"random words", func(r *rand.Rand) string { return letters(r, 'a', 26, 3+r.IntN(5)) + " " }},
	{"the shortest words", func(r *rand.Rand) string { return letters(r, 'a', 26, 1+r.IntN(3)) + " " }},
	{"long words", func(r *rand.Rand) string { return letters(r, 'a', 26, 40+r.IntN(60)) + " " }},
	{"one word", func(r *rand.Rand) string { return letters(r, 'a', 26, 1) }},
	{"numbers", func(r *rand.Rand) string { return letters(r, '0', 10, 4+r.IntN(6)) + " " }},
	{"Chinese", func(r *rand.Rand) string { return letters(r, 0x4e00, 20_000, 1) }},
	{"Chinese words", func(r *rand.Rand) string { return letters(r, 0x4e00, 20_000, 1+r.IntN(2)) + " " }},
	{"Korean", func(r *rand.Rand) string { return letters(r, 0xac00, 11_000, 1+r.IntN(4)) + " " }},
	{"Thai", func(r *rand.Rand) string { return letters(r, 0x0e01, 46, 1) }},
	{"Hindi", func(r *rand.Rand) string { return letters(r, 0x0905, 52, 2+r.IntN(5)) + " " }},
	{"emoji", func(r *rand.Rand) string { return letters(r, 0x1f300, 700, 1+r.IntN(4)) + " " }},
	{"marks on letters", func(r *rand.Rand) string {
		return letters(r, 'a', 26, 1) + strings.Repeat("\u0301", r.IntN(4)) + letters(r, ' ', 2, 1)
	}},
	{"marks on one letter", func(*rand.Rand) string { return "\u0301\u0323" }},
	{"fractions", func(*rand.Rand) string { return "½ " }},
	{"eighteen letters in one", func(*rand.Rand) string { return "\ufdfa" }},
	{"separators", func(r *rand.Rand) string { return letters(r, '!', 15, 1) + letters(r, '0', 2, 1) + "\n" }},
	{"newlines", func(*rand.Rand) string { return "\n" }},
}

// letters returns some letters of an alphabet.
func letters(r *rand.Rand, first rune, of, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(first + rune(r.IntN(of)))
	}
	return b.String()
}

// longestOf returns a text that is as long as may be.
func longestOf(r *rand.Rand, word func(*rand.Rand) string) earshot.Text {
	b := []byte("a")
	for {
		w := word(r)
		if len(b)+len(w) > earshot.MaxText {
			return earshot.Text(b)
		}
		b = append(b, w...)
	}
}

// A flood is a store that somebody floods who may send messages.
type flood struct {
	*store.Store
	commitMeter
	random *rand.Rand
	all    []earshot.EventID // the long ones
}

// flooding measures what somebody can do to the index who may send messages: the longest texts
// of each kind, in public, to two people and to as many as can be; many at once; each with the
// next ordinary message; and then all of them taken back. What counts is the longest commit,
// whoever it is of. The bare thing is the same message without its words: as many bytes of a
// single one. Behind that stands what the daemon needs that people run.
func flooding(ctx context.Context, b bench) (rows []Row, err error) {
	directory, err := os.MkdirTemp(b.dir, "flood-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	f := flood{random: rand.New(rand.NewPCG(1, 2))}
	if f.Store, err = store.Open(ctx, store.Config{Directory: directory, Log: silent, Meter: &f}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n := max(4, b.rounds*b.repeats)
	var long, bare, ordinary []float64
	for i := range n {
		members := i % 2 * 2
		for _, one := range []struct {
			text earshot.Text
			took *[]float64
		}{
			{longestOf(f.random, floods[0].of), &long}, {earshot.Text(strings.Repeat("word ", earshot.MaxText/5)), &bare}, {"the tide comes in at seven", &ordinary},
		} {
			if err := f.say(ctx, one.text, members); err != nil {
				return nil, err
			}
			*one.took = append(*one.took, f.take()...)
		}
	}
	o, p := spread(long), spread(bare)
	rows = append(rows, row("flood: commit of 64 KB of random words", "ms", o, p, fmt.Sprintf("%d texts, with the commits in which parts of the index are joined behind them", n)).goal("", o.Max, floodGoal),
		Row{Name: "flood: commit of an ordinary message beside it", Unit: "ms", Ours: spread(ordinary)})
	kinds, err := f.kinds(ctx, max(1, n/20))
	if err != nil {
		return nil, err
	}
	burst, err := f.burst(ctx, n)
	if err != nil {
		return nil, err
	}
	taken, err := f.takeBack(ctx)
	if err != nil {
		return nil, err
	}
	rows = append(append(rows, kinds...), burst, taken)
	daemon, err := b.flooded(ctx, n)
	return append(rows, daemon...), err
}

// say keeps a text, for so many people to see; none is everybody.
func (f *flood) say(ctx context.Context, text earshot.Text, members int) error {
	v := earshot.Visibility{Scope: earshot.Public}
	for i := range members {
		v.Scope, v.Members = earshot.Private, append(v.Members, earshot.ParticipantID("p"+strconv.Itoa(i)))
	}
	kept, err := f.Append(ctx, earshot.Event{Room: earshot.Desk, Author: "ann", Visibility: v, Body: earshot.Message{Text: text}})
	if err == nil && len(text) > earshot.MaxText/2 {
		f.all = append(f.all, kept[0].ID)
	}
	return err
}

// kinds measures each kind of text, so many of each for each that may see it.
func (f *flood) kinds(ctx context.Context, n int) (rows []Row, err error) {
	for _, kind := range floods {
		var took []float64
		for _, members := range []int{0, 2, 64, 512} {
			for range n {
				if err := f.say(ctx, longestOf(f.random, kind.of), members); err != nil {
					return nil, fmt.Errorf("%s: %w", kind.name, err)
				}
				took = append(took, f.take()...)
			}
		}
		is := spread(took)
		rows = append(rows, (Row{Name: "flood: commit of 64 KB of " + kind.name, Unit: "ms", Ours: is, Note: fmt.Sprintf("%d texts, to everybody, 2, 64 and 512 people", 4*n)}).goal("", is.Max, floodGoal))
	}
	return rows, nil
}

// burst measures the longest commit where many say long things at once.
func (f *flood) burst(ctx context.Context, n int) (Row, error) {
	texts := make([]earshot.Text, n)
	for i := range texts {
		texts[i] = longestOf(f.random, floods[i%len(floods)].of)
	}
	var g errgroup.Group
	g.SetLimit(64)
	for _, text := range texts {
		g.Go(func() error {
			_, err := f.Append(ctx, earshot.Event{Room: earshot.Desk, Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: text}})
			return err
		})
	}
	err := g.Wait()
	took := spread(f.take())
	return (Row{Name: "flood: commit where 64 send 64 KB at once", Unit: "ms", Ours: took, Note: fmt.Sprintf("%d texts of all kinds", n)}).goal("", took.Max, floodGoal), err
}

// takeBack measures the commits in which all of that is taken back.
func (f *flood) takeBack(ctx context.Context) (Row, error) {
	for _, id := range f.all {
		e := earshot.Event{Room: earshot.Desk, Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Withdrawal{Of: id}}
		if _, err := f.Append(ctx, e); err != nil {
			return Row{}, err
		}
	}
	if err := f.Clean(ctx); err != nil {
		return Row{}, err
	}
	took := f.take()
	is := spread(took)
	return (Row{Name: "flood: commits that take it back", Unit: "ms", Ours: is, Note: fmt.Sprintf("%d texts in %d commits", len(f.all), len(took))}).goal("", is.Max, floodGoal), nil
}

// flooded measures the memory of the built daemon, and how long its commits take, while eight
// post the longest texts of random words to it.
func (b bench) flooded(ctx context.Context, n int) (rows []Row, err error) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return []Row{{Name: "flood: memory of the daemon", Note: "not measured: this system has no /proc"}}, nil
	}
	daemon, err := b.startDaemon(ctx, "flooded", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()
	client := &client.Client{Socket: socketIn(filepath.Join(b.dir, "flooded"))}
	before, err := peakOf(daemon.Process.Pid)
	if err != nil {
		return nil, err
	}
	var g errgroup.Group
	for w := range 8 {
		g.Go(func() error {
			random := rand.New(rand.NewPCG(3, uint64(w)))
			for range n / 4 {
				if _, err := client.Post(ctx, "", longestOf(random, floods[0].of)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	after, err := peakOf(daemon.Process.Pid)
	if err != nil {
		return nil, err
	}
	same := func(v float64) Spread { return Spread{v, v, v} }
	return []Row{row("flood: memory of the daemon (VmHWM)", "MB", same(after), same(before), fmt.Sprintf("%d messages of 64 KB of random words, from eight at once; bare: before", n/4*8)).goal("", after, floodMemory)}, nil
}

// peakOf returns the most memory that a process has had, in MB.
func peakOf(pid int) (float64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	return kb * 1024 / 1e6, err
}
