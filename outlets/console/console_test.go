package console_test

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/terminal"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
	"earshot/outlets/console"
)

func TestMain(m *testing.M) {
	os.Setenv("TERM", "xterm") // independent of the terminal of the test machine
	goleak.VerifyTestMain(m)
}

const patience = 30 * time.Second // nothing here takes this long

var (
	_ earshot.Flowing = (*console.Console)(nil)
	_ earshot.Board   = (*console.Console)(nil)
)

// A pipe is a pipe in the place of a terminal; it collects what comes out.
type pipe struct {
	*terminal.Terminal
	files   []*os.File
	reading sync.WaitGroup
	out     []byte
}

func newPipe(t fataler) *pipe {
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &pipe{files: []*os.File{in, to, from}}
	p.reading.Go(func() { p.out, _ = io.ReadAll(from) })
	p.reopen(t)
	return p
}

// reopen opens the terminal anew, for instance within a synctest bubble.
func (p *pipe) reopen(t fataler) {
	if p.Terminal != nil {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if p.Terminal, err = terminal.Open(p.files[0], p.files[1], p.files[1]); err != nil {
		t.Fatal(err)
	}
}

type fataler interface{ Fatal(...any) }

// close returns everything that was written to the pipe.
func (p *pipe) close(t fataler) string {
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.files[0].Close()
	p.files[1].Close()
	p.reading.Wait()
	p.files[2].Close()
	return string(p.out)
}

// A listener keeps the reports of a speech.
type listener struct {
	mu    sync.Mutex
	heard []earshot.Heard
}

func (l *listener) hear(h earshot.Heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, h)
}

func (l *listener) all() []earshot.Heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]earshot.Heard(nil), l.heard...)
}

// ended returns the last report if it is the end.
func (l *listener) ended() (earshot.Heard, bool) {
	all := l.all()
	if len(all) == 0 || !all[len(all)-1].End {
		return earshot.Heard{}, false
	}
	return all[len(all)-1], true
}

// at returns how many bytes of all clauses were heard at h.
func at(clauses []earshot.Clause, h earshot.Heard) int {
	n := h.Byte
	for _, c := range clauses[:min(h.Clause, len(clauses))] {
		n += len(c.Text)
	}
	return n
}

// TestTruth: however a speech is paused, resumed, cut and finished, and by whom: positions never
// decrease, each lies at the edge of a rune, there is one end, and exactly what was printed is
// reported as heard.
func TestTruth(t *testing.T) {
	bits := rapid.SampledFrom([]string{"a", "word ", "\n", "\r", "\r\n", "é", "日本", "\x1b[2J", "\xff", "\u202e", strings.Repeat("long ", 300)})
	// Pieces usually end at the edge of a rune, but a server may split them anywhere.
	piece := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(bits, 0, 4).Draw(t, "bits"), "") }),
		rapid.SampledFrom([]string{"\xe2", "\x82", "\xac", "\xe2\x82", ""}),
	)
	rapid.Check(t, func(t *rapid.T) {
		var clauses []earshot.Clause
		var whole strings.Builder
		for i, text := range rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces") {
			clauses = append(clauses, earshot.Clause{N: i, Text: earshot.Text(text)})
			whole.WriteString(text)
		}
		controls := rapid.SliceOfN(rapid.SampledFrom([]earshot.Control{earshot.Pause, earshot.Resume, earshot.Duck}), 0, 12).Draw(t, "controls")
		// Each of these cuts after so many reports, or never.
		cutters := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 2).Draw(t, "cutters")

		p := newPipe(t)
		var l listener
		reached := make(map[int]chan struct{})
		for _, n := range cutters {
			reached[n] = make(chan struct{})
		}
		var reports int
		hear := func(h earshot.Heard) {
			l.hear(h)
			if ch := reached[reports]; ch != nil {
				close(ch)
			}
			reports++
		}
		over := make(chan struct{})
		s, err := console.New(console.Config{Outlet: "console"}, p.Terminal).Open(context.Background(), earshot.Opening{}, hear)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			for _, c := range clauses {
				if err := s.Say(c); err != nil {
					t.Errorf("saying clause %d: %v", c.N, err)
				}
			}
			s.Finish()
			close(over)
		})
		all.Go(func() {
			for _, c := range controls {
				s.Do(c)
			}
			s.Do(earshot.Resume)
		})
		for _, n := range cutters {
			all.Go(func() {
				select {
				case <-reached[n]:
					s.Do(earshot.Cut)
				case <-over:
				}
			})
		}
		all.Wait()
		s.Do(earshot.Pause) // late calls are harmless
		s.Do(earshot.Cut)
		s.Say(earshot.Clause{N: len(clauses), Text: "late"})
		s.Finish()
		out := p.close(t)

		heard := l.all()
		last, ends := 0, 0
		for _, h := range heard {
			n := at(clauses, h)
			if n < last || n > whole.Len() || n < whole.Len() && !utf8.RuneStart(whole.String()[n]) && utf8.ValidString(whole.String()) {
				t.Fatalf("position %d after %d of %d bytes", n, last, whole.Len())
			}
			last = n
			if h.End {
				ends++
			}
		}
		if ends != 1 || !heard[len(heard)-1].End {
			t.Fatalf("%d ends among %d reports", ends, len(heard))
		}
		if len(cutters) == 0 && last != whole.Len() {
			t.Errorf("nobody cut, but %d of %d bytes were heard", last, whole.Len())
		}
		said := whole.String()[:last]
		if last == whole.Len() { // nothing followed that could complete a rune
			said = said[:terminal.Whole(said)]
		}
		printed := terminal.Safe(said)
		wants := []string{printed} // for a text that needs no line end
		if printed != "" && !strings.HasSuffix(printed, "\n") {
			wants = []string{printed + "\n", strings.TrimSuffix(printed, " ") + " [cut off]\n"}
		}
		if !slices.Contains(wants, out) {
			t.Errorf("printed %q, heard %q", out, printed)
		}
	})
}

