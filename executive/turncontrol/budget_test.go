package turncontrol_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/turncontrol"
	"earshot/participants"
)

// kinds returns the type of a participant in these tests.
func kinds(id earshot.ParticipantID) participants.Type {
	return map[earshot.ParticipantID]participants.Type{
		"ann": participants.Human, "bob": participants.Human, "room": participants.Group, "user": participants.Human,
		"agent": participants.Internal, "coder": participants.Internal,
		"claude": participants.AIAssistant, "bot": participants.ExternalAgent, "sensor": participants.Other,
	}[id]
}

// happened returns an event as it is in the journal.
func happened(by earshot.ParticipantID, body earshot.Body, to ...earshot.ParticipantID) earshot.Event {
	return earshot.Event{Author: by, To: to, Body: body, Visibility: earshot.Visibility{Scope: earshot.Public}}
}

// said returns a reply of an agent.
func said(text earshot.Text) earshot.Reply {
	return earshot.Reply{Offered: text, Outcome: earshot.Completed}
}

func TestMoves(t *testing.T) {
	hello := earshot.Message{Text: "hello"}
	fired := earshot.Reminder{Act: earshot.Fired, Text: "the kettle"}
	made := happened("agent", earshot.Reminder{Act: earshot.Created, Text: "the kettle"})
	made.From = earshot.Handle{Provider: "earshot", ID: "reminder"}
	for _, tt := range []struct {
		name string
		e    earshot.Event
		want turncontrol.Kind
	}{
		{"a person calls nobody", happened("ann", hello), turncontrol.Begin},
		{"a person calls an agent", happened("ann", hello, "bob", "coder"), turncontrol.Begin},
		{"a person calls an AI from outside", happened("ann", hello, "claude"), turncontrol.Begin},
		{"people talk to each other", happened("ann", hello, "bob"), turncontrol.Irrelevant},
		{"several people behind one handle", happened("room", hello), turncontrol.Begin},
		{"a person without a name", happened("user", hello, "agent"), turncontrol.Begin},
		{"somebody unknown", happened("", hello, "agent"), turncontrol.Irrelevant},
		{"an AI from outside", happened("claude", hello, "agent"), turncontrol.Word},
		{"a bot from outside", happened("bot", hello), turncontrol.Word},
		{"another system", happened("sensor", hello, "agent"), turncontrol.Word},
		{"a message of an exchange", happened("coder", earshot.Message{Text: "look", Turn: "T"}, "agent"), turncontrol.Word},
		{"a message of one who was made for a task", happened("gone", earshot.Message{Text: "look", Turn: "T"}, "agent"), turncontrol.Word},
		{"a reply", happened("agent", said("yes"), "ann"), turncontrol.Word},
		{"a reply that broke off", happened("agent", earshot.Reply{Offered: "ye", Outcome: earshot.Failed}), turncontrol.Word},
		{"a reply in which nothing was said", happened("agent", earshot.Reply{Outcome: earshot.Suppressed}), turncontrol.Irrelevant},
		{"a pass", happened("agent", earshot.Reply{Offered: "x", Handover: &earshot.Handover{Why: earshot.Passed}}), turncontrol.Pass},
		{"the limit", happened("agent", earshot.Reply{Offered: "x", Handover: &earshot.Handover{Why: earshot.TurnLimit}}), turncontrol.Leave},
		{"repetition", happened("agent", earshot.Reply{Offered: "x", Handover: &earshot.Handover{Why: earshot.Repetition}}), turncontrol.Leave},
		{"an utterance to an agent", happened("ann", earshot.Utterance{Text: "hello"}, "agent"), turncontrol.Begin},
		{"an utterance by a voice that nobody knows", happened("", earshot.Utterance{Text: "hello"}, "agent"), turncontrol.Begin},
		{"an utterance aside", happened("ann", earshot.Utterance{Text: "hello"}), turncontrol.Irrelevant},
		{"somebody comes", happened("ann", earshot.Presence{Here: true}), turncontrol.Irrelevant},
		{"a notice", happened("agent", earshot.Notice{Text: "x"}), turncontrol.Irrelevant},
		{"a memo", happened("ann", earshot.Memo{Text: "x"}), turncontrol.Irrelevant},
		{"a mode", happened("ann", earshot.ModeChange{Mode: earshot.Paused}), turncontrol.Irrelevant},
		{"a decision", happened("agent", earshot.Decision{}), turncontrol.Irrelevant},
		{"a tool", happened("agent", earshot.Use{Tool: "note"}), turncontrol.Irrelevant},
		{"a reminder that is due", happened("agent", fired), turncontrol.Due},
		{"a reminder that a person made", happened("agent", earshot.Reminder{Act: earshot.Created}), turncontrol.Irrelevant},
		{"a reminder that an agent made", made, turncontrol.Set},
		{"what was erased", happened("ann", earshot.Tombstone{Was: earshot.KindMessage}), turncontrol.Irrelevant},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := turncontrol.EventOf(tt.e, kinds); got.Kind != tt.want {
				t.Errorf("%d, want %d", got.Kind, tt.want)
			}
		})
	}
}

