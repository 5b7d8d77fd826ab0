package attach_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/wire"
)

// A turn is what the room knows about one speech.
type turn struct {
	earshot.Speaking

	mu      sync.Mutex
	offered []earshot.Text
	heards  []earshot.Heard
	ended   []time.Time
}

// open opens a speech at an outlet.
func open(ctx context.Context, o earshot.Outlet, id earshot.TurnID) (*turn, error) {
	tn := &turn{}
	s, err := o.Open(ctx, earshot.Opening{Turn: id, Name: "Earshot"}, tn.heard)
	tn.Speaking = s
	return tn, err
}

func (tn *turn) heard(h earshot.Heard) {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	tn.heards = append(tn.heards, h)
	if h.End {
		tn.ended = append(tn.ended, time.Now())
	}
}

// ends returns how often the end of the speech was reported.
func (tn *turn) ends() int {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	return len(tn.ended)
}

// end returns the time at which the speech ended, or the zero time.
func (tn *turn) end() time.Time {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	return append(tn.ended, time.Time{})[0]
}

// say adds a clause to the speech.
func (tn *turn) say(text earshot.Text) error {
	tn.mu.Lock()
	c := earshot.Clause{N: len(tn.offered), Text: text}
	tn.offered = append(tn.offered, text)
	tn.mu.Unlock()
	return tn.Say(c)
}

// delivered returns the text up to the last reported position.
func (tn *turn) delivered() string {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	if len(tn.heards) == 0 {
		return ""
	}
	return upTo(tn.offered, tn.heards[len(tn.heards)-1])
}

// upTo returns the text of clauses up to h.
func upTo(clauses []earshot.Text, h earshot.Heard) string {
	var b strings.Builder
	for i, c := range clauses {
		switch {
		case i < h.Clause:
			b.WriteString(string(c))
		case i == h.Clause:
			b.WriteString(string(c[:h.Byte]))
		}
	}
	return b.String()
}

// faults returns what is wrong with the reported positions.
func (tn *turn) faults() (faults []string) {
	tn.mu.Lock()
	defer tn.mu.Unlock()
	last := ""
	for i, h := range tn.heards {
		now := upTo(tn.offered, h)
		if !strings.HasPrefix(now, last) || !utf8.ValidString(now) {
			faults = append(faults, fmt.Sprintf("position %d is %v", i, h))
		}
		last = now
		if h.End != (i == len(tn.heards)-1) {
			faults = append(faults, fmt.Sprintf("End is %v at position %d of %d", h.End, i, len(tn.heards)))
		}
	}
	return faults
}

func TestSpeech(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &testkit.Voice{Called: "console", Every: 10 * time.Millisecond}
		pr := connect(t, newRoom(), sense(idle), v)
		o := <-pr.room.entered
		for i, text := range []earshot.Text{"The tides ", "are ", "", "the séa’s answer."} {
			tn, err := open(t.Context(), o, earshot.TurnID(fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for _, c := range []earshot.Text{text, "", "again"} {
				if err := tn.say(c); err != nil {
					t.Error(err)
				}
			}
			tn.Finish()
			time.Sleep(time.Second)
			if tn.delivered() != string(text)+"again" || tn.ends() != 1 || tn.faults() != nil {
				t.Errorf("%d: %d ends and %d bytes delivered, %v", i, tn.ends(), len(tn.delivered()), tn.faults())
			}
			if took, want := tn.end().Sub(began), time.Duration(utf8.RuneCountInString(string(text))+5)*10*time.Millisecond; took != want {
				t.Errorf("%d: ended after %v, want %v", i, took, want)
			}
		}
		if got, want := v.Played(), "The tides againare againagainthe séa’s answer.again"; got != want {
			t.Errorf("played %q", got)
		}
		pr.ends()
	})
}

// TestControlsOvertake: a control takes effect at once, however much text is still waiting.
func TestControlsOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &testkit.Voice{Called: "console", Every: time.Millisecond}
		pr := connect(t, newRoom(), sense(idle), v)
		tn, err := open(t.Context(), <-pr.room.entered, "1")
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err := tn.say("0123456789"); err != nil {
				t.Fatal(err)
			}
		}
		tn.Finish()
		time.Sleep(100500 * time.Microsecond)
		tn.Do(earshot.Pause)
		time.Sleep(time.Second)
		if n := len(tn.delivered()); n < 100 || n > 101 || n != len(v.Played()) {
			t.Errorf("paused after %d bytes, and %d were played, want 100", n, len(v.Played()))
		}
		tn.Do(earshot.Resume)
		time.Sleep(100 * time.Millisecond)
		tn.Do(earshot.Cut)
		synctest.Wait()
		if n := len(v.Played()); tn.ends() != 1 || len(tn.delivered()) != n || n < 199 || n > 201 {
			t.Errorf("cut: %d ends, %d bytes delivered, %d played", tn.ends(), len(tn.delivered()), n)
		}
		tn.Do(earshot.Resume)
		tn.Finish()
		if tn.say("late") == nil {
			t.Error("said something after the end")
		}
		if got, want := fmt.Sprint(v.Told()), "[pause resume cut]"; got != want {
			t.Errorf("the outlet was told %s, want %s", got, want)
		}
		if f := tn.faults(); f != nil {
			t.Error(f)
		}
		pr.ends()
	})
}