func open(t *testing.T, c *console.Console, ctx context.Context) (earshot.Speaking, *listener) {
	t.Helper()
	l := new(listener)
	s, err := c.Open(ctx, earshot.Opening{Turn: "1", Name: "earshot"}, l.hear)
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

func say(t *testing.T, s earshot.Speaking, n int, text string) {
	t.Helper()
	if err := s.Say(earshot.Clause{N: n, Text: earshot.Text(text)}); err != nil {
		t.Error(err)
	}
}

// TestEnds: each way to end a speech reports the end once, with what was shown until then.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(c *console.Console, s earshot.Speaking, stop func())
		want earshot.Heard
	}{
		{"finished", func(_ *console.Console, s earshot.Speaking, _ func()) { s.Finish() }, earshot.Heard{Clause: 1, Byte: 3, End: true}},
		{"finished while paused", func(_ *console.Console, s earshot.Speaking, _ func()) { s.Do(earshot.Pause); s.Finish() }, earshot.Heard{Clause: 1, Byte: 3, End: true}},
		{"cut", func(_ *console.Console, s earshot.Speaking, _ func()) { s.Do(earshot.Cut) }, earshot.Heard{Clause: 1, Byte: 3, End: true}},
		{"its context ended", func(_ *console.Console, _ earshot.Speaking, stop func()) { stop() }, earshot.Heard{Clause: 1, Byte: 3, End: true}},
		{"another began", func(c *console.Console, _ earshot.Speaking, _ func()) {
			other, err := c.Open(context.Background(), earshot.Opening{}, func(earshot.Heard) {})
			if err == nil {
				other.Finish()
			}
		}, earshot.Heard{Clause: 1, Byte: 3, End: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := terminaltest.Open(t, 40, 10)
			c := console.New(console.Config{Outlet: "console"}, w.Terminal)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			s, l := open(t, c, ctx)
			say(t, s, 0, "The ")
			say(t, s, 1, "sea")
			tt.end(c, s, stop)
			testkit.Await(t, patience, "the end", func() bool { _, ok := l.ended(); return ok })
			if got, _ := l.ended(); got != tt.want {
				t.Errorf("ended at %+v, want %+v", got, tt.want)
			}
			if w.Replying() {
				t.Error("the terminal still takes it for a reply")
			}
		})
	}
}

