package room_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot"
	"earshot/api"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/exchange"
	"earshot/executive/explain"
	"earshot/executive/hearing"
	lost "earshot/executive/record"
	"earshot/executive/room"
	"earshot/executive/sight"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = earshot.Handle{Provider: "console", ID: "ann"}

// A house is a room with everything that a test looks at.
type house struct {
	later func(*executive.Config) // changes the settings when the room is open; may be nil
	reset atomic.Pointer[executive.Config]

	*room.Room
	journal    *testkit.Journal
	console    *testkit.Voice
	model      *llmtest.Script
	config     executive.Config
	off        atomic.Bool            // the executive is disabled meanwhile
	people     *participants.Registry // if nil, only ann is known
	past       []earshot.Event
	works      []string
	enters     func(participants.Participant) error
	tools      tool.Table
	extra      command.Table
	staff      exchange.Spawner
	llm        llm.Service // if nil, model
	agents     func() []agents.Record
	recipients func(context.Context, participants.Participant, string) ([]agents.Record, error)
	former     []string
	recall     func(context.Context, earshot.ParticipantID) ([]earshot.Event, error)
	order      func(context.Context, participants.Participant, agents.Order) (agents.Record, error)
	reach      func(earshot.ParticipantID, earshot.Event)
	event      func(context.Context, earshot.EventID) (earshot.Event, bool, error)
	away       bool // nobody is at the console
	lost       time.Time
	sealer     *lost.Sealer
	dropped    func(queue string, n int)
	lasts      bool // what is written stays
	voices     hearing.Voices
	unmodelled bool
	eyes       *eyes // if nil, there is no camera

	scenery   func(context.Context) ([]earshot.Event, error)
	corrected func(string, earshot.Event)
	reader    func() func(earshot.Clause) earshot.Clause
	logged    *strings.Builder
	voice     time.Time // when the voice that is heard began
	ids       int       // how many IDs there are already
	stop      func()

	set atomic.Int64 // by how much the clock on the wall was set, in nanoseconds
}

// clock returns the time on the wall clock. Once that was set, the time has no monotonic reading,
// as times in a journal have none. That is harder than what a real clock does.
func (h *house) clock() time.Time {
	set := h.set.Load()
	if set == 0 {
		return time.Now()
	}
	return time.Now().Add(time.Duration(set)).Round(0)
}

// newHouse returns a room that is not open yet. Its console shows a rune per millisecond. Its agent
// thinks about nothing by itself, so that its model is asked only for what a test asks for.
func newHouse() *house {
	h := &house{
		journal: new(testkit.Journal),
		console: &testkit.Voice{Called: "console", Every: time.Millisecond, Flow: true},
		model:   &llmtest.Script{Reply: "one two three four", Every: 10 * time.Millisecond},
		config:  executive.DefaultConfig(),
		logged:  new(strings.Builder),
	}
	h.config.Parallel.ReasoningContinuous = false
	return h
}