// TestBudget takes one conversation a case, a letter an event. P is a message of a person to an
// agent, and H one to a person; A and B are replies of agents, C a message of an AI from outside; p
// is a pass, and l the limit; c is somebody's arrival; s is a reminder that an agent sets, o says
// that it is due, and r that a person's reminder is due. The row below has the number of messages
// in a row after each event, or "x" once the agents have handed over.
func TestBudget(t *testing.T) {
	events := map[rune]earshot.Event{
		'P': happened("ann", earshot.Message{Text: "go on"}, "agent"),
		'H': happened("ann", earshot.Message{Text: "lunch?"}, "bob"),
		'p': happened("coder", earshot.Reply{Offered: "x", Handover: &earshot.Handover{Why: earshot.Passed}}),
		'l': happened("coder", earshot.Reply{Offered: "x", Handover: &earshot.Handover{Why: earshot.TurnLimit}}),
		'c': happened("bob", earshot.Presence{Here: true}),
		'C': happened("claude", earshot.Message{Text: "hello"}, "agent"),
		'r': happened("agent", earshot.Reminder{Act: earshot.Fired, Of: "a person's"}),
		'o': happened("agent", earshot.Reminder{Act: earshot.Fired, Of: "its own"}),
	}
	own := happened("agent", earshot.Reminder{Act: earshot.Created})
	own.ID, own.From = "its own", earshot.Handle{Provider: "earshot", ID: "reminder"}
	events['s'] = own
	for _, tt := range []struct{ name, talk, want string }{
		{"a chain", "PABAB", "01234"},
		{"a person in the middle", "PABPA", "01201"},
		{"comings and people among themselves", "PABcHA", "012223"},
		{"a pass", "PABpA", "01201"},
		{"the limit holds until a person speaks", "PABlABHPA", "012xxxx01"},
		{"an AI from outside", "PCACA", "01234"},
		{"a reminder", "ABrA", "1201"},
		{"one that the agents have set themselves", "PAsBoAoBrAo", "01122334011"},
		{"one that they have set before", "PAsPABo", "0110120"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var turns turncontrol.Control
			got := ""
			for i, c := range tt.talk {
				e, known := events[c]
				if !known {
					e = happened(map[rune]earshot.ParticipantID{'A': "agent", 'B': "coder"}[c], said(earshot.Text(fmt.Sprintf("word %d", i))))
				}
				turns.Take(e, kinds)
				b := turns.Of(e.Visibility)
				if b.Over {
					got += "x"
					continue
				}
				got += fmt.Sprint(b.Count)
			}
			if got != tt.want {
				t.Errorf("%s\n%s, want\n%s", tt.talk, got, tt.want)
			}
		})
	}
}

// TestSpent: a limit of n allows n messages, and nobody is asked for one more.
func TestSpent(t *testing.T) {
	for _, limit := range []int{0, 1, 2, 20} {
		var b turncontrol.Budget
		n := 0
		for !b.Spent(limit) {
			b.Take(turncontrol.Event{Kind: turncontrol.Word, By: "agent"})
			n++
		}
		if n != limit {
			t.Errorf("%d messages with a limit of %d", n, limit)
		}
	}
}

