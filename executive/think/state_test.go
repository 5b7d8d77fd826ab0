package think_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/think"
	"earshot/llm"
)

var began = time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC)

// public is what everybody may see.
var public = earshot.Visibility{Scope: earshot.Public}

// asked is a question of Ann's.
func asked(text string) think.Question {
	return think.Question{ID: earshot.EventID(text), Cause: earshot.ByTrigger, About: earshot.EventID("m-" + text), Text: earshot.Text(text), By: "ann", Name: "Ann", Visibility: public}
}

// fresh is something new.
func fresh(text string) think.Question {
	return think.Question{ID: earshot.EventID(text), Cause: earshot.ByNovelty, Text: earshot.Text(text), Visibility: public}
}

// rules are those of the default configuration.
var rules = think.Rules{Continuous: true, Interval: 5 * time.Second}

// A play drives a state by a line of steps, and records the acts.
type play struct {
	think.State
	now time.Time
	gen int
	ids int
	out []string
}

func newPlay(r think.Rules) *play {
	p := &play{now: began}
	p.State = think.State{Rules: r, NewID: func() earshot.EventID { p.ids++; return earshot.EventID(fmt.Sprintf("s%d", p.ids)) }}
	return p
}

// errNoModel is the error of a model that does not answer.
var errNoModel = errors.New("no model")

// run performs one step: a question "?q", something new "+n", a token ".word", held, released,
// rests (unasked thoughts off), unrests, ended, found (with a finding), given (it is recorded),
// failed, parked (by the scheduler; again, after news), cancelled, steer, stop, shut, or a time to
// pass.
func (p *play) run(step string) {
	all := func(think.Question) bool { return true }
	e := think.Event{Now: p.now, Gen: p.gen, Fit: all}
	switch {
	case step[0] == '?':
		e.Kind, e.Question = think.Asked, asked(step[1:])
	case step[0] == '+':
		e.Kind, e.Question = think.Asked, fresh(step[1:])
	case step[0] == '.':
		e.Kind, e.Text = think.Token, step[1:]
	case step == "held":
		e.Kind, e.Cut = think.Held, earshot.Interruption{By: "bob", Signal: "typing", At: p.now}
	case step == "released":
		e.Kind = think.Released
	case step == "ended":
		e.Kind = think.Ended
	case step == "found":
		e.Kind, e.Answer.Findings = think.Ended, make([]think.Finding, 1)
	case step == "given":
		p.out = append(p.out, fmt.Sprintf("gives:%v", p.Gives(p.gen)))
		e.Kind = think.Given
	case step == "failed":
		e.Kind, e.Err = think.Ended, errNoModel
	case step == "cancelled":
		e.Kind, e.Err = think.Ended, errors.New("cancelled")
	case step == "parked", step == "again":
		e.Kind, e.Err, e.News = think.Ended, llm.ErrParked, step == "again"
	case step == "steer":
		e.Kind, e.Cut = think.Steered, earshot.Interruption{By: "ann", Signal: think.BySteering}
	case step == "stop":
		e.Kind, e.Cut = think.Stopped, earshot.Interruption{By: "ann", Signal: "command"}
	case step == "off":
		p.Rules.Off = true
		e.Kind = think.Ticked
	case step == "rests", step == "unrests": // unasked thoughts
		p.Rules.Continuous = step == "unrests"
		e.Kind = think.Ticked
	case step == "shut":
		e.Kind = think.Closed
	default:
		d, err := time.ParseDuration(step)
		if err != nil {
			panic(err)
		}
		p.now = p.now.Add(d)
		e.Kind, e.Now = think.Ticked, p.now
	}
	p.note(p.Next(e))
}