// A stuck outlet takes clauses and shows nothing until it is freed.
type stuck struct {
	free  chan struct{}
	said  chan earshot.Clause
	open  atomic.Int64 // speeches that are open now
	twice atomic.Bool  // more than one was open at a time
}

func (*stuck) Name() string { return "stuck" }

func (s *stuck) Open(_ context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	if s.open.Add(1) > 1 {
		s.twice.Store(true)
	}
	go func() {
		<-s.free
		s.open.Add(-1)
		heard(earshot.Heard{End: true})
	}()
	return s, nil
}

func (s *stuck) Say(c earshot.Clause) error {
	select {
	case s.said <- c:
	case <-s.free:
	}
	return nil
}

func (*stuck) Do(earshot.Control) {}
func (*stuck) Finish()            {}

// TestSayWaitsForTheWindow: a terminal that shows nothing is sent one window of text and no more. A
// cut, or the loss of the terminal, lets Say return.
func TestSayWaitsForTheWindow(t *testing.T) {
	for _, how := range []string{"cut", "cancelled", "lost", "left"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &stuck{free: make(chan struct{}), said: make(chan earshot.Clause)}
				pr := connect(t, newRoom(), sense(idle), out)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tn, err := open(ctx, <-pr.room.entered, "1")
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan int)
				go func() {
					n := 0
					for tn.say("0123456789012345678901234567890123456789012345678901234567890123") == nil {
						n += 64
					}
					done <- n
				}()
				synctest.Wait()
				began := time.Now()
				switch how {
				case "cut":
					tn.Do(earshot.Cut)
				case "cancelled":
					cancel()
				case "lost":
					pr.client.Close()
				case "left":
					close(out.free) // as the contract of outlets demands when they are told to end
					pr.hangUp()
				}
				if n := <-done; n > wire.Window || n < wire.Window/4 {
					t.Errorf("%d bytes were taken, want at most the window of %d", n, wire.Window)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("Say was let go after %v", took)
				}
				time.Sleep(time.Minute)
				if tn.ends() != 1 || tn.delivered() != "" {
					t.Errorf("%d ends, %d bytes delivered", tn.ends(), len(tn.delivered()))
				}
				if took := tn.end().Sub(began); took > 2*time.Second {
					t.Errorf("the speech ended %v after it was over", took)
				}
				if how != "left" {
					close(out.free)
				}
				pr.ends()
			})
		})
	}
}

// TestFrozenTerminalEndsItsSpeech: no turn waits long for a terminal whose process was stopped, and
// its speech ends where it was heard.
func TestFrozenTerminalEndsItsSpeech(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		pr := &pair{room: newRoom(), daemons: make(chan error, 1)}
		pr.serve(t, near)
		_, _ = io.WriteString(far, `{"hello":{}}`+"\n")
		go io.Copy(io.Discard, far) // the kernel does this for a while
		o := <-pr.room.entered
		for n, id := range []earshot.TurnID{"1", "2", "3", "4"} {
			tn, err := open(t.Context(), o, id)
			if err != nil {
				t.Fatal(err)
			}
			if err := tn.say("hello"); err != nil {
				t.Fatal(err)
			}
			most := time.Duration(0) // 0: it has not answered the turn before, and not woken since
			if n < 3 {
				_, _ = fmt.Fprintf(far, `{"heard":{"turn":%q,"clause":0,"byte":%d}}`+"\n", id, n+1)
				most = 8 * time.Second
				synctest.Wait() // until the report has been taken in
			}
			began := time.Now()
			tn.Finish()
			time.Sleep(10 * time.Second)
			if took := tn.end().Sub(began); tn.ends() != 1 || took > most || len(tn.delivered()) != (n+1)%4 || tn.faults() != nil {
				t.Errorf("turn %s: %d ends after %v, heard %q, %v", id, tn.ends(), took, tn.delivered(), tn.faults())
			}
		}
		far.Close()
		<-pr.daemons
		pr.stop()
	})
}

