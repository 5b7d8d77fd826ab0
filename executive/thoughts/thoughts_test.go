package thoughts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/executive/thoughts"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
)

var (
	noon     = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	public   = earshot.Visibility{Scope: earshot.Public}
	between  = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{participants.Owner, participants.Agent}}
	everyone = earshot.Audience{Unknown: true}
	ann      = earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}}
)

// A desk is a room where a mind thinks in a test. Nothing runs there, and the mind is parked at first:
// what is asked waits, and a test takes the part of the mind.
type desk struct {
	*thoughts.Thinker
	set     executive.Config
	context thoughts.Context // what a segment is made from
	shut    bool             // the room answers nobody
	asleep  bool             // the dialogue cannot be read
	taken   bool             // somebody has the floor
	nudges  int
	kept    []earshot.Event
	told    []string
}

func open() *desk {
	d := &desk{set: executive.DefaultConfig()}
	d.context = thoughts.Context{Now: noon, Settings: d.set, Agent: agents.Record{ID: participants.Agent}, Audience: everyone}
	ids := 0
	d.Thinker = thoughts.New(thoughts.Host{
		People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "Ann", "Earshot"), Scene: &scene.Scene{},
		Agent:   func() agents.Record { return d.context.Agent },
		Open:    func() bool { return !d.shut },
		Floor:   func() (earshot.Interruption, bool) { return earshot.Interruption{Signal: "typing"}, d.taken },
		Nudge:   func() { d.nudges++ },
		OnOwner: func(ctx context.Context, do func(context.Context)) error { do(ctx); return nil },
		Context: func(context.Context, think.Question) (thoughts.Context, bool) { return d.context, !d.asleep },
		Event: func(v earshot.Visibility, body earshot.Body) earshot.Event {
			return earshot.Event{At: noon, Visibility: v, Body: body}
		},
		Record:     func(_ context.Context, e earshot.Event) { d.kept = append(d.kept, e) },
		Tell:       func(outlet string, n earshot.Notice) { d.told = append(d.told, outlet+": "+n.Text) },
		ModelFails: func() bool { return false },
	}, &think.Mind{
		Model: &llmtest.Script{}, Settings: func() executive.Config { return d.set }, Now: func() time.Time { return noon },
		NewID: func() earshot.EventID { ids++; return earshot.EventID(fmt.Sprint("t", ids)) }, Log: slog.New(slog.DiscardHandler),
	})
	d.Park(earshot.Interruption{})
	return d
}

// ask has the agent think about what Ann says, and returns the question.
func (d *desk) ask(v earshot.Visibility) think.Question {
	d.Consider([]string{"think"}, earshot.Event{ID: "m1", Author: participants.Owner, Via: "terminal", Visibility: v, At: noon}, "please think about the tides")
	return d.View()[0].Question
}

// TestConsider: the words that make an agent think are whole words, in any case, and only where
// anything is thought at all.
func TestConsider(t *testing.T) {
	for text, want := range map[string]bool{
		"please THINK about it": true, "think!": true, "I thought so": false, "thinking": false, "": false,
		"take your time": true, "take the time": false, "time, take your": false,
	} {
		d := open()
		message := earshot.Event{ID: "m1", Visibility: public}
		d.Consider([]string{"", "think", "Take your time"}, message, earshot.Text(text))
		if got := d.Considers("m1"); got != want {
			t.Errorf("%q makes the agent think: %v", text, got)
		}
		d = open()
		d.shut = true
		if d.Consider([]string{"think"}, message, earshot.Text(text)); d.Considers("m1") {
			t.Errorf("%q is thought about where nothing is answered", text)
		}
	}
}

