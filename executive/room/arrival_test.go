package room_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
)

// people is the sight of some people who come or go.
func people(were, are int) earshot.Sight {
	return earshot.Sight{What: earshot.PeopleChanged, Were: were, People: are, Eyes: earshot.Clear, Sure: 0.8}
}

// comesIn lets somebody come into view where nobody was for a while, and stay.
func (h *house) comesIn(t *testing.T, absence, stays time.Duration) {
	t.Helper()
	h.seesNobody(t, absence)
	must(t, h.sees(t.Context(), "desk", people(0, 1)))
	h.watch(t, "desk", glance(1), stays)
}

// seesNobody has the camera see nobody for a while. If that is long, the camera looks seldom in
// between.
func (h *house) seesNobody(t *testing.T, lasts time.Duration) {
	t.Helper()
	if few := 5 * time.Second; lasts > 3*few {
		h.watch(t, "desk", glance(0), few)
		for left := lasts - 2*few; left > 0; left -= 50 * time.Second {
			time.Sleep(min(left, 50*time.Second))
			h.watch(t, "desk", glance(0), 0)
		}
		lasts = few
	}
	h.watch(t, "desk", glance(0), lasts)
}

// greeted lets somebody come into view, and returns what the agent says.
func greeted(t *testing.T, h *house) string {
	h.config.Attention.QuietHours = ""
	h.open(t.Context())
	h.comesIn(t, 12*time.Minute, time.Minute)
	return h.console.Played()
}

