package snapshot_test

import (
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/latency"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/scene"
	"earshot/executive/seat"
	"earshot/executive/snapshot"
	"earshot/participants/agents"
)

var (
	noon     = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	public   = earshot.Visibility{Scope: earshot.Public}
	private  = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}
	stranger = earshot.Audience{Unknown: true}
	ann      = earshot.Audience{Members: []earshot.ParticipantID{"ann"}}
	ear      = agents.Record{ID: "ear", Profile: earshot.Profile{Name: "Ear"}}
)

// live returns a question that an agent answers, of a visibility, and what the answer rests on.
func live(asked, rests earshot.Visibility) *question.Question {
	q := &question.Question{
		Seat: &seat.Seat{Record: ear, Awake: true}, Message: earshot.Event{ID: "1", Author: "ann", Visibility: asked, Body: earshot.Message{}},
		Trace: &latency.Trace{Came: noon, Began: noon}, Rests: prompt.Provenance{Visibility: rests},
	}
	q.Trace.SetVisibility(rests)
	return q
}

// TestPrivateReply: of a reply, and of whom an agent talks with, nobody learns who may not see both
// the question and all that the answer is made from.
func TestPrivateReply(t *testing.T) {
	for _, tt := range []struct {
		name            string
		asked, rests    earshot.Visibility
		to              earshot.Audience
		reply, partners bool
	}{
		{"public", public, public, stranger, true, true},
		{"private, to somebody else", private, private, stranger, false, false},
		{"private, to whom it is for", private, private, ann, true, true},
		{"it rests on something private", public, private, stranger, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := live(tt.asked, tt.rests)
			l, shown := snapshot.Reply(q, "ear", tt.to, noon)
			if shown != tt.reply || shown && (l.To != "ann" || l.Private != (tt.rests.Scope == earshot.Private)) {
				t.Errorf("the reply: %v, %+v", shown, l)
			}
			of := snapshot.Agents([]agents.Record{ear}, []*seat.Seat{q.Seat}, q, nil, tt.to)
			if of[0].State != api.Active || (of[0].Partner == "ann") != tt.partners {
				t.Errorf("the agent: %+v", of)
			}
		})
	}
}

// TestPartner: after a turn its partner is the last one that those who look may know of; an agent
// without a seat sleeps.
func TestPartner(t *testing.T) {
	past := latency.Log{
		{Latency: api.Latency{Agent: "ear"}, Whom: "bob", Visibility: public},
		{Latency: api.Latency{Agent: "ear"}, Whom: "ann", Visibility: private},
	}
	for want, to := range map[earshot.ParticipantID]earshot.Audience{"bob": stranger, "ann": ann} {
		if of := snapshot.Agents([]agents.Record{ear}, nil, nil, past, to); of[0].Partner != want || of[0].State != api.Sleeping {
			t.Errorf("%+v, want %s asleep", of, want)
		}
	}
}

// TestFacts: a fact is shown in one line, with who said it.
func TestFacts(t *testing.T) {
	all := snapshot.Facts([]scene.Item{{ID: "1", Field: scene.Messages, By: "ann", Name: "Ann", Text: "two\nlines", At: noon, Visibility: private}})
	if len(all) != 1 || all[0].Text != "Ann: two lines" || !all[0].Private || all[0].Field != string(scene.Messages) {
		t.Errorf("%+v", all)
	}
}
