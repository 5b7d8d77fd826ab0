package midturn_test

import (
	"bufio"
	_ "embed"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/midturn"
)

//go:embed testdata/said.txt
var said string

// A sample is a line of the table.
type sample struct {
	work, text, want string
	held             bool
}

// samples reads the table.
func samples(t *testing.T) (all []sample) {
	t.Helper()
	work := ""
	lines := bufio.NewScanner(strings.NewReader(said))
	for lines.Scan() {
		line := lines.Text()
		if task, ok := strings.CutPrefix(line, "# "); ok {
			work = task
		}
		if kind, text, ok := strings.Cut(line, "\t"); ok && work != "" {
			kind, held := strings.CutPrefix(kind, "~")
			all = append(all, sample{work, text, kind, held})
		}
	}
	return all
}

// TestAgreement: how often the rules say what a person says. What they were made
// with must agree nearly always, and what they were made without, mostly; and nobody
// who only talks may end the work, or send it elsewhere.
func TestAgreement(t *testing.T) {
	for _, set := range []struct {
		name   string
		held   bool
		atMost float64 // may be wrong
	}{{"made with", false, 0.03}, {"held out", true, 0.15}} {
		t.Run(set.name, func(t *testing.T) {
			n, wrong := 0, 0
			for _, s := range samples(t) {
				if s.held != set.held {
					continue
				}
				n++
				got := midturn.Classify(earshot.Text(s.text), "Earshot", earshot.Text(s.work)).String()
				if got == s.want {
					continue
				}
				wrong++
				t.Logf("%q is %s, and a person says %s", s.text, got, s.want)
				if got == "stop" || got == "instead" {
					t.Errorf("%q ends the work", s.text)
				}
			}
			t.Logf("%d of %d agree", n-wrong, n)
			if float64(wrong) > set.atMost*float64(n) {
				t.Errorf("%d of %d are wrong", wrong, n)
			}
		})
	}
}

func TestWhoeverIsNotSure(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "side"},
		{"the name alone", "Earshot?", "side"},
		{"with the name", "Earshot, how far are you?", "status"},
		{"with the name behind", "never mind, Earshot", "stop"},
		{"another language", "wie weit bist du?", "side"},
		{"no words", "?! …", "side"},
		{"a whole story", strings.Repeat("and then it rained ", 30), "side"},
		{"stop something else", "stop the music", "side"},
		{"a stop within", "there is a bus stop near the house", "side"},
		{"how long is something else", "how long is the garden?", "side"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := midturn.Classify(earshot.Text(tt.text), "Earshot", "plan the garden"); got.String() != tt.want {
				t.Errorf("%q is %v, want %s", tt.text, got, tt.want)
			}
		})
	}
}

// FuzzClassify: whatever is said, it is of a kind that there is, also when nobody
// has a name and nothing is known of the work.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{"no, in Python", "stop", "…", "\xff, please", "and and and", "can you ", "now now"} {
		f.Add(s, "Earshot", "plan the garden")
		f.Add(s, "", "")
	}
	f.Fuzz(func(t *testing.T, text, agent, work string) {
		if k := midturn.Classify(earshot.Text(text), agent, earshot.Text(work)); k.String() == "" {
			t.Errorf("%q is nothing", text)
		}
	})
}