// note records the acts.
func (p *play) note(acts []think.Act) {
	for _, a := range acts {
		text := strings.ReplaceAll(strings.ReplaceAll(a.Text, " ", "_"), "\n", "/")
		switch a.Kind {
		case think.Think:
			p.gen = a.Gen
			p.out = append(p.out, fmt.Sprintf("think(%s:%s)", a.Question.ID, text))
		case think.Distil:
			p.gen = a.Gen
			p.out = append(p.out, fmt.Sprintf("distil(%s:%s)", a.Question.ID, text))
		case think.Cancel:
			p.out = append(p.out, "cancel")
		case think.Keep:
			s := a.Segment
			how := string(s.Outcome)
			if s.Cut != nil {
				how += " by " + s.Cut.Signal
			}
			if s.Dropped {
				how += " for good"
			}
			p.out = append(p.out, fmt.Sprintf("keep(%s of %s:%s, %s)", s.ID, s.Of, string(s.Text), how))
		case think.Give:
			p.out = append(p.out, fmt.Sprintf("give(%s by %s)", a.Question.ID, a.Answer.Segment))
		case think.Over:
			p.out = append(p.out, fmt.Sprintf("over(%s)", a.Question.ID))
		}
	}
}

func TestState(t *testing.T) {
	sequential := think.Rules{Sequential: true, Continuous: true, Interval: 5 * time.Second}
	asking := think.Rules{Interval: 5 * time.Second}
	for _, tt := range []struct {
		name  string
		rules think.Rules
		steps string
		want  string
	}{
		{"a whole thought", rules, "?q .a .b ended ended", "keep(q of :, asked) think(q:) keep(s1 of q:ab, completed) distil(q:ab) over(q)"},
		{"of nothing comes nothing", rules, "?q ended", "keep(q of :, asked) think(q:) keep(s1 of q:, completed) over(q)"},
		{"interrupted, and it goes on", rules, "?q .a held .b cancelled 1s released .c ended ended",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:ab, interrupted by typing) think(q:ab) keep(s2 of q:c, completed) distil(q:ab/c) over(q)"},
		{"released before the model has ended", rules, "?q .a held released .b cancelled .c ended ended",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:ab, interrupted by typing) think(q:ab) keep(s2 of q:c, completed) distil(q:ab/c) over(q)"},
		{"parked before it said anything", rules, "?q held cancelled released .a ended ended",
			"keep(q of :, asked) think(q:) cancel think(q:) keep(s1 of q:a, completed) distil(q:a) over(q)"},
		{"parked by the scheduler", rules, "?q .a parked .b ended ended",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, interrupted by priority) think(q:a) keep(s2 of q:b, completed) distil(q:a/b) over(q)"},
		{"what is parked asks nothing", rules, "?q .a held cancelled ?r 10s held +n 10s 9s",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by typing) keep(r of :, asked)"},
		{"parked for long, it is distilled once", rules, "?q .a held cancelled 29s 1s ended 30s 1h",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by typing) distil(q:a)"},
		{"and goes on afterwards, and is distilled again", rules, "?q .a held cancelled 30s ended released .b ended ended",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by typing) distil(q:a) think(q:a) keep(s2 of q:b, completed) distil(q:a/b) over(q)"},
		{"another key while it is distilled", rules, "?q .a held cancelled 30s held cancelled 30s released",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by typing) distil(q:a) cancel think(q:a)"},
		{"asked before unasked", rules, "+n .a ?q .b cancelled .c ended ended",
			"think(n:) keep(q of :, asked) cancel keep(n of :ab, interrupted by question) think(q:) keep(s1 of q:c, completed) distil(q:c) over(q) think(n:ab)"},
		{"one at a time, in order", rules, "?q ?r .a ended ended", "keep(q of :, asked) think(q:) keep(r of :, asked) keep(s1 of q:a, completed) distil(q:a) over(q) think(r:)"},
		{"not the same at once", rules, "?q ?q ended", "keep(q of :, asked) think(q:) keep(s1 of q:, completed) over(q)"},
		{"what is new waits for the interval", rules, "?q ended +n 4s +m 1s", "keep(q of :, asked) think(q:) keep(s1 of q:, completed) over(q) think(m:)"},
		{"what is new while it thinks about that", rules, "+n +m ended 1h", "think(n:) keep(n of :, completed) over(n)"},
		{"unasked and parked for too long", rules, "+n .a held cancelled 30s ended 11m released", "think(n:) cancel keep(n of :a, interrupted by typing) distil(n:a) over(n)"},
		{"only when asked", asking, "+n 1h ?q", "keep(q of :, asked) think(q:)"},
		{"sequential: only when asked, and not again", sequential, "+n 1h ?q .a held cancelled released ended",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by typing for good) distil(q:a) over(q)"},
		{"failure, and a good end", rules, "?q .a failed 4s 1s .b ended ended",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, failed) think(q:a) keep(s2 of q:b, completed) distil(q:a/b) over(q)"},
		{"three failures", rules, "?q failed 5s failed 20s failed 1h", "keep(q of :, asked) think(q:) think(q:) think(q:) keep(s1 of q:, failed for good) over(q)"},
		{"failures after something", rules, "?q .a failed 5s failed 20s failed ended",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, failed) think(q:a) think(q:a) keep(s2 of q:, failed for good) distil(q:a) over(q)"},
		{"what cannot be distilled", rules, "?q .a ended failed 5s failed 20s failed", "keep(q of :, asked) think(q:) keep(s1 of q:a, completed) distil(q:a) distil(q:a) distil(q:a) over(q)"},
		{"steered while it thinks", rules, "?q .a steer cancelled .b ended ended",
			"keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by steering) think(q:a) keep(s2 of q:b, completed) distil(q:a/b) over(q)"},
		{"steered while it is distilled", rules, "?q .a ended steer cancelled .b ended ended",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, completed) distil(q:a) cancel think(q:a) keep(s2 of q:b, completed) distil(q:a/b) over(q)"},
		{"stopped while it thinks", rules, "?q ?r .a stop .b cancelled", "keep(q of :, asked) think(q:) keep(r of :, asked) cancel keep(s1 of r:, suppressed for good) over(r) keep(s2 of q:ab, interrupted by command for good) over(q)"},
		{"stopped while it is parked", rules, "?q .a held cancelled stop released", "keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by typing) keep(s2 of q:, suppressed for good) over(q)"},
		{"stopped while it is distilled", rules, "?q .a ended stop cancelled", "keep(q of :, asked) think(q:) keep(s1 of q:a, completed) distil(q:a) cancel keep(s2 of q:, suppressed for good) over(q)"},
		{"what was found is written down before anything else begins", rules, "?q ?r .a ended found 1h ended given",
			"keep(q of :, asked) think(q:) keep(r of :, asked) keep(s1 of q:a, completed) distil(q:a) give(q by s1) gives:true over(q) think(r:)"},
		{"stopped before that is written down", rules, "?q .a ended found stop given",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, completed) distil(q:a) give(q by s1) cancel gives:false keep(s2 of q:, suppressed for good) over(q)"},
		{"stopped before it is known what was found", rules, "?q .a ended stop found given",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, completed) distil(q:a) cancel keep(s2 of q:, suppressed for good) over(q) gives:false"},
		{"nothing is to be thought", rules, "?q .a off cancelled 1h ?r", "keep(q of :, asked) think(q:) cancel keep(s1 of q:a, interrupted by off) keep(r of :, asked)"},
		{"no more unasked", rules, "+n .a rests .b cancelled 1h +m 1h ?q unrests ended +o 5s",
			"think(n:) cancel keep(n of :ab, interrupted by off for good) over(n) keep(q of :, asked) think(q:) keep(s1 of q:, completed) over(q) think(o:)"},
		{"no more unasked, while that is parked", rules, "+n .a held cancelled rests released unrests 1h",
			"think(n:) cancel keep(n of :a, interrupted by typing) keep(s1 of n:, suppressed for good) over(n)"},
		{"no more unasked, while it waits", rules, "held +n rests released unrests 1h", ""},
		{"what is thought out is kept", rules, "+n .a ended rests found given", "think(n:) keep(n of :a, completed) distil(n:a) give(n by n) gives:true over(n)"},
		{"asked for, it goes on", rules, "?q .a rests .b ended ended", "keep(q of :, asked) think(q:) keep(s1 of q:ab, completed) distil(q:ab) over(q)"},
		{"the program ends", rules, "?q ?r +n .a shut .b cancelled ?s 1h", "keep(q of :, asked) think(q:) keep(r of :, asked) cancel keep(s1 of q:ab, interrupted by shutdown)"},
		{"interrupted again and again", rules, "?q .a parked .a again .a again .a again .a again .a again .a again .a again ended",
			"keep(q of :, asked) think(q:) keep(s1 of q:a, interrupted by priority) think(q:a) keep(s2 of q:a, interrupted by priority) think(q:a/a) keep(s3 of q:a, interrupted by priority) " +
				"think(q:a/a/a) keep(s4 of q:a, interrupted by priority) think(q:a/a/a/a) keep(s5 of q:a, interrupted by priority) think(q:a/a/a/a/a) keep(s6 of q:a, interrupted by priority) " +
				"think(q:a/a/a/a/a/a) keep(s7 of q:a, interrupted by priority) think(q:a/a/a/a/a/a/a) keep(s8 of q:a, interrupted by priority for good) distil(q:a/a/a/a/a/a/a/a) over(q)"},
		{"parked again and again for nothing", rules, "?q" + strings.Repeat(" .a parked", 20) + " .b ended ended",
			"keep(q of :, asked) think(q:)" + forNothing(20) + " keep(s21 of q:b, completed) distil(q:" + strings.Repeat("a/", 20) + "b) over(q)"},
	} {
		p := newPlay(tt.rules)
		for step := range strings.FieldsSeq(tt.steps) {
			p.run(step)
		}
		if got := strings.Join(p.out, " "); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// forNothing is the expected output of a thought that continues n times, parked without news each
// time but the last.
func forNothing(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " keep(s%d of q:a, interrupted by priority) think(q:%s)", i+1, strings.Repeat("a/", i)+"a")
	}
	return b.String()
}

