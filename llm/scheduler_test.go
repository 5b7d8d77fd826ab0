package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/llm"
	"earshot/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A client asks a scheduler once: at a given second, for a reply of so many words, one a second;
// perhaps it gives up.
type client struct {
	priority llm.Priority
	at       int
	words    int
	leaves   int // the second at which it gives up; 0 means never
}

func TestScheduler(t *testing.T) {
	const (
		memory, reasoning, tool = llm.Memory, llm.Reasoning, llm.ForTool
		agent, person           = llm.ReplyToAgent, llm.ReplyToPerson
	)
	for _, tt := range []struct {
		name    string
		slots   int
		clients []client
		want    []string // a character a second: - waits, # runs; at the end . done, p parked, x gave up
	}{
		{"one alone", 1,
			[]client{{person, 0, 3, 0}},
			[]string{"###."}},
		{"no slots mean one", 0,
			[]client{{tool, 0, 2, 0}, {tool, 1, 2, 0}},
			[]string{"##.", " -##."}},
		{"equals in order", 1,
			[]client{{tool, 0, 3, 0}, {tool, 1, 1, 0}, {tool, 2, 1, 0}},
			[]string{"###.", " --#.", "  --#."}},
		{"two slots", 2,
			[]client{{tool, 0, 3, 0}, {tool, 1, 3, 0}, {tool, 2, 1, 0}},
			[]string{"###.", " ###.", "  -#."}},
		{"the urgent first", 1,
			[]client{{person, 0, 3, 0}, {memory, 1, 1, 0}, {tool, 2, 1, 0}},
			[]string{"###.", " ---#.", "  -#."}},
		{"a thought makes room for a reply", 1,
			[]client{{reasoning, 0, 5, 0}, {person, 2, 2, 0}},
			[]string{"##p", "  ##."}},
		{"a free slot is taken before anybody is parked", 2,
			[]client{{reasoning, 0, 5, 0}, {person, 2, 2, 0}},
			[]string{"#####.", "  ##."}},
		{"a person waits for a person", 1,
			[]client{{person, 0, 3, 0}, {person, 1, 1, 0}},
			[]string{"###.", " --#."}},
		{"nobody is above a person", 1,
			[]client{{person, 0, 3, 0}, {person + 1, 1, 1, 0}},
			[]string{"###.", " --#."}},
		{"the least urgent is parked", 2,
			[]client{{memory, 0, 5, 0}, {reasoning, 0, 5, 0}, {person, 2, 1, 0}},
			[]string{"##p", "#####.", "  #."}},
		{"of equals the younger is parked", 2,
			[]client{{memory, 0, 5, 0}, {memory, 1, 4, 0}, {person, 2, 1, 0}},
			[]string{"#####.", " #p", "  #."}},
		{"two make room for two", 2,
			[]client{{memory, 0, 5, 0}, {memory, 1, 5, 0}, {person, 2, 2, 0}, {agent, 3, 1, 0}},
			[]string{"###p", " #p", "  ##.", "   #."}},
		{"a reply to a person goes before those to agents", 1,
			[]client{{agent, 0, 4, 0}, {agent, 1, 2, 0}, {person, 2, 2, 0}, {person, 3, 1, 0}},
			[]string{"##p", " ----##.", "  ##.", "   -#."}},
		{"one who gives up leaves at once", 1,
			[]client{{person, 0, 4, 0}, {tool, 1, 1, 2}, {memory, 1, 1, 0}},
			[]string{"####.", " -x", " ---#."}},
		{"one who gives up while running frees the slot", 1,
			[]client{{person, 0, 9, 2}, {memory, 1, 1, 0}},
			[]string{"##x", " -#."}},
		{"a parked one that asks again waits its turn", 1,
			[]client{{reasoning, 0, 3, 0}, {person, 1, 2, 0}, {reasoning, 2, 2, 0}},
			[]string{"#p", " ##.", "  -##."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &llm.Scheduler{Slots: tt.slots}
				p := &pictures{lines: make([]string, len(tt.clients)), began: time.Now()}
				s.Engine = p
				var g sync.WaitGroup
				for i, c := range tt.clients {
					g.Go(func() { p.perform(t.Context(), s, i, c) })
				}
				g.Wait()
				for i, want := range tt.want {
					if p.lines[i] != want {
						t.Errorf("client %d: %q, want %q", i, p.lines[i], want)
					}
				}
				if s.Load() != (llm.Load{}) {
					t.Errorf("left over: %+v", s.Load())
				}
			})
		})
	}
}