// TestInput: a thought is told what it can point to and what has happened since, and of what its
// audience may not see only that it was.
func TestInput(t *testing.T) {
	d := open()
	q := d.ask(public)
	line := func(sequence int64, by earshot.ParticipantID, text earshot.Text) dialogue.Line {
		return dialogue.Line{Event: earshot.EventID(fmt.Sprint("m", sequence)), Sequence: sequence, Author: by, Text: text, At: noon.Add(-time.Minute), Visibility: public}
	}
	first, answer, secret := line(1, participants.Owner, "please think about the tides"), line(3, participants.Agent, "Nothing."), line(4, participants.Owner, "the key is under the mat")
	secret.Visibility = between
	d.context.Used = []dialogue.Line{first, line(2, participants.Owner, "Hey, what\nis new?"), answer}
	d.context.History = append(slices.Clone(d.context.Used), secret)
	d.context.Scene = []scene.Item{{Field: scene.Notes, Event: "n1", Text: "the boat is blue", At: noon, Visibility: public}}
	d.set.Reasoning.Engine, d.set.Reasoning.Model = "", "deep"
	d.context.Settings, d.context.Newest = d.set, 4
	d.context.Agent.Engine, d.context.Agent.Model = "big", "small"
	d.Keep(t.Context(), q, think.Segment{ID: "s1", At: noon.Add(-time.Hour)})
	in, err := d.Input(t.Context(), q, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := think.Update{By: "Ann: Hey, what is new?\nSomebody had a private word.", Answered: "Earshot: Nothing.", Changed: "notes: the boat is blue"}
	if in.Update != want {
		t.Errorf("the news are %q", in.Update)
	}
	var events []string
	for _, e := range in.Evidence {
		events = append(events, string(e.Event))
	}
	if got := strings.Join(events, " "); got != "n1 m1 m2 m3" || in.Upto != 4 {
		t.Errorf("it rests on %s, up to %d", got, in.Upto)
	}
	if in.Engine != "big" || in.Model != "deep" {
		t.Errorf("%s of %s thinks", in.Model, in.Engine)
	}
	d.asleep = true
	if _, err := d.Input(t.Context(), q, 1); err == nil {
		t.Error("it thinks about a dialogue that cannot be read")
	}
}

// TestProvenance: a thought is shown to those who may see all that it rests on, what is kept of it
// names that, and it ends when any of that is erased.
func TestProvenance(t *testing.T) {
	for _, gone := range []earshot.EventID{"t1", "m1", "m2", "n1", "s1", "other"} {
		d := open()
		q := d.ask(public)
		d.context.Used = []dialogue.Line{{Event: "m2", Author: participants.Owner, Text: "it is springtide", Visibility: public}}
		d.context.Scene = []scene.Item{{Field: scene.Notes, Event: "n1", Text: "the mat", Visibility: between}}
		if len(d.Live(everyone)) != 1 {
			t.Fatal("a thought that rests on nothing yet is hidden")
		}
		if _, err := d.Input(t.Context(), q, 0); err != nil {
			t.Fatal(err)
		}
		if len(d.Live(everyone)) != 0 || len(d.Live(ann)) != 1 {
			t.Error("a thought is shown to others than those who may see what it rests on")
		}
		d.Keep(t.Context(), q, think.Segment{ID: "s1"})
		d.Found(t.Context(), q, think.Answer{Segment: "s1", Findings: []think.Finding{{Evidence: []earshot.EventID{"m2"}}}})
		if k := d.kept; len(k) != 2 || k[0].ID != "s1" || !reflect.DeepEqual(k[0].Sources, []earshot.EventID{"m2", "n1", "m1"}) ||
			!reflect.DeepEqual(k[1].Sources, []earshot.EventID{"m2", "s1"}) || k[1].Visibility.Scope != earshot.Private {
			t.Errorf("kept are %+v", k)
		}
		d.Forget("", func(id earshot.EventID) bool { return id == gone })
		if over := len(d.View()) == 0; over != (gone != "other") {
			t.Errorf("when %s is erased the thought ends: %v", gone, over)
		}
	}
}

// TestNotices: the asker is told why their question waits, in words that anybody may read if it was
// asked in private, and what came of it.
func TestNotices(t *testing.T) {
	d := open()
	d.Waits(think.Question{Via: "terminal", Visibility: public}, fmt.Errorf("it says: the mat"))
	d.Waits(think.Question{Via: "phone", Visibility: between}, fmt.Errorf("it says: the mat"))
	d.Over(think.Question{Via: "terminal", Cause: earshot.ByCommand}, 0, false)
	d.Over(think.Question{Via: "terminal", Cause: earshot.ByCommand}, 1, false)
	d.Over(think.Question{Via: "terminal", Cause: earshot.ByCommand}, 0, true)
	d.Over(think.Question{Via: "terminal", Cause: earshot.ByTrigger}, 0, false)
	if len(d.told) != 3 || !strings.HasSuffix(d.told[0], "(it says: the mat)") || !strings.HasPrefix(d.told[1], "phone: ") || !strings.HasSuffix(d.told[1], "(the model failed in an unknown way)") || !strings.Contains(d.told[2], "found nothing") {
		t.Errorf("told was %q", d.told)
	}
}

// TestResume: what somebody had asked goes on after a start, unless it is over, incomplete or old.
func TestResume(t *testing.T) {
	thought := func(id earshot.EventID, of earshot.EventID, ago time.Duration, body earshot.Thought) earshot.Event {
		body.Of, body.Cause, body.Question, body.Text = of, earshot.ByCommand, "tides?", "so "
		return earshot.Event{ID: id, At: noon.Add(-ago), To: []earshot.ParticipantID{participants.Owner}, Visibility: public, Sources: []earshot.EventID{"m9"}, Body: body}
	}
	parked, done := earshot.Thought{Outcome: earshot.Interrupted}, earshot.Thought{Outcome: earshot.Completed}
	unasked := thought("a", "", 0, parked)
	unasked.Body = earshot.Thought{Cause: earshot.ByNovelty, Outcome: earshot.Interrupted}
	for _, tt := range []struct {
		name  string
		past  []earshot.Event
		spans int // of the thought that goes on; 0 if none does
	}{
		{"parked", []earshot.Event{thought("a", "", time.Hour, parked)}, 1},
		{"parked twice", []earshot.Event{thought("a", "", time.Hour, parked), thought("b", "a", 0, parked)}, 2},
		{"not distilled", []earshot.Event{thought("a", "", 0, parked), thought("b", "a", 0, done)}, 2},
		{"distilled", []earshot.Event{thought("a", "", 0, done), {Body: earshot.Finding{Thought: "a"}}}, 0},
		{"dropped", []earshot.Event{thought("a", "", 0, earshot.Thought{Outcome: earshot.Interrupted, Dropped: true})}, 0},
		{"old", []earshot.Event{thought("a", "", 25*time.Hour, parked)}, 0},
		{"its beginning is forgotten", []earshot.Event{thought("b", "a", 0, parked)}, 0},
		{"unasked", []earshot.Event{unasked}, 0},
	} {
		d := open()
		d.Resume(tt.past)
		spans := 0
		for _, v := range d.View() {
			if spans = len(v.Spans); v.ID != "a" || v.Name != "Ann" || v.Question.Text != "tides?" {
				t.Errorf("%s: %+v goes on", tt.name, v.Question)
			}
		}
		if spans != tt.spans {
			t.Errorf("%s: %d segments go on, want %d", tt.name, spans, tt.spans)
		}
		d.Forget("", func(id earshot.EventID) bool { return id == "m9" })
		if len(d.View()) != 0 {
			t.Errorf("%s: it rests on nothing any more", tt.name)
		}
	}
}

// TestUpdate: the owner parks and releases the mind as the floor is taken or free, leaves it while an
// event is being admitted, and is then woken.
func TestUpdate(t *testing.T) {
	d := open()
	check := func(what string, held bool) {
		t.Helper()
		if d.Update(); d.Held() != held {
			t.Errorf("%s: the mind is parked: %v", what, d.Held())
		}
	}
	check("at first", false)
	d.taken = true
	check("somebody types", true)
	d.taken = false
	one, other := d.BeginAdmission(), d.BeginAdmission()
	check("events are being admitted", true)
	one()
	one()
	check("one is", true)
	if d.nudges != 1 {
		t.Errorf("the owner was woken %d times by the first", d.nudges)
	}
	other()
	check("none is", false)
	d.BeginAdmission()()
	if d.nudges != 2 {
		t.Errorf("the owner was woken %d times", d.nudges)
	}
	d.Park(earshot.Interruption{})
	check("it was parked for a moment", false)
	d.set.LLM.Slots, d.taken = 2, true
	check("there is a slot to spare", false)
}

// TestHasSpareSlot: a thought and a reply are generated together by an engine with slots or hosts, or
// by two engines.
func TestHasSpareSlot(t *testing.T) {
	engines := []llm.EngineConfig{{Name: "big", Slots: 1}, {Name: "small", Slots: 4}, {Name: "twins", Slots: 1}, {Name: "twins", Slots: 1, Host: "other"}}
	for _, tt := range []struct {
		parallel     bool
		talks, muses string
		want         bool
	}{
		{true, "big", "", false}, {true, "big", "big", false}, {true, "big", "small", true},
		{true, "small", "", true}, {true, "twins", "", true}, {false, "small", "big", false}, {true, "gone", "", false},
	} {
		d := open()
		d.set.Parallel.Enabled, d.set.LLM.Engines, d.set.Reasoning.Engine = tt.parallel, engines, tt.muses
		d.context.Agent.Engine = tt.talks
		if got := d.HasSpareSlot(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestTool: an agent passes on what it is not sure of, to be thought about within the circle of the
// answer.
func TestTool(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"question":"When is springtide?","uncertainty":0.8}`: "",
		`{"question":"When is springtide?","uncertainty":0.2}`: "sure enough",
		`{"question":"When is springtide?","uncertainty":2}`:   "from 0 to 1",
		`{"question":" ","uncertainty":0.8}`:                   "question",
		`{}`:                                                   "question",
	} {
		d := open()
		ponder := d.Tool(func() (earshot.Event, prompt.Provenance) {
			return earshot.Event{ID: "m1", Via: "terminal"}, prompt.Provenance{Visibility: between, Sources: []earshot.EventID{"m0"}}
		})
		_, err := ponder.Do(t.Context(), tool.Scope{Askers: []participants.Participant{{ID: participants.Owner, Name: "Ann"}}}, json.RawMessage(arguments))
		switch all := d.View(); {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) || len(all) != 0 {
				t.Errorf("%s: %v", arguments, err)
			}
		case err != nil || len(all) != 1 || all[0].By != participants.Owner || all[0].Visibility.Scope != earshot.Private || all[0].Sources[0] != "m0":
			t.Errorf("%s: %v, %+v", arguments, err, all)
		}
	}
}

// TestCommand: /think shows and stops only what everybody who reads the answer may see.
func TestCommand(t *testing.T) {
	d := open()
	d.ask(between)
	give := func(a earshot.Audience, args earshot.Text) string {
		said, err := d.Command(t.Context(), command.Call{By: participants.Participant{ID: participants.Owner, Name: "Ann"}, Audience: a, Args: args})
		if err != nil {
			return err.Error()
		}
		return said
	}
	for _, tt := range []struct {
		audience   earshot.Audience
		args, want string
	}{
		{everyone, "", "I am not thinking about anything"},
		{ann, "", "Waiting to think, 0 tokens (trigger), asked by Ann"},
		{everyone, "stop", "nothing is being thought about"},
		{ann, "Stop", "I have stopped"},
		{ann, strings.Repeat("x", 2000), "2000 bytes"},
		{ann, "Will it rain?", "I am thinking about it"},
	} {
		if got := give(tt.audience, earshot.Text(tt.args)); !strings.Contains(got, tt.want) {
			t.Errorf("/think %.10s: %q", tt.args, got)
		}
	}
	d.shut = true
	if got := give(ann, "Will it rain?"); !strings.Contains(got, "not possible now") {
		t.Errorf("where nothing is answered: %q", got)
	}
}

// TestStop: /think stop ends what its author asked for and what nobody asked for, and what others
// asked for only if its author is the owner.
func TestStop(t *testing.T) {
	for _, tt := range []struct {
		by   earshot.ParticipantID
		want string // what is said, and what is thought about afterwards
	}{
		{"bob", "I have stopped thinking about it.: cy"},
		{"dan", "somebody else asked for what is being thought about; only they and the owner can stop it: bob cy"},
		{participants.Owner, "I have stopped thinking about it.:"},
	} {
		d := open()
		give := func(by earshot.ParticipantID, args earshot.Text) string {
			said, err := d.Command(t.Context(), command.Call{By: participants.Participant{ID: by, Name: string(by)}, Audience: everyone, Args: args})
			if err != nil {
				return err.Error()
			}
			return said
		}
		give("bob", "Will it rain?")
		give("cy", "Will it snow?")
		got := give(tt.by, "stop") + ":"
		for _, v := range d.View() {
			got += " " + string(v.By)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.by, got, tt.want)
		}
	}
	d := open()
	d.Restore(think.Question{ID: "t9", Cause: earshot.ByNovelty, Visibility: public, At: noon}, nil, 0)
	if _, err := d.Command(t.Context(), command.Call{By: participants.Participant{ID: "dan"}, Audience: everyone, Args: "stop"}); err != nil || len(d.View()) > 0 {
		t.Errorf("what nobody asked for: %v, %d thoughts", err, len(d.View()))
	}
}