// TestWhoIsWho: the budget knows for whom the agents work and which agent spoke last.
func TestWhoIsWho(t *testing.T) {
	var turns turncontrol.Control
	for _, e := range []earshot.Event{
		happened("bob", earshot.Message{Text: "go"}, "agent"), happened("agent", said("@Coder, go")), happened("coder", said("yes")),
		happened("ann", earshot.Message{Text: "lunch?"}, "bob"),
	} {
		turns.Take(e, kinds)
	}
	if b := turns.Of(earshot.Visibility{Scope: earshot.Public}); b.For != "bob" || b.Last != "coder" {
		t.Errorf("for %s, last %s", b.For, b.Last)
	}
}

// TestCircles: a private conversation has a budget of its own, and only so many budgets are kept.
func TestCircles(t *testing.T) {
	private := func(members ...earshot.ParticipantID) earshot.Visibility {
		return earshot.Visibility{Scope: earshot.Private, Members: members}
	}
	var turns turncontrol.Control
	for _, v := range []earshot.Visibility{
		{Scope: earshot.Public}, {Scope: earshot.Public, Agents: []earshot.ParticipantID{"coder"}}, private("agent", "ann"), {Scope: earshot.System},
	} {
		e := happened("agent", said("hello"))
		e.Visibility = v
		turns.Take(e, kinds)
	}
	if open, own, other := turns.Of(earshot.Visibility{Scope: earshot.Public}), turns.Of(private("agent", "ann")), turns.Of(private("agent", "bob")); open.Count != 3 || own.Count != 1 || other.Count != 0 {
		t.Errorf("%d in the open, %d and %d in private", open.Count, own.Count, other.Count)
	}
	for i := range 1000 {
		e := happened("agent", said("hello"))
		e.Visibility = private(earshot.ParticipantID(fmt.Sprint(i)))
		turns.Take(e, kinds)
	}
	if old, new := turns.Of(private("agent", "ann")), turns.Of(private("999")); old.Count != 0 || new.Count != 1 {
		t.Errorf("%d of the eldest, %d of the newest", old.Count, new.Count)
	}
}

func TestAlike(t *testing.T) {
	long := "I have looked at the parser and everything in it seems to be in good order so far, so let us go on with the tests"
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"the same", "Great idea, let's do it!", "Great idea, let's do it!", true},
		{"case and marks", "Great idea, let's do it!", "great idea - LETS DO IT", true},
		{"to somebody else", "@alice, great idea, let's do it!", "@Coder great idea, let's do it!", true},
		{"a word in twenty", long, strings.Replace(long, "good", "perfect", 1), true},
		{"two words in twenty", long, strings.Replace(strings.Replace(long, "good", "perfect", 1), "parser", "lexer", 1), false},
		{"without spaces", "好的，没问题，我们开始吧", "好的,没问题,我们开始吧", true},
		{"smiles", "🙂", "🙂", true},
		{"one smile and another", "🙂", "🙁", false},
		{"nothing", "", "", false},
		{"something else", "Great idea, let's do it!", "I would rather not do that.", false},
		{"the words in another order", "the dog bites the man now", "the man bites the dog now", false},
		{"counting up", "step 3 of the plan is done and I go on", "step 4 of the plan is done and I go on", false},
		{"half of it", "one two three four five six", "one two three", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if turncontrol.Alike(earshot.Text(tt.a), earshot.Text(tt.b)) != tt.want || turncontrol.Alike(earshot.Text(tt.b), earshot.Text(tt.a)) != tt.want {
				t.Errorf("%q and %q: want %v", tt.a, tt.b, tt.want)
			}
		})
	}
}

// TestAlikeIsFair: every text is like itself, and likeness is symmetric.
func TestAlikeIsFair(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) earshot.Text {
		return earshot.Text(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"yes", "no", "Ann", "7", "日本", "go", "on"}), 1, 8).Draw(t, "words"), " "))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if !turncontrol.Alike(a, earshot.Text(strings.ToUpper(string(a))+"!")) {
			t.Fatalf("%q is not like itself", string(a))
		}
		if turncontrol.Alike(a, b) != turncontrol.Alike(b, a) {
			t.Fatalf("%q and %q are alike one way only", string(a), string(b))
		}
	})
}