// TestHeldTerminalKeepsItsSpeech: a terminal that is held up because somebody is reading keeps its
// speech for as long as they read.
func TestHeldTerminalKeepsItsSpeech(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &testkit.Voice{Called: "console", Every: 10 * time.Minute}
		pr := connect(t, newRoom(), sense(idle), v)
		tn, err := open(t.Context(), <-pr.room.entered, "1")
		if err != nil {
			t.Fatal(err)
		}
		if err := tn.say("ab"); err != nil {
			t.Fatal(err)
		}
		tn.Finish()
		time.Sleep(15 * time.Minute)
		if tn.ends() != 0 {
			t.Errorf("it ended after %q", tn.delivered())
		}
		time.Sleep(10 * time.Minute)
		if tn.ends() != 1 || tn.delivered() != "ab" {
			t.Errorf("%d ends after %q", tn.ends(), tn.delivered())
		}
		pr.ends()
	})
}

// TestStuckTerminalHoldsNobody: turns end one after the other although the terminal shows nothing
// and reports nothing. When it works again, all is well.
func TestStuckTerminalHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{free: make(chan struct{}), said: make(chan earshot.Clause)}
		pr := connect(t, newRoom(), sense(idle), out)
		o := <-pr.room.entered
		for i := range 20 {
			tn, err := open(t.Context(), o, earshot.TurnID(fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			_ = tn.say("x")
			tn.Do(earshot.Cut)
			time.Sleep(3 * time.Second)
			if tn.ends() != 1 {
				t.Errorf("turn %d ended %d times", i, tn.ends())
			}
		}
		close(out.free)
		synctest.Wait()
		tn, err := open(t.Context(), o, "last")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if tn.ends() != 1 {
			t.Errorf("the last turn ended %d times", tn.ends())
		}
		if client, daemon := pr.ends(); client != nil || daemon != nil {
			t.Errorf("ended with %v and %v", client, daemon)
		}
		if out.twice.Load() {
			t.Error("the outlet was opened while a speech was open")
		}
	})
}

// A terse outlet takes a second to open. It reports nothing until it is told to stop, and then that
// all was heard.
type terse struct {
	told chan earshot.Control
}

func (*terse) Name() string { return "terse" }

func (s *terse) Open(ctx context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	time.Sleep(time.Second)
	go func() {
		<-ctx.Done()
		time.Sleep(time.Millisecond) // the last write
		heard(earshot.Heard{Byte: 5, End: true})
	}()
	return s, nil
}

func (*terse) Say(earshot.Clause) error { return nil }
func (s *terse) Do(c earshot.Control)   { s.told <- c }
func (*terse) Finish()                  {}

// TestLastWordsArrive: when the terminal leaves, the daemon learns how far it came before the
// connection ends.
func TestLastWordsArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr := connect(t, newRoom(), sense(idle), &terse{make(chan earshot.Control, 9)})
		tn, err := open(t.Context(), <-pr.room.entered, "1")
		if err != nil {
			t.Fatal(err)
		}
		_ = tn.say("hello")
		time.Sleep(2 * time.Second)
		pr.ends()
		if tn.ends() != 1 || tn.delivered() != "hello" {
			t.Errorf("%d ends, %d bytes delivered", tn.ends(), len(tn.delivered()))
		}
	})
}

// TestControlsWaitForTheOutlet: a control that comes before the outlet has opened is not lost.
func TestControlsWaitForTheOutlet(t *testing.T) {
	for _, control := range []earshot.Control{earshot.Pause, earshot.Cut} {
		synctest.Test(t, func(t *testing.T) {
			out := &terse{make(chan earshot.Control, 9)}
			pr := connect(t, newRoom(), sense(idle), out)
			tn, err := open(t.Context(), <-pr.room.entered, "1")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			tn.Do(control)
			time.Sleep(1100 * time.Millisecond)
			select {
			case got := <-out.told:
				if got != control {
					t.Errorf("told %v, want %v", got, control)
				}
			default:
				t.Errorf("%v was lost", control)
			}
			pr.ends()
		})
	}
}

// TestOpenWaitsForTheSpeechBefore: Open waits until the previous speech has ended, for as long as
// its context allows.
func TestOpenWaitsForTheSpeechBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &testkit.Voice{Every: time.Second}
		pr := connect(t, newRoom(), sense(idle), v)
		o := <-pr.room.entered
		first, err := open(t.Context(), o, "1")
		if err != nil {
			t.Fatal(err)
		}
		_ = first.say("12345")
		first.Finish()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := open(ctx, o, "2"); err == nil || first.ends() != 0 {
			t.Errorf("opened a second speech beside the first: %v", err)
		}
		if _, err := open(t.Context(), o, "3"); err != nil || first.ends() != 1 {
			t.Errorf("not opened after the first had ended %d times: %v", first.ends(), err)
		}
		pr.ends()
		if _, err := open(t.Context(), o, "4"); err == nil {
			t.Error("opened at a terminal that has gone")
		}
	})
}

