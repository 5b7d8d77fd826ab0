package room_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/scene"
	"earshot/internal/testkit"
)

// states returns what a model reads about who is here.
func (h *house) states() string {
	var lines []string
	for line := range strings.Lines(scene.Prompt(h.Going(earshot.Audience{Unknown: true}), time.Now())) {
		if strings.HasPrefix(line, "user_state") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}

// TestCompany: somebody who is probably here is listed with what speaks for it, as long as
// something does, and only where a camera looks. The camera names nobody.
func TestCompany(t *testing.T) {
	const alone = "user_state (now): ann is here"
	const probably = "user_state (now): ann is probably here, by "
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, c *company)
		want string
	}{
		{"without a camera", func(t *testing.T, c *company) { c.must(t, "ann", "count", time.Second) }, alone},
		{"she types, and somebody is in view", func(t *testing.T, c *company) {
			c.types(t, "ann", true)
			c.types(t, "ann", false)
			c.watch(t, "desk", glance(1), 3*time.Second)
		}, alone + "\n" + probably + "keys at their terminal, an open terminal, somebody in view"},
		{"two are in view", func(t *testing.T, c *company) {
			c.must(t, "ann", "count", 0)
			c.watch(t, "desk", glance(2), 3*time.Second)
		}, alone + "\n" + probably + "keys at their terminal, an open terminal, somebody in view\n" +
			"user_state (now): 1 person is probably here whom nobody can name"},
		{"a voice, and two in view", func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(2), 9*time.Second)
			c.hears(t, "shall we have lunch", 0, time.Second)
		}, "user_state (10 s ago): ann is here\nuser_state (10 s ago): ann is probably here, by an open terminal, somebody in view\n" +
			"user_state (now): 1 person is probably here whom nobody can name; the voices say 1 person and the camera 2"},
		{"they are gone", func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(1), 3*time.Second)
			c.states()
			c.seesNobody(t, time.Hour)
		}, "user_state (60 min ago): ann is here"},
		{"she goes", func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(0), 3*time.Second)
			c.states()
			c.goes(t, "ann")
		}, "user_state (now): ann is away"},
		{"what is private tells nothing", func(t *testing.T, c *company) {
			c.seesNobody(t, 20*time.Minute)
			c.must(t, "ann", "/msg bob hello", 0)
		}, alone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, byDay())
				c.leave["ann"] = func() {}
				tt.do(t, c)
				got := c.states()
				c.stop()
				if got != tt.want {
					t.Errorf("told:\n%s\nwant:\n%s", got, tt.want)
				}
			})
		})
	}
}

// TestWhoTellsWhoIsInView: /who and the state of the room tell the same about who is in view.
func TestWhoTellsWhoIsInView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse())
		c.watch(t, "desk", glance(2), 3*time.Second)
		c.must(t, "ann", "/who", 0)
		told := c.last("ann")
		for _, want := range []string{
			"camera desk (now): 2 people are in view",
			"ann is probably here (now), by an open terminal, somebody in view",
			"1 person is probably here whom nobody can name",
		} {
			if !strings.Contains(told, "\n"+want) {
				t.Errorf("/who says\n%s\nwithout %q", told, want)
			}
		}
		is := c.state().Company
		c.stop()
		if is == nil || is.Likely != 2 || is.Unknown != 1 || len(is.Who) != 1 || is.Who[0].Name != "ann" {
			t.Errorf("the state of the room is %+v", is)
		}
	})
}

// TestEyesWidenNothing: what is private is not said aloud, however few people are in view, since
// nobody knows who hears a loudspeaker. Nor do more people in view make anything less private.
func TestEyesWidenNothing(t *testing.T) {
	for people := range 4 {
		synctest.Test(t, func(t *testing.T) {
			h := byDay()
			h.config.Speech.TypedAloud = true
			c := gather(t, h, "bob")
			v := &testkit.Voice{Called: "loudspeaker", Every: time.Millisecond, Aloud: true}
			c.Enter(v, earshot.Audience{Unknown: true})
			c.watch(t, "desk", glance(people), 5*time.Second)
			c.must(t, "ann", "/msg earshot count", time.Minute)
			c.must(t, "ann", "earshot, count", time.Minute)
			c.stop()
			if got := c.replies(); len(got) != 2 || v.Played() != "one two three four" || c.screens["bob"].Played() != "one two three four" {
				t.Errorf("%d in view: %d replies; aloud %q, to bob %q", people, len(got), v.Played(), c.screens["bob"].Played())
			}
			for _, e := range c.journal.Events() {
				if e.Visibility.Scope == earshot.Private && slices.Contains(e.Visibility.Members, "bob") {
					t.Errorf("%d in view: bob may see a %s", people, e.Body.Kind())
				}
			}
		})
	}
}

// TestManyLook: cameras, people and readers do not block one another.
func TestManyLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, byDay(), "bob")
		var all sync.WaitGroup
		for _, camera := range []string{"desk", "door", "camera 3"} {
			all.Go(func() {
				for n := range 20 {
					_ = c.sees(t.Context(), camera, glance(n%3))
					_ = c.sees(t.Context(), camera, people(n%3, (n+1)%3))
				}
			})
		}
		all.Go(func() {
			for range 20 {
				_ = c.state()
				_ = c.states()
				_ = c.writes(t, "bob", "/who")
			}
		})
		all.Go(func() {
			for range 10 {
				_ = c.writes(t, "ann", "count")
			}
		})
		all.Wait()
		time.Sleep(time.Minute)
		is := c.state().Company
		c.stop()
		if len(is.Eyes) != 3 {
			t.Errorf("there is %+v", is)
		}
	})
}
