package llm_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// A server is a host that reads a kilobyte a second, except what it has in its cache from the last
// prompt, and then says a word a second.
type server struct {
	llmtest.Script
	slots int
	slow  time.Duration // more for each kilobyte
	fault llm.Fault     // of each request, while it is not well
	why   error

	mu      sync.Mutex
	cache   []llm.Message
	running int
	most    int
	asked   []string // the turns of its requests
	down    bool
	hangs   bool // while it is down, instead of failing
	frees   int  // how often its model was unloaded
}

func newServer(label string, slots int) *server {
	return &server{Script: llmtest.Script{Label: label}, slots: slots, fault: llm.Unreachable}
}

// set makes the server fail or be well.
func (s *server) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.cache = down, nil
}

func (s *server) Unload(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frees++
	return nil
}

func (s *server) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		s.mu.Lock()
		unread := 0
		for i, m := range req.Messages {
			if i >= len(s.cache) || m.Text != s.cache[i].Text {
				unread += len(m.Text)
			}
		}
		s.cache = req.Messages
		s.running++
		s.most = max(s.most, s.running)
		s.asked = append(s.asked, req.Origin.Turn)
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.running--
		}()
		broken := func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.down
		}
		if broken() {
			if s.hangs {
				<-ctx.Done()
			}
			yield(llm.Delta{}, &llm.Error{Fault: s.fault, Engine: s.Label, Err: s.why})
			return
		}
		pause := time.Duration(unread/1000) * (time.Second + s.slow)
		for n := range max(req.MaxTokens, 1) {
			select {
			case <-ctx.Done():
				yield(llm.Delta{}, context.Cause(ctx))
				return
			case <-time.After(pause):
			}
			pause = time.Second
			if broken() {
				yield(llm.Delta{}, &llm.Error{Fault: llm.Broken, Engine: s.Label})
				return
			}
			if !yield(llm.Delta{Text: fmt.Sprint(n, " ")}, nil) {
				return
			}
		}
		select {
		case <-ctx.Done():
			yield(llm.Delta{}, context.Cause(ctx))
		case <-time.After(time.Second):
			yield(llm.Delta{Done: &llm.Done{}}, nil)
		}
	}
}

// hosts returns a ladder over one engine on servers.
func hosts(servers ...*server) (*llm.Ladder, *[]string) {
	s, steps := &llm.Scheduler{Called: "engine"}, new([]string)
	for i, e := range servers {
		s.Hosts = append(s.Hosts, &llm.Host{Engine: e, Called: fmt.Sprintf("engine, host %d", i+1), Slots: e.slots})
	}
	var mu sync.Mutex
	return &llm.Ladder{Engines: []*llm.Scheduler{s}, FirstToken: 20 * time.Second, Total: time.Hour, Report: func(step llm.Step) {
		mu.Lock()
		defer mu.Unlock()
		*steps = append(*steps, step.Called+" "+string(step.Kind))
	}}, steps
}

// dialogue returns a request of a conversation: it begins with so many kilobytes of its own, and each turn
// adds a message of a hundred bytes.
func dialogue(name string, kilobytes, turns int) *llm.Request {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.System, Text: strings.Repeat(name, kilobytes*1000/len(name))}}, Priority: llm.ReplyToPerson, Origin: llm.Origin{Turn: name}}
	for n := range turns {
		req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: strings.Repeat(fmt.Sprint(n%10), 100)})
	}
	return req
}

// whole reads a reply to its end.
func whole(ctx context.Context, s llm.Service, req *llm.Request) (text string, err error) {
	for d, failed := range s.Stream(ctx, req) {
		text += d.Text
		err = failed
	}
	return text, err
}

