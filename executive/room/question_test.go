package room

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/admission"
	"earshot/executive/owner"
	"earshot/executive/question"
	"earshot/executive/seat"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/participants/agents"
)

// waiting returns a room in which some questions wait. Each of them is written as "agent circle
// rank asker", with the circle "-" for the public, and with a "~" in front if an agent asks. The
// turn of a question is its place among them.
func waiting(t *testing.T, questions string) *Room {
	t.Helper()
	r := &Room{
		floor: new(interrupt.Floor), owner: owner.New(ErrClosed),
		cfg: Config{
			Settings: executive.DefaultConfig, Now: time.Now, NewID: func() earshot.EventID { return "e" },
			People: participants.New(earshot.Handle{Provider: "console", ID: "ann"}, "ann", "Earshot"),
		},
	}
	r.unasked, r.mode = r.newUnasked(), r.newMode()
	for _, id := range []earshot.ParticipantID{"a", "b"} {
		r.seats = append(r.seats, &seat.Seat{Record: agents.Record{ID: id}})
	}
	for i, q := range strings.Split(questions, ", ") {
		var agent, circle, asker string
		var rank int
		rest, chain := strings.CutPrefix(q, "~")
		if _, err := fmt.Sscan(rest, &agent, &circle, &rank, &asker); err != nil {
			t.Fatal(q, err)
		}
		e := earshot.Event{ID: earshot.EventID(fmt.Sprint(i)), Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{}}
		if circle != "-" {
			e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{earshot.ParticipantID(circle)}}
		}
		r.pending = append(r.pending, question.Question{
			Seat: r.seatOf(earshot.ParticipantID(agent)), Message: e, Rank: rank, Chain: chain, Turn: earshot.TurnID(fmt.Sprint(i)),
			Askers: []participants.Participant{{ID: earshot.ParticipantID(asker)}},
		})
	}
	return r
}

// TestWhatWaits: of several questions to one agent in one conversation only one is left, which
// knows who asked the others. Those that are left are answered in this order.
func TestWhatWaits(t *testing.T) {
	many := ""
	for i := range conversation.MaxCircles + 2 {
		many += fmt.Sprintf("a c%d 1 ann, ", i)
	}
	for _, tt := range []struct{ name, waits, answered string }{
		{"one", "a - 1 ann", "0 ann"},
		{"the newest of equals", "a - 1 ann, a - 1 bob", "1 bob ann"},
		{"the most urgent", "a - 2 ann, a - 1 bob", "0 ann bob"},
		{"a burst", "a - 1 ann, a - 1 bob, a - 2 carol, a - 1 ann", "2 carol bob ann"},
		{"each agent its own, the newest first", "a - 1 ann, b - 1 bob", "1 bob, 0 ann"},
		{"each conversation its own", "a - 1 ann, a x 1 bob", "0 ann, 1 bob"},
		{"who waits longest", "a x 1 bob, a - 1 ann, b x 1 bob", "2 bob, 0 bob, 1 ann"},
		{"an agent after people", "~a - 1 ann, b x 1 bob", "1 bob, 0 ann"},
		{"a person's for an agent's", "a - 1 ann, ~a - 9 bob", "0 ann bob"},
		{"an agent's against a person's", "~a - 9 bob, a - 1 ann", "1 ann bob"},
		{"too many conversations", many + "b - 1 bob", "2 ann, 3 ann, 4 ann, 5 ann, 6 ann, 7 ann, 8 ann, 9 ann, 10 ann, 11 ann, 12 ann, 13 ann, 14 ann, 15 ann, 16 ann, 17 ann, 18 bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := waiting(t, tt.waits)
			n := len(r.pending)
			r.supersede()
			var answered []string
			for q, ok := r.choose(t.Context(), 0); ok; q, ok = r.choose(t.Context(), 0) {
				who := fmt.Sprint(q.Turn)
				for _, p := range q.Askers {
					who += " " + string(p.ID)
				}
				answered = append(answered, who)
			}
			if got := strings.Join(answered, ", "); got != tt.answered {
				t.Errorf("answered %q, want %q", got, tt.answered)
			}
			ended, _, _ := r.records.unsaved.Flush(func(all ...earshot.Event) ([]earshot.Event, error) { return all, nil })
			for _, e := range ended {
				if reply := e.Body.(earshot.Reply); reply.Outcome != earshot.Suppressed {
					t.Errorf("a turn that never began was %s", reply.Outcome)
				}
			}
			if len(ended)+len(answered) != n {
				t.Errorf("of %d turns %d were given up and %d answered", n, len(ended), len(answered))
			}
		})
	}
}

// TestOvertake: somebody who asks an agent ends what agents ask each other in the same
// conversation, and a command word ends it everywhere. People's questions go on waiting.
func TestOvertake(t *testing.T) {
	public := earshot.Visibility{Scope: earshot.Public}
	for _, tt := range []struct {
		name string
		kind interrupt.Kind
		asks int
		left string
	}{
		{"a question", interrupt.Addressed, 1, "0 2"},
		{"a command word", interrupt.Command, 0, "0"},
		{"talk to others", interrupt.Bystanders, 0, "0 1 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := waiting(t, "a - 1 ann, ~b - 1 ann, ~b x 1 ann")
			r.overtake(&admission.Entry{Input: admission.Input{Event: earshot.Event{Visibility: public}, Signal: &interrupt.Signal{Kind: tt.kind}}, Questions: make([]question.Question, tt.asks)})
			var left []string
			for _, q := range r.pending {
				left = append(left, string(q.Turn))
			}
			if got := strings.Join(left, " "); got != tt.left {
				t.Errorf("left are %q, want %q", got, tt.left)
			}
		})
	}
}