// TestGreets: somebody who comes into view after an absence is greeted once, and nobody else is
// greeted.
func TestGreets(t *testing.T) {
	const speak = "speak: " + attention.SomebodyCame
	long := 11 * time.Minute
	for _, tt := range []struct {
		name string
		with func(h *house)
		do   func(t *testing.T, c *company)
		want []string
		said string
	}{
		{"after an absence", nil, func(t *testing.T, c *company) { c.comesIn(t, long, 40*time.Second) }, []string{speak}, "one two three four"},
		{"without a model", func(h *house) { h.unmodelled = true }, func(t *testing.T, c *company) { c.comesIn(t, long, 40*time.Second) }, []string{speak}, "Hello."},
		{"at the beginning", nil, func(t *testing.T, c *company) { c.comesIn(t, 5*time.Second, time.Minute) }, []string{"silent: " + attention.NotAway}, ""},
		{"twice", nil, func(t *testing.T, c *company) {
			c.comesIn(t, long, 40*time.Second)
			must(t, c.sees(t.Context(), "desk", people(1, 0)))
			c.comesIn(t, 5*time.Minute, time.Minute)
		}, []string{speak, "silent: " + attention.NotAway}, "one two three four"},
		{"again after another absence", nil, func(t *testing.T, c *company) {
			c.comesIn(t, long, 40*time.Second)
			must(t, c.sees(t.Context(), "desk", people(1, 0)))
			c.comesIn(t, long, 40*time.Second)
		}, []string{speak, speak}, "one two three four\none two three four"},
		{"passive", func(h *house) { h.config.MultiParty.TurnTakingProtocol = "passive" },
			func(t *testing.T, c *company) { c.comesIn(t, long, 40*time.Second) }, []string{"silent: " + attention.Passive}, ""},
		{"aggressive, sooner", func(h *house) { h.config.MultiParty.TurnTakingProtocol = "aggressive" },
			func(t *testing.T, c *company) { c.comesIn(t, 3*time.Minute, time.Minute) }, []string{speak}, "one two three four"},
		{"speaks never unasked", func(h *house) { h.config.Attention.SpeakUnasked = false },
			func(t *testing.T, c *company) { c.comesIn(t, long, 40*time.Second) }, []string{"silent: " + attention.Unasked}, ""},
		{"at night", func(h *house) { h.config.Attention.QuietHours = "22:00-07:00" },
			func(t *testing.T, c *company) { c.comesIn(t, long, 40*time.Second) }, []string{"silent: " + attention.AtNight}, ""},
		{"snoozed", nil, func(t *testing.T, c *company) {
			c.must(t, "ann", "/snooze", 0)
			c.comesIn(t, long, 40*time.Second)
		}, []string{"silent: " + attention.Snoozing}, ""},
		{"somebody was heard meanwhile", nil, func(t *testing.T, c *company) {
			c.seesNobody(t, long)
			c.hears(t, "shall we have lunch", 0, time.Second)
			c.comesIn(t, time.Minute, time.Minute)
		}, []string{"silent: " + reason.Overheard, "silent: " + attention.NotAway}, ""},
		{"who types as it begins", nil, func(t *testing.T, c *company) {
			c.seesNobody(t, long)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			time.Sleep(15 * time.Millisecond)
			c.types(t, "ann", true)
			c.watch(t, "desk", glance(1), 40*time.Second)
		}, []string{speak}, "one"},
		{"who types as they come", nil, func(t *testing.T, c *company) {
			c.seesNobody(t, long)
			c.types(t, "ann", true)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			c.watch(t, "desk", glance(1), 40*time.Second)
		}, []string{"wait: " + attention.SomebodyType, "silent: " + attention.TooLate}, ""},
		{"who types a moment as they come", nil, func(t *testing.T, c *company) {
			c.seesNobody(t, long)
			c.types(t, "ann", true)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			c.watch(t, "desk", glance(1), 5*time.Second)
			c.types(t, "ann", false)
			time.Sleep(time.Minute)
		}, []string{"wait: " + attention.SomebodyType, speak}, "one two three four"},
		{"who is gone again meanwhile", nil, func(t *testing.T, c *company) {
			c.seesNobody(t, long)
			c.types(t, "ann", true)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			time.Sleep(5 * time.Second)
			must(t, c.sees(t.Context(), "desk", people(1, 0)))
			time.Sleep(time.Minute)
		}, []string{"wait: " + attention.SomebodyType, "silent: " + attention.LeftAgain}, ""},
		{"who asks as they come", nil, func(t *testing.T, c *company) {
			c.seesNobody(t, long)
			c.must(t, "ann", "count", 0)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			c.watch(t, "desk", glance(1), 40*time.Second)
		}, []string{"speak: " + addressing.Alone, "silent: " + attention.Talking}, "one two three four"},
		{"who was there while the room was paused", nil, func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(1), 10*time.Second)
			c.must(t, "ann", "/pause", long)
			c.types(t, "ann", true)
			c.must(t, "ann", "/resume", 0)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			c.watch(t, "desk", glance(1), time.Minute)
		}, []string{"silent: " + attention.NotAway}, ""},
		{"who was there while the camera was away", nil, func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(1), 10*time.Second)
			must(t, c.sees(t.Context(), "desk", earshot.Sight{What: earshot.EyesChanged, Eyes: earshot.Away}))
			time.Sleep(long)
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			c.watch(t, "desk", glance(1), time.Minute)
		}, []string{"silent: " + attention.NotAway}, ""},
		{"who switches on the light", nil, func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(0), 10*time.Second)
			for range 15 {
				c.watch(t, "desk", earshot.Glance{Eyes: earshot.Dark}, 0)
				time.Sleep(50 * time.Second)
			}
			must(t, c.sees(t.Context(), "desk", people(0, 1)))
			c.watch(t, "desk", glance(1), time.Minute)
		}, []string{speak}, "one two three four"},
		{"nobody notices flicker", nil, func(t *testing.T, c *company) {
			for range 300 {
				c.watch(t, "desk", glance(0), 2*time.Second)
				c.watch(t, "desk", glance(1), 0)
			}
		}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := byDay()
				if tt.with != nil {
					tt.with(h)
				}
				c := gather(t, h)
				tt.do(t, c)
				c.stop()
				if got := c.verdicts(); !slices.Equal(got, tt.want) {
					t.Errorf("decided %q, want %q", got, tt.want)
				}
				var said []string
				for _, r := range c.replies() {
					said = append(said, string(r.Delivered()))
				}
				if got := strings.Join(said, "\n"); got != tt.said {
					t.Errorf("said %q, want %q", got, tt.said)
				}
			})
		})
	}
}