// TestHostChoice: which host each request of a script gets. A request is a letter for its conversation of
// four kilobytes, small for a thought, a number for its words, and + if the next one does not wait for its end.
func TestHostChoice(t *testing.T) {
	slow := newServer("a", 1)
	slow.slow = 2 * time.Second
	for _, tt := range []struct {
		name   string
		hosts  []*server
		script string
		want   string // the conversations that each host was asked in
	}{
		{"one conversation stays where it is warm", []*server{newServer("a", 1), newServer("b", 1)}, "A1 A1 A1", "AAA|"},
		{"another goes where nothing is forgotten", []*server{newServer("a", 1), newServer("b", 1)}, "A1 B1 A1 B1", "AA|BB"},
		{"a third takes any", []*server{newServer("a", 1), newServer("b", 1), newServer("c", 1)}, "A1 B1 C1 C1 A1", "AA|B|CC"},
		{"a slot is left when one is busy", []*server{newServer("a", 1), newServer("b", 1)}, "+A9 B1", "A|B"},
		{"a warm host that is busy for long is left", []*server{newServer("a", 1), newServer("b", 1)}, "A9 +A9 A1", "AA|A"},
		{"a warm host that is busy for a moment is waited for", []*server{newServer("a", 1), newServer("b", 1)}, "A1 A1 +A1 A1", "AAAA|"},
		{"nobody waits for a thought", []*server{newServer("a", 1), newServer("b", 1)}, "A1 A1 +a1 A1", "AAa|A"},
		{"a slow host is used when the fast one is busy", []*server{slow, newServer("b", 1)}, "A1 B1 C1 D1 +E50 F1", "AF|BCDE"},
		{"slots are shared out", []*server{newServer("a", 2), newServer("b", 2)}, "A1 B1 +C9 +D9 +E9 +F9", "ADF|BCE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, _ := hosts(tt.hosts...)
				var g sync.WaitGroup
				for i, word := range strings.Fields(tt.script) {
					word, beside := strings.CutPrefix(word, "+")
					req := dialogue(strings.ToUpper(word[:1]), 4, i+1)
					if req.Origin.Turn = word[:1]; word[0] >= 'a' {
						req.Priority = llm.Reasoning
					}
					fmt.Sscan(word[1:], &req.MaxTokens)
					done := make(chan struct{})
					g.Go(func() {
						defer close(done)
						if _, err := whole(t.Context(), l, req); err != nil {
							t.Error(err)
						}
					})
					if time.Sleep(time.Second / 10); !beside {
						<-done
					}
				}
				g.Wait()
				var got []string
				for _, h := range tt.hosts {
					got = append(got, strings.Join(h.asked, ""))
				}
				if joined := strings.Join(got, "|"); joined != tt.want {
					t.Errorf("asked %s, want %s", joined, tt.want)
				}
			})
		})
	}
}

// TestHostsPark: a person takes a free slot on any host, and parks a thought on any host if there is none.
func TestHostsPark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newServer("a", 1), newServer("b", 1)
		l, _ := hosts(a, b)
		var g sync.WaitGroup
		ends := make([]error, 4)
		ask := func(i int, p llm.Priority) {
			req := dialogue(fmt.Sprint(i), 1, 1)
			req.Priority, req.MaxTokens = p, 20
			g.Go(func() { _, ends[i] = whole(t.Context(), l, req) })
			time.Sleep(2 * time.Second)
		}
		ask(0, llm.Reasoning)
		ask(1, llm.ReplyToPerson) // on the other host
		ask(2, llm.ReplyToPerson) // in place of the thought
		began := time.Now()
		ask(3, llm.ReplyToPerson) // waits for the first reply to end
		g.Wait()
		if ends[0] != llm.ErrParked || ends[1] != nil || ends[2] != nil || ends[3] != nil {
			t.Errorf("ended with %v", ends)
		}
		if got := strings.Join(a.asked, "") + "|" + strings.Join(b.asked, ""); got != "02|13" {
			t.Errorf("asked %s, want 02|13", got)
		}
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("the last one took %v", took)
		}
	})
}