// TestMissedIsCounted: a terminal that takes nothing gets the latest events, and is told how many
// it has missed.
func TestMissedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		v := &testkit.Voice{}
		pr := connect(t, r, sense(idle), v)
		o := (<-r.entered).(earshot.Board)
		const n = 1000
		for i := range n { // faster than any goroutine can take them, as none runs meanwhile
			o.Show(earshot.Event{Sequence: int64(i + 1), Body: earshot.Message{Text: "x"}})
		}
		synctest.Wait()
		seen, missed, last := 0, 0, int64(0)
		for _, e := range v.Shown() {
			if b, ok := e.Body.(earshot.Notice); ok {
				k := 0
				_, _ = fmt.Sscanf(b.Text, "%d events", &k)
				missed += k
				continue
			}
			if e.Sequence <= last {
				t.Errorf("event %d was shown after event %d", e.Sequence, last)
			}
			seen, last = seen+1, e.Sequence
		}
		if counted := int(pr.dropped.Load()); counted != missed {
			t.Errorf("%d were missed, and %d are counted", missed, counted)
		}
		if seen+missed != n || last != n {
			t.Errorf("%d were seen and %d missed, the last was %d; want %d in all", seen, missed, last, n)
		}
		pr.ends()
	})
}

// TestTruth: for any interleaving of clauses, controls and losses, each speech has exactly one end.
// The daemon never takes more for delivered than the terminal played, and takes exactly that if the
// terminal was not lost.
func TestTruth(t *testing.T) {
	type step struct {
		do   string
		text earshot.Text
		wait time.Duration
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			do: rapid.SampledFrom([]string{"say", "say", "say", "say", "pause", "resume", "duck", "cut", "finish",
				"cancel", "next", "show", "lose", "stop", "hang up"}).Draw(t, "do"),
			text: earshot.Text(rapid.StringN(0, 20, 60).Draw(t, "text")),
			wait: time.Duration(rapid.IntRange(0, 30).Draw(t, "wait")) * time.Millisecond,
		}
	}), 1, 40)
	rapid.Check(t, func(rt *rapid.T) {
		script := steps.Draw(rt, "steps")
		every := time.Duration(rapid.IntRange(0, 3).Draw(rt, "every")) * time.Millisecond
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			v := &testkit.Voice{Called: "console", Every: every}
			pr := connect(t, newRoom(), sense(idle), v)
			o := <-pr.room.entered
			cancel := func() {}
			defer func() { cancel() }()
			var turns []*turn
			next := func() {
				var ctx context.Context
				ctx, cancel = context.WithCancel(t.Context())
				if tn, err := open(ctx, o, earshot.TurnID(fmt.Sprint(len(turns)))); err == nil {
					turns = append(turns, tn)
				}
			}
			next()
			lost, finished := false, false
			for _, s := range script {
				now := turns[len(turns)-1]
				switch s.do {
				case "say":
					if !finished {
						_ = now.say(s.text)
					}
				case "pause":
					now.Do(earshot.Pause)
				case "resume":
					now.Do(earshot.Resume)
				case "duck":
					now.Do(earshot.Duck)
				case "cut":
					now.Do(earshot.Cut)
				case "finish":
					now.Finish()
					finished = true
				case "cancel", "next":
					if s.do == "next" {
						now.Do(earshot.Cut)
					}
					cancel()
					next()
					finished = false
				case "show":
					o.(earshot.Board).Show(earshot.Event{Body: earshot.Message{Text: s.text}})
				case "lose":
					lost = true
					pr.client.Close()
				case "stop":
					lost = true
					pr.stop()
				case "hang up":
					pr.hangUp()
				}
				time.Sleep(s.wait)
			}
			turns[len(turns)-1].Do(earshot.Cut)
			time.Sleep(time.Minute)
			pr.ends()
			var delivered strings.Builder
			for i, tn := range turns {
				if tn.ends() != 1 {
					faults = append(faults, fmt.Sprintf("turn %d has %d ends", i, tn.ends()))
				}
				faults = append(faults, tn.faults()...)
				delivered.WriteString(tn.delivered())
			}
			if got, played := delivered.String(), v.Played(); !strings.HasPrefix(played, got) || !lost && played != got {
				faults = append(faults, fmt.Sprintf("played %q, delivered %q", played, got))
			}
		})
		if len(faults) > 0 {
			rt.Fatal(faults)
		}
	})
}
