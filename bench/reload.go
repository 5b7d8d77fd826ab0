package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"earshot"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
)

const (
	replyWords = 100                    // words of a reply
	everyOne   = 20 * time.Millisecond  // from one of them to the next
	savedEvery = 100 * time.Millisecond // from one edit to the next, while a reply streams
)

// reloading measures how long after a file is saved what it says holds, beside when the
// system tells that it was; and what the stream of a reply feels of a file that is saved
// ten times a second, beside one during which nothing is. The real binary does both.
func reloading(ctx context.Context, b bench) (rows []Row, err error) {
	home := filepath.Join(b.dir, "reload")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	script := filepath.Join(home, "model.yaml")
	text := fmt.Sprintf("every_seconds: %v\nreply: %s\n", everyOne.Seconds(), strings.TrimSpace(strings.Repeat("word ", replyWords)))
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return nil, err
	}
	base := "providers: {webcam: {enabled: false}, console: {enabled: false}}\noutlets: {console: {enabled: false}}\n"
	d, err := b.startDaemon(ctx, "reload", base+scriptSection(script)+"}\n")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	r := &reread{file: filepath.Join(home, "config.yaml"), base: base, script: script, client: &client.Client{Socket: socketIn(home)}}

	few := b
	few.rounds, few.repeats = max(b.rounds/6, 1), min(b.repeats, 3)
	saved, told, err := few.compare(
		func() ([]float64, error) { return r.holds(ctx) },
		func() ([]float64, error) { return toldBySystem(filepath.Join(home, "bare.yaml")) })
	if err != nil {
		return nil, err
	}
	rows = append(rows, row("configuration saved → in force", "ms", saved, told, "bare: saved → the system tells it; ours waits 50 ms for more to be written"))

	few.rounds = max(b.rounds/20, 1)
	edited, quiet, err := few.compare(
		func() ([]float64, error) { return r.streams(ctx, true) },
		func() ([]float64, error) { return r.streams(ctx, false) })
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("a word comes every %v; bare: nothing is saved meanwhile", everyOne)
	return append(rows, row("from word to word of a reply, configuration saved 10 times a second", "ms", edited, quiet, note)), nil
}

// scriptSection is the part of a configuration that names a script.
func scriptSection(script string) string {
	return "executive: {llm: {provider: script, model: \"\", host: \"\", script: " + script + "}"
}

// A reread is a daemon whose file is saved again and again.
type reread struct {
	file, base, script string
	client             *client.Client
	saves              int
}

// save writes another configuration: keys that hold at once, one of the models and the
// people, and one that is shown in the state.
func (r *reread) save() (waits string, err error) {
	r.saves++
	waits = fmt.Sprintf("/nowhere/%d", r.saves)
	text := fmt.Sprintf("%s%s, tools: {workspace: %s}, conversational: {temperature: 0.%d}}\nagents: [{name: Scout, description: edit %d}]\n",
		r.base, strings.Replace(scriptSection(r.script), "provider", fmt.Sprintf("idle_seconds: %d, provider", 30+r.saves%2), 1), waits, r.saves%9+1, r.saves)
	if r.saves%2 == 0 {
		text = strings.Replace(text, ", tools: {workspace: "+waits+"}", "", 1)
		waits = ""
	}
	beside := r.file + ".new" // as an editor does
	return waits, errors.Join(os.WriteFile(beside, []byte(text), 0o600), os.Rename(beside, r.file))
}

// holds saves another configuration, and returns how long it took to hold.
func (r *reread) holds(ctx context.Context) ([]float64, error) {
	began := time.Now()
	waits, err := r.save()
	if err != nil {
		return nil, err
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		is, err := r.client.State(ctx)
		if err != nil {
			return nil, err
		}
		if slices.Contains(is.Waiting, "executive.tools.workspace") == (waits != "") {
			return []float64{milliseconds(time.Since(began))}, nil
		}
		if time.Since(began) > patience {
			return nil, errors.New("what was saved does not hold")
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// toldBySystem returns how long the system takes to tell that a file was replaced.
func toldBySystem(file string) ([]float64, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := w.Add(filepath.Dir(file)); err != nil {
		return nil, err
	}
	began := time.Now()
	beside := file + ".new"
	if err := errors.Join(os.WriteFile(beside, nil, 0o600), os.Rename(beside, file)); err != nil {
		return nil, err
	}
	for {
		select {
		case e := <-w.Events:
			if e.Name == file {
				return []float64{milliseconds(time.Since(began))}, nil
			}
		case <-time.After(patience):
			return nil, errors.New("the system tells nothing")
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// streams asks for a reply, and returns the times from one of its words to the next.
func (r *reread) streams(ctx context.Context, edited bool) ([]float64, error) {
	w := &stopwatch{over: make(chan struct{})}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var editing sync.WaitGroup
	defer editing.Wait()
	defer stop()
	var bad error
	if edited {
		editing.Go(func() {
			tick := time.NewTicker(savedEvery)
			defer tick.Stop()
			for ctx.Err() == nil {
				select {
				case <-tick.C:
					if _, err := r.save(); err != nil {
						bad = err
					}
				case <-ctx.Done():
				}
			}
		})
	}
	err := r.client.Attach(ctx, asker{w.over}, w, new(attach.Names))
	stop()
	editing.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.gaps) < replyWords/2 {
		return nil, errors.Join(err, bad, fmt.Errorf("only %d words came", len(w.gaps)))
	}
	return w.gaps, errors.Join(err, bad)
}

// An asker asks one thing, and stays until the answer is over.
type asker struct{ over <-chan struct{} }

// Name implements [providers.Provider].
func (asker) Name() string { return "asker" }

// Run implements [providers.Provider].
func (a asker) Run(ctx context.Context, emit providers.Emit) error {
	if err := emit(ctx, earshot.Event{Body: earshot.Message{Text: "go on and on"}}); err != nil {
		return err
	}
	select {
	case <-a.over:
	case <-ctx.Done():
	case <-time.After(patience):
	}
	return nil
}

// A stopwatch is an outlet that notes when the words come.
type stopwatch struct {
	over chan struct{}

	mu   sync.Mutex
	last time.Time
	gaps []float64
}

// Name implements [earshot.Outlet].
func (*stopwatch) Name() string { return "stopwatch" }

// Flows implements [earshot.Flowing].
func (*stopwatch) Flows() bool { return true }

// Open implements [earshot.Outlet].
func (w *stopwatch) Open(_ context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return &timed{sunk{heard: heard}, w, sync.Once{}}, nil
}

// timed is one speech that is timed.
type timed struct {
	sunk
	watch *stopwatch
	once  sync.Once
}

// Say implements [earshot.Speaking].
func (t *timed) Say(c earshot.Clause) error {
	now := time.Now()
	t.watch.mu.Lock()
	if !t.watch.last.IsZero() {
		t.watch.gaps = append(t.watch.gaps, milliseconds(now.Sub(t.watch.last)))
	}
	t.watch.last = now
	t.watch.mu.Unlock()
	return t.sunk.Say(c)
}

// Finish implements [earshot.Speaking].
func (t *timed) Finish() {
	t.sunk.Finish()
	t.once.Do(func() { close(t.watch.over) })
}