// TestHostFails: what happens to a request whose host fails, and to the host.
func TestHostFails(t *testing.T) {
	const first, second = "engine, host 1 ", "engine, host 2 "
	for _, tt := range []struct {
		name   string
		breaks func(a, b *server)
		fails  bool
		steps  string
		took   time.Duration
	}{
		{"before the first token", func(a, _ *server) { a.down = true }, false, first + "asked another host of the engine, " + second + "answered", 2 * time.Second},
		{"by silence", func(a, _ *server) { a.down, a.hangs = true, true }, false, first + "asked another host of the engine, " + second + "answered", 22 * time.Second},
		{"in the middle", func(a, _ *server) { time.AfterFunc(1500*time.Millisecond, func() { a.set(true) }) }, true, first + "answered, " + first + "gave up in the middle of a reply", 2 * time.Second},
		{"both", func(a, b *server) { a.down, b.down = true, true }, true, first + "asked another host of the engine, " + second + "gave up", 0},
		{"by what no host could answer", func(a, _ *server) { a.down, a.fault = true, llm.TooLong }, true, first + "gave up", 0},
		{"by what its model says", func(a, _ *server) { a.down, a.fault, a.why = true, llm.BadAnswer, llm.ErrCall }, true, first + "gave up", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newServer("a", 1), newServer("b", 1)
				l, steps := hosts(a, b)
				tt.breaks(a, b)
				began := time.Now()
				req := dialogue("x", 1, 0)
				req.MaxTokens = 1
				if tt.name == "in the middle" {
					req.MaxTokens = 5
				}
				_, err := whole(t.Context(), l, req)
				if (err != nil) != tt.fails || strings.Join(*steps, ", ") != tt.steps || time.Since(began) != tt.took {
					t.Errorf("%q after %v, %v; want %q after %v", strings.Join(*steps, ", "), time.Since(began), err, tt.steps, tt.took)
				}
				if hung := a.hangs; hung != (a.frees == 1) {
					t.Errorf("its model was unloaded %d times", a.frees)
				}
			})
		})
	}
}

// TestHostsInTurn: a request goes to each host once, also if the first one has rested before the second has
// failed.
func TestHostsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := newServer("a", 1), newServer("b", 1), newServer("c", 1)
		a.down, b.down, b.hangs = true, true, true
		l, _ := hosts(a, b, c)
		req := dialogue("x", 1, 1)
		req.Priority = llm.Reasoning
		_, err := whole(t.Context(), l, req)
		if err != nil || len(a.asked) != 1 || len(b.asked) != 1 || len(c.asked) != 1 {
			t.Errorf("asked %d, %d and %d times, %v", len(a.asked), len(b.asked), len(c.asked), err)
		}
	})
}

// TestHostRests: a host that fails is left alone for longer and longer. Then a thought tries it, but no
// person while another host is free; and when it answers it is as before.
func TestHostRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newServer("a", 1), newServer("b", 1)
		l, _ := hosts(a, b)
		ask := func(p llm.Priority) string {
			na, nb := len(a.asked), len(b.asked)
			req := dialogue("x", 1, 1)
			if req.Priority = p; p == llm.ReplyToPerson {
				req = dialogue(fmt.Sprint(time.Now().Unix()), 1, 1) // which no host has read
			}
			if _, err := whole(t.Context(), l, req); err != nil {
				t.Error(err)
			}
			return strings.Repeat("a", len(a.asked)-na) + strings.Repeat("b", len(b.asked)-nb)
		}
		a.set(true)
		if got := ask(llm.ReplyToPerson); got != "ab" {
			t.Errorf("asked %s", got)
		}
		for _, rest := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 300 * time.Second, 300 * time.Second} {
			over := time.Now().Add(rest)
			for time.Until(over) > 10*time.Second {
				if got := ask(llm.Reasoning); got != "b" {
					t.Errorf("%v before the end of its rest, asked %s", time.Until(over), got)
				}
			}
			time.Sleep(time.Until(over))
			if got := ask(llm.ReplyToPerson); got != "b" {
				t.Errorf("a person after %v: asked %s", rest, got)
			}
			if got := ask(llm.Reasoning); got != "ab" {
				t.Errorf("a thought after %v: asked %s", rest, got)
			}
			time.Sleep(-2 * time.Second) // the rest begins with the failure
		}
		a.set(false)
		time.Sleep(300 * time.Second)
		b.set(true)
		if got := ask(llm.Memory); got != "a" {
			t.Errorf("back again: asked %s", got)
		}
		if got := ask(llm.ReplyToPerson); got != "a" {
			t.Errorf("and for people: asked %s", got)
		}
	})
}