// pictures is an engine that draws what happens to its clients. The name of the model is the
// client's number.
type pictures struct {
	llmtest.Script
	began time.Time
	lines []string
}

func (p *pictures) now() int { return int(time.Since(p.began).Round(time.Second) / time.Second) }

// draw fills the line of client i with c up to now.
func (p *pictures) draw(i int, c string) {
	p.lines[i] += strings.Repeat(c, max(0, p.now()-len(p.lines[i])))
}

func (p *pictures) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	var i int
	fmt.Sscan(req.Model, &i)
	p.draw(i, "-")
	script := voluble(strings.Repeat("a ", req.MaxTokens))
	return script.Stream(ctx, req)
}

func (p *pictures) perform(ctx context.Context, s *llm.Scheduler, i int, c client) {
	time.Sleep(time.Duration(c.at)*time.Second + time.Duration(i)) // never two at the same time
	p.draw(i, " ")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.leaves > 0 {
		time.AfterFunc(time.Duration(c.leaves-c.at)*time.Second, cancel)
	}
	end := "?"
	ran := false
	for d, err := range s.Stream(ctx, &llm.Request{Model: fmt.Sprint(i), MaxTokens: c.words, Priority: c.priority}) {
		ran = ran || err == nil
		switch {
		case err == llm.ErrParked:
			end = "p"
		case err == context.Canceled:
			end = "x"
		case d.Done != nil:
			end = "."
		}
	}
	p.draw(i, map[bool]string{true: "#", false: "-"}[ran])
	p.lines[i] += end
}

// TestSchedulerFreesTheSlotFirst: a reader that sees the end of a reply can ask the next question
// there and then, even on the only slot.
func TestSchedulerFreesTheSlotFirst(t *testing.T) {
	broken := &llm.Error{Fault: llm.Broken}
	synctest.Test(t, func(t *testing.T) {
		script := &llmtest.Script{Reply: "one two", Troubles: []llmtest.Trouble{{}, {}, {Err: broken}}}
		s := &llm.Scheduler{Engine: script}
		ended := 0
		for range 2 {
			for d, err := range s.Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson}) {
				if d.Done == nil && err == nil {
					continue
				}
				for d := range s.Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson}) {
					if d.Done != nil {
						ended++
					}
				}
			}
		}
		if ended != 2 {
			t.Errorf("%d inner replies came to their end, want 2", ended)
		}
	})
}

// TestSchedulerLetsGo: a reader that breaks out of the loop, or panics, gives the slot back.
func TestSchedulerLetsGo(t *testing.T) {
	s := &llm.Scheduler{Engine: &llmtest.Script{Reply: "one two"}}
	for range s.Stream(t.Context(), &llm.Request{}) {
		if got := s.Load(); got.Running != 1 {
			t.Errorf("in the loop %+v", got)
		}
		break
	}
	func() {
		defer func() { recover() }()
		for range s.Stream(t.Context(), &llm.Request{}) {
			panic("the reader's mistake")
		}
	}()
	if got := s.Load(); got != (llm.Load{}) {
		t.Errorf("after the loop %+v", got)
	}
}

// TestSchedulerIsBounded: one request too many is refused, namely the least urgent one.
func TestSchedulerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llm.Scheduler{Engine: &llmtest.Script{Label: "small", Reply: "one", Every: time.Minute}}
		ends := make(map[llm.Priority][]error)
		var mu sync.Mutex
		var g sync.WaitGroup
		ask := func(p llm.Priority) {
			g.Go(func() {
				var end error
				for _, err := range s.Stream(t.Context(), &llm.Request{Priority: p}) {
					end = err
				}
				mu.Lock()
				defer mu.Unlock()
				ends[p] = append(ends[p], end)
			})
			synctest.Wait()
		}
		ask(llm.ReplyToPerson)
		for range 64 {
			ask(llm.Reasoning)
		}
		if got := s.Load(); got != (llm.Load{Running: 1, Waiting: 64}) {
			t.Fatalf("load %+v", got)
		}
		ask(llm.Memory)
		ask(llm.ForTool)
		if got := s.Load(); got != (llm.Load{Running: 1, Waiting: 64}) {
			t.Errorf("load %+v", got)
		}
		mu.Lock()
		refused := slices.Concat(ends[llm.Memory], ends[llm.Reasoning])
		if len(refused) != 2 || len(ends[llm.Memory]) != 1 {
			t.Fatalf("refused %v, want the memory and one thought", ends)
		}
		mu.Unlock()
		for _, err := range refused {
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Fault != llm.Busy || e.Engine != "small" || e.Cure == "" {
				t.Errorf("refused with %v", err)
			}
		}
		g.Wait()
	})
}