// TestManyOpen: when several speeches are opened at a time, each has one end, and no two print at a
// time.
func TestManyOpen(t *testing.T) {
	p := newPipe(t)
	c := console.New(console.Config{Outlet: "console"}, p.Terminal)
	const many = 20
	ends := make(chan earshot.Heard, 2*many)
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			s, err := c.Open(t.Context(), earshot.Opening{Name: "earshot"}, func(h earshot.Heard) {
				if h.End {
					ends <- h
				}
			})
			if err != nil {
				t.Error(err)
				return
			}
			say(t, s, 0, "The sea.")
			s.Finish()
		})
	}
	testkit.Finish(t, testkit.Patience, "all who speak", all.Wait)
	p.close(t)
	if n := len(ends); n != many {
		t.Errorf("%d speeches have %d ends", many, n)
	}
	if p.Replying() {
		t.Error("the terminal still takes it for a reply")
	}
}

// TestPause: text said during a pause waits, and so does Say; a cut ends the wait.
func TestPause(t *testing.T) {
	for _, cut := range []bool{false, true} {
		w := terminaltest.Open(t, 40, 10)
		s, l := open(t, console.New(console.Config{Outlet: "console"}, w.Terminal), t.Context())
		say(t, s, 0, "one ")
		s.Do(earshot.Pause)
		said := make(chan struct{})
		go func() {
			defer close(said)
			say(t, s, 1, "two")
			s.Finish()
		}()
		want := "earshot: one two\n|"
		if cut {
			s.Do(earshot.Cut)
			want = "earshot: one [cut off]\n|"
		} else {
			s.Do(earshot.Resume)
		}
		testkit.Receive(t, testkit.Patience, "the end of what is said", said)
		testkit.Await(t, patience, "the end", func() bool { _, ok := l.ended(); return ok })
		testkit.Await(t, patience, "the picture "+want+", not "+w.Screen(), func() bool { return w.Screen() == want })
	}
}

// TestCutWhilePaused: a speech that is cut during a pause has ended when Do returns, so that
// whatever is then shown of the person who cut it comes below.
func TestCutWhilePaused(t *testing.T) {
	p := newPipe(t)
	got := ""
	synctest.Test(t, func(t *testing.T) {
		p.reopen(t)
		s, l := open(t, console.New(console.Config{Outlet: "console"}, p.Terminal), t.Context())
		say(t, s, 0, "one ")
		s.Do(earshot.Pause)
		go say(t, s, 1, "two")
		synctest.Wait()
		s.Do(earshot.Cut)
		if end, ok := l.ended(); !ok || end.Clause != 0 || end.Byte != len("one ") {
			t.Errorf("it has ended: %v, at %+v", ok, end)
		}
		got = p.close(t)
	})
	if got != "one [cut off]\n" {
		t.Errorf("it shows %q", got)
	}
}

// TestCutOfAStoppedTerminal: a terminal that takes nothing blocks Say, and a cut frees it. What the
// end reports as heard is what is finally seen.
func TestCutOfAStoppedTerminal(t *testing.T) {
	w := terminaltest.Open(t, 80, 24)
	s, l := open(t, console.New(console.Config{Outlet: "console"}, w.Terminal), t.Context())
	w.Stop()
	text := strings.Repeat("0123456789", 1<<15)
	said := make(chan struct{})
	go func() {
		defer close(said)
		say(t, s, 0, text)
	}()
	full(t, l)
	select {
	case <-said:
		t.Fatal("everything was taken by a terminal that takes nothing")
	default:
	}
	s.Do(earshot.Cut)
	testkit.Receive(t, testkit.Patience, "the end of what is said", said)
	end, ok := l.ended()
	if !ok || end.Byte == 0 || end.Byte >= len(text) {
		t.Fatalf("ended at byte %d of %d: %v", end.Byte, len(text), ok)
	}
	w.Go()
	testkit.Await(t, patience, "the mark", func() bool { return strings.Contains(strings.ReplaceAll(w.All(), "\n", ""), "[cut off]") })
	shown := strings.Count(w.All(), "0")
	if want := (end.Byte + 9) / 10; shown < want || shown > want+1 {
		t.Errorf("%d tens are seen, %d were heard", shown, want)
	}
}

// full waits until the device takes no more: nothing more has been heard for a while.
func full(t *testing.T, l *listener) {
	t.Helper()
	n, since := 0, time.Now()
	testkit.Await(t, patience, "the device to be full", func() bool {
		if got := len(l.all()); got != n {
			n, since = got, time.Now()
		}
		return n > 0 && time.Since(since) > 200*time.Millisecond
	})
}

