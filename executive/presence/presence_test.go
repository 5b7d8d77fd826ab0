package presence_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/api"
	"earshot/executive/presence"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// at is a time, in seconds after noon.
func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// sees has a camera look twice a second from one time to another.
func sees(camera string, people int, from, to float64) func(*presence.Tracker) {
	return func(c *presence.Tracker) {
		for s := from; s <= to; s += 0.5 {
			c.AddLook(presence.Look{Camera: camera, At: at(s), People: people, Sure: 0.8, Eyes: earshot.Clear})
		}
	}
}

func looks(camera string, eyes earshot.Eyesight, s float64) func(*presence.Tracker) {
	return func(c *presence.Tracker) { c.AddLook(presence.Look{Camera: camera, At: at(s), Eyes: eyes}) }
}

func hears(who earshot.ParticipantID, s float64) func(*presence.Tracker) {
	return func(c *presence.Tracker) {
		c.AddVoice(presence.Voice{Who: who, Named: who != "" && !strings.HasPrefix(string(who), "voice"), At: at(s), Sure: 0.9})
	}
}

func types(who earshot.ParticipantID, s float64) func(*presence.Tracker) {
	return func(c *presence.Tracker) { c.AddTyping(who, at(s)) }
}

func comes(who earshot.ParticipantID, s float64) func(*presence.Tracker) {
	return func(c *presence.Tracker) { c.OpenTerminal(who, at(s)) }
}

func goes(who earshot.ParticipantID, s float64) func(*presence.Tracker) {
	return func(c *presence.Tracker) { c.CloseTerminal(who, at(s)) }
}

// told is an estimate in a line: how many, who, and how many others.
func told(e api.PresenceEstimate) string {
	var who []string
	for _, g := range e.Who {
		var by []string
		for _, b := range g.By {
			by = append(by, string(b.Kind))
		}
		who = append(who, fmt.Sprintf("%s %.2f %s", g.ID, g.Sure, strings.Join(by, "+")))
	}
	text := fmt.Sprintf("%d-%d-%d [%s] +%d", e.Least, e.Likely, e.Most, strings.Join(who, ", "), e.Unknown)
	if len(e.Against) > 0 {
		text += " but " + strings.Join(e.Against, "; ")
	}
	return text
}

