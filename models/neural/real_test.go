package neural_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
	"earshot/models/neural"
	"earshot/models/stt"
	"earshot/models/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

var quiet = slog.New(slog.DiscardHandler)

// program returns the path of the real helper, which is then in PATH.
func program(t testing.TB) string {
	t.Helper()
	dir := helpertest.Build(t, helper.NeuralProgram)
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return filepath.Join(dir, helper.NeuralProgram)
}

// The sets that the tests use, by their names.
var sets = map[string]func(folder string) error{
	"ctc": func(folder string) error {
		return errors.Join(modeltest.WriteCTC(folder), modeltest.Describe(folder, catalog.Hear, catalog.NemoCTC))
	},
	"transducer": func(folder string) error {
		return errors.Join(modeltest.WriteTransducer(folder), modeltest.Describe(folder, catalog.Hear, catalog.LSTM))
	},
	"whole": func(folder string) error {
		return errors.Join(modeltest.WriteWhole(folder), modeltest.Describe(folder, catalog.Correct, catalog.NemoCTC))
	},
}

// install returns a library with these sets.
func install(t testing.TB, names ...string) neural.Library {
	t.Helper()
	l := neural.Library{Dir: t.TempDir(), Log: quiet}
	for _, name := range names {
		if err := sets[name](filepath.Join(l.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// find returns the set with a name, or none for "".
func find(t testing.TB, l neural.Library, name string) (set catalog.Installed) {
	t.Helper()
	if name != "" {
		var err error
		if set, err = l.Find(name); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// ear returns a recogniser that hears by one set and corrects by another, until the test ends.
func ear(t testing.TB, l neural.Library, first, second string) *stt.Recogniser {
	t.Helper()
	set := find(t, l, first)
	check := func(ctx context.Context) error { _, err := l.Check(ctx, set); return err }
	return recogniser(t, l.Hear(set, find(t, l, second), "en", check))
}

// recogniser returns one that is started again at once whenever it has ended, until the test ends.
func recogniser(t testing.TB, dial helper.Dialer) *stt.Recogniser {
	r := stt.New(stt.Config{Dial: dial, Log: quiet})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := r.Run(ctx); errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		testkit.Receive(t, testkit.Patience, "the end of the recogniser", done)
	})
	return r
}

// frames cuts sound into frames. The last one ends with the sound.
func frames(pcm []int16) (out []*audio.Frame) {
	at := time.Unix(1000, 0)
	for chunk := range slices.Chunk(pcm, audio.Samples) {
		f := &audio.Frame{At: at}
		copy(f.PCM[:], chunk)
		out = append(out, f)
		at = at.Add(audio.Time)
	}
	return out
}

// understand returns all results of an utterance. It calls between, which may be nil, with the number
// of each frame before that is fed.
func understand(t testing.TB, r *stt.Recogniser, sound []*audio.Frame, between func(int)) (all []stt.Result) {
	t.Helper()
	results := make(chan stt.Result, len(sound)+2)
	s := r.Begin(func(res stt.Result) { results <- res })
	for i, f := range sound {
		if between != nil {
			between(i)
		}
		s.Feed(f)
	}
	s.End()
	for {
		res := testkit.Receive(t, testkit.Patience, "the words", results)
		if all = append(all, res); res.Final {
			return all
		}
	}
}

// texts returns the texts of results, the final one with an exclamation mark.
func texts(all []stt.Result) string {
	var is []string
	for _, r := range all {
		text := string(r.Text)
		if r.Err != nil {
			text = r.Err.Error()
		}
		if r.Final {
			text += "!"
		}
		is = append(is, text)
	}
	return strings.Join(is, ", ")
}

// endless returns the sound of a text without any silence at its end.
func endless(text string) []int16 {
	pcm := modeltest.Tones(text)
	return pcm[:len(pcm)-audio.Rate*4/10]
}

// TestHears: the words come while they are spoken, and the last one also if nothing follows it. What
// they are based on is true: a result never knows a word that had not begun by then.
func TestHears(t *testing.T) {
	program(t)
	l := install(t, "ctc", "transducer", "whole")
	const text = "one three two four"
	for _, tt := range []struct{ set, partials, want string }{
		{"ctc", "one, one three, one three two", text},
		{"transducer", "one, one three, one three two", text},
		{"whole", "", "One Three Two Four"},
	} {
		t.Run(tt.set, func(t *testing.T) {
			all := understand(t, ear(t, l, tt.set, ""), frames(endless(text)), nil)
			last := len(all) - 1
			if got := strings.Join(slices.Compact(strings.Split(texts(all[:last]), ", ")), ", "); !strings.HasPrefix(got, tt.partials) || string(all[last].Text) != tt.want {
				t.Errorf("understood %s", texts(all))
			}
			if c := all[last].Confidence; c < 0.5 || c > 1 {
				t.Errorf("it is sure to %v", c)
			}
			for _, res := range all {
				// Word n begins 0.3 s and n times 0.35 s after the beginning.
				n := len(strings.Fields(string(res.Text)))
				if begins := 300*time.Millisecond + time.Duration(n-1)*350*time.Millisecond; n > 0 && res.Heard < begins {
					t.Errorf("%q is based on %v, but its last word begins at %v", string(res.Text), res.Heard, begins)
				}
			}
		})
	}
}

// TestCorrects: a second set has the last word, if it comes in time; on a machine under load it may
// not.
func TestCorrects(t *testing.T) {
	program(t)
	r := ear(t, install(t, "transducer", "whole"), "transducer", "whole")
	testkit.Await(t, testkit.Patience, "a correction", func() bool {
		all := understand(t, r, frames(endless("one three")), nil)
		got := texts(all[len(all)-1:])
		if got != "One Three!" && got != "one three!" || !strings.HasPrefix(texts(all), "one, ") {
			t.Fatalf("understood %s", texts(all))
		}
		return got == "One Three!"
	})
}

// TestSilence: nothing is understood in silence, and none of it is an utterance.
func TestSilence(t *testing.T) {
	program(t)
	l := install(t, "ctc", "transducer", "whole")
	for _, first := range []string{"ctc", "transducer", "whole"} {
		r := ear(t, l, first, "")
		for _, long := range []int{0, 1, 50} {
			if got := texts(understand(t, r, frames(make([]int16, long*audio.Samples)), nil)); got != "!" {
				t.Errorf("in %d frames of silence %s understands %s", long, first, got)
			}
		}
	}
}

// TestEightAtOnce: eight people who speak at the same time are understood by one process, each in
// their own words.
func TestEightAtOnce(t *testing.T) {
	program(t)
	l := install(t, "transducer")
	set := find(t, l, "transducer")
	check := func(ctx context.Context) error { _, err := l.Check(ctx, set); return err }
	p := stt.NewPool(stt.PoolConfig{Most: 4, Each: stt.Config{Dial: l.Hear(set, catalog.Installed{}, "en", check), Log: quiet}})
	ctx, stop := context.WithCancel(t.Context())
	var running, speaking sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	defer testkit.Finish(t, testkit.Patience, "the end of the pool", func() { stop(); running.Wait() })
	first := make(chan stt.Result, 100)
	p.Listener().Begin(func(r stt.Result) { first <- r }).End()
	testkit.Receive(t, testkit.Patience, "a recogniser", first)
	words := []string{"one", "two", "three", "four"}
	results := make([]chan stt.Result, 8)
	for i := range results {
		results[i] = make(chan stt.Result, 100)
		speaking.Go(func() {
			text := strings.Join(append(words[i%4:4:4], words[:i%4]...), " ")
			s := p.Listener().Begin(func(r stt.Result) { results[i] <- r })
			for _, f := range frames(endless(text)) {
				s.Feed(f)
			}
			s.End()
		})
	}
	testkit.Finish(t, testkit.Patience, "eight people to speak", speaking.Wait)
	for i, ch := range results {
		want := strings.Join(append(words[i%4:4:4], words[:i%4]...), " ")
		for {
			res := testkit.Receive(t, testkit.Patience, fmt.Sprintf("the words of person %d", i), ch)
			if !res.Final {
				continue
			}
			if string(res.Text) != want || res.Err != nil {
				t.Errorf("person %d said %q, and %q was understood (%v)", i, want, string(res.Text), res.Err)
			}
			break
		}
	}
}

// TestCancelled: utterances that nobody wants any more, wherever they are, disturb no other.
func TestCancelled(t *testing.T) {
	program(t)
	r := ear(t, install(t, "ctc"), "ctc", "")
	sound := frames(endless("one two"))
	understand(t, r, sound, nil) // it is there
	for n := range 30 {
		never := func(res stt.Result) {
			if res.Final {
				t.Errorf("a cancelled utterance is %q, %v", string(res.Text), res.Err)
			}
		}
		s := r.Begin(never)
		r.Begin(never).Cancel() // without any sound
		all := understand(t, r, sound, func(i int) {
			s.Feed(sound[i])
			if i == n*len(sound)/30 {
				s.Cancel()
			}
		})
		if got := texts(all[len(all)-1:]); got != "one two!" {
			t.Fatalf("beside one that is cancelled at %d of 30 it understands %s", n, texts(all))
		}
	}
}

// A mortal dials a helper that can be killed.
type mortal struct {
	path string
	set  catalog.Installed

	mu   sync.Mutex
	last *helper.Process
}

// An opened is a process that is told which set to open.
type opened struct {
	*helper.Process
	set catalog.Installed
}

// Send implements [helper.Link].
func (o opened) Send(name string, body any) error {
	if name == wire.OpenName {
		body = wire.OpenHear{Set: o.set.Dir}
	}
	return o.Process.Send(name, body)
}

func (m *mortal) dial() (helper.Link, error) {
	p, err := helper.Start(helper.Command{Name: helper.NeuralProgram, Path: m.path, Args: []string{"hear"}, Log: quiet})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = p
	return opened{p, m.set}, nil
}

func (m *mortal) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, err := os.FindProcess(m.last.Pid()); err == nil {
		p.Kill()
	}
}

// TestKilled: whenever the helper is killed while somebody speaks, every word is understood, and none
// twice.
func TestKilled(t *testing.T) {
	kills := 20
	if os.Getenv("EARSHOT_PROOF") != "" {
		kills = 1000
	}
	m := &mortal{path: program(t), set: find(t, install(t, "ctc"), "ctc")}
	r := recogniser(t, m.dial)
	const text = "one three two four"
	sound := frames(endless(text))
	understand(t, r, sound, nil) // it is there
	for n := range kills {
		at := n * 31 % len(sound)
		all := understand(t, r, sound, func(i int) {
			if i == at {
				m.kill()
			}
		})
		if got := all[len(all)-1]; string(got.Text) != text || got.Err != nil {
			t.Fatalf("killed at frame %d of %d, in kill %d, it understands %s", at, len(sound), n, texts(all))
		}
	}
}
