package exchange_test

import (
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/exchange"
	"earshot/executive/reason"
	"earshot/executive/seat"
	"earshot/participants"
	"earshot/participants/agents"
)

// tracker returns a tracker among people of whom Ann owns the machine.
func tracker() *exchange.Tracker {
	return &exchange.Tracker{People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "Ann", "Earshot")}
}

// TestParting: the agent says to whom it leaves the floor, and why.
func TestParting(t *testing.T) {
	tr := tracker()
	for _, tt := range []struct {
		why    earshot.Why
		limit  int
		want   string
		reason string
	}{
		{earshot.Passed, 6, "@Ann, Coder is passing control to you.", reason.Passing},
		{earshot.Repetition, 6, "the same again and again", reason.Again},
		{earshot.Apart, 6, "an agent of another user", reason.Foreign},
		{earshot.TurnLimit, 1, "agents do not answer each other here", reason.Enough},
		{earshot.TurnLimit, 6, "we have said 7 messages in a row", reason.Enough},
	} {
		got := tr.Parting(&earshot.Handover{Why: tt.why, To: participants.Owner}, "Coder", 7, tt.limit)
		if !strings.Contains(got, tt.want) || !strings.HasPrefix(got, "@Ann, ") || exchange.DecisionReason(tt.why) != tt.reason {
			t.Errorf("%s, limit %d: %q, %q", tt.why, tt.limit, got, exchange.DecisionReason(tt.why))
		}
	}
	if got := tr.Parting(&earshot.Handover{Why: earshot.Passed}, "Coder", 1, 6); !strings.HasPrefix(got, "@human, ") {
		t.Errorf("to nobody known: %q", got)
	}
}

// TestWorksFor: agents work for the owner until somebody has asked, and for nobody in a
// conversation that the owner may not see.
func TestWorksFor(t *testing.T) {
	tr := tracker()
	if got := tr.WorksFor(earshot.Visibility{Scope: earshot.Public}); got != participants.Owner {
		t.Errorf("in public they work for %q", got)
	}
	if got := tr.WorksFor(earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"somebody"}}); got != "" {
		t.Errorf("in a conversation without the owner they work for %q", got)
	}
}

// TestAddress: a called agent sees the reply, also one that only some agents may see; an agent of
// another user does not.
func TestAddress(t *testing.T) {
	coder := &seat.Seat{Record: agents.Record{ID: "coder"}}
	for _, tt := range []struct {
		name  string
		c     exchange.Targets
		to    string
		sight string
	}{
		{"an agent", exchange.Targets{Agents: []*seat.Seat{coder}}, "ann coder", "earshot coder"},
		{"another user's", exchange.Targets{Agents: []*seat.Seat{coder}, Apart: true}, "ann", "earshot"},
		{"a person", exchange.Targets{Person: "bob"}, "ann bob", "earshot"},
		{"the same person", exchange.Targets{Person: "ann"}, "ann", "earshot"},
	} {
		done := earshot.Event{To: []earshot.ParticipantID{"ann"}, Visibility: earshot.Visibility{Scope: earshot.Public, Agents: []earshot.ParticipantID{"earshot"}}}
		got := tt.c.Address(done)
		if to, sight := list(got.To), list(got.Visibility.Agents); to != tt.to || sight != tt.sight {
			t.Errorf("%s: to %s, seen by %s; want %s, %s", tt.name, to, sight, tt.to, tt.sight)
		}
		if !slices.Equal(done.To, []earshot.ParticipantID{"ann"}) {
			t.Errorf("%s: the event that was given is changed", tt.name)
		}
	}
}

func list(ids []earshot.ParticipantID) string {
	var all []string
	for _, id := range ids {
		all = append(all, string(id))
	}
	return strings.Join(all, " ")
}

// TestSpend: the limit of messages in a row holds, and the error says to whom to speak instead.
func TestSpend(t *testing.T) {
	tr, public := tracker(), earshot.Visibility{Scope: earshot.Public}
	if err := tr.Spend(public, 3); err != nil {
		t.Errorf("nothing was said, and yet: %v", err)
	}
	for i := range 3 {
		tr.Take(earshot.Event{ID: earshot.EventID(string(rune('a' + i))), Author: participants.Agent, Visibility: public, Body: earshot.Reply{
			Turn: earshot.TurnID(string(rune('a' + i))), Outcome: earshot.Completed, Offered: earshot.Text("word " + string(rune('a'+i))),
			Heard: []earshot.Delivery{{Outlet: "console", Bytes: 6}},
		}})
	}
	if b := tr.Of(public); b.Count != 3 {
		t.Fatalf("%d messages were counted", b.Count)
	}
	if err := tr.Spend(public, 3); err == nil || !strings.Contains(err.Error(), "@Ann") {
		t.Errorf("after three: %v", err)
	}
	if tr.Reason(public, 9) != "" {
		t.Error("the limit is lower than it is")
	}
}
