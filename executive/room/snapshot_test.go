package room_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/think"
	"earshot/executive/thoughts"
	"earshot/internal/testkit"
	"earshot/participants"
)

// owner is the audience of somebody who looks at the room alone.
var owner = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}}

// TestSnapshotOfAReply: a snapshot shows a reply grow, how far it was heard, whether it is held
// back, and in the end how long it took.
func TestSnapshotOfAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.console.Every = 5 * time.Millisecond // a rune takes that long
		h = h.open(t.Context())
		began := time.Now()
		go h.Admit(t.Context(), message("count"))
		time.Sleep(27 * time.Millisecond) // "one", then " two"
		s := h.Snapshot(owner)
		if len(s.Replies) != 1 || s.Replies[0].Text != "one two" || s.Agents[0].Partner != participants.Owner {
			t.Errorf("after 27 ms it shows %+v, and the partner is %q", s.Replies, s.Agents[0].Partner)
		}
		if g := s.Replies[0]; len(g.Heard) != 1 || g.Heard[0].Bytes != 3 || g.Turn == "" || g.To != participants.Owner || g.Paused {
			t.Errorf("the reply is %+v, of which three runes came out of one outlet", g)
		}
		h.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "console", ID: "ann"}, Via: "console", Body: earshot.Typing{Began: true}})
		if s := h.Snapshot(owner); !s.Replies[0].Paused {
			t.Errorf("somebody types, and it shows %+v", s.Replies)
		}
		h.Admit(t.Context(), earshot.Event{From: earshot.Handle{Provider: "console", ID: "ann"}, Via: "console", Body: earshot.Typing{}})
		time.Sleep(time.Second)
		s = h.Snapshot(owner)
		h.stop()
		if len(s.Replies) != 0 || len(s.Turns) != 1 || s.Agents[0].Partner != participants.Owner {
			t.Fatalf("afterwards it shows %+v and %+v; the partner is %q", s.Replies, s.Turns, s.Agents[0].Partner)
		}
		l := s.Turns[0]
		if l.Outcome != earshot.Completed || !l.At.Equal(began) || l.FirstToken != 10*time.Millisecond || l.FirstClause != 0 || l.FirstHeard != 5*time.Millisecond || l.Wait != 15*time.Millisecond {
			t.Errorf("it took %+v; the first token came after 10 ms, the first rune after 5 more", l)
		}
		if sum := l.Hear + l.Decide + l.Queue + l.Ask + l.FirstToken + l.FirstClause + l.FirstHeard + l.Rest; sum != l.Total || l.Silence != 0 {
			t.Errorf("the stages make %v, and all is %v", sum, l.Total)
		}
	})
}

// A laggard is a voice that reports 40 ms late that it has come to its end.
type laggard struct{ *testkit.Voice }

func (l *laggard) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return l.Voice.Open(ctx, o, func(at earshot.Heard) {
		if at.End {
			time.AfterFunc(40*time.Millisecond, func() { heard(at) })
			return
		}
		heard(at)
	})
}

// TestSnapshotOfACut: a snapshot shows how long a turn that was cut took to fall silent.
func TestSnapshotOfACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.model.Reply = strings.Repeat("word ", 100)
		h.away = true
		h = h.open(t.Context())
		h.Enter(&laggard{h.console}, owner)
		go h.Admit(t.Context(), message("talk"))
		time.Sleep(200 * time.Millisecond)
		h.say(t, "stop")
		time.Sleep(time.Second)
		s := h.Snapshot(owner)
		h.stop()
		if len(s.Turns) == 0 || s.Turns[0].Outcome != earshot.Interrupted || s.Turns[0].Silence != 40*time.Millisecond {
			t.Errorf("it took %+v; the outlet falls silent after 40 ms", s.Turns)
		}
	})
}

// TestSnapshotOfWhatWasSaidAloud: the time that it takes to understand somebody counts as part of
// the turn.
func TestSnapshotOfWhatWasSaidAloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		began := time.Now()
		time.Sleep(2 * time.Second)
		err := h.Admit(t.Context(), earshot.Event{
			At: began, From: earshot.Handle{Provider: "microphone", ID: "1"}, Body: earshot.Utterance{Text: "earshot count", Confidence: 1, Lasted: 1700 * time.Millisecond},
		})
		time.Sleep(time.Second)
		s := h.Snapshot(owner)
		h.stop()
		if err != nil || len(s.Turns) != 1 || s.Turns[0].Hear != 300*time.Millisecond || s.Turns[0].Wait != 311*time.Millisecond || !s.Turns[0].Aloud {
			t.Errorf("it took %+v (%v), want 300 ms of hearing before 11 until the first rune", s.Turns, err)
		}
	})
}