func TestEstimate(t *testing.T) {
	type events = []func(*presence.Tracker)
	for _, tt := range []struct {
		name string
		told events
		at   float64
		want string
	}{
		{"nothing", nil, 0, "0-0-0 [] +0"},
		{"an empty room", events{sees("desk", 0, 0, 10)}, 10, "0-0-0 [] +0"},
		{"somebody in view is nobody in particular", events{sees("desk", 1, 0, 10)}, 10, "1-1-1 [] +1"},
		{"one look may be wrong", events{sees("desk", 0, 0, 9), sees("desk", 3, 9.5, 9.5)}, 10, "0-0-3 [] +0"},
		{"so may a look at nobody", events{sees("desk", 1, 0, 5), sees("desk", 0, 5.5, 5.5), sees("desk", 1, 6, 10)}, 10, "1-1-1 [] +1"},
		{"two cameras may see one person", events{sees("desk", 1, 0, 10), sees("door", 1, 0, 10)}, 10, "1-1-2 [] +1"},
		{"a camera that has seen nothing since", events{sees("desk", 2, 0, 10)}, 16, "0-0-0 [] +0"},
		{"a camera in the dark", events{sees("desk", 2, 0, 10), looks("desk", earshot.Dark, 10.5)}, 11, "0-0-0 [] +0"},
		{"a voice", events{hears("ann", 0)}, 0, "1-1-1 [ann 0.81 heard] +0"},
		{"a voice, and somebody in view", events{sees("desk", 1, 0, 10), hears("ann", 9)}, 10, "1-1-2 [ann 0.86 heard+seen] +0"},
		{"a voice long ago", events{hears("ann", 0)}, 600, "0-0-0 [] +0"},
		{"a voice some minutes ago is still hers", events{hears("ann", 0)}, 240, "0-1-1 [ann 0.32 heard] +0"},
		{"at her terminal", events{comes("ann", 0), types("ann", 60)}, 70, "1-1-1 [ann 0.94 typed+came] +0"},
		{"a terminal that was left open", events{comes("ann", 0)}, 1200, "0-0-1 [] +0"},
		{"she has left", events{comes("ann", 0), types("ann", 60), goes("ann", 61)}, 62, "0-0-0 [] +0"},
		{"she has left, and is heard", events{comes("ann", 0), goes("ann", 61), hears("ann", 62)}, 63, "1-1-1 [ann 0.81 heard] +0"},
		{"she has changed terminals", events{comes("ann", 0), goes("ann", 61), comes("ann", 61)}, 62, "1-1-1 [ann 0.60 came] +0"},
		{"the voice says one and the camera two", events{sees("desk", 2, 0, 10), hears("ann", 9)}, 10,
			"2-2-3 [ann 0.86 heard+seen] +1 but the voices say 1 person and the camera 2"},
		{"the voices say two and the camera one", events{sees("desk", 1, 0, 10), hears("ann", 9), hears("bob", 8)}, 10,
			"2-2-3 [ann 0.84 heard+seen, bob 0.83 heard+seen] +0 but the voices say 2 people and the camera 1"},
		{"a voice that nobody sees", events{sees("desk", 0, 0, 10), hears("ann", 9)}, 10, "1-1-1 [ann 0.81 heard] +0 but the voices say 1 person and the camera 0"},
		{"keys that nobody sees pressed", events{sees("desk", 0, 0, 10), sees("door", 0, 0, 10), types("ann", 9)}, 10,
			"1-1-1 [ann 0.90 typed] +0 but somebody types here, and the cameras see nobody"},
		{"she was heard, and nobody is in view for a while", events{hears("ann", 0), sees("desk", 0, 0, 40)}, 40, "0-1-1 [ann 0.49 heard] +0"},
		{"a voice without a name may be hers who types", events{types("ann", 0), hears("voice:3", 0)}, 0, "1-1-2 [ann 0.90 typed] +0"},
		{"a voice without a name, and hers", events{hears("ann", 0), hears("voice:3", 0)}, 0, "2-2-2 [ann 0.81 heard] +1"},
		{"a voice that cannot be told from others", events{hears("", 0)}, 0, "1-1-1 [] +1"},
		{"somebody who is not sure", events{func(c *presence.Tracker) { c.AddVoice(presence.Voice{Who: "ann", Named: true, At: noon, Sure: 0.4}) }}, 0, "0-0-1 [] +0"},
		{"what is yet to come", events{hears("ann", 10), sees("desk", 1, 10, 20)}, 0, "0-0-0 [] +0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c presence.Tracker
			for _, tell := range tt.told {
				tell(&c)
			}
			if got := told(c.Estimate(at(tt.at))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestSame: a voice that turns out to be somebody's was theirs all the time.
func TestSame(t *testing.T) {
	var c presence.Tracker
	hears("voice:3", 0)(&c)
	comes("ann", 0)(&c)
	hears("ann", -20)(&c)
	c.Same(func(id earshot.ParticipantID) (earshot.ParticipantID, bool) { return "ann", true })
	if got := told(c.Estimate(at(0))); got != "1-1-1 [ann 0.92 heard+came] +0" {
		t.Error(got)
	}
}

func TestWords(t *testing.T) {
	var c presence.Tracker
	for _, tell := range []func(*presence.Tracker){sees("desk", 3, 0, 10), looks("camera 2", earshot.Dark, 9), sees("door", 1, 0, 1), hears("ann", 7), comes("ann", 0)} {
		tell(&c)
	}
	e := c.Estimate(at(10))
	e.Who[0].Name = "ANN"
	got := strings.Join(e.Lines(at(10), time.Duration.String), "\n")
	want := `camera 2 (1s): it is dark there, or something is before the lens
camera desk (0s): 3 people are in view
camera door (9s): has seen nothing since
ANN is probably here (3s), by a voice like theirs, an open terminal, somebody in view
2 people are probably here whom nobody can name; the voices say 1 person and the camera 3`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAbsence: for how long nobody was noticed before somebody was.
func TestAbsence(t *testing.T) {
	type events = []func(*presence.Tracker)
	for _, tt := range []struct {
		name string
		told events
		at   float64
		want time.Duration
	}{
		{"nothing is known", nil, 100, 0},
		{"at the beginning somebody is there, which takes three looks", events{sees("desk", 1, 0, 10)}, 3, time.Second},
		{"nobody comes for long", events{sees("desk", 0, 0, 600)}, 600, 10 * time.Minute},
		{"somebody comes", events{sees("desk", 0, 0, 600), sees("desk", 1, 601, 610)}, 603, 602 * time.Second},
		{"and is still there", events{sees("desk", 0, 0, 600), sees("desk", 1, 601, 700)}, 700, 0},
		{"a look that was wrong", events{sees("desk", 0, 0, 300), sees("desk", 1, 300.5, 300.5), sees("desk", 0, 301, 600)}, 600, 10 * time.Minute},
		{"somebody was heard", events{sees("desk", 0, 0, 600), hears("ann", 500)}, 600, 100 * time.Second},
		{"somebody who is heard at the door", events{sees("desk", 0, 0, 600), hears("ann", 601), sees("desk", 0, 602, 610), sees("desk", 1, 611, 615)}, 613, 601 * time.Second},
		{"whom nobody could see since nobody looked", events{sees("desk", 1, 0, 5), sees("desk", 1, 900, 910)}, 901, time.Second},
		{"who has typed before that", events{sees("desk", 1, 0, 5), types("ann", 899), sees("desk", 1, 900, 910)}, 902, time.Second},
		{"while another camera looked", events{sees("desk", 1, 0, 5), sees("door", 0, 0, 890), sees("desk", 1, 900, 910)}, 902, 896 * time.Second},
		{"somebody who comes soon", events{sees("desk", 0, 0, 4), sees("desk", 1, 4.5, 8)}, 4.5, 5500 * time.Millisecond},
		{"somebody who is heard as they come", events{sees("desk", 0, 0, 600), hears("ann", 601), sees("desk", 1, 602, 605)}, 604, 601 * time.Second},
	} {
		var c presence.Tracker
		for _, tell := range tt.told {
			tell(&c)
		}
		if got := c.Absence(at(tt.at)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A deed is something that is told, as a value, so that it can be told in any order.
type deed struct {
	At   int
	What string
	Who  earshot.ParticipantID
	N    int
}

func (d deed) tell(c *presence.Tracker) {
	when := at(float64(d.At))
	switch d.What {
	case "sees":
		c.AddLook(presence.Look{Camera: string(d.Who), At: when, People: d.N, Sure: float64(d.N%3) / 2, Eyes: earshot.Clear})
	case "dark":
		c.AddLook(presence.Look{Camera: string(d.Who), At: when, Eyes: earshot.Dark})
	case "hears":
		c.AddVoice(presence.Voice{Who: d.Who, Named: d.N > 1, At: when, Sure: float64(d.N) / 4})
	case "types":
		c.AddTyping(d.Who, when)
	case "comes":
		c.OpenTerminal(d.Who, when)
	case "goes":
		c.CloseTerminal(d.Who, when)
	}
}

func deeds(t *rapid.T, whats ...string) (all []deed) {
	now := 0
	for range rapid.IntRange(0, 30).Draw(t, "deeds") {
		now += rapid.SampledFrom([]int{0, 0, 1, 1, 2, 5, 40}).Draw(t, "later")
		all = append(all, deed{
			now, rapid.SampledFrom(whats).Draw(t, "what"),
			rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", "voice:3", ""}).Draw(t, "who"), rapid.IntRange(0, 4).Draw(t, "n"),
		})
	}
	return all
}

var every = []string{"sees", "sees", "dark", "hears", "types", "comes", "goes"}

func gathered(all []deed) (c presence.Tracker, last int) {
	for _, d := range all {
		d.tell(&c)
		last = d.At
	}
	return c, last
}

// TestOrder: what happens at one time may be told in any order.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := deeds(t, every...)
		c, last := gathered(all)
		shuffled := rapid.Permutation(all).Draw(t, "shuffled")
		slices.SortStableFunc(shuffled, func(a, b deed) int { return a.At - b.At })
		other, _ := gathered(shuffled)
		now := at(float64(last + rapid.IntRange(0, 20).Draw(t, "after")))
		if a, b := c.Estimate(now), other.Estimate(now); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s\nand %s", told(a), told(b))
		}
		if a, b := c.Absence(now), other.Absence(now); a != b {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

// TestNothingIsCertain: the numbers are in order, no guess is sure, and each has a reason;
// Most is at least what any camera sees.
func TestNothingIsCertain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := deeds(t, every...)
		c, last := gathered(all)
		now := at(float64(last))
		e := c.Estimate(now)
		if !(0 <= e.Least && e.Least <= e.Likely && e.Likely <= e.Most) || e.Unknown < 0 || e.Unknown > e.Likely {
			t.Fatal(told(e))
		}
		for _, g := range e.Who {
			if !(g.Sure > 0 && g.Sure < 1) || len(g.By) == 0 || g.By[0].Kind == presence.Seen || !g.Named || g.ID == "" {
				t.Fatal(told(e))
			}
		}
		for _, d := range all {
			dark := slices.ContainsFunc(all, func(o deed) bool { return o.What == "dark" && o.Who == d.Who && o.At > d.At })
			if d.What == "sees" && last-d.At < 5 && e.Most < d.N && !dark {
				t.Fatalf("%d were seen: %s", d.N, told(e))
			}
		}
	})
}

// TestEyesNameNobody, and count all the same; nor do they ever make fewer of those whom
// something else speaks for.
func TestEyesNameNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, last := gathered(deeds(t, "sees", "sees", "dark"))
		if e := c.Estimate(at(float64(last))); len(e.Who) > 0 || e.Unknown != e.Likely {
			t.Fatal(told(e))
		}
	})
}

// TestMoreIsNotLess: another voice, or keys, lower neither how many there may be nor how
// sure anybody's being here is.
func TestMoreIsNotLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := deeds(t, every...)
		c, last := gathered(all)
		now := at(float64(last))
		before := c.Estimate(now)
		more := deed{last, rapid.SampledFrom([]string{"hears", "types", "comes"}).Draw(t, "more"), rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob"}).Draw(t, "who"), 4}
		more.tell(&c)
		after := c.Estimate(now)
		if after.Most < before.Most || after.Least < before.Least {
			t.Fatalf("%s after %v, was %s", told(after), more, told(before))
		}
	})
}

// TestBounded: whatever comes, little is kept.
func TestBounded(t *testing.T) {
	var c presence.Tracker
	for n := range 1000 {
		name := fmt.Sprint("c", n)
		sees(name, 1, float64(n), float64(n)+1)(&c)
		hears(earshot.ParticipantID(name), float64(n))(&c)
		goes(earshot.ParticipantID("x"+name), float64(n))(&c)
	}
	e := c.Estimate(at(1001))
	if len(e.Eyes) > 16 || e.Most > 64+16 || !c.Looks() {
		t.Errorf("%d cameras, %d people", len(e.Eyes), e.Most)
	}
}
