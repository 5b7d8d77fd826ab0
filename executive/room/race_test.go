package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/room"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
)

// sound returns a stage of the speech of somebody who is heard through a microphone.
func sound(stage earshot.Stage) earshot.Event {
	return earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Speech{Stage: stage, Confidence: 1}}
}

// TestTheMindIsParkedAsLongAsSomebodySpeaks: the mind is parked for as long as somebody speaks and
// no longer, whatever else the owner of the room has to look at meanwhile.
func TestTheMindIsParkedAsLongAsSomebodySpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		defer h.stop()
		for range 300 {
			var all sync.WaitGroup
			for range 4 {
				all.Go(h.Reseat)
			}
			all.Go(func() { h.Admit(t.Context(), sound(earshot.VoiceBegan)) })
			all.Wait()
			synctest.Wait()
			if !room.Parked(h.Room) {
				t.Fatal("somebody speaks, and the mind is let go")
			}
			h.Admit(t.Context(), sound(earshot.VoiceOver))
			synctest.Wait()
			if room.Parked(h.Room) {
				t.Fatal("nobody speaks, and the mind is parked")
			}
		}
	})
}

// TestAVoiceThatJustEndsParksNobody: a voice that just ends, with no more stages and nothing else
// that happens, does not park the mind for ever.
func TestAVoiceThatJustEndsParksNobody(t *testing.T) {
	for name, stage := range map[string]earshot.Stage{"a voice": earshot.VoiceBegan, "a phrase": earshot.VoiceCalls} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse().open(t.Context())
				defer h.stop()
				synctest.Wait()
				h.Admit(t.Context(), sound(stage))
				// A phrase is over when it is heard: the owner may have let the mind go already.
				if stage == earshot.VoiceBegan && !room.Parked(h.Room) {
					t.Error("the mind is not parked")
				}
				time.Sleep(20 * time.Second)
				if room.Parked(h.Room) {
					t.Error("the mind is parked for ever")
				}
			})
		})
	}
}

// keeps returns the kind of the first event in the journal that contains a word.
func (h *house) keeps(word string) earshot.Kind {
	for _, e := range h.journal.Events() {
		if data, _ := json.Marshal(e); strings.Contains(string(data), word) {
			return e.Body.Kind()
		}
	}
	return ""
}

// TestWithdrawnAtAnyMoment: whenever somebody takes back a message about which two agents talk,
// nothing more is said about it from then on, and nothing of it is left.
func TestWithdrawnAtAnyMoment(t *testing.T) {
	for at := 0; at < 80; at += 4 {
		for _, slow := range []time.Duration{0, 25 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model.Rules = []llmtest.Rule{{Agent: "Earshot", When: "go", Reply: "@Scout, xylophone"}, {Agent: "Scout", Reply: "a xylophone it is"}}
				c := man(t, h, "bob")
				e := named("m", "@Earshot go xylophone")
				c.admits(t, e)
				time.Sleep(time.Duration(at) * time.Millisecond)
				if slow > 0 { // the owner has to wait for the journal meanwhile
					c.journal.Slow(slow)
					go c.writes(t, "bob", "ann, look")
					time.Sleep(slow / 2)
				}
				c.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
				said := c.console.Played()
				time.Sleep(time.Minute)
				c.stop()
				if more, _ := strings.CutPrefix(c.console.Played(), said); len(more) > 1 { // a letter may be on its way
					t.Errorf("taken back after %d ms, and %q is said", at, more)
				}
				if left := c.keeps("xylophone"); left != "" {
					t.Errorf("taken back after %d ms, and it is in a %s", at, left)
				}
			})
		}
	}
}

// TestAnErasedReplyCallsNobody: if what a reply was made of is taken back while it is said, the
// reply calls no agent, since that agent could not read it.
func TestAnErasedReplyCallsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Rules = []llmtest.Rule{{Agent: "Earshot", When: "go", Reply: "@Scout, play the xylophone"}}
		c := man(t, h, "bob")
		e := named("m", "bob, the xylophone is mine")
		c.admits(t, e)
		c.must(t, "bob", "@Earshot go", 25*time.Millisecond)
		c.admits(t, with(e, earshot.Withdrawal{Of: "m"}))
		time.Sleep(time.Minute)
		c.stop()
		if who, _ := c.asked(); who != "Earshot" {
			t.Errorf("%s is asked", who)
		}
		if left := c.keeps("xylophone"); left != "" {
			t.Errorf("it is in a %s", left)
		}
		for _, e := range c.journal.Events() {
			if d, ok := e.Body.(earshot.Decision); ok && d.Agent == "scout" {
				t.Errorf("it is decided: %v", d.Reasons)
			}
		}
	})
}