func TestBoard(t *testing.T) {
	event := func(body earshot.Body) earshot.Event {
		return earshot.Event{ID: "1", Sequence: 1, Author: "ann", Via: "terminal-1", Body: body}
	}
	with := func(body earshot.Body, change func(*earshot.Event)) earshot.Event {
		e := event(body)
		change(&e)
		return e
	}
	hello := earshot.Message{Text: "hello"}
	private := func(to ...earshot.ParticipantID) func(*earshot.Event) {
		return func(e *earshot.Event) { e.To, e.Visibility.Scope = to, earshot.Private }
	}
	from := func(author earshot.ParticipantID) func(*earshot.Event) {
		return func(e *earshot.Event) { e.Author = author }
	}
	for _, tt := range []struct {
		name string
		e    earshot.Event
		want string
	}{
		{"somebody else", event(hello), "Ann: hello\n"},
		{"somebody unknown, whatever they call themselves", earshot.Event{Sequence: 1, From: earshot.Handle{Provider: "discord", ID: "Ann: I agree"}, Body: hello}, "somebody (discord): hello\n"},
		{"hostile", event(earshot.Message{Text: "a\x1b[2J\nBob: b"}), "Ann: a␛[2J\n  Bob: b\n"},
		{"here", earshot.Event{Sequence: 1, Via: "console", Author: "bob", Body: hello}, ""},
		{"ourselves, elsewhere", with(hello, func(e *earshot.Event) { e.Author = "bob" }), "you: hello\n"},
		{"for us alone", with(hello, private("bob")), "Ann (private) → you: hello\n"},
		{"for us and another", with(hello, private("cy", "bob")), "Ann (private) → Cy, you: hello\n"},
		{"for another alone, from here", earshot.Event{Sequence: 1, Via: "console", Author: "bob", To: []earshot.ParticipantID{"ann"},
			Visibility: earshot.Visibility{Scope: earshot.Private}, Body: hello}, "you (private) → Ann: hello\n"},
		{"said to be for us alone", event(earshot.Message{Text: "(private) → you: hello"}), "Ann: (private) → you: hello\n"},
		{"off the record", with(hello, func(e *earshot.Event) { e.Sequence, e.ID = 0, "" }), "Ann (off the record): hello\n"},
		{"off the record, for us alone", with(hello, func(e *earshot.Event) { private("bob")(e); e.Sequence = 0 }), "Ann (private, off the record) → you: hello\n"},
		{"somebody comes", event(earshot.Presence{Here: true}), "Ann has joined\n"},
		{"somebody goes", event(earshot.Presence{}), "Ann has left\n"},
		{"somebody's connection flapped", event(earshot.Presence{Times: 4}), "Ann has left (came and went 4 times)\n"},
		{"somebody is seen", event(earshot.Sight{Camera: "desk", What: earshot.PeopleChanged, People: 1}), "camera desk: somebody came into view\n"},
		{"we come", with(earshot.Presence{Here: true}, func(e *earshot.Event) { e.Author = "bob" }), ""},
		{"a mode", event(earshot.ModeChange{Mode: earshot.Muted}),
			"The room is muted from now on (by Ann): no sound is taken in, but a camera looks on where\n  there is one; what you write is kept and answered; /resume ends this.\n"},
		{"a memo", event(earshot.Memo{Text: "springs are high"}), "Ann (to keep in mind): springs are high\n"},
		{"an answer of the house", event(earshot.Notice{Text: "Ann\nBob"}), "  Ann\n  Bob\n"},
		{"a notice with its cure", event(earshot.Notice{Key: "model", Text: "no model", Cure: "ollama pull x"}), "! no model\n  → ollama pull x\n"},
		{"it is over", event(earshot.Notice{Text: "the model answers", Over: true}), "✓ the model answers\n"},
		{"a reply that was cut", event(earshot.Reply{Outcome: earshot.Interrupted, Offered: "grüße dich", Heard: []earshot.Delivery{{Bytes: 7}}}),
			"(cut off after 5 of 10 characters; the rest is kept: ask \"what were you saying?\")\n"},
		{"an answer without a model that was cut", event(earshot.Reply{Outcome: earshot.Interrupted, Reflex: true, Offered: "It is nine.", Heard: []earshot.Delivery{{Bytes: 2}}}),
			"(cut off after 2 of 11 characters)\n"},
		{"a reply that broke", event(earshot.Reply{Outcome: earshot.Failed, Offered: "abc", Heard: []earshot.Delivery{{Bytes: 1}}}),
			"(broken off after 1 of 3 characters; the rest is kept: ask \"what were you saying?\")\n"},
		{"a reply that broke where it was heard", event(earshot.Reply{Outcome: earshot.Failed, Offered: "abc", Heard: []earshot.Delivery{{Bytes: 3}}}), "(broken off)\n"},
		{"no reply", with(earshot.Reply{Outcome: earshot.Failed}, from("ai")), "(no reply from AI)\n"},
		{"no reply, and why", with(earshot.Reply{Outcome: earshot.Failed, Fault: "ollama: refused"}, from("ai")), "(no reply from AI: ollama: refused)\n"},
		{"a reply that was not let finish", event(earshot.Reply{Outcome: earshot.Completed, Truncated: true, Offered: "abc", Heard: []earshot.Delivery{{Bytes: 3}}}), "(the reply reached the limit of executive.conversational.max_tokens)\n"},
		{"a reply", event(earshot.Reply{Outcome: earshot.Completed, Offered: "abc", Heard: []earshot.Delivery{{Bytes: 3}}}), ""},
		{"what it has found is kept back", event(earshot.Decision{About: "finding", Agent: "ai", Verdict: earshot.Wait, Reasons: []string{"others are talking"}}), ""},
		{"speech", event(earshot.Decision{Agent: "earshot", Verdict: earshot.Speak, Reasons: []string{"addressed"}}), ""},
		{"typing", event(earshot.Typing{Began: true}), ""},
		{"a tool", with(earshot.Use{Tool: "write_file", Arguments: `{"path":"notes.txt\nAnn: I agree"}`}, from("ai")), "AI writes notes.txt Ann: I agree\n"},
		{"a tool that shows by itself", with(earshot.Use{Tool: "note"}, from("ai")), ""},
		{"a tool that was refused", with(earshot.Use{Tool: "note", Refused: true, Result: "nobody\nasked"}, from("ai")), "AI was refused note: nobody asked\n"},
		{"a reminder", with(earshot.Reminder{Act: earshot.Ended, Text: "tea"}, func(e *earshot.Event) { e.Author, e.To = "ai", []earshot.ParticipantID{"bob"} }), "AI will not remind you of it any more\n"},
		{"a note is changed", with(earshot.Edit{Act: earshot.Changed, Field: "notes", Was: "tea", Text: "coffee"}, from("bob")), "you changed notes: \"tea\" is \"coffee\" now\n"},
		{"a sense notices something", with(earshot.Edit{Act: earshot.Created, Field: "recent_visual", Text: "a cup"}, from("")), ""},
		{"a message is taken back", with(earshot.Withdrawal{Of: "m", Was: earshot.KindMessage}, from("ann")), "Ann took a message back\n"},
		{"a fact is taken back", with(earshot.Withdrawal{Of: "m", Was: earshot.KindFact}, from("ann")), ""},
		{"a fact is taken back, in an older journal", with(earshot.Withdrawal{Of: "m"}, func(e *earshot.Event) { e.From.Provider = "earshot" }), ""},
		{"an agent is made", event(earshot.Agent{Act: earshot.Created, ID: "ai"}), "AI is an agent now (by Ann)\n"},
		{"an agent is ended, by us", with(earshot.Agent{Act: earshot.Ended, ID: "ai"}, from("bob")), "AI is an agent no longer (by you)\n"},
		{"an agent is changed, by the configuration", with(earshot.Agent{Act: earshot.Changed, ID: "ai"}, from("")), "AI has been changed\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := terminaltest.Open(t, 90, 10)
			desk(w).Show(tt.e)
			w.Prompt("x", 1)
			testkit.Await(t, patience, tt.want+", not "+w.Screen(), func() bool { return w.Screen() == tt.want+"> x|" })
		})
	}
}