// TestHostRestsOnce: however many requests a host had when it failed, it has failed once.
func TestHostRestsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newServer("a", 4), newServer("b", 4)
		l, _ := hosts(a, b)
		var g sync.WaitGroup
		for i := range 8 {
			req := dialogue(fmt.Sprint(i), 1, 1)
			req.MaxTokens = 3 + i // which end at different times
			g.Go(func() { _, _ = whole(t.Context(), l, req) })
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		a.set(true)
		time.Sleep(2 * time.Second) // until each has said another word, or not
		a.set(false)
		g.Wait()
		thought := dialogue("x", 1, 1)
		thought.Priority = llm.Reasoning
		time.Sleep(5 * time.Second)
		asked := len(a.asked)
		if _, err := whole(t.Context(), l, thought); err != nil || asked != 4 || len(a.asked) != asked+1 {
			t.Errorf("it was asked %d times, and %d times after its rest: %v", asked, len(a.asked)-asked, err)
		}
	})
}

// TestHostsAlways: whatever is asked of whichever hosts, however they fail, a host never has more requests
// than slots, no person is parked or overtaken by a thought, all requests end, and hosts that are well
// again are used again.
func TestHostsAlways(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			var servers []*server
			for i := range rapid.IntRange(2, 4).Draw(rt, "hosts") {
				s := newServer(fmt.Sprint(i), rapid.IntRange(1, 3).Draw(rt, "slots"))
				s.slow = time.Duration(rapid.IntRange(0, 3).Draw(rt, "slow")) * time.Second
				s.hangs = rapid.Bool().Draw(rt, "hangs")
				for range rapid.IntRange(0, 2).Draw(rt, "failures") {
					from := time.Duration(rapid.IntRange(0, 60).Draw(rt, "from")) * time.Second
					time.AfterFunc(from, func() { s.set(true) })
					time.AfterFunc(from+time.Duration(rapid.IntRange(1, 60).Draw(rt, "for"))*time.Second, func() { s.set(false) })
				}
				servers = append(servers, s)
			}
			l, _ := hosts(servers...)
			var g sync.WaitGroup
			for i := range rapid.IntRange(1, 25).Draw(rt, "requests") {
				req := dialogue(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "conversation"), 3, i)
				req.Priority = rapid.SampledFrom([]llm.Priority{llm.Memory, llm.Reasoning, llm.ForTool, llm.ReplyToAgent, llm.ReplyToPerson}).Draw(rt, "priority")
				req.MaxTokens = rapid.IntRange(1, 20).Draw(rt, "words")
				at := time.Duration(rapid.IntRange(0, 90).Draw(rt, "at")) * time.Second
				ctx := t.Context()
				if leaves := rapid.IntRange(0, 40).Draw(rt, "leaves"); leaves > 20 {
					left, cancel := context.WithTimeout(ctx, at+time.Duration(leaves)*time.Second)
					t.Cleanup(cancel)
					ctx = left
				}
				g.Go(func() {
					time.Sleep(at + time.Duration(i))
					if _, err := whole(ctx, l, req); err == llm.ErrParked && req.Priority == llm.ReplyToPerson {
						t.Error("a person was parked")
					}
				})
			}
			g.Wait()
			if load := l.Engines[0].Load(); load != (llm.Load{}) {
				t.Errorf("left over: %+v", load)
			}
			time.Sleep(time.Hour) // all are well, and have rested
			for range 2 {
				for _, s := range servers {
					s.asked = nil
				}
				for _, s := range servers {
					for range s.slots {
						g.Go(func() {
							if _, err := whole(t.Context(), l, &llm.Request{Priority: llm.ReplyToPerson, MaxTokens: 30}); err != nil {
								t.Errorf("when all are well: %v", err)
							}
						})
					}
				}
				g.Wait()
			}
			for _, s := range servers {
				if s.most > s.slots || s.running != 0 || len(s.asked) == 0 {
					t.Errorf("%s with %d slots had %d requests at once, has %d, and was last asked %d", s.Label, s.slots, s.most, s.running, len(s.asked))
				}
			}
		})
	})
}