// open opens the room. It must be closed with stop, and nothing runs in it after that.
func (h *house) open(ctx context.Context) *house {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	if h.people == nil {
		h.people = participants.New(ann, "ann", h.config.Name)
	}
	if h.llm == nil && !h.unmodelled {
		h.llm = h.model
	}
	var seeing sight.Cameras
	if h.eyes != nil {
		seeing = h.eyes
	}
	h.Room = room.New(room.Config{
		Cameras: seeing, ID: earshot.Desk, Settings: h.settings,
		People: h.people, Enters: h.enters, Journal: h.journal, Model: h.llm, Past: h.past, Lost: h.lost, Sealer: h.sealer, Dropped: h.dropped, Tools: h.tools, Spawner: h.staff, Agents: h.agents, Recipients: h.recipients, Recall: h.recall, Order: h.order, Former: func() []string { return h.former }, Reader: h.reader, Reach: h.reach,
		Decided: func(a earshot.Audience) explain.Journal { return h.journal.For(a) },
		Event:   h.event, Lasts: h.lasts,
		Scenery: h.scenery, Corrected: h.corrected, Voices: h.voices,
		Works: func() []string { return slices.Clone(h.works) }, Commands: h.extra,
		Now: h.clock, Log: slog.New(slog.NewTextHandler(h.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		NewID: func() earshot.EventID {
			mu.Lock()
			defer mu.Unlock()
			h.ids++
			return earshot.EventID(fmt.Sprintf("%s%04d", "e", h.ids))
		},
	})
	if !h.away {
		h.Enter(h.console, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
	}
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	h.stop = func() { cancel(); running.Wait() }
	if h.later != nil { // the settings change while the room runs
		synctest.Wait()
		set := h.config
		h.later(&set)
		h.reset.Store(&set)
		h.Reseat()
		synctest.Wait()
	}
	return h
}

// settings returns the current settings of the room.
func (h *house) settings() executive.Config {
	set := h.config
	if other := h.reset.Load(); other != nil {
		set = *other
	}
	set.Enabled = set.Enabled && !h.off.Load()
	return set
}

// state returns the room as its owner may know it.
func (h *house) state() api.RoomState {
	return h.State(earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
}

func message(text string) earshot.Event {
	return earshot.Event{From: ann, Via: "console", Body: earshot.Message{Text: earshot.Text(text)}}
}

func (h *house) say(t *testing.T, text string) {
	t.Helper()
	if err := h.Admit(t.Context(), message(text)); err != nil {
		t.Fatal(err)
	}
}

// replies returns how the turns ended, in order.
func (h *house) replies() (all []earshot.Reply) {
	for _, e := range h.journal.Events() {
		if r, ok := e.Body.(earshot.Reply); ok {
			all = append(all, r)
		}
	}
	return all
}

func TestACutDoesNotWaitForADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "count")
		time.Sleep(25 * time.Millisecond)
		h.journal.Slow(time.Hour)
		go h.Admit(t.Context(), message("another question"))
		synctest.Wait()
		if h.console.Ends() != 1 {
			t.Error("the reply goes on while the journal writes")
		}
		h.journal.Slow(0)
		time.Sleep(2 * time.Hour)
		h.stop()
	})
}

func TestAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "count")
		time.Sleep(15 * time.Millisecond)
		full := errors.New("disk full")
		h.journal.Fail(full) // while the reply is being said
		if err := h.Admit(t.Context(), message("is anybody there?")); !errors.Is(err, full) {
			t.Errorf("with a full disk a message is admitted: %v", err)
		}
		time.Sleep(time.Minute)
		if n := len(h.replies()); n != 0 {
			t.Errorf("%d replies were written to a full disk", n)
		}
		h.journal.Fail(nil)
		time.Sleep(time.Minute)
		if got := h.replies(); len(got) != 1 || string(got[0].Delivered()) != "one" || got[0].Outcome != earshot.Interrupted {
			t.Errorf("after the disk has room: %d replies", len(got))
		}
		h.say(t, "is anybody there?")
		time.Sleep(time.Second)
		h.stop()
		if got := h.replies(); len(got) != 2 || got[1].Outcome != earshot.Completed {
			t.Errorf("%d replies", len(got))
		}
	})
}

func TestAMessageSentTwiceIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		e := message("count")
		e.ID = "mine"
		for range 2 {
			if err := h.Admit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		h.stop()
		if n := len(h.replies()); n != 1 {
			t.Errorf("%d replies", n)
		}
	})
}

// TestAnIDThatIsAnothers: a message with the ID of somebody else's message is refused, so that its
// sender does not believe that it was kept.
func TestAnIDThatIsAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob")
		e := message("bob, the first")
		e.ID = "mine"
		if err := c.Admit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		e.From, e.Via, e.Body = handle("bob"), "bob", earshot.Message{Text: "ann, the second"}
		if err := c.Admit(t.Context(), e); err == nil || !strings.Contains(err.Error(), "the ID belongs to another event") {
			t.Errorf("another's message with the same ID: %v", err)
		}
		c.stop()
		if n := len(c.messages()); n != 1 {
			t.Errorf("%d messages were kept", n)
		}
	})
}