// TestTooManyQuestions: the waiting questions are bounded, and the one too many is refused with an
// error.
func TestTooManyQuestions(t *testing.T) {
	p := newPlay(rules)
	for i := range think.MostAsked {
		q := asked(fmt.Sprint(i))
		if err := p.Takes(q); err != nil {
			t.Fatal(err)
		}
		p.run("?" + fmt.Sprint(i))
	}
	if err := p.Takes(asked("one more")); !errors.Is(err, think.ErrFull) {
		t.Errorf("one more: %v", err)
	}
	if err := p.Takes(fresh("new")); err != nil {
		t.Errorf("what is new: %v", err)
	}
	again := asked("a  QUESTION?")
	p = newPlay(rules)
	p.Next(think.Event{Kind: think.Asked, Now: began, Question: asked("a question")})
	if err := p.Takes(again); !errors.Is(err, think.ErrAsking) {
		t.Errorf("the same again: %v", err)
	}
	again.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}
	if err := p.Takes(again); err != nil {
		t.Errorf("the same in private, which nobody else may be told of: %v", err)
	}
}

// TestQuestionsOfOthers: the questions waiting in one conversation do not count in another, and all
// private ones together are bounded.
func TestQuestionsOfOthers(t *testing.T) {
	p := newPlay(rules)
	of := func(n int, who ...earshot.ParticipantID) think.Question {
		q := asked(fmt.Sprint(n, who))
		if len(who) > 0 {
			q.Visibility = earshot.Visibility{Scope: earshot.Private, Members: who}
		}
		return q
	}
	n := 0
	for _, who := range []earshot.ParticipantID{"ann", "bob", "carol", "dan"} {
		for range think.MostAsked {
			if err := p.Takes(of(n, who)); err != nil {
				t.Fatalf("%d, of %s: %v", n, who, err)
			}
			p.Next(think.Event{Kind: think.Asked, Now: began, Question: of(n, who)})
			n++
		}
		if err := p.Takes(of(n, who)); !errors.Is(err, think.ErrFull) {
			t.Errorf("one more of %s: %v", who, err)
		}
	}
	if err := p.Takes(of(n, "eve")); n != think.MostPrivate || !errors.Is(err, think.ErrFull) {
		t.Errorf("one more in private, after %d: %v", n, err)
	}
	if err := p.Takes(of(n)); err != nil {
		t.Errorf("one of all: %v", err)
	}
}