// TestHostsOvertake: while all hosts are well and equal, nobody waits while somebody less urgent runs.
func TestHostsOvertake(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			var servers []*server
			for i := range rapid.IntRange(2, 3).Draw(rt, "hosts") {
				servers = append(servers, newServer(fmt.Sprint(i), rapid.IntRange(1, 2).Draw(rt, "slots")))
			}
			l, _ := hosts(servers...)
			var g sync.WaitGroup
			var mu sync.Mutex
			running, waiting := map[int]llm.Priority{}, map[int]llm.Priority{}
			for i := range rapid.IntRange(1, 20).Draw(rt, "requests") {
				p := rapid.SampledFrom([]llm.Priority{llm.Memory, llm.Reasoning, llm.ReplyToPerson}).Draw(rt, "priority")
				words := rapid.IntRange(1, 20).Draw(rt, "words")
				at := time.Duration(rapid.IntRange(0, 60).Draw(rt, "at")) * time.Second
				g.Go(func() {
					time.Sleep(at + time.Duration(i)*time.Millisecond)
					mu.Lock()
					waiting[i] = p
					mu.Unlock()
					for range l.Stream(t.Context(), &llm.Request{Priority: p, MaxTokens: words}) { // a prompt without text: the first word at once
						mu.Lock()
						delete(waiting, i)
						running[i] = p
						mu.Unlock()
					}
					mu.Lock()
					delete(waiting, i)
					delete(running, i)
					mu.Unlock()
				})
			}
			done := make(chan struct{})
			go func() { g.Wait(); close(done) }()
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				case <-time.After(500007 * time.Microsecond):
					mu.Lock()
					for _, w := range waiting {
						for _, r := range running {
							if w > r {
								t.Errorf("priority %d waits while %d runs", w, r)
							}
						}
					}
					mu.Unlock()
				}
			}
		})
	})
}

// TestHostsSee: pictures go to an engine whose hosts see.
func TestHostsSee(t *testing.T) {
	blind, sees := newServer("blind", 1), newServer("sees", 1)
	sees.Vision = true
	for _, tt := range []struct {
		servers []*server
		want    bool
	}{{[]*server{sees, sees}, true}, {[]*server{blind, blind}, false}} {
		l, _ := hosts(tt.servers...)
		if got := l.Engines[0].Sees(t.Context(), ""); got != tt.want {
			t.Errorf("sees: %v, want %v", got, tt.want)
		}
		if status, err := l.Engines[0].Probe(t.Context()); err != nil || !slices.ContainsFunc(status.Models, func(m llm.Model) bool { return m.Vision == tt.want }) {
			t.Errorf("probed %+v, %v", status, err)
		}
	}
}