func TestRepeats(t *testing.T) {
	const please = "Please go on with the next part of the work."
	for _, tt := range []struct {
		name string
		said []earshot.Text
		want int // the message that makes it a repetition; 0 if none does
	}{
		{"three times", []earshot.Text{please, please, please}, 3},
		{"with others between", []earshot.Text{please, "I have done the first of them.", please, "I have done another one since then.", please}, 5},
		{"twice", []earshot.Text{please, "I have done the first of them.", please}, 0},
		{"yes, twice", []earshot.Text{"yes", "yes"}, 0},
		{"yes to different questions", []earshot.Text{"Is it tested by somebody?", "yes", "Is it documented anywhere yet?", "yes", "Was it released to the people?", "yes"}, 0},
		{"thanks for thanks", []earshot.Text{"Thank you!", "You are welcome!", "Thank you!", "You are welcome!", "Thank you!", "You are welcome!"}, 6},
		{"counting up", []earshot.Text{"Step 1 of the work is done.", "Step 2 of the work is done.", "Step 3 of the work is done.", "Step 4 of the work is done."}, 0},
		{"long ago", append([]earshot.Text{please, please}, append(apart(9), please)...), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b turncontrol.Budget
			got := 0
			for i, text := range tt.said {
				b.Take(turncontrol.Event{Kind: turncontrol.Word, By: "agent", Text: text})
				if b.Repeats() && got == 0 {
					got = i + 1
				}
			}
			if got != tt.want {
				t.Errorf("a repetition after %d messages, want %d", got, tt.want)
			}
		})
	}
}

// apart returns n texts, no two of which are alike.
func apart(n int) (all []earshot.Text) {
	for i := range n {
		all = append(all, earshot.Text(strings.Repeat(string(rune('a'+i)), 3)+" is one of many different things"[i:]))
	}
	return all
}

// TestRestart: turn control that is rebuilt from the journal is the same, wherever the program
// ended.
func TestRestart(t *testing.T) {
	who := rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", "agent", "coder", "claude", ""})
	text := rapid.SampledFrom([]earshot.Text{"yes", "no", "please go on with the next part of it", "I have done this and that", ""})
	event := rapid.Custom(func(t *rapid.T) earshot.Event {
		e := happened(who.Draw(t, "author"), nil, rapid.SliceOfN(who, 0, 2).Draw(t, "to")...)
		if rapid.Bool().Draw(t, "private") {
			e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"agent", "ann"}}
		}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			e.Body = earshot.Message{Text: text.Draw(t, "text")}
		case 2, 3:
			e.Body = said(text.Draw(t, "text"))
		case 4:
			why := rapid.SampledFrom([]earshot.Why{earshot.TurnLimit, earshot.Passed, earshot.Repetition}).Draw(t, "why")
			e.Body = earshot.Reply{Offered: "x", Handover: &earshot.Handover{Why: why}}
		case 5:
			e.Body = earshot.Presence{Here: true}
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(event, 0, 40).Draw(t, "events")
		var live, again turncontrol.Control
		for _, e := range events {
			live.Take(e, kinds)
			kept, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var read earshot.Event
			if err := json.Unmarshal(kept, &read); err != nil {
				t.Fatal(err)
			}
			again.Take(read, kinds)
			if a, b := live.Of(e.Visibility), again.Of(e.Visibility); !reflect.DeepEqual(a, b) {
				t.Fatalf("%+v, made again %+v", a, b)
			}
		}
	})
}

func BenchmarkRepeats(b *testing.B) {
	var budget turncontrol.Budget
	text := earshot.Text(strings.Repeat("I have looked at the parser and everything in it seems to be in order. ", 20))
	b.ReportAllocs()
	for b.Loop() {
		budget.Take(turncontrol.Event{Kind: turncontrol.Word, By: "agent", Text: text})
		budget.Repeats()
	}
}