// TestALongThought ends where it is full, with all the text up to there.
func TestALongThought(t *testing.T) {
	p := newPlay(rules)
	p.run("?q")
	part := strings.Repeat("é", 1500)
	for range 10 {
		p.run("." + part)
	}
	p.run("cancelled")
	last := p.out[len(p.out)-1]
	v := p.View()[0]
	if len(v.Text) != think.MostText || v.Phase != think.Sorting || !strings.HasPrefix(last, "distil(") || p.out[2] != "cancel" {
		t.Errorf("%d bytes, %s, %s", len(v.Text), v.Phase, last[:20])
	}
}

// TestView: a thought can be read while it grows.
func TestView(t *testing.T) {
	p := newPlay(rules)
	for step := range strings.FieldsSeq("+n ?q .a held cancelled 1s released .b") {
		p.run(step)
	}
	p.run("cancelled") // of n, which gave way
	p.run(".one")
	p.run("held")
	got := p.View()
	if len(got) != 2 || got[0].ID != "q" || got[1].ID != "n" {
		t.Fatalf("%+v", got)
	}
	if q := got[0]; q.Phase != think.Parked || q.Text == "" {
		t.Errorf("%+v", q)
	}
}

// TestRestored: a thought that was parked when the program ended continues.
func TestRestored(t *testing.T) {
	p := newPlay(rules)
	acts := p.Next(think.Event{Kind: think.Restored, Now: began, Question: asked("q"), Segments: []think.Segment{
		{ID: "q", Thought: earshot.Thought{Text: "one ", Tokens: 1}}, {ID: "x", Thought: earshot.Thought{Of: "q", Text: "two", Tokens: 2}},
	}})
	p.note(acts)
	for step := range strings.FieldsSeq(".3 ended ended") {
		p.run(step)
	}
	want := []string{"think(q:one/two)", "keep(s1 of q:3, completed)", "distil(q:one/two/3)", "over(q)"}
	if !slices.Equal(p.out, want) {
		t.Errorf("%q, want %q", p.out, want)
	}
}

