package question_test

import (
	"fmt"
	"testing"

	"earshot"
	"earshot/conversation"
	"earshot/executive/question"
	"earshot/executive/seat"
	"earshot/participants"

	"pgregory.net/rapid"
)

// TestSupersede: whatever waits, every question is kept or given up, one is kept for each agent in
// each conversation as far as there is room, a person's is never given up for an agent's, and
// whoever asked what was given up for another question counts among its askers.
func TestSupersede(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seats := []*seat.Seat{{}, {}}
		var all question.Queue
		for i := range rapid.IntRange(0, 3*conversation.MaxCircles).Draw(t, "questions") {
			v := earshot.Visibility{Scope: earshot.Public}
			if n := rapid.IntRange(0, conversation.MaxCircles+3).Draw(t, "circle"); n > 0 {
				v = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{earshot.ParticipantID(fmt.Sprint(n))}}
			}
			all = append(all, question.Question{
				Seat: rapid.SampledFrom(seats).Draw(t, "seat"), Rank: rapid.IntRange(0, 2).Draw(t, "rank"), Chain: rapid.Bool().Draw(t, "by an agent"),
				Message: earshot.Event{ID: earshot.EventID(fmt.Sprint(i)), Visibility: v, Body: earshot.Message{}},
				Askers:  []participants.Participant{{ID: earshot.ParticipantID(fmt.Sprint("p", i))}},
			})
		}
		kept, dropped := all.Supersede()
		if len(kept)+len(dropped) != len(all) {
			t.Fatalf("of %d questions %d were kept and %d given up", len(all), len(kept), len(dropped))
		}
		circles := map[*seat.Seat]int{}
		askers := map[earshot.ParticipantID]bool{}
		for i, q := range kept {
			if circles[q.Seat]++; circles[q.Seat] > conversation.MaxCircles {
				t.Fatal("too many conversations of one agent wait")
			}
			for _, other := range kept[:i] {
				if other.Seat == q.Seat && !other.Separate(&q) {
					t.Fatalf("%s and %s wait for one agent in one conversation", other.Message.ID, q.Message.ID)
				}
			}
			for _, p := range q.Askers {
				askers[p.ID] = true
			}
		}
		for _, q := range dropped {
			if q.By == "" {
				continue // too many conversations
			}
			for _, k := range kept {
				if k.Seat == q.Seat && !k.Separate(&q.Question) && (k.Chain && !q.Chain || !askers[q.Askers[0].ID]) {
					t.Fatalf("%s was given up for %s, by an agent: %v, asker forgotten: %v", q.Message.ID, k.Message.ID, k.Chain, !askers[q.Askers[0].ID])
				}
			}
		}
		for waits := kept; len(waits) > 0; { // people first
			i := waits.Next()
			for _, q := range waits {
				if waits[i].Chain && !q.Chain {
					t.Fatalf("%s, by an agent, is answered before %s", waits[i].Message.ID, q.Message.ID)
				}
			}
			waits = append(waits[:i:i], waits[i+1:]...)
		}
	})
}
