package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/supervise"
)

// told returns what is reported of outages. Each step is a second: with "-" the thing is lost, with
// "?" lost in another way, with "+" it comes back, and with "." nothing happens.
func told(o *supervise.Outages, steps string) (lines []string) {
	began := time.Unix(1.7e9, 0)
	say := func(now time.Time, n earshot.Notice) {
		lines = append(lines, fmt.Sprintf("%v %s", now.Sub(began), n.Text))
	}
	for i, c := range steps {
		now := began.Add(time.Duration(i) * time.Second)
		if at := o.Next(); !at.IsZero() && !now.Before(at) {
			for _, n := range o.Steady(now) {
				say(now, n)
			}
		}
		n := earshot.Notice{Key: "mic", Text: "mic was lost"}
		switch c {
		case '.':
			continue
		case '+':
			n = earshot.Notice{Key: "mic", Text: "mic is back", Over: true}
		case '?':
			n.Text = "mic was lost: in another way"
		}
		if o.Change(now, n) {
			say(now, n)
		}
	}
	return lines
}

func TestOutages(t *testing.T) {
	still := strings.Repeat(".", 60)
	for _, tt := range []struct {
		name, steps string
		want        []string
	}{
		{"once", "-.+" + still, []string{"0s mic was lost", "12s mic is back"}},
		{"every few seconds", strings.Repeat("-.+..", 100) + still, []string{"0s mic was lost", "8m27s mic is back, after it was lost 100 times within 8m17s"}},
		{"while it stays lost", strings.Repeat("-..", 100), []string{"0s mic was lost"}},
		{"in another way", "-?-?+-?" + still, []string{"0s mic was lost", "1s mic was lost: in another way"}},
		{"never lost", "+", []string{"0s mic is back"}},
		{"often, with a rest", strings.Repeat("-+"+strings.Repeat(".", 13), 40) + still, []string{
			"0s mic was lost", "11s mic is back", "15s mic was lost", "10m6s mic is back, after it was lost 39 times within 9m31s",
		}},
		{"much later", "-+" + strings.Repeat(still, 6) + "-+" + still, []string{"0s mic was lost", "11s mic is back", "6m2s mic was lost", "6m13s mic is back"}},
	} {
		if got := told(new(supervise.Outages), tt.steps); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: told\n%q\nwant\n%q", tt.name, got, tt.want)
		}
	}
}

// TestOutagesOfWhatFlaps: however often a thing comes and goes, that is reported only a few times
// an hour, and the last report is true once it has been steady.
func TestOutagesOfWhatFlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps strings.Builder
		for range rapid.IntRange(1, 200).Draw(t, "times") {
			steps.WriteString("-" + strings.Repeat(".", rapid.IntRange(0, 5).Draw(t, "gone")))
			steps.WriteString("+" + strings.Repeat(".", rapid.IntRange(0, 8).Draw(t, "back")))
		}
		lines := told(new(supervise.Outages), steps.String()+strings.Repeat(".", 30))
		if len(lines) != 2 || !strings.Contains(lines[1], "mic is back") {
			t.Errorf("told %q", lines)
		}
		lines = told(new(supervise.Outages), rapid.StringMatching(`[-+?.]{0,300}`).Draw(t, "steps")+"-+"+strings.Repeat(".", 301))
		if len(lines) == 0 || !strings.Contains(lines[len(lines)-1], "mic is back") {
			t.Errorf("the last that is told is %q", lines)
		}
	})
}

// TestManyOutages: the number of outages that are remembered is bounded.
func TestManyOutages(t *testing.T) {
	var o supervise.Outages
	now := time.Unix(1.7e9, 0)
	for i := range 1000 {
		if n := (earshot.Notice{Key: fmt.Sprint(i), Text: "lost"}); !o.Change(now, n) {
			t.Errorf("number %d is not told", i)
		}
		o.Change(now, earshot.Notice{Key: fmt.Sprint(i), Text: "back", Over: true})
	}
	if n := len(o.Steady(now.Add(time.Minute))); n == 0 || n > 256 {
		t.Errorf("the end of %d is told", n)
	}
	o.Change(now, earshot.Notice{Key: "x", Text: "lost"})
	o.Forget("x")
	if !o.Next().IsZero() || len(o.Steady(now.Add(time.Hour))) > 0 {
		t.Error("what is forgotten is told")
	}
}

// TestASupervisedThatFlaps: what people are told about a helper that dies six seconds after each
// start.
func TestASupervisedThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o supervise.Outages
		lines, ends := 0, 0
		report := func(n earshot.Notice) {
			if len(o.Steady(time.Now())) > 0 || o.Change(time.Now(), n) {
				lines++
			}
		}
		_ = supervise.Run(t.Context(), "helper", func(context.Context) error {
			if ends++; ends > 200 {
				return nil
			}
			time.Sleep(6 * time.Second)
			return errors.New("it was killed")
		}, supervise.Config{Report: report})
		if lines != 1 || ends != 201 {
			t.Errorf("told %d times of %d ends", lines, ends)
		}
	})
}
