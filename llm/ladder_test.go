package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// plainEngine is an engine that cannot unload models.
type plainEngine struct{ llm.Engine }

// stuck is an engine whose unloading takes long or fails.
type stuck struct {
	llm.Engine
	takes time.Duration
	err   error
}

func (s stuck) Unload(ctx context.Context, _ string) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(s.takes):
		return s.err
	}
}

func ladder(engines ...llm.Engine) *llm.Ladder {
	l := &llm.Ladder{FirstToken: 10 * time.Second, Idle: 5 * time.Second, Total: 60 * time.Second}
	for _, e := range engines {
		l.Engines = append(l.Engines, &llm.Scheduler{Engine: e})
	}
	return l
}

// climb asks l and returns a line: the steps, what was said, how it ended, and after how long.
func climb(ctx context.Context, l *llm.Ladder, req *llm.Request) string {
	var line []string
	l.Report = func(s llm.Step) {
		line = append(line, s.Engine+" "+string(s.Kind))
	}
	began := time.Now()
	said, end := "", "no end"
	for d, err := range l.Stream(ctx, req) {
		switch {
		case err != nil:
			end = err.Error()
		case d.Done != nil:
			end = "done"
		}
		said += d.Text
	}
	for _, s := range l.Engines {
		if s.Load() != (llm.Load{}) {
			line = append(line, fmt.Sprintf("%s still has %+v", s.Name(), s.Load()))
		}
	}
	return fmt.Sprintf("%s: %q, %s, %v", strings.Join(line, ", "), said, end, time.Since(began))
}

// chatty is an engine that sends empty deltas for ever.
type chatty struct{ llm.Engine }

func (chatty) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for ctx.Err() == nil {
			time.Sleep(3 * time.Second)
			if !yield(llm.Delta{}, nil) {
				return
			}
		}
		yield(llm.Delta{}, context.Cause(ctx))
	}
}