// TestTakenBackAsItComes: a message and its withdrawal may overtake one another on the way from a
// sense that brings in both at the same time. Either way nothing of the message is left.
func TestTakenBackAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		defer h.stop()
		for i := range 60 {
			e := named(fmt.Sprint("m", i), "xylophone")
			back := earshot.Event{From: earshot.Handle{Provider: e.From.Provider}, Body: earshot.Withdrawal{Of: e.ID}}
			var all sync.WaitGroup
			all.Go(func() { h.Admit(t.Context(), e) })
			all.Go(func() { h.Admit(t.Context(), back) })
			all.Wait()
		}
		synctest.Wait()
		if left := h.keeps("xylophone"); left != "" {
			t.Errorf("it is in a %s", left)
		}
	})
}

// TestTakenBackBeforeItComes: a message that was taken back before it came is not let in when it
// comes. Only whoever keeps order where it comes from can keep it out like that.
func TestTakenBackBeforeItComes(t *testing.T) {
	for _, tt := range []struct {
		name string
		by   earshot.Handle
		kept bool
	}{
		{"by who keeps order", earshot.Handle{Provider: "console"}, false},
		{"by who keeps order elsewhere", earshot.Handle{Provider: "discord"}, true},
		{"by its author", ann, true},
		{"by somebody else", handle("bob"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse())
				e := named("m", "count")
				if err := c.Admit(t.Context(), earshot.Event{From: tt.by, Via: "console", Body: earshot.Withdrawal{Of: "m"}}); err == nil {
					t.Error("what was not there was taken back")
				}
				for range 2 {
					c.admits(t, e)
					time.Sleep(time.Second)
				}
				c.stop()
				n := 0
				for _, e := range c.journal.Events() {
					if e.ID == "m" {
						n++
					}
				}
				if (n == 1) != tt.kept || (len(c.replies()) == 1) != tt.kept {
					t.Errorf("it is kept %d times and has %d replies", n, len(c.replies()))
				}
			})
		})
	}
}

// TestAQuestionIsChangedWhileOthersLook: a question that hangs unanswered may change while people
// who write meanwhile look at it.
func TestAQuestionIsChangedWhileOthersLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, byDay(), "bob")
		defer c.stop()
		for i := range 10 {
			e := named(fmt.Sprint("m", i), eggs)
			c.admits(t, e)
			var all sync.WaitGroup
			all.Go(func() {
				c.Admit(t.Context(), with(e, earshot.Revision{Of: e.ID, Text: "does anybody know how long eggs keep?"}))
			})
			for range 2 {
				all.Go(func() {
					for range 200 {
						room.Route(c.Room, earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Message{Text: "hm", ReplyTo: "no such turn"}})
					}
				})
			}
			all.Wait()
			time.Sleep(time.Minute)
		}
	})
}