// TestAfterACrash: a turn that had begun when the program died has an end.
func TestAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		public := earshot.Visibility{Scope: earshot.Public}
		h := newHouse()
		h.past = []earshot.Event{
			{ID: "m1", At: time.Now(), Author: participants.Owner, Visibility: public, Body: earshot.Message{Text: "hello"}},
			{ID: "d1", Author: participants.Agent, Visibility: public, Body: earshot.Decision{About: "m1", Verdict: earshot.Speak, Turn: "t1"}},
			{ID: "r1", At: time.Now(), Author: participants.Agent, Visibility: public, Body: earshot.Reply{Turn: "t1", About: "m1", Outcome: earshot.Completed, Offered: "Good day.", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 9}}}},
			{ID: "m2", At: time.Now(), Author: participants.Owner, Visibility: public, Body: earshot.Message{Text: "and you?"}},
			{ID: "d2", Author: participants.Agent, Visibility: public, Body: earshot.Decision{About: "m2", Verdict: earshot.Speak, Turn: "t2"}},
		}
		h.open(t.Context())
		h.say(t, "are you back?")
		time.Sleep(time.Second)
		h.stop()
		got := h.replies()
		if len(got) != 2 || got[0].Turn != "t2" || got[0].Outcome != earshot.Failed || got[0].Fault != "earshot stopped in the middle of it; ask again" || got[1].Outcome != earshot.Completed {
			t.Fatalf("replies %+v", got)
		}
		var prompt []string
		for _, m := range h.model.Seen()[0].Messages[1:5] {
			prompt = append(prompt, string(m.Role)+": "+m.Text)
		}
		want := "user: [FROM: ann] hello|assistant: Good day.|user: [FROM: ann] and you?|user: [FROM: ann] are you back?"
		if strings.Join(prompt, "|") != want {
			t.Errorf("prompt %q, want %q", strings.Join(prompt, "|"), want)
		}
	})
}

func TestTheModelIsToldWhoCutItOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "count")
		time.Sleep(25 * time.Millisecond)
		h.say(t, "why?")
		time.Sleep(time.Second)
		h.stop()
		seen := h.model.Seen()
		messages := seen[len(seen)-1].Messages
		var prompt []string
		for _, m := range messages[1 : len(messages)-1] {
			prompt = append(prompt, m.Text)
		}
		want := "[FROM: ann] count|one two|[FROM: System] ann cut you off there.|[FROM: ann] why?"
		if got := strings.Join(prompt, "|"); got != want {
			t.Errorf("the model reads %q, want %q", got, want)
		}
		if last := messages[len(messages)-1]; last.Role != llm.System || !strings.Contains(last.Text, "You may be interrupted mid-thought") {
			t.Errorf("the instructions are %q", last.Text)
		}
	})
}

func TestTheBeginningOfThePromptStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		changed := 0
		var before []llm.Message
		for i := range 60 {
			h.say(t, fmt.Sprintf("question %d", i))
			time.Sleep(time.Second)
			seen := h.model.Seen()
			now := seen[len(seen)-1].Messages
			now = now[:len(now)-1] // the instructions change
			if len(now) > 52 {
				t.Fatalf("%d messages in the prompt", len(now))
			}
			for k := range before {
				if k >= len(now) || now[k].Role != before[k].Role || now[k].Text != before[k].Text {
					changed++
					break
				}
			}
			before = now
		}
		h.stop()
		// 120 messages pass through 50 places, and ten are dropped at a time.
		if changed == 0 || changed > 8 {
			t.Errorf("the beginning of the prompt changed %d times in 60 turns", changed)
		}
	})
}

func TestFaultsAreSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		gone := &llm.Error{Fault: llm.Unreachable, Engine: "ollama", Cure: "ollama serve"}
		h.model.Troubles = []llmtest.Trouble{{Err: gone}, {Err: gone}, {}, {Err: gone}, {}}
		h.open(t.Context())
		for range 5 {
			h.say(t, "hello")
			time.Sleep(time.Second)
		}
		if n := len(h.state().Faults); n > 0 {
			t.Errorf("%d faults are known though it answers", n)
		}
		time.Sleep(15 * time.Second)
		h.stop()
		var notices []string
		for _, e := range h.journal.Events() {
			if n, ok := e.Body.(earshot.Notice); ok {
				notices = append(notices, fmt.Sprintf("%s (%s) %v", n.Text, n.Cure, n.Over))
			}
		}
		want := []string{
			"ollama: unreachable (ollama serve) false",
			"the model answers again, after it was lost 2 times within 4s () true",
		}
		if strings.Join(notices, "|") != strings.Join(want, "|") {
			t.Errorf("notices %q, want %q", notices, want)
		}
		for _, seen := range h.model.Seen() {
			for _, m := range seen.Messages {
				if strings.Contains(m.Text, "unreachable") || strings.Contains(m.Text, "ollama") {
					t.Errorf("an error entered a prompt: %q", m.Text)
				}
			}
		}
		if strings.Contains(h.console.Played(), "reachable") {
			t.Errorf("an error was said: %q", h.console.Played())
		}
	})
}

func TestAModelThatSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = "   \n"
		h.open(t.Context())
		h.say(t, "hello")
		time.Sleep(time.Second)
		h.stop()
		if got := h.replies(); len(got) != 1 || got[0].Outcome != earshot.Failed || got[0].Offered != "" || got[0].Fault != "the model returned nothing, twice" {
			t.Errorf("replies %+v", got)
		}
		if n := len(h.model.Seen()); n < 2 || n > 3 {
			t.Errorf("it was asked %d times", n)
		}
	})
}

func TestBadEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		for _, tt := range []struct {
			name string
			body earshot.Body
			want string
		}{
			{"empty", earshot.Message{Text: " \n"}, "an empty message says nothing"},
			{"huge", earshot.Message{Text: earshot.Text(strings.Repeat("x", earshot.MaxText+1))}, "is too long: at most 65536; send it in parts"},
			{"a forged reply", earshot.Reply{}, "a provider may not bring in a earshot.Reply"},
			{"a forged decision", earshot.Decision{}, "a provider may not bring in a earshot.Decision"},
			{"a command that is none", earshot.Command{Name: "dance"}, "there is no /dance"},
			{"nothing", nil, "may not bring in"},
		} {
			err := h.Admit(t.Context(), earshot.Event{From: ann, Body: tt.body})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}
		forged := message("\xff\x00 hello")
		forged.Author, forged.Visibility, forged.Room = "somebody", earshot.Visibility{Scope: earshot.System}, "elsewhere"
		if err := h.Admit(t.Context(), forged); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		h.stop()
		e := h.journal.Events()[0]
		if e.Author != participants.Owner || e.Visibility.Scope != earshot.Public || e.Room != earshot.Desk {
			t.Errorf("a provider fixed the author %q, the visibility %q or the room %q", e.Author, e.Visibility.Scope, e.Room)
		}
		if err := h.Admit(t.Context(), message("hello")); !errors.Is(err, room.ErrClosed) {
			t.Errorf("a closed room admits: %v", err)
		}
	})
}

func TestNothingSaidIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = "the canary replies"
		h.model.Troubles = []llmtest.Trouble{{}, {After: 1, Err: errors.New("the canary is quoted")}}
		h.open(t.Context())
		h.say(t, "the canary asks")
		time.Sleep(time.Second)
		h.say(t, "the canary asks again")
		time.Sleep(time.Second)
		h.stop()
		if strings.Contains(h.logged.String(), "canary") || !strings.Contains(h.logged.String(), "turn ended") {
			t.Errorf("logged:\n%s", h.logged)
		}
	})
}

