package hearing_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/activity"
	"earshot/executive/hearing"
	"earshot/participants"
	"earshot/participants/agents"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// TestPresence: a voice comes with its first words and goes after a silence; of voices without a
// name only so many come at once.
func TestPresence(t *testing.T) {
	p := hearing.NewPresence()
	who := func(name string) participants.Participant {
		return participants.Participant{ID: earshot.ParticipantID(name), Name: name}
	}
	if !p.Empty() || !p.NextExpiry().IsZero() {
		t.Error("somebody is here before anybody was heard")
	}
	if !p.Note(who("ann"), noon) || p.Note(who("ann"), noon.Add(time.Minute)) || p.Empty() {
		t.Error("Ann does not come once")
	}
	p.Note(who("ann"), noon) // an older report
	if at := p.NextExpiry(); !at.Equal(noon.Add(6 * time.Minute)) {
		t.Errorf("she goes at %v", at)
	}
	p.Note(who("bob"), noon.Add(3*time.Minute))
	if gone := p.Expire(noon.Add(6 * time.Minute)); len(gone) != 1 || gone[0] != "ann" {
		t.Errorf("%v are gone", gone)
	}
	p.Forget([]earshot.ParticipantID{"bob"})
	if !p.Empty() {
		t.Error("a forgotten voice is here")
	}
	come := 0
	for i := range 1000 {
		if p.Note(participants.Participant{ID: earshot.ParticipantID(rune('a' + i)), Name: string(rune('a' + i))}, noon) {
			come++
		}
	}
	if come != 64 {
		t.Errorf("%d voices are here, want 64 at most", come)
	}
}

// TestInterims: words that are being said are shown when they change, and are over with their
// utterance, with the voice, or when nothing is heard of it any more.
func TestInterims(t *testing.T) {
	words := func(text earshot.Text, at time.Duration) earshot.Event {
		return earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "desk"}, At: noon.Add(at), Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Speech{Stage: earshot.VoiceWords, Words: text}}
	}
	over := words("", 0)
	over.Body = earshot.Speech{Stage: earshot.VoiceOver}
	for _, tt := range []struct {
		name string
		ends func(*hearing.Interims) []earshot.Event
		want int // events that show that they are over
	}{
		{"the utterance", func(i *hearing.Interims) []earshot.Event { return i.End(words("", time.Second)) }, 1},
		{"an older utterance", func(i *hearing.Interims) []earshot.Event { return i.End(words("", -time.Second)) }, 0},
		{"the voice ends", func(i *hearing.Interims) []earshot.Event { shown, _ := i.Note(over, false, noon); return shown }, 1},
		{"it is the agent's own", func(i *hearing.Interims) []earshot.Event {
			shown, _ := i.Note(words("stop", time.Second), true, noon)
			return shown
		}, 1},
		{"nothing more is heard", func(i *hearing.Interims) []earshot.Event { return i.Expire(i.NextExpiry()) }, 1},
		{"not long enough", func(i *hearing.Interims) []earshot.Event { return i.Expire(i.NextExpiry().Add(-1)) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var i hearing.Interims
			if shown, first := i.Note(words("hello", 0), false, noon); len(shown) != 1 || !first {
				t.Fatalf("shown %v, first %v", shown, first)
			}
			if shown, first := i.Note(words("hello", 0), false, noon); len(shown) != 0 || first {
				t.Errorf("the same words are shown again: %v", shown)
			}
			if shown := tt.ends(&i); len(shown) != tt.want {
				t.Errorf("shown %v", shown)
			}
			if left := i.VisibleTo(earshot.Audience{Unknown: true}); len(left) != 1-tt.want {
				t.Errorf("left %v", left)
			}
		})
	}
}