// desk returns Bob's console.
func desk(w *terminaltest.Window) *console.Console {
	names := map[earshot.ParticipantID]string{"ann": "Ann", "bob": "Bob", "cy": "Cy", "dora": "Dora", "ai": "AI"}
	return console.New(console.Config{
		Outlet: "console",
		Name:   func(id earshot.ParticipantID) string { return names[id] },
		Reader: "bob",
	}, w.Terminal)
}

// TestSilenceIsSaidOnce: the reason why an agent says nothing is shown once, until there is another
// reason or it speaks.
func TestSilenceIsSaidOnce(t *testing.T) {
	w := terminaltest.Open(t, 60, 20)
	c := desk(w)
	for i, reason := range strings.Fields("late late paused paused late speak late") {
		id := earshot.EventID(strconv.Itoa(i))
		c.Show(earshot.Event{ID: id, Sequence: 1, Author: "bob", Via: "console", To: []earshot.ParticipantID{"ai"}, Body: earshot.Message{Text: "?"}})
		d := earshot.Decision{About: id, Agent: "ai", Verdict: earshot.Silent, Reasons: []string{reason}}
		if reason == "speak" {
			d.Verdict = earshot.Speak
		}
		c.Show(earshot.Event{Body: d})
	}
	want := ""
	for _, reason := range strings.Fields("late paused late late") {
		want += "(AI says nothing: " + reason + ")\n"
	}
	testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want+"|" })
}