func TestCommandsAreAnsweredWhereTheyWereGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		other := &testkit.Voice{Called: "other"}
		leave := h.Enter(other, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
		h.say(t, "count")
		time.Sleep(time.Second)
		for _, name := range []string{"why", "who", "identity", "context", "help"} {
			if err := h.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Command{Name: name}}); err != nil {
				t.Errorf("/%s: %v", name, err)
			}
		}
		notices := func(v *testkit.Voice) (all string) {
			for _, e := range v.Shown() {
				if n, ok := e.Body.(earshot.Notice); ok {
					all += n.Text + "\n"
				}
			}
			return all
		}
		for _, want := range []string{"I answered because nobody else is here, so it was for me", "You are ann, known by", "recent_messages (now): ann: count", "/exit"} {
			if !strings.Contains(notices(h.console), want) {
				t.Errorf("%q is not among the answers:\n%s", want, notices(h.console))
			}
		}
		if notices(other) != "" {
			t.Errorf("another outlet was told %q", notices(other))
		}
		leave()
		h.stop()
	})
}

// TestTurnsEndOnce: over random conversations every turn that was decided has exactly one end, the
// console shows exactly what is called heard, and every message is kept.
func TestTurnsEndOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.config.Interruption.Enabled = rapid.Bool().Draw(rt, "interruption")
			h.config.Streaming.Enabled = rapid.Bool().Draw(rt, "streaming")
			h.config.Streaming.DisplayPartial = rapid.Bool().Draw(rt, "display")
			for range rapid.IntRange(0, 3).Draw(rt, "troubles") {
				h.model.Troubles = append(h.model.Troubles, rapid.SampledFrom([]llmtest.Trouble{
					{}, {Err: errors.New("broken")}, {After: 2, Err: errors.New("broken")}, {After: 1, Hang: true},
				}).Draw(rt, "trouble"))
			}
			h.open(t.Context())
			said := 0
			for range rapid.IntRange(1, 12).Draw(rt, "events") {
				e := rapid.SampledFrom([]earshot.Event{
					message("count"), message("stop"), message("what time is it"), message("what were you saying?"),
					{From: ann, Body: earshot.Typing{Began: true}}, {From: ann, Body: earshot.Typing{}},
					{From: ann, Body: earshot.Command{Name: "stop"}},
				}).Draw(rt, "event")
				if e.Body.Kind() == earshot.KindMessage {
					said++
				}
				if err := h.Admit(t.Context(), e); err != nil {
					rt.Fatal(err)
				}
				time.Sleep(time.Duration(rapid.IntRange(0, 60).Draw(rt, "pause")) * time.Millisecond)
			}
			if rapid.Bool().Draw(rt, "wait") {
				h.Admit(t.Context(), earshot.Event{From: ann, Body: earshot.Typing{}})
				time.Sleep(time.Minute)
			}
			h.stop()

			begun, ended, shown, kept := map[earshot.TurnID]bool{}, map[earshot.TurnID]bool{}, 0, 0
			for _, e := range h.journal.Events() {
				switch body := e.Body.(type) {
				case earshot.Message:
					kept++
				case earshot.Decision:
					if body.Turn != "" {
						begun[body.Turn] = true
					}
				case earshot.Reply:
					if ended[body.Turn] || !begun[body.Turn] {
						rt.Fatalf("turn %s ended twice, or never began", body.Turn)
					}
					ended[body.Turn] = true
					shown += len(body.Delivered())
				}
			}
			if len(begun) != len(ended) || kept != said {
				rt.Fatalf("%d turns began, %d ended; %d messages were said, %d kept", len(begun), len(ended), said, kept)
			}
			if shown != len(h.console.Played()) {
				rt.Fatalf("%d bytes are called heard, %d were shown", shown, len(h.console.Played()))
			}
		})
	})
}