// TestSchedulerAdmitsPeople: however many agents wait, a person's question is never the one that is
// refused.
func TestSchedulerAdmitsPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llm.Scheduler{Engine: &llmtest.Script{Reply: "one", Every: time.Second}}
		var mu sync.Mutex
		var order []string
		var g sync.WaitGroup
		ask := func(name string, p llm.Priority) {
			g.Go(func() {
				for d, err := range s.Stream(t.Context(), &llm.Request{Priority: p}) {
					mu.Lock()
					switch e, _ := errors.AsType[*llm.Error](err); {
					case d.Done != nil:
						order = append(order, name)
					case err != nil && (e == nil || e.Fault != llm.Busy):
						t.Errorf("%s fails with %v", name, err)
					case err != nil:
						order = append(order, name+" refused")
					}
					mu.Unlock()
				}
			})
			synctest.Wait()
		}
		ask("ann", llm.ReplyToPerson)
		for i := range 65 {
			ask(fmt.Sprintf("agent %d", i), llm.ReplyToAgent)
		}
		ask("bob", llm.ReplyToPerson)
		g.Wait()
		if want := []string{"agent 64 refused", "agent 63 refused", "ann", "bob", "agent 0"}; len(order) != 67 || !slices.Equal(order[:5], want) {
			t.Errorf("%d ended, first %q, want %q", len(order), order[:5], want)
		}
	})
}

// A visit is what a property test knows about one request.
type visit struct {
	client
	n       int
	state   string // "", waits, runs, ends
	err     error
	started time.Time
}

// A crowd is an engine that checks the promises of the scheduler in front of it.
type crowd struct {
	llmtest.Script
	t      *rapid.T
	slots  int
	visits []*visit
	mu     sync.Mutex
}

func (c *crowd) in(state string) (in []*visit) {
	for _, v := range c.visits {
		if v.state == state {
			in = append(in, v)
		}
	}
	return in
}

func (c *crowd) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		c.mu.Lock()
		me := c.visits[req.MaxTokens]
		me.state, me.started = "runs", time.Now()
		if n := len(c.in("runs")); n > c.slots {
			c.t.Errorf("%d run on %d slots", n, c.slots)
		}
		for _, v := range c.in("waits") {
			if v.priority > me.priority || v.priority == me.priority && v.at < me.at {
				c.t.Errorf("%+v waits while %+v starts", v, me)
			}
		}
		c.mu.Unlock()
		for d, err := range (&llmtest.Script{Reply: strings.Repeat("a ", me.words), Every: time.Millisecond}).Stream(ctx, &llm.Request{}) {
			if d.Done != nil || err != nil {
				c.mu.Lock()
				me.state = "ends"
				c.mu.Unlock()
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// TestSchedulerKeepsItsPromises: with random arrivals, never more requests run than there are
// slots, none starts before a more urgent one, none runs while a more urgent one waits, no reply to
// a person is parked, and all end. The bubble would notice a goroutine left behind.
func TestSchedulerKeepsItsPromises(t *testing.T) {
	arrival := rapid.Custom(func(t *rapid.T) client {
		return client{
			priority: llm.Priority(rapid.IntRange(int(llm.Memory), int(llm.ReplyToPerson)).Draw(t, "priority")),
			at:       rapid.IntRange(0, 30).Draw(t, "at"),
			words:    rapid.IntRange(0, 8).Draw(t, "words"),
			leaves:   rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 40)).Draw(t, "leaves"),
		}
	})
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbled{t}, func(t *rapid.T) {
			c := &crowd{t: t, slots: rapid.IntRange(1, 3).Draw(t, "slots")}
			for i, one := range rapid.SliceOfN(arrival, 1, 20).Draw(t, "clients") {
				one.at = one.at*1000 + i // in microseconds, never two at the same time
				c.visits = append(c.visits, &visit{client: one, n: i})
			}
			s := &llm.Scheduler{Engine: c, Slots: c.slots}
			var g sync.WaitGroup
			for _, v := range c.visits {
				g.Go(func() { c.visit(s, v) })
			}
			for range 400 { // longer than all of them take in a row
				time.Sleep(time.Millisecond)
				synctest.Wait()
				c.check(s)
			}
			g.Wait()
			if got := s.Load(); got != (llm.Load{}) {
				t.Errorf("left over: %+v", got)
			}
		})
	})
}