// TestAGreeting: the model is told what the camera noticed, and to use no name. The greeting is
// said aloud, whoever cuts in stops it, and /why explains it.
func TestAGreeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, byDay())
		c.model.Rules = []llmtest.Rule{{When: "came into view", Reply: "Good morning to you and to everybody in this house, and welcome back.", Every: 50 * time.Millisecond}}
		v := &testkit.Voice{Called: "loudspeaker", Every: 50 * time.Millisecond, Aloud: true}
		c.Enter(v, earshot.Audience{Unknown: true})
		c.comesIn(t, 11*time.Minute, time.Second)
		c.must(t, "ann", "stop", time.Minute)
		c.must(t, "ann", "/why 2", 0)
		why := c.last("ann")
		c.comesIn(t, 11*time.Minute, time.Minute)
		c.stop()
		req := c.model.Seen()[0].Messages
		if got := req[len(req)-2].Text; got != "[FROM: System] The camera desk noticed: somebody came into view." {
			t.Errorf("the model was told %q", got)
		}
		if got := req[len(req)-1].Text; !strings.Contains(got, "after 11 minutes in which nobody was noticed. Greet them in one short sentence") || !strings.Contains(got, "say no name") {
			t.Errorf("the model was told %q", got)
		}
		if n := len(c.model.Seen()[0].Tools); n != 0 {
			t.Errorf("it was offered %d tools in nobody's name", n)
		}
		replies := c.replies()
		if len(replies) != 1 || replies[0].Outcome != earshot.Interrupted || v.Played() == "" || strings.Contains(v.Played(), "welcome") {
			t.Errorf("said aloud %q, and it ended as %+v", v.Played(), replies)
		}
		want := "the camera desk saw “somebody came into view”\n          I spoke because " + attention.SomebodyCame
		if !strings.Contains(why, want) {
			t.Errorf("/why says\n%s\nwithout\n%s", why, want)
		}
		if got := c.verdicts(); got[len(got)-1] != "silent: "+attention.ToldNo {
			t.Errorf("told to stop, it decided %q", got)
		}
	})
}

// TestAnArrivalWakes: somebody who comes after a night without anybody is worth a thought. Somebody
// who comes and goes all the time is not, and neither is flicker.
func TestAnArrivalWakes(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, c *company)
		want string
	}{
		{"after a night", func(t *testing.T, c *company) { c.comesIn(t, 8*time.Hour, time.Minute) }, "novelty"},
		{"at the beginning", func(t *testing.T, c *company) { c.comesIn(t, 0, time.Minute) }, ""},
		{"who leaves", func(t *testing.T, c *company) {
			c.watch(t, "desk", glance(1), 10*time.Minute)
			must(t, c.sees(t.Context(), "desk", people(1, 0)))
			time.Sleep(time.Minute)
		}, ""},
		{"flicker", func(t *testing.T, c *company) {
			for range 30 {
				c.watch(t, "desk", glance(0), 2*time.Second)
				c.watch(t, "desk", glance(1), 0)
			}
		}, ""},
		{"somebody who comes and goes all the time", func(t *testing.T, c *company) {
			for range 20 {
				c.comesIn(t, 20*time.Second, 10*time.Second)
				must(t, c.sees(t.Context(), "desk", people(1, 0)))
			}
		}, ""},
		{"a code", func(t *testing.T, c *company) {
			must(t, c.sees(t.Context(), "desk", earshot.Sight{What: earshot.CodeRead, Eyes: earshot.Clear, Text: "invitation harbour concert saturday evening lanterns"}))
			time.Sleep(time.Minute)
		}, "novelty"},
		{"the camera is blind", func(t *testing.T, c *company) {
			for range 5 {
				must(t, c.sees(t.Context(), "desk", earshot.Sight{What: earshot.EyesChanged, Eyes: earshot.Dark}))
				time.Sleep(time.Minute)
			}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := curious()
				h.config.Sight.Greet = false
				c := gather(t, h)
				tt.do(t, c)
				c.stop()
				got := ""
				if all := c.causes(); len(all) > 0 {
					got = all[0]
				}
				if got != tt.want {
					t.Errorf("it thought because of %q, want %q", got, tt.want)
				}
			})
		})
	}
}
