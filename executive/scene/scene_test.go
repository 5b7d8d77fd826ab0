package scene_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/scene"
)

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	public = earshot.Visibility{Scope: earshot.Public}
	ann    = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}
	bob    = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"bob"}}
)

func TestPrompt(t *testing.T) {
	var s scene.Scene
	s.Put(scene.Item{Field: scene.Messages, At: noon.Add(-time.Minute), Text: "Ann: too old", Visibility: public})
	s.Put(scene.Item{Field: scene.Messages, At: noon.Add(-20 * time.Second), Text: "Ann: two\nlines", Visibility: public})
	s.Put(scene.Item{Field: scene.User, Of: "ann", At: noon, Text: "ann is away", Visibility: public})
	s.Put(scene.Item{Field: scene.User, Of: "bob", At: noon, Text: "bob is here", Visibility: public})
	s.Put(scene.Item{Field: scene.User, Of: "ann", At: noon, Text: "ann is typing", Visibility: public})
	s.Put(scene.Item{Field: scene.Notes, At: noon.Add(-50 * time.Hour), Text: "likes tea", Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}})
	want := "recent_messages (20 s ago): Ann: two lines\nuser_state (now): bob is here\nuser_state (now): ann is typing\n"
	if got := scene.Prompt(s.For(bob).Recent(noon, 30*time.Second), noon); got != want {
		t.Errorf("bob sees\n%swant\n%s", got, want)
	}
	if got := scene.Prompt(s.For(ann).Recent(noon, 30*time.Second), noon); got != want+"notes (2 days ago): likes tea\n" {
		t.Errorf("ann sees\n%s", got)
	}
}

// TestBounded: whatever is put, the scene stays within its bounds and holds the newest entry.
func TestBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s scene.Scene
		for n := range rapid.IntRange(1, 60).Draw(t, "entries") {
			f := rapid.SampledFrom(scene.Fields()).Draw(t, "field")
			text := earshot.Text(fmt.Sprint(n, " ", strings.Repeat("é", rapid.IntRange(0, 900).Draw(t, "length"))))
			i := scene.Item{Field: f, At: noon, Text: text, Visibility: public}
			if f != scene.Environment {
				i.Event = earshot.EventID(fmt.Sprint(n))
			}
			if f == scene.Agent {
				i.Of = rapid.SampledFrom([]earshot.ParticipantID{"agent", "scout"}).Draw(t, "agent")
			}
			s.Put(i)
			items := s.For(bob).As(i.Of).Items(f)
			if len(items) == 0 || !strings.HasPrefix(string(items[len(items)-1].Text), fmt.Sprint(n, " ")) {
				t.Fatalf("entry %d is not there", n)
			}
		}
		if n := len(scene.Prompt(s.For(bob).As("scout").Recent(noon, time.Hour), noon)); n > 8<<10 {
			t.Fatalf("the prompt is %d bytes", n)
		}
	})
}

// TestEachAgentsState: an agent reads only its own state, people read those of all.
func TestEachAgentsState(t *testing.T) {
	var s scene.Scene
	for _, of := range []earshot.ParticipantID{"agent", "scout", "agent"} {
		s.Put(scene.Item{Field: scene.Agent, Of: of, At: noon, Text: earshot.Text(of + " was cut off"), Visibility: public})
	}
	for by, want := range map[earshot.ParticipantID]string{
		"scout": "agent_state (now): scout was cut off\n",
		"coder": "",
		"":      "agent_state (now): scout was cut off\nagent_state (now): agent was cut off\n",
	} {
		if got := scene.Prompt(s.For(bob).As(by).Recent(noon, time.Minute), noon); got != want {
			t.Errorf("%q reads\n%swant\n%s", by, got, want)
		}
	}
}

func TestForget(t *testing.T) {
	var s scene.Scene
	s.Put(scene.Item{Field: scene.Notes, Event: "1", Text: "secret", Visibility: public})
	s.Put(scene.Item{Field: scene.Notes, Event: "2", Text: "plain", Visibility: public})
	s.Forget("1")
	if got := scene.Prompt(s.For(bob).Recent(noon, time.Hour), noon); strings.Contains(got, "secret") || !strings.Contains(got, "plain") {
		t.Errorf("after forgetting: %q", got)
	}
}

// TestWatched: a continuous observation is one change as long as it stays the same, and is shown at
// any age, as something that was so then.
func TestWatched(t *testing.T) {
	changes := 0
	s := scene.Scene{Moved: func() { changes++ }}
	sees := func(text earshot.Text, at time.Duration) {
		s.Observe(scene.Item{ID: "desk", Field: scene.Visual, Source: "webcam", At: noon.Add(at), Text: text, Watched: true, Visibility: public})
	}
	for n := range 600 {
		sees("1 person is in view", time.Duration(n)*time.Second/2)
	}
	sees("nobody is in view", 301*time.Second)
	if changes != 2 {
		t.Errorf("%d changes", changes)
	}
	for age, want := range map[time.Duration]string{
		0:               "recent_visual (now): nobody is in view\n",
		4 * time.Second: "recent_visual (now): nobody is in view\n",
		5 * time.Second: "recent_visual (5 s ago): nothing has been seen since; then: nobody is in view\n",
		time.Hour:       "recent_visual (60 min ago): nothing has been seen since; then: nobody is in view\n",
		2 * time.Hour:   "",
	} {
		now := noon.Add(301*time.Second + age)
		if got := scene.Prompt(s.For(bob).Recent(now, 30*time.Second), now); got != want {
			t.Errorf("after %v: %q, want %q", age, got, want)
		}
	}
	if _, over := s.Vanish(scene.Visual, "desk"); over || len(s.For(bob).Items(scene.Visual)) != 0 {
		t.Error("what is no longer so is still there")
	}
}

// TestACorrectionOfWhatVanishes: a correction ends when its observation vanishes.
func TestACorrectionOfWhatVanishes(t *testing.T) {
	var s scene.Scene
	saw := scene.Item{ID: "company", Field: scene.User, Source: "company", At: noon, Text: "1 person is here", Visibility: public}
	s.Observe(saw)
	s.Edit(earshot.Event{ID: "e1", At: noon, Author: "ann", Visibility: public, Body: earshot.Edit{
		Act: earshot.Changed, Field: "user_state", Item: "company", Was: saw.Text, Text: "that is my cat", Source: "company",
	}})
	s.Observe(saw)
	if got := s.For(bob).Items(scene.User); len(got) != 1 || got[0].Text != "that is my cat" {
		t.Fatalf("there is %v", got)
	}
	if was, over := s.Vanish(scene.User, "company"); !over || was.Text != "that is my cat" {
		t.Errorf("%v, %v", was.Text, over)
	}
}
