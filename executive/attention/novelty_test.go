package attention_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/attention"
)

// watched lets things happen and returns what the tracker made of it: a letter for each
// five seconds. In the script "a" to "e" say something each time new, capitals say
// the same as always, digits come and say nothing, "v" is a new field of the scene, "m" somebody
// who comes into view after a moment, and "n" one who does after a night.
// What is returned is N for novelty, C for a check-in, o for observed, and a dot.
func watched(script string) string {
	w := attention.NoveltyTracker{Every: 5 * time.Second}
	now, fresh := noon, 0
	var out strings.Builder
	for _, r := range script {
		g := attention.Occurrence{At: now}
		switch {
		case r >= 'a' && r <= 'e':
			fresh++
			g.Who, g.Text = string(r), news(fresh)
		case r >= 'A' && r <= 'E':
			g.Who, g.Text = strings.ToLower(string(r)), "would you please pass the marmalade over this breakfast table"
		case r >= '0' && r <= '9':
			g.Who = string(r)
		case r == 'm' || r == 'n': // somebody comes after a moment, or after a night
			g.What, g.Absence = "arrival", map[rune]time.Duration{'m': 20 * time.Second, 'n': 8 * time.Hour}[r]
		case r == 'v':
			g.What, g.Text = "recent_visual", "a person at the window with an umbrella"
		}
		if r != '.' {
			w.Take(g)
		}
		cause, worth := w.Weigh(now)
		switch {
		case worth && cause == earshot.ByNovelty:
			out.WriteByte('N')
		case worth:
			out.WriteByte('C')
		case r != '.':
			out.WriteByte('o')
		default:
			out.WriteByte('.')
		}
		if worth {
			w.Thinks()
		}
		now = now.Add(5 * time.Second)
	}
	return out.String()
}

// news is a sentence of words that were never said.
func news(n int) earshot.Text {
	return earshot.Text(fmt.Sprintf("zq%[1]da zw%[1]db ze%[1]dc zr%[1]dd zt%[1]de zy%[1]df zu%[1]dg", n))
}

func TestWatch(t *testing.T) {
	quiet := strings.Repeat(".", 40)
	for _, tt := range []struct{ name, script, want string }{
		{"nothing happens", quiet, quiet},
		{"somebody says something new", "a" + quiet, "N" + quiet},
		{"a new voice after others", "a.....A.....A.....b", "N.....N.....o.....N"},
		{"the same again and again", "AAAAAAAAAAAA", "Nooooooooooo"},
		{"somebody comes", "1" + quiet, "o" + quiet},
		{"something new is seen", "v" + quiet, "N" + quiet},
		{"the same is seen", "vvvvvvvv", "Nooooooo"},
		{"somebody comes and goes and comes", "mmmmmmmmmmmm", "oooooooooooo"},
		{"somebody comes in the morning", "mm....n", "oo....N"},
		{"news among repetition", "AAAAAA......a......A", "Nooooo......N......o"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := watched(tt.script); got != tt.want {
				t.Errorf("watched\n%s\n%s, want\n%s", tt.script, got, tt.want)
			}
		})
	}
}

// TestLivelyTalkIsUsual: people who talk for an hour, always about something else, are not news for
// an hour.
func TestLivelyTalkIsUsual(t *testing.T) {
	got := watched(strings.Repeat("ab", 360))
	if n := strings.Count(got, "N"); n == 0 || n > 6 {
		t.Errorf("an hour of talk made it think %d times by novelty: %s", n, got)
	}
	if n := strings.Count(got, "C"); n < 10 || n > 60 {
		t.Errorf("in an hour of talk it looked again %d times", n)
	}
	if !strings.HasPrefix(got, "N") {
		t.Error("the first words made it think of nothing")
	}
}