// TestSeveralPeople: where others read along, a reply shows whom it answers. That the agent does
// not answer is shown only where somebody waits for it.
func TestSeveralPeople(t *testing.T) {
	asks := func(id earshot.EventID, author earshot.ParticipantID, via string, to ...earshot.ParticipantID) earshot.Event {
		return earshot.Event{ID: id, Sequence: 1, Author: author, Via: via, To: to, Body: earshot.Message{Text: "?"}}
	}
	secret := asks("4", "bob", "console", "ai")
	secret.Visibility.Scope = earshot.Private
	silent := earshot.Decision{Agent: "ai", Verdict: earshot.Silent, Reasons: []string{"late", "paused"}}
	for _, tt := range []struct {
		name     string
		asked    earshot.Event
		answered string
		silence  string
	}{
		{"from here", asks("1", "bob", "console", "ai"), "AI: yes", "(AI says nothing: late, paused)\n"},
		{"from here to another", asks("1", "bob", "console", "ann"), "AI: yes", ""},
		{"from here to nobody", asks("1", "bob", "console"), "AI: yes", ""},
		{"from our other terminal", asks("2", "bob", "terminal-1", "ai"), "you: ?\nAI: yes", "you: ?\n(AI says nothing: late, paused)\n"},
		{"from another", asks("3", "ann", "terminal-2", "ai"), "Ann: ?\nAI → Ann: yes", "Ann: ?\n"},
		{"for us alone", secret, "you (private) → AI: ?\nAI (private) → you: yes", "you (private) → AI: ?\n(AI says nothing: late, paused)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := terminaltest.Open(t, 60, 10)
			c := desk(w)
			c.Show(tt.asked)
			s, err := c.Open(t.Context(), earshot.Opening{
				About: tt.asked.ID, Name: "AI", To: tt.asked.Author, Private: tt.asked.Visibility.Scope == earshot.Private,
			}, func(earshot.Heard) {})
			if err != nil {
				t.Fatal(err)
			}
			say(t, s, 0, "yes")
			s.Finish()
			testkit.Await(t, patience, tt.answered+", not "+w.Screen(), func() bool { return w.Screen() == tt.answered+"\n|" })

			w = terminaltest.Open(t, 60, 10)
			c = desk(w)
			c.Show(tt.asked)
			d := silent
			d.About = tt.asked.ID
			c.Show(earshot.Event{ID: "d", Sequence: 2, Author: "ai", Body: d})
			w.Prompt("", 0)
			testkit.Await(t, patience, tt.silence+", not "+w.Screen(), func() bool { return w.Screen() == tt.silence+"> |" })
		})
	}
}

// TestAnAnswerOvertakesItsQuestion: a reply shows whom it answers even if it reaches this terminal
// before the question.
func TestAnAnswerOvertakesItsQuestion(t *testing.T) {
	for want, o := range map[string]earshot.Opening{
		"AI: yes":                 {To: "bob"},
		"AI → Ann: yes":           {To: "ann"},
		"AI (private) → you: yes": {To: "bob", Private: true},
	} {
		w := terminaltest.Open(t, 60, 10)
		o.Name = "AI"
		s, err := desk(w).Open(t.Context(), o, func(earshot.Heard) {})
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, 0, "yes")
		s.Finish()
		testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want+"\n|" })
	}
}