// TestWhateverComesTogether: whatever several senses bring in at once, each turn that was
// decided on ends once, what is admitted is on record and what is refused is not, what was
// changed or taken back is left nowhere, and the room comes to rest.
func TestWhateverComesTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			kind, of int
			then     time.Duration
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				rapid.IntRange(0, 6).Draw(rt, "kind"), rapid.IntRange(0, 3).Draw(rt, "of"),
				time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 7, 20, 45}).Draw(rt, "then")) * time.Millisecond,
			}
		}), 2, 14).Draw(rt, "steps")
		slow := time.Duration(rapid.SampledFrom([]int{0, 0, 3, 15}).Draw(rt, "the journal takes")) * time.Millisecond
		leaves := rapid.IntRange(-20, len(steps)).Draw(rt, "leaves after")
		var faults []string
		fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.model.Rules = []llmtest.Rule{{Agent: "Earshot", When: "scout", Reply: "@Scout, count"}}
			h.journal.Slow(slow)
			c := man(t, h, "bob")
			var all sync.WaitGroup
			var mu sync.Mutex
			how := make(map[earshot.EventID]error)
			bodies := make(map[earshot.EventID]earshot.Body)
			changed := make(map[earshot.EventID]bool)
			admit := func(e earshot.Event, of earshot.EventID) {
				all.Go(func() {
					err := c.Admit(t.Context(), e)
					mu.Lock()
					defer mu.Unlock()
					bodies[e.ID] = e.Body
					if how[e.ID] = err; err == nil && of != "" {
						changed[of] = true
					}
				})
			}
			messages := 0
			for i, s := range steps {
				if i == leaves {
					c.Leave()
				}
				who := []string{"ann", "bob"}[s.of%2] // who wrote every other message
				of := earshot.EventID(fmt.Sprint("m", s.of))
				e := earshot.Event{ID: earshot.EventID(fmt.Sprint("s", i)), From: handle(who), Via: who}
				switch {
				case s.kind < 2:
					e.ID, e.From = earshot.EventID(fmt.Sprint("m", messages)), handle([]string{"ann", "bob"}[messages%2])
					e.Body = earshot.Message{Text: earshot.Text(fmt.Sprintf("@Earshot %s old%dword", []string{"go", "scout"}[s.of%2], messages))}
					messages++
					admit(e, "")
				case s.kind < 4 && s.of < messages:
					e.Body = []earshot.Body{earshot.Revision{Of: of, Text: "@Earshot new"}, earshot.Withdrawal{Of: of}}[s.kind-2]
					admit(e, of)
				case s.kind == 4:
					c.Admit(t.Context(), sound([]earshot.Stage{earshot.VoiceBegan, earshot.VoiceLasts, earshot.VoiceOver, earshot.VoiceOver}[s.of]))
				case s.kind == 5:
					c.Admit(t.Context(), earshot.Event{From: handle(who), Via: who, Body: earshot.Typing{Began: s.of > 1}})
				case s.kind == 6:
					all.Go(func() { c.writes(t, who, "/stop") })
				}
				time.Sleep(s.then)
			}
			all.Wait()
			time.Sleep(5 * time.Minute)
			if leaves < 0 && (c.Busy() || c.state().Waiting > 0) {
				fault("the room does not come to rest")
			}
			c.stop()
			turns, kept := make(map[earshot.TurnID]int), make(map[earshot.EventID]bool)
			erased := false
			for _, e := range c.journal.Events() {
				kept[e.ID] = true
				switch b := e.Body.(type) {
				case earshot.Decision:
					if b.Turn != "" {
						turns[b.Turn]++
					}
				case earshot.Reply:
					turns[b.Turn] += 2
				case earshot.Tombstone:
					erased = true
				}
			}
			for turn, n := range turns {
				if n != 3 && !(erased && n == 1) { // its end was erased with what it answered
					fault("of the turn %s there is %d", turn, n)
				}
			}
			for id, err := range how {
				if _, back := bodies[id].(earshot.Withdrawal); kept[id] != (err == nil) && !back { // a withdrawal may have been needless
					fault("%s is on record: %v, and was admitted with %v", id, kept[id], err)
				}
			}
			for i := range messages {
				if left := c.keeps(fmt.Sprintf("old%dword", i)); changed[earshot.EventID(fmt.Sprint("m", i))] && left != "" {
					fault("what message %d was is left in a %s", i, left)
				}
			}
		})
		if len(faults) > 0 {
			rt.Fatal(strings.Join(faults, "\n"))
		}
	})
}

// TestAChangeThatIsRefusedCutsNothing: a change of a question that is refused does not cut the
// reply, since nothing has changed.
func TestAChangeThatIsRefusedCutsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		e := named("m", "@earshot count")
		c.admits(t, e)
		time.Sleep(25 * time.Millisecond)
		c.journal.Slow(time.Second)
		for range 300 {
			go c.writes(t, "bob", "ann, look")
			synctest.Wait() // the first keeps the owner waiting
		}
		if err := c.Admit(t.Context(), with(e, earshot.Revision{Of: "m", Text: "@earshot something else"})); !errors.Is(err, room.ErrBusy) {
			t.Errorf("it is admitted with %v", err)
		}
		c.journal.Slow(0)
		time.Sleep(time.Minute)
		c.stop()
		if got := c.console.Played(); got != "one two three four" {
			t.Errorf("it said %q", got)
		}
	})
}

// A busy engine counts the requests that it has at the same time.
type busy struct {
	llm.Service
	now atomic.Int64
}

func (b *busy) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		b.now.Add(1)
		defer b.now.Add(-1)
		b.Service.Stream(ctx, req)(yield)
	}
}