// TestSnapshotOfAThought: a snapshot shows a thought grow, by its last bytes, and why it is parked.
func TestSnapshotOfAThought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := thinking(thinks("tides", strings.Repeat("thought ", 2000))).open(t.Context())
		h.command(t, "think", "about tides")
		time.Sleep(10 * time.Second)
		s := h.Snapshot(owner)
		if len(s.Thoughts) != 1 || s.Thoughts[0].Phase != string(think.Thinking) || s.Thoughts[0].Question != "about tides" || s.Thoughts[0].Tokens == 0 || s.Thoughts[0].For != participants.Owner {
			t.Fatalf("it shows %+v", s.Thoughts)
		}
		if text := string(s.Thoughts[0].Text); len(text) > thoughts.MostText || !strings.HasSuffix(strings.TrimSpace(text), "thought") {
			t.Errorf("it shows %d bytes of the thought: %q", len(text), text)
		}
		h.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Typing{Began: true}})
		time.Sleep(time.Second)
		s = h.Snapshot(owner)
		h.stop()
		if len(s.Thoughts) != 1 || s.Thoughts[0].Phase != string(think.Parked) || s.Thoughts[0].Parked != "ann began to type" {
			t.Errorf("somebody types, and it shows %+v", s.Thoughts)
		}
	})
}

// TestChanged: somebody who waits for a change is woken by everything that a snapshot shows, and
// not when nothing happens.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		time.Sleep(time.Second)
		for _, tt := range []struct {
			name string
			do   func()
		}{
			{"a message", func() { h.say(t, "count") }},
			{"a key", func() {
				h.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Typing{Began: true}})
			}},
			{"a fault", func() { h.Report(earshot.Notice{Key: "x", Text: "x broke"}) }},
			{"a mode", func() { h.SetMode(t.Context(), participants.Owner, earshot.Muted) }},
			{"an outlet", func() { h.Enter(h.console, earshot.Audience{})() }},
			{"a note", func() { h.command(t, "note", "bread is out") }},
			{"a thought", func() { h.command(t, "think", "about bread") }},
		} {
			changed, before := h.Changed(), shown(h.Snapshot(owner))
			tt.do()
			synctest.Wait()
			select {
			case <-changed:
			default:
				if shown(h.Snapshot(owner)) != before {
					t.Errorf("%s changes the snapshot, and nobody is told", tt.name)
				}
			}
			time.Sleep(5 * time.Second)
		}
		for range 10 { // until whatever ends by itself has ended
			time.Sleep(time.Minute)
		}
		changed := h.Changed()
		time.Sleep(time.Minute)
		select {
		case <-changed:
			t.Error("nothing happens, and it is said that it does")
		default:
		}
		h.stop()
	})
}

// TestChangedAtEachToken: somebody who looks at each change sees each state of a reply.
func TestChangedAtEachToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		go h.Admit(t.Context(), message("count"))
		states := make(map[string]bool)
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			changed := h.Changed()
			for _, g := range h.Snapshot(owner).Replies {
				if len(g.Heard) == 0 { // it has not begun
					continue
				}
				states[fmt.Sprintf("%s/%d", string(g.Text), g.Heard[0].Bytes)] = true
			}
			select {
			case <-changed:
			case <-time.After(100 * time.Millisecond):
			}
		}
		h.stop()
		for _, want := range []string{"one/0", "one/1", "one/3", "one two/6", "one two three four/17"} {
			if !states[want] {
				t.Errorf("nobody saw %q in %d states", want, len(states))
			}
		}
	})
}

// TestPartnerOfBefore: after a restart it is known whom an agent talked with before.
func TestPartnerOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "count")
		time.Sleep(time.Second)
		h.stop()
		again := newHouse()
		again.past, again.ids = h.journal.Events(), 100
		again.open(t.Context())
		s := again.Snapshot(owner)
		again.stop()
		if s.Agents[0].Partner != participants.Owner || len(s.Turns) != 0 {
			t.Errorf("after a start the partner is %q, and the turns are %v", s.Agents[0].Partner, s.Turns)
		}
	})
}

// shown returns a snapshot as text, without its time.
func shown(s api.Snapshot) string {
	s.At = time.Time{}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