// TestHostsSeeWithout: what must be seen is looked at by a host that can, also if the first one is gone, which
// therefore says neither what it can nor anything else.
func TestHostsSeeWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, sees := goneSeer{&llmtest.Script{Label: "gone"}}, &llmtest.Script{Label: "sees", Vision: true}
		l := &llm.Ladder{Engines: []*llm.Scheduler{{Called: "engine", Hosts: []*llm.Host{{Engine: gone}, {Engine: sees}}}}}
		if _, err := whole(t.Context(), l, lookRequest(true)); err != nil {
			t.Error(err)
		}
	})
}

// TestHostsSeeSoon: once it is known that a host is gone, nobody waits for what it says of pictures.
func TestHostsSeeSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, blind := newServer("gone", 1), newServer("blind", 1)
		gone.down = true
		l := &llm.Ladder{Engines: []*llm.Scheduler{{Called: "engine", Hosts: []*llm.Host{{Engine: goneSeer{gone}}, {Engine: blind}}}}}
		var took [2]time.Duration
		for i := range took {
			began := time.Now()
			if _, err := whole(t.Context(), l, lookRequest(false)); err != nil {
				t.Error(err)
			}
			took[i] = time.Since(began)
		}
		if len(gone.asked) != 1 || took[1] >= took[0] {
			t.Errorf("the one that is gone was asked %d times, and it took %v and then %v", len(gone.asked), took[0], took[1])
		}
	})
}

// lookRequest returns a request with a picture.
func lookRequest(must bool) *llm.Request {
	return &llm.Request{Priority: llm.ReplyToPerson, MustSee: must, Messages: []llm.Message{{Role: llm.User, Text: "what is there?", Images: []llm.Image{llm.Image("\xff\xd8\xff\xd9")}}}}
}

// A goneSeer is a host that does not answer what it can.
type goneSeer struct{ llm.Engine }

func (g goneSeer) Sees(ctx context.Context, _ string) bool {
	<-ctx.Done()
	return false
}

// A vectorServer is a server that makes vectors.
type vectorServer struct{ *server }

func (v vectorServer) Embed(_ context.Context, _ string, texts []string) ([][]float32, error) {
	time.Sleep(10 * time.Millisecond)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, "")
	if v.down {
		return nil, &llm.Error{Fault: llm.Unreachable, Engine: v.Label}
	}
	return make([][]float32, len(texts)), nil
}

// TestHostsEmbed: vectors come from any host, and one that fails rests from that as well.
func TestHostsEmbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := vectorServer{newServer("a", 1)}, vectorServer{newServer("b", 1)}
		a.down = true
		l := &llm.Ladder{Engines: []*llm.Scheduler{{Called: "engine", Hosts: []*llm.Host{{Engine: a}, {Engine: b}}}}}
		for range 3 {
			_, _ = l.Embed(t.Context(), "", "", llm.Memory, []string{"x"}) // vectors of nothing are none
		}
		if len(a.asked) != 1 || len(b.asked) != 2 {
			t.Errorf("asked %d and %d times", len(a.asked), len(b.asked))
		}
	})
}

// TestHostsEmbedBeside: how long vectors take says nothing about how long a reply takes.
func TestHostsEmbedBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := vectorServer{newServer("a", 1)}, vectorServer{newServer("b", 1)}
		l := &llm.Ladder{Engines: []*llm.Scheduler{{Called: "engine", Hosts: []*llm.Host{{Engine: a}, {Engine: b}}}}}
		var g sync.WaitGroup
		ask := func(turns, words int) {
			req := dialogue("A", 4, turns)
			req.MaxTokens = words
			if _, err := whole(t.Context(), l, req); err != nil {
				t.Error(err)
			}
		}
		ask(1, 9)
		for range 2 { // one on each
			g.Go(func() { _, _ = l.Embed(t.Context(), "", "", llm.Memory, []string{"x"}) })
		}
		g.Wait()
		g.Go(func() { ask(2, 9) })
		time.Sleep(time.Second)
		began := time.Now()
		ask(3, 1) // the host that knows it is busy for long
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %v, of which the other host needs five seconds", took)
		}
		g.Wait()
	})
}