// TestNothingIsPreparedForWhatIsOver: no answer is being prepared any more to words that came to
// nothing, even if they do so just when the owner begins to prepare it.
func TestNothingIsPreparedForWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Every = time.Second
		model := &busy{Service: h.model}
		h.llm = model
		voiced(t, h)
		for i := range 300 {
			for _, s := range []earshot.Speech{{Stage: earshot.VoiceWords, Words: "earshot what is new", Confidence: 0.9, Stable: true}, {Stage: earshot.VoiceOver}} {
				h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", Body: s})
				for range i % 40 {
					runtime.Gosched()
				}
			}
			synctest.Wait()
			if n := model.now.Load(); n > 0 {
				t.Fatalf("round %d: %d answers are prepared", i, n)
			}
		}
		if begun, _ := room.Prepared(h.Room); begun == 0 {
			t.Error("none ever was")
		}
		h.stop()
	})
}

// TestCutOnceMoreAtAnyMoment: somebody who cut in may do so again just when the floor takes on the
// style of what comes in. The race detector would notice a fault.
func TestCutOnceMoreAtAnyMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		defer h.stop()
		for range 200 {
			var all sync.WaitGroup
			all.Go(func() { h.Admit(t.Context(), sound(earshot.VoiceOver)) })
			all.Go(func() {
				h.ReplayCut(earshot.Interruption{By: participants.Owner, Signal: interrupt.Addressed.String()}, ann)
			})
			all.Wait()
		}
	})
}

// TestWhoTypesAsTheySend: a line that somebody begins to type just as they send a message, and then
// abandons, holds back the answer no longer than any abandoned line, whichever of the two comes
// first.
func TestWhoTypesAsTheySend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		defer c.stop()
		for i := range 200 {
			var all sync.WaitGroup
			all.Go(func() {
				_ = c.Admit(t.Context(), earshot.Event{From: handle("bob"), Via: "bob", Body: earshot.Typing{Began: true}})
			})
			all.Go(func() { _ = c.writes(t, "bob", "@Earshot count") })
			all.Wait()
			time.Sleep(5 * time.Minute)
			if c.Busy() {
				t.Fatalf("round %d: there is no answer", i)
			}
		}
	})
}

// TestWhoTypesAsAnOldLineComes: somebody types and goes away, and meanwhile an old message of
// theirs comes late, or once more. That holds nothing back longer than any abandoned line.
func TestWhoTypesAsAnOldLineComes(t *testing.T) {
	for _, tt := range []struct {
		name string
		ago  time.Duration // when it had been written
	}{{"once more", 0}, {"late", time.Hour}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse(), "bob")
				defer c.stop()
				old := earshot.Event{ID: "old", At: time.Now().Add(-tt.ago), From: handle("bob"), Via: "bob", Body: earshot.Message{Text: "Ann, hello"}}
				for _, e := range []earshot.Event{old, {From: handle("bob"), Via: "bob", Body: earshot.Typing{Began: true}}, old} {
					if err := c.Admit(t.Context(), e); err != nil {
						t.Fatal(err)
					}
				}
				c.must(t, "ann", "@Earshot count", 5*time.Minute)
				if c.Busy() {
					t.Error("there is no answer")
				}
			})
		})
	}
}

// A halfModel says two words at once, and the others when it may.
type halfModel struct {
	*llmtest.Script
	rest chan struct{}
}

// Stream implements [llm.Service].
func (m halfModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n := 0
		for d, err := range m.Script.Stream(ctx, req) {
			if n++; n == 3 {
				<-m.rest
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// TestWhoAbandonsALineAsAReplyStalls: a reply that waits for somebody who types goes on to its end
// when they have abandoned the line, also if that is just when it is checked whether an outlet
// stands still.
func TestWhoAbandonsALineAsAReplyStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Every, h.console.Every = 0, 0
		m := halfModel{h.model, make(chan struct{})}
		h.llm = m
		c := gather(t, h, "bob")
		defer c.stop()
		for range 20 {
			c.must(t, "ann", "@Earshot count", 0)
			synctest.Wait()
			c.types(t, "ann", true)
			m.rest <- struct{}{} // the text is complete, and has not been heard
			time.Sleep(3 * time.Minute)
		}
		for n, r := range c.replies() {
			if r.Outcome != earshot.Completed || r.Took < 2*time.Minute {
				t.Fatalf("reply %d was %s after %v: %s", n, r.Outcome, r.Took, r.Fault)
			}
		}
	})
}