// TestPendingCuts: words that cut a reply are taken once, by what ends them, when nothing follows,
// or when the room closes; the newest of each device count.
func TestPendingCuts(t *testing.T) {
	desk, door := earshot.Handle{Provider: "microphone", ID: "desk"}, earshot.Handle{Provider: "microphone", ID: "door"}
	for _, tt := range []struct {
		name string
		ends func(*hearing.PendingCuts[string]) []string
		want []string
	}{
		{"they end", func(p *hearing.PendingCuts[string]) []string {
			words, cut := p.Take(desk, noon)
			return []string{words, fmt.Sprint(cut)}
		}, []string{"stop it", "true"}},
		{"something earlier ends", func(p *hearing.PendingCuts[string]) []string {
			words, cut := p.Take(desk, noon.Add(-1))
			return append(p.Expire(noon.Add(time.Hour)), words, fmt.Sprint(cut))
		}, []string{"stop it", "", "false"}},
		{"somebody else's end", func(p *hearing.PendingCuts[string]) []string {
			p.Take(door, noon)
			return p.Expire(noon.Add(time.Hour))
		}, []string{"stop it"}},
		{"nothing follows", func(p *hearing.PendingCuts[string]) []string { return p.Expire(p.NextExpiry()) }, []string{"stop it"}},
		{"something may follow", func(p *hearing.PendingCuts[string]) []string { return p.Expire(p.NextExpiry().Add(-1)) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p hearing.PendingCuts[string]
			p.Add(desk, noon, noon, "stop")
			p.Add(desk, noon, noon.Add(time.Second), "stop it")
			if got := tt.ends(&p); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if p.Expire(noon.Add(time.Hour)); !p.NextExpiry().IsZero() {
				t.Error("something is left")
			}
		})
	}
	var p hearing.PendingCuts[int]
	for i := range 1000 {
		p.Add(earshot.Handle{ID: fmt.Sprint(i)}, noon, noon, i)
	}
	if n := len(p.Expire(noon.Add(time.Hour))); n != activity.MaxPeople {
		t.Errorf("%d are kept, want %d at most", n, activity.MaxPeople)
	}
}

// TestBackchannels: the agent shows that it listens to whoever has spoken for long, and not again at
// once; a sign ends when it is stopped.
func TestBackchannels(t *testing.T) {
	var b hearing.Backchannels
	b.Stop() // none is being said
	for _, tt := range []struct {
		began, now time.Duration
		due        bool
	}{
		{0, 7999 * time.Millisecond, false},
		{0, 8 * time.Second, true},
		{0, 19 * time.Second, false},
		{0, 20 * time.Second, true},
		{25 * time.Second, 32 * time.Second, false},
	} {
		ctx, due := b.Begin(t.Context(), noon.Add(tt.began), noon.Add(tt.now))
		if due != tt.due {
			t.Errorf("after %v of speech from %v: %v", tt.now-tt.began, tt.began, due)
		}
		if b.Stop(); due && ctx.Err() == nil {
			t.Error("it is said on")
		}
	}
}

// TestContinuedUtterance: whoever goes on after a pause continues what they said to the agents,
// unless it was an order, or they are answered by nobody.
func TestContinuedUtterance(t *testing.T) {
	mic := earshot.Handle{Provider: "microphone", ID: "desk"}
	for name, tt := range map[string]struct {
		said hearing.Utterance
		want earshot.Text
	}{
		"to an agent":           {hearing.Utterance{To: conversation.Called, Heeded: true}, "we need some"},
		"by somebody unheeded":  {hearing.Utterance{To: conversation.Called}, ""},
		"an order":              {hearing.Utterance{To: conversation.Called, Heeded: true, Order: true}, ""},
		"to somebody else":      {hearing.Utterance{To: conversation.Aside, Heeded: true}, ""},
		"after what was before": {hearing.Utterance{To: conversation.Following, Heeded: true, Before: "Ann,"}, "Ann, we need some"},
	} {
		t.Run(name, func(t *testing.T) {
			l := hearing.New(hearing.Host{Agents: func() []agents.Record { return []agents.Record{{}} }, Now: func() time.Time { return noon }})
			tt.said.Event = earshot.Event{ID: "1", From: mic, At: noon, Body: earshot.Utterance{Text: "we need some"}}
			l.NoteUtterance(tt.said)
			next := earshot.Event{ID: "2", From: mic, At: noon.Add(time.Second), Body: earshot.Utterance{Text: "milk"}}
			if c, ok := l.Continued(next, conversation.Following); c.Text != tt.want || ok != (tt.want != "") {
				t.Errorf("it continues %q, %v", string(c.Text), ok)
			}
		})
	}
}