func TestATokenCostsNothing(t *testing.T) {
	p := newPlay(rules)
	p.run("?q")
	p.run(".a")
	e := think.Event{Kind: think.Token, Gen: p.gen, Text: "word "}
	if n := testing.AllocsPerRun(1000, func() { p.Next(e) }); n > 0 {
		t.Errorf("%v allocations a token", n)
	}
}

// TestAPrivateQuestionIsNobodysBusiness: a public thought that gives way to a private question does
// not say who asked it.
func TestAPrivateQuestionIsNobodysBusiness(t *testing.T) {
	for _, scope := range []earshot.Scope{earshot.Public, earshot.Private} {
		p := newPlay(rules)
		p.Next(think.Event{Kind: think.Asked, Now: p.now, Question: fresh("n")})
		p.Next(think.Event{Kind: think.Token, Gen: 1, Text: "one"})
		q := asked("q")
		q.Visibility.Scope = scope
		p.Next(think.Event{Kind: think.Asked, Now: p.now, Question: q})
		for _, act := range p.Next(think.Event{Kind: think.Ended, Now: p.now, Gen: 1, Err: errNoModel}) {
			if act.Kind == think.Keep && (act.Segment.Cut.By == "ann") != (scope == earshot.Public) {
				t.Errorf("%s: it gave way to %+v", scope, act.Segment.Cut)
			}
		}
	}
}

// TestWhatIsForgottenIsOver: a thought that was parked for too long leaves nothing behind.
func TestWhatIsForgottenIsOver(t *testing.T) {
	p := newPlay(rules)
	p.Next(think.Event{Kind: think.Asked, Now: p.now, Question: fresh("n")})
	p.Next(think.Event{Kind: think.Token, Gen: 1, Text: "one"})
	p.Next(think.Event{Kind: think.Held, Now: p.now})
	p.Next(think.Event{Kind: think.Ended, Now: p.now, Gen: 1, Err: errNoModel})
	over := false
	for _, act := range p.Next(think.Event{Kind: think.Ticked, Now: p.now.Add(time.Hour)}) {
		over = over || act.Kind == think.Over && act.Question.ID == "n"
	}
	if !over || len(p.View()) > 0 {
		t.Errorf("over: %v; left is %v", over, p.View())
	}
}