// TestCheckIn: what was too little for a thought is checked again, once, and then not until
// something happens.
func TestCheckIn(t *testing.T) {
	w := attention.NoveltyTracker{Every: 5 * time.Second}
	w.Take(attention.Occurrence{At: noon, Who: "ann"})
	if _, worth := w.Weigh(noon); worth {
		t.Fatal("somebody who comes is worth a thought at once")
	}
	at := w.Next()
	if wait := at.Sub(noon); wait < 30*time.Second || wait > time.Hour {
		t.Fatalf("looks again after %v", wait)
	}
	if _, worth := w.Weigh(at.Add(-time.Second)); worth {
		t.Error("looked too early")
	}
	if cause, worth := w.Weigh(at); !worth || cause != earshot.ByCheckIn {
		t.Errorf("at the time of the check-in: %q, %v", cause, worth)
	}
	w.Thinks()
	if next := w.Next(); !next.IsZero() {
		t.Errorf("looks again at %v, although nothing has happened", next)
	}
}

// TestSurerMeansLater: the less is going on, the later the next check.
func TestSurerMeansLater(t *testing.T) {
	after := func(before string) time.Duration {
		w := attention.NoveltyTracker{Every: 5 * time.Second}
		now := noon
		for range before {
			w.Take(attention.Occurrence{At: now, Who: "bob", Text: news(now.Second() + 60*now.Minute())})
			w.Weigh(now)
			w.Thinks()
			now = now.Add(5 * time.Second)
		}
		w.Take(attention.Occurrence{At: now, Who: "ann"})
		w.Weigh(now)
		return w.Next().Sub(now)
	}
	if calm, lively := after(""), after("xxxx"); calm <= lively {
		t.Errorf("looks again after %v where nothing happens, and after %v in a lively talk", calm, lively)
	}
}

// TestWatchProperties: whatever happens, it is weighed no more often than allowed, nothing is due
// where nothing has happened, and the level stays between 0 and 1.
func TestWatchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := attention.NoveltyTracker{Every: 5 * time.Second}
		now, last, happened := noon, time.Time{}, false
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "seconds")) * time.Second / 10)
			if rapid.Bool().Draw(t, "happens") {
				w.Take(attention.Occurrence{At: now, Who: rapid.StringN(0, 1, 4).Draw(t, "who"), Text: earshot.Text(rapid.String().Draw(t, "text"))})
				happened = true
			}
			if !happened && !w.Next().IsZero() {
				t.Fatal("something is due although nothing has happened")
			}
			if cause, worth := w.Weigh(now); worth {
				if cause == earshot.ByNovelty && !last.IsZero() && now.Sub(last) < w.Every {
					t.Fatalf("weighed after %v", now.Sub(last))
				}
				happened = false
				if cause == earshot.ByNovelty {
					last = now
				}
				w.Thinks()
			}
			if l := w.Level(now); !(l >= 0 && l <= 1) {
				t.Fatalf("the level is %v", l)
			}
		}
	})
}

// TestWatchThinksOnce: what has happened just before a check is part of that thought, and causes
// nothing more.
func TestWatchThinksOnce(t *testing.T) {
	w := attention.NoveltyTracker{Every: time.Minute}
	w.Take(attention.Occurrence{At: noon, Text: "zebra quagga okapi"})
	w.Weigh(noon)
	again := w.Next()
	for _, before := range []time.Duration{30 * time.Second, 10 * time.Second} {
		at := again.Add(-before)
		w.Take(attention.Occurrence{At: at, Text: "zebra"})
		w.Weigh(at)
	}
	if cause, _ := w.Weigh(again); cause != earshot.ByCheckIn {
		t.Fatalf("it looks again because of %q", cause)
	}
	w.Thinks()
	if next := w.Next(); !next.IsZero() {
		t.Errorf("%v after that something is due", next.Sub(again))
	}
}

// TestWatchForgets: a year of new words leaves no more in memory than some hours.
func TestWatchForgets(t *testing.T) {
	w := attention.NoveltyTracker{Every: 5 * time.Second}
	now := noon
	for n := range 4000 {
		w.Take(attention.Occurrence{At: now, Who: "ann", Text: news(n)})
		w.Weigh(now)
		now = now.Add(10 * time.Minute)
	}
	if n := w.Known(); n > 4096 {
		t.Errorf("%d things are remembered", n)
	}
}