// bubbled is a test in a bubble. It hides the deadline, which must not be asked for there.
type bubbled struct{ rapid.TB }

// visit sends the request of v.
func (c *crowd) visit(s *llm.Scheduler, v *visit) {
	time.Sleep(time.Duration(v.at) * time.Microsecond)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if v.leaves > 0 {
		defer time.AfterFunc(time.Duration(v.leaves)*time.Millisecond+500*time.Nanosecond, cancel).Stop()
	}
	c.mu.Lock()
	v.state = "waits"
	c.mu.Unlock()
	var end error
	for _, err := range s.Stream(ctx, &llm.Request{MaxTokens: v.n, Priority: v.priority}) {
		end = err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v.state, v.err = "ends", end
}

// check checks a crowd when nothing moves.
func (c *crowd) check(s *llm.Scheduler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits, runs := c.in("waits"), c.in("runs")
	if got := s.Load(); got != (llm.Load{Running: len(runs), Waiting: len(waits)}) {
		c.t.Errorf("load %+v, want %d running and %d waiting", got, len(runs), len(waits))
	}
	for _, w := range waits {
		if len(runs) < c.slots {
			c.t.Errorf("%+v waits beside a free slot", w)
		}
		for _, r := range runs {
			if r.priority < w.priority {
				c.t.Errorf("%+v waits while %+v runs", w, r)
			}
		}
	}
	for _, v := range c.in("ends") {
		switch {
		case v.err == llm.ErrParked && v.priority == llm.ReplyToPerson:
			c.t.Errorf("%+v was parked", v)
		case v.err == context.Canceled && v.leaves == 0:
			c.t.Errorf("%+v was abandoned by nobody", v)
		case v.err != nil && v.err != llm.ErrParked && v.err != context.Canceled:
			c.t.Errorf("%+v ended with %v", v, v.err)
		}
	}
}

// voluble returns a model that says one word of said a second, and thinks the same.
func voluble(said string) *llmtest.Script {
	return &llmtest.Script{Label: "a", Reply: said, Rules: []llmtest.Rule{{For: llmtest.ForThought, Reply: said}}, Every: time.Second}
}

// TestSchedulerParksNobodyInVain: a slot that is being given back, however slowly, is already
// promised to somebody, so no second stream is parked for them.
func TestSchedulerParksNobodyInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llm.Scheduler{Slots: 2, Engine: voluble("one two three")}
		var g sync.WaitGroup
		ask := func(p llm.Priority, words int, slow time.Duration, leaves time.Duration, want error) {
			g.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), leaves)
				defer cancel()
				var end error
				for _, err := range s.Stream(ctx, &llm.Request{Priority: p, MaxTokens: words}) {
					end = err
					time.Sleep(slow)
				}
				if end != want {
					t.Errorf("priority %d ended with %v, want %v", p, end, want)
				}
			})
			synctest.Wait()
		}
		const never = time.Hour
		ask(llm.Reasoning, 3, 30*time.Second, never, llm.ErrParked) // it is slow to read each piece
		ask(llm.ForTool, 2, 0, never, nil)                          // until 2 s
		time.Sleep(1500 * time.Millisecond)
		ask(llm.ReplyToAgent, 1, 0, time.Millisecond, context.DeadlineExceeded) // has the thought parked, and gives up
		time.Sleep(time.Second)
		ask(llm.Memory, 3, 0, never, nil) // takes the free slot
		ask(llm.ReplyToPerson, 1, 0, never, nil)
		g.Wait()
	})
}