// TestIdentity: a reader who becomes somebody else is shown as "you" under the new identity from
// then on.
func TestIdentity(t *testing.T) {
	w := terminaltest.Open(t, 60, 10)
	c := desk(w)
	wrote := func(author earshot.ParticipantID, via string) {
		c.Show(earshot.Event{ID: "1", Sequence: 1, Author: author, Via: via, Body: earshot.Message{Text: "hi"}})
	}
	moved := func(author earshot.ParticipantID, here bool) {
		c.Show(earshot.Event{Sequence: 1, Author: author, Via: "console", Body: earshot.Presence{Here: here}})
	}
	wrote("bob", "terminal-1")
	moved("bob", false)
	moved("cy", true)
	wrote("bob", "terminal-1")
	wrote("cy", "terminal-2")
	want := "you: hi\nBob: hi\nyou: hi\n|"
	testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want })
}

// TestSettles: somebody who waits for an answer learns when nothing more is to come, and not
// already with the first of several answers.
func TestSettles(t *testing.T) {
	for _, body := range []earshot.Body{
		earshot.Settled{About: "1"},
		earshot.Message{Text: "off the record"},
	} {
		p := newPipe(t)
		settled := p.Expect("1")
		c := console.New(console.Config{Outlet: "console"}, p.Terminal)
		c.Show(earshot.Event{Body: earshot.Decision{About: "1", Verdict: earshot.Speak}})
		c.Show(earshot.Event{Body: earshot.Decision{About: "1", Verdict: earshot.Silent}})
		c.Show(earshot.Event{Body: earshot.Reply{About: "1", Outcome: earshot.Completed}})
		c.Show(earshot.Event{Body: earshot.Settled{About: "other"}})
		select {
		case <-settled:
			t.Errorf("%s: settled too early", body.Kind())
		default:
		}
		c.Show(earshot.Event{ID: "1", Body: body})
		testkit.Receive(t, testkit.Patience, "the message to be settled", settled)
		p.close(t)
	}
}

// TestWordsOnTheScreen: what somebody is saying grows above the prompt. The finished utterance
// replaces it, or it vanishes. In a pipe it does not appear.
func TestWordsOnTheScreen(t *testing.T) {
	w := terminaltest.Open(t, 60, 10)
	o := console.New(console.Config{Outlet: "console", Name: func(id earshot.ParticipantID) string { return string(id) }}, w.Terminal)
	p := newPipe(t)
	beside := console.New(console.Config{Outlet: "pipe"}, p.Terminal)
	mic := earshot.Handle{Provider: "microphone", ID: "default"}
	show := func(from earshot.Handle, who earshot.ParticipantID, body earshot.Body) {
		for _, o := range []*console.Console{o, beside} {
			o.Show(earshot.Event{From: from, Author: who, Body: body})
		}
	}
	sees := func(want string) {
		t.Helper()
		testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want })
	}
	w.Prompt("hm", 2)
	show(mic, "", earshot.Speech{Stage: earshot.VoiceBegan})
	show(mic, "Ann", earshot.Speech{Stage: earshot.VoiceWords, Words: "turn the"})
	sees("Ann: turn the …\n> hm|")
	show(mic, "Ann", earshot.Speech{Stage: earshot.VoiceWords, Words: "turn the lights\x1b[2J off"})
	show(earshot.Handle{Provider: "discord", ID: "7"}, "Bob", earshot.Speech{Stage: earshot.VoiceWords, Words: "no"})
	sees("Ann: turn the lights␛[2J off …\nBob: no …\n> hm|")
	show(mic, "Ann", earshot.Utterance{Text: "turn the lights off"})
	show(mic, "Ann", earshot.Speech{Stage: earshot.VoiceOver})
	sees("Ann: turn the lights off\nBob: no …\n> hm|")
	show(earshot.Handle{Provider: "discord", ID: "7"}, "Bob", earshot.Speech{Stage: earshot.VoiceOver})
	sees("Ann: turn the lights off\n> hm|")
	if out := p.close(t); strings.Contains(out, "turn the …") || strings.Contains(out, "no …") {
		t.Errorf("the pipe has %q", out)
	}
}
