package think_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/think"
	"earshot/llm"
)

// TestNothingIsLost: over any sequence of start, token, signal, park, resume, finish and failure no
// text of a thought is lost or doubled: its segments are what the model gave. Every question that
// is not over is recorded, so that it continues however the program ends. There is never more than
// one request. A parked thought requests nothing except one distillation in each hold. At the end
// every thought ends. make proof runs 10,000 sequences.
func TestNothingIsLost(t *testing.T) {
	if os.Getenv("EARSHOT_PROOF") != "" {
		old := flag.Lookup("rapid.checks").Value.String()
		flag.Set("rapid.checks", "10000")
		defer flag.Set("rapid.checks", old)
	}
	rapid.Check(t, func(t *rapid.T) {
		l := &ledger{T: t, now: began, given: make(map[earshot.EventID]string), kept: make(map[earshot.EventID]string)}
		l.State = think.State{Rules: rules, NewID: l.newID}
		l.Rules.Sequential = rapid.Bool().Draw(t, "sequential")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			l.step()
		}
		l.finish()
	})
}

// A ledger counts what goes through a state.
type ledger struct {
	think.State
	*rapid.T
	now   time.Time
	ids   int
	gen   int             // of the request under way, 0 if there is none
	of    earshot.EventID // the thought of that request
	sorts bool
	gives bool // its findings are being recorded
	held  bool
	tried bool                       // something was distilled in this hold
	given map[earshot.EventID]string // what the model gave to each thought
	kept  map[earshot.EventID]string // what was recorded of it
}

func (l *ledger) newID() earshot.EventID {
	l.ids++
	return earshot.EventID(rune('a'+l.ids%26)) + earshot.EventID(strings.Repeat("x", l.ids/26))
}

// step draws one event.
func (l *ledger) step() {
	l.now = l.now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 31 * time.Second, 11 * time.Minute}).Draw(l.T, "pause"))
	e := think.Event{Now: l.now, Gen: l.gen, Fit: func(q think.Question) bool { return len(q.ID)%2 == 0 }}
	switch rapid.IntRange(0, 14).Draw(l.T, "event") {
	case 0:
		e.Kind, e.Question = think.Asked, asked("q"+string(l.newID()))
	case 1:
		e.Kind, e.Question = think.Asked, fresh("n"+string(l.newID()))
	case 2, 3, 4:
		if l.gen == 0 {
			e.Gen = 99 // an event that comes too late
		}
		e.Kind, e.Text = think.Token, rapid.SampledFrom([]string{"one ", "", "é", strings.Repeat("long", 1000)}).Draw(l.T, "token")
	case 5:
		e.Kind, l.held = think.Held, true
	case 6:
		e.Kind, l.held, l.tried = think.Released, false, false
	case 7, 8:
		e.Kind = think.Ended
		e.Err = rapid.SampledFrom([]error{nil, errNoModel, llm.ErrParked, errors.New("cancelled")}).Draw(l.T, "how")
	case 11:
		e.Kind, e.Answer.Findings = think.Ended, make([]think.Finding, 1)
	case 12:
		e.Kind = think.Given
	case 9:
		e.Kind = think.Steered
	case 10:
		e.Kind = think.Stopped
	default:
		e.Kind = think.Ticked
	}
	l.do(e)
}

// do takes a step and checks its acts.
func (l *ledger) do(e think.Event) {
	if e.Kind == think.Token && e.Gen == l.gen && l.gen != 0 && !l.sorts {
		l.given[l.of] += e.Text
	}
	acts := l.Next(e)
	gives := slices.ContainsFunc(acts, func(a think.Act) bool { return a.Kind == think.Give })
	switch {
	case e.Gen != l.gen:
	case e.Kind == think.Given && l.gives, e.Kind == think.Ended && !l.gives && !gives:
		l.gen, l.gives = 0, false
	case gives:
		l.gives = true
	}
	for _, act := range acts {
		l.look(act)
	}
	asks := 0
	for _, v := range l.View() {
		if v.Cause.Asked() {
			asks++
			if _, ok := l.kept[v.ID]; !ok {
				l.Fatalf("%s was asked, and is not written down", v.ID)
			}
		}
		if got := l.given[v.ID]; string(v.Text) != bounded(got) {
			l.Fatalf("%d bytes of %s, of %d that were given", len(v.Text), v.ID, len(got))
		}
	}
	if asks > think.MostAsked || len(l.View()) > think.MostAsked+1 {
		l.Fatalf("%d questions of %d thoughts", asks, len(l.View()))
	}
}

func (l *ledger) look(act think.Act) {
	switch act.Kind {
	case think.Think, think.Distil:
		if l.gen != 0 {
			l.Fatal("two requests at once")
		}
		if l.held && (act.Kind == think.Think || l.tried) {
			l.Fatal("what is parked asks")
		}
		l.gen, l.of, l.sorts, l.tried = act.Gen, act.Question.ID, act.Kind == think.Distil, l.held
	case think.Keep:
		s := act.Segment
		if first := l.kept[act.Question.ID] == "" && s.Of == ""; first != (s.ID == act.Question.ID) && s.Text != "" {
			l.Fatalf("the first stretch of %s is %s of %q", act.Question.ID, s.ID, s.Of)
		}
		l.kept[act.Question.ID] += string(s.Text)
	}
}

// bounded returns as much of given as a thought can hold, without a partial rune.
func bounded(given string) string {
	if len(given) <= think.MostText {
		return given
	}
	return strings.ToValidUTF8(given[:think.MostText], "")
}

// finish lets every thought end.
func (l *ledger) finish() {
	l.held = false
	l.do(think.Event{Kind: think.Released, Now: l.now})
	for range 100 {
		l.now = l.now.Add(2 * time.Minute)
		l.do(think.Event{Kind: think.Ended, Gen: l.gen, Now: l.now})
		l.do(think.Event{Kind: think.Given, Gen: l.gen, Now: l.now})
		l.do(think.Event{Kind: think.Ticked, Now: l.now})
	}
	if l.Busy() || !l.Due().IsZero() {
		l.Fatalf("it does not come to its end: %+v", l.View())
	}
	for id, given := range l.given {
		if l.kept[id] != bounded(given) {
			l.Fatalf("of %s %d bytes were given and %d kept", id, len(given), len(l.kept[id]))
		}
	}
}