func TestLadder(t *testing.T) {
	fault := func(f llm.Fault, cure string) error {
		return &llm.Error{Fault: f, Engine: "a", Cure: cure}
	}
	script := func(label string, troubles ...llmtest.Trouble) *llmtest.Script {
		return &llmtest.Script{Label: label, Reply: "one two", Every: time.Second, Troubles: troubles}
	}
	var (
		late   = llmtest.Trouble{Hang: true}
		wedge  = llmtest.Trouble{Wedge: true}
		broken = llmtest.Trouble{Err: fault(llm.Broken, "")}
		html   = llmtest.Trouble{Err: fault(llm.BadAnswer, "set executive.llm.host")}
		absent = llmtest.Trouble{Err: fault(llm.Unreachable, "start it")}
		lie    = llmtest.Trouble{Lie: true}
		odd    = llmtest.Trouble{Err: errors.New("odd")}
		well   = llmtest.Trouble{}
	)
	after := func(n int, t llmtest.Trouble) llmtest.Trouble {
		t.After = n
		return t
	}
	for _, tt := range []struct {
		name    string
		engines []llm.Engine
		want    string
	}{
		{"well", []llm.Engine{script("a")},
			`a answered: "one two", done, 2s`},
		{"no engine", nil,
			`: "", no engine: unreachable, 0s`},
		{"wedged, and well when unloaded", []llm.Engine{script("a", wedge)},
			`a unloaded the model to ask again, a answered: "one two", done, 12s`},
		{"late twice", []llm.Engine{script("a", late, late)},
			`a unloaded the model to ask again, a gave up: "", a: stalled: no first word came within 10s, 20s`},
		{"late, and cannot unload", []llm.Engine{plainEngine{script("a", late)}, script("b")},
			`a asked the next engine, b answered: "one two", done, 12s`},
		{"late, and unloading fails", []llm.Engine{stuck{script("a", late), time.Second, fault(llm.Unreachable, "start it")}},
			`a gave up: "", a: unreachable: a: stalled: no first word came within 10s, 11s`},
		{"late, and unloading takes for ever", []llm.Engine{stuck{script("a", late), time.Hour, nil}, script("b")},
			`a asked the next engine, b answered: "one two", done, 15s`},
		{"broken before the first token", []llm.Engine{script("a", broken)},
			`a asked again without streaming, a answered: "one two", done, 1s`},
		{"broken twice", []llm.Engine{script("a", broken, broken), script("b")},
			`a asked again without streaming, a asked the next engine, b answered: "one two", done, 2s`},
		{"nothing at all", []llm.Engine{script("a", lie)},
			`a asked again without streaming, a answered: "one two", done, 1s`},
		{"late, then broken", []llm.Engine{script("a", late, broken)},
			`a unloaded the model to ask again, a asked again without streaming, a answered: "one two", done, 11s`},
		{"broken, then late", []llm.Engine{script("a", broken, late)}, // a whole reply may take half of the time that is left
			`a asked again without streaming, a unloaded the model to ask again, a answered: "one two", done, 31s`},
		{"HTML", []llm.Engine{script("a", html), script("b")},
			`a asked the next engine, b answered: "one two", done, 2s`},
		{"no reason is given", []llm.Engine{script("a", odd), script("b")},
			`a asked the next engine, b answered: "one two", done, 2s`},
		{"nobody is there", []llm.Engine{script("a", html), script("b", odd), script("c", absent)},
			`a asked the next engine, b asked the next engine, c gave up: "", a: unreachable: a: bad answer; b: bad answer: odd, 0s`},
		{"broken after the first token", []llm.Engine{script("a", after(1, broken)), script("b")},
			`a answered, a gave up in the middle of a reply: "one", a: broken, 1s`},
		{"no end after the first token", []llm.Engine{script("a", after(1, lie)), script("b")},
			`a answered, a gave up in the middle of a reply: "one", a: broken: the reply did not end, 1s`},
		{"no reason is given after the first token", []llm.Engine{script("a", after(1, odd)), script("b")},
			`a answered, a gave up in the middle of a reply: "one", a: bad answer: odd, 1s`},
		{"stands still after the first token", []llm.Engine{script("a", after(1, late)), script("b")},
			`a answered, a gave up in the middle of a reply: "one", a: stalled: nothing more came for 5s, 6s`},
		{"as slow as it may be", []llm.Engine{&llmtest.Script{Label: "a", Reply: "one two three", Every: 5*time.Second - 1}},
			`a answered: "one two three", done, 14.999999997s`},
		{"one byte in four seconds, for ever", []llm.Engine{&llmtest.Script{Label: "a", Reply: strings.Repeat(".\n", 1000), Every: 4 * time.Second}, script("b")},
			`a answered, a gave up in the middle of a reply: "` + strings.TrimSuffix(strings.Repeat(`.\n`, 15), `\n`) + `", a: stalled: the reply was not complete in time, 1m0s`},
		{"says nothing, often", []llm.Engine{chatty{script("a")}, script("b")},
			`a asked the next engine, b answered: "one two", done, 14s`},
		{"everything is late", []llm.Engine{script("a", late, late), script("b", late, late), script("c", late, late), script("d", well)},
			`a unloaded the model to ask again, a asked the next engine, ` +
				`b unloaded the model to ask again, b asked the next engine, ` +
				`c unloaded the model to ask again, c gave up: "", ` +
				"a: stalled: no first word came within 10s; " +
				"b: stalled: no first word came within 10s; " +
				`c: stalled: no first word came within 10s; c: stalled: the reply was not complete in time, 1m0s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := climb(t.Context(), ladder(tt.engines...), &llm.Request{}); got != tt.want {
					t.Errorf("\n%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}

// TestLadderUnloadsInTime: unloading, too, gets only the time that is left.
func TestLadderUnloadsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &llmtest.Script{Label: "a", Troubles: []llmtest.Trouble{{Hang: true}}}
		l := ladder(stuck{hangs, time.Hour, nil}, &llmtest.Script{Label: "b"})
		l.Total = 12 * time.Second
		want := `a gave up: "", a: stalled: no first word came within 10s; a: bad answer: context deadline exceeded, 12s`
		if got := climb(t.Context(), l, &llm.Request{}); got != want {
			t.Errorf("\n%s\nwant\n%s", got, want)
		}
	})
}

// TestLadderOrder: the engine named in the request is asked first, with the model named there, then
// the others in their order with their own models.
func TestLadderOrder(t *testing.T) {
	failing := llmtest.Trouble{Err: &llm.Error{Fault: llm.NoModel}}
	for _, tt := range []struct {
		engine, model string
		want          string // each engine with the model it was asked for
	}{
		{"", "", "a: b: c:"},
		{"", "mine", "a:mine b: c:"},
		{"a", "mine", "a:mine b: c:"},
		{"b", "mine", "b:mine a: c:"},
		{"c", "", "c: a: b:"},
		{"gone", "mine", "a: b: c:"},
	} {
		var asked []string
		l := new(llm.Ladder)
		for _, name := range []string{"a", "b", "c"} {
			e := &llmtest.Script{Label: name, Troubles: []llmtest.Trouble{failing}}
			l.Engines = append(l.Engines, &llm.Scheduler{Called: name, Engine: noting{e, func(req *llm.Request) {
				asked = append(asked, name+":"+req.Model)
			}}})
		}
		req := &llm.Request{Engine: tt.engine, Model: tt.model}
		for _, err := range l.Stream(t.Context(), req) {
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Fault != llm.NoModel {
				t.Errorf("ended with %v", err)
			}
		}
		if got := strings.Join(asked, " "); got != tt.want || req.Engine != tt.engine || req.Model != tt.model {
			t.Errorf("%s/%s: asked %s, want %s; the request is %+v", tt.engine, tt.model, got, tt.want, req)
		}
	}
}

// noting is an engine that reports what it is asked.
type noting struct {
	*llmtest.Script
	note func(*llm.Request)
}

func (n noting) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	n.note(req)
	return n.Script.Stream(ctx, req)
}

// writing is an engine that takes its time to write a call, with a sign of life each second.
type writing struct {
	llm.Engine
	takes int // seconds
	dies  bool
}

func (w writing) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for range w.takes {
			select {
			case <-ctx.Done():
				yield(llm.Delta{}, context.Cause(ctx))
				return
			case <-time.After(time.Second):
			}
			if !yield(llm.Delta{}, nil) {
				return
			}
		}
		if w.dies {
			<-ctx.Done()
			yield(llm.Delta{}, context.Cause(ctx))
			return
		}
		for d, err := range w.Engine.Stream(ctx, req) {
			if !yield(d, err) {
				return
			}
		}
	}
}

// TestLadderLetsCallsBeWritten: a call comes whole, so that only signs of life show that it is
// being written. If no call can come, they count for nothing.
func TestLadderLetsCallsBeWritten(t *testing.T) {
	calls := func(name string) llm.Engine {
		return &llmtest.Script{Label: name, Rules: []llmtest.Rule{{Calls: []llm.Call{{Tool: "note"}}}}}
	}
	tools := &llm.Request{Tools: []llm.Tool{{Name: "note"}}}
	for _, tt := range []struct {
		name   string
		engine llm.Engine
		req    *llm.Request
		want   string
	}{
		{"a long call", writing{calls("a"), 40, false}, tools, `a answered: "", done, 40s`},
		{"a call for ever", writing{calls("a"), 1000, false}, tools, `a gave up: "", a: stalled: the reply was not complete in time, 1m0s`},
		{"a long call that is never whole", writing{calls("a"), 20, true}, tools, `a gave up: "", a: stalled: no first word came within 10s, 30s`},
		{"without tools", writing{calls("a"), 40, false}, &llm.Request{}, `a gave up: "", a: stalled: no first word came within 10s, 10s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := climb(t.Context(), ladder(tt.engine), tt.req); got != tt.want {
					t.Errorf("\n%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}

// TestLadderAsksAgain: an engine that is asked again gets the same request, but for what has to
// change.
func TestLadderAsksAgain(t *testing.T) {
	broken := llmtest.Trouble{Err: &llm.Error{Fault: llm.Broken}}
	a := &llmtest.Script{Reply: "one", Troubles: []llmtest.Trouble{broken, broken}}
	b := &llmtest.Script{Reply: "two"}
	req := &llm.Request{Model: "mine", MaxTokens: 7, Priority: llm.ForTool}
	climb(t.Context(), ladder(a, b), req)
	if req.Whole || req.Model != "mine" {
		t.Errorf("the request was changed: %+v", req)
	}
	got := append(a.Seen(), b.Seen()...)
	if len(got) != 3 {
		t.Fatalf("asked %d times, want 3", len(got))
	}
	for i, want := range []llm.Request{
		{Model: "mine", MaxTokens: 7, Priority: llm.ForTool},
		{Model: "mine", MaxTokens: 7, Priority: llm.ForTool, Whole: true},
		{MaxTokens: 7, Priority: llm.ForTool},
	} {
		if fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want) {
			t.Errorf("question %d is %+v, want %+v", i, got[i], want)
		}
	}
}

// TestLadderWaitsForASlot: time in the queue is not the engine's fault, so it counts only towards
// the total.
func TestLadderWaitsForASlot(t *testing.T) {
	for _, tt := range []struct {
		name string
		busy int // for how many seconds others keep the engine busy
		want string
	}{
		{"longer than a first token may take", 30, `a answered: "one two", done, 32s`},
		{"longer than everything may take", 90, `a gave up: "", a: busy: no slot was free in time, 1m0s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := &llmtest.Script{Label: "a", Reply: "one two", Every: time.Second,
					Rules: []llmtest.Rule{{When: "long", Reply: strings.TrimSpace(strings.Repeat("a ", tt.busy))}}}
				l := ladder(script)
				held := make(chan struct{})
				go func() {
					defer close(held)
					for range l.Engines[0].Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "long"}}}) {
					}
				}()
				synctest.Wait()
				got := ""
				done := make(chan struct{})
				go func() {
					defer close(done)
					got = climb(t.Context(), l, &llm.Request{})
				}()
				<-done
				if tt.busy > 60 {
					tt.want = strings.Replace(tt.want, "a gave up:", "a gave up, a still has {Running:1 Waiting:0}:", 1)
				}
				if got != tt.want {
					t.Errorf("\n%s\nwant\n%s", got, tt.want)
				}
				<-held
			})
		})
	}
}

// TestLadderIsPatientWithItsReader: between pieces a reader may take longer than any bound, as one
// does whose speech is paused.
func TestLadderIsPatientWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ladder(&llmtest.Script{Reply: "one two three", Every: time.Second})
		said := ""
		for d, err := range l.Stream(t.Context(), &llm.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			said += d.Text
			time.Sleep(time.Hour)
		}
		if said != "one two three" {
			t.Errorf("said %q", said)
		}
	})
}

// TestLadderStops: when the context ends, the reader leaves or the stream is parked, the ladder
// stops at once and does not ask again.
func TestLadderStops(t *testing.T) {
	cut := errors.New("somebody cut in")
	for _, tt := range []struct {
		name    string
		trouble llmtest.Trouble
		at      time.Duration
		said    string
	}{
		{"before the first token", llmtest.Trouble{Hang: true}, 3 * time.Second, ""},
		{"in the middle", llmtest.Trouble{}, 1500 * time.Millisecond, "one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := ladder(&llmtest.Script{Reply: "one two", Every: time.Second, Troubles: []llmtest.Trouble{tt.trouble}})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(tt.at, func() { cancel(cut) })
				want := fmt.Sprintf("%q, %v, %v", tt.said, cut, tt.at)
				if got := climb(ctx, l, &llm.Request{}); !strings.HasSuffix(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			})
		})
	}
	t.Run("while unloading", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hangs := &llmtest.Script{Label: "a", Troubles: []llmtest.Trouble{{Hang: true}}}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(12*time.Second, func() { cancel(cut) })
			want := `: "", somebody cut in, 12s`
			if got := climb(ctx, ladder(stuck{hangs, time.Hour, nil}), &llm.Request{}); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	})
	t.Run("the reader leaves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := ladder(&llmtest.Script{Reply: "one two", Every: time.Second})
			l.Report = func(s llm.Step) {
				if s.Kind != llm.Answered {
					t.Errorf("step %v", s.Kind)
				}
			}
			for range l.Stream(t.Context(), &llm.Request{}) {
				break
			}
			if got := l.Engines[0].Load(); got != (llm.Load{}) {
				t.Errorf("left over: %+v", got)
			}
		})
	})
	for _, tt := range []struct {
		name string
		at   time.Duration
	}{{"parked before the first token", 500 * time.Millisecond}, {"parked in the middle", 1500 * time.Millisecond}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := ladder(voluble("one two"), &llmtest.Script{Label: "b"})
				reply := make(chan struct{})
				time.AfterFunc(tt.at, func() {
					defer close(reply)
					for range l.Engines[0].Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson}) {
						return
					}
				})
				want := fmt.Sprintf("%v, %v", llm.ErrParked, tt.at)
				if got := climb(t.Context(), l, &llm.Request{Priority: llm.Reasoning}); !strings.HasSuffix(got, want) || strings.Contains(got, string(llm.Onward)) {
					t.Errorf("%s, want %s", got, want)
				}
				<-reply
			})
		})
	}
}

// TestLadderNamesTheCure: if several engines fail, the ladder reports the fault that somebody can
// mend, with the others wrapped in it.
func TestLadderNamesTheCure(t *testing.T) {
	e := func(f llm.Fault, engine, cure string) *llm.Error {
		return &llm.Error{Fault: f, Engine: engine, Cure: cure}
	}
	for _, tt := range []struct {
		name string
		errs []*llm.Error
		want string // the engine whose fault is reported
	}{
		{"the only one", []*llm.Error{e(llm.Busy, "a", "")}, "a"},
		{"one with a cure", []*llm.Error{e(llm.Busy, "a", ""), e(llm.Busy, "b", "wait")}, "b"},
		{"one that will not pass by itself", []*llm.Error{e(llm.Busy, "a", "wait"), e(llm.NoModel, "b", "pull it")}, "b"},
		{"the first of two", []*llm.Error{e(llm.Unreachable, "a", "start it"), e(llm.NoModel, "b", "pull it")}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var engines []llm.Engine
			for _, err := range tt.errs {
				engines = append(engines, &llmtest.Script{Label: err.Engine, Troubles: []llmtest.Trouble{{Err: err}}})
			}
			var ended error
			for _, err := range ladder(engines...).Stream(t.Context(), &llm.Request{}) {
				ended = err
			}
			told, ok := errors.AsType[*llm.Error](ended)
			if !ok || told.Engine != tt.want {
				t.Fatalf("told %v, want that of %s", ended, tt.want)
			}
			for _, err := range tt.errs {
				if err.Engine != tt.want && !errors.Is(ended, err) {
					t.Errorf("%v is not in %v", err, ended)
				}
			}
		})
	}
}

// nothing is an engine that takes no time.
type nothing struct{ llmtest.Script }

func (*nothing) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for range req.MaxTokens {
			if !yield(llm.Delta{Text: " word"}, nil) {
				return
			}
		}
		yield(llm.Delta{Done: &llm.Done{}}, nil)
	}
}

// BenchmarkRouting measures what scheduler and ladder cost for each piece, compared with the bare
// engine.
func BenchmarkRouting(b *testing.B) {
	for _, bb := range []struct {
		name string
		s    llm.Service
	}{
		{"bare", new(nothing)},
		{"scheduler", &llm.Scheduler{Engine: new(nothing)}},
		{"ladder", &llm.Ladder{Engines: []*llm.Scheduler{{Engine: new(nothing)}}, Total: time.Hour}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for range bb.s.Stream(b.Context(), &llm.Request{MaxTokens: b.N}) {
			}
		})
		b.Run(bb.name+"/a reply of 100", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range bb.s.Stream(b.Context(), &llm.Request{MaxTokens: 100}) {
				}
			}
		})
	}
}

// TestLadderSees: a request with a picture goes first to engines that can see, and then, with words
// instead of the picture, to the others.
func TestLadderSees(t *testing.T) {
	refuses := llmtest.Trouble{Err: &llm.Error{Fault: llm.Unsupported, Engine: "it"}}
	gone := llmtest.Trouble{Err: &llm.Error{Fault: llm.Unreachable, Engine: "it", Cure: "start it"}}
	engine := func(name string, sees bool, troubles ...llmtest.Trouble) *llmtest.Script {
		return &llmtest.Script{Label: name, Reply: "ok", Vision: sees, Troubles: troubles}
	}
	for _, tt := range []struct {
		name    string
		engines []*llmtest.Script
		must    bool
		want    string
		asked   string // for each engine, how it was asked: seen or unseen
	}{
		{"the first sees", []*llmtest.Script{engine("a", true), engine("b", true)}, false, `a answered: "ok", done, 0s`, "a: seen; b: "},
		{"another sees", []*llmtest.Script{engine("a", false), engine("b", true)}, false, `b answered: "ok", done, 0s`, "a: ; b: seen"},
		{"nobody sees", []*llmtest.Script{engine("a", false), engine("b", false)}, false, `a answered: "ok", done, 0s`, "a: unseen; b: "},
		{"who sees is gone", []*llmtest.Script{engine("a", false), engine("b", true, gone)}, false, `b asked the next engine, a answered: "ok", done, 0s`, "a: unseen; b: seen"},
		{"who sees is refused", []*llmtest.Script{engine("a", true, refuses)}, false, `a asked again without pictures, a answered: "ok", done, 0s`, "a: seen unseen"},
		{"refused, and then in their order", []*llmtest.Script{engine("a", false, gone), engine("b", true, refuses)}, false,
			`b asked the next engine, a asked the next engine, b answered: "ok", done, 0s`, "a: unseen; b: seen unseen"},
		{"it must be seen", []*llmtest.Script{engine("a", false), engine("b", true)}, true, `b answered: "ok", done, 0s`, "a: ; b: seen"},
		{"it must be seen, and nobody can", []*llmtest.Script{engine("a", false)}, true, `: "", a: unsupported: it cannot look at pictures, 0s`, "a: "},
		{"it must be seen, and is refused", []*llmtest.Script{engine("a", true, refuses)}, true, `a gave up: "", it: unsupported, 0s`, "a: seen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []llm.Engine
				for _, e := range tt.engines {
					all = append(all, e)
				}
				req := &llm.Request{MustSee: tt.must, Messages: []llm.Message{
					{Role: llm.User, Text: "what is it?", Images: []llm.Image{picture(8, 'a')}}, {Role: llm.System, Text: "seen", AltText: "unseen"},
				}}
				if got := climb(t.Context(), ladder(all...), req); got != tt.want {
					t.Errorf("\n%s\nwant\n%s", got, tt.want)
				}
				var asked []string
				for _, e := range tt.engines {
					line := e.Label + ":"
					for _, seen := range e.Seen() {
						line += " " + seen.Messages[1].Text
						if pictures := len(seen.Messages[0].Images); (pictures == 1) != (seen.Messages[1].Text == "seen") {
							t.Errorf("%s was shown %d pictures, and told %q", e.Label, pictures, seen.Messages[1].Text)
						}
					}
					if len(e.Seen()) == 0 {
						line += " "
					}
					asked = append(asked, line)
				}
				if got := strings.Join(asked, "; "); got != tt.asked {
					t.Errorf("they were asked %q, want %q", got, tt.asked)
				}
			})
		})
	}
}
