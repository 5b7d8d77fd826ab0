package model_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/monitor/model"
	"earshot/participants"
)

// presses strokes keys that have names, parted by blanks; 'text' is typed.
func presses(m *model.Model, keys string) (effects []model.Effect) {
	for k, part := range strings.Split(keys, "'") {
		if k%2 == 1 {
			for _, r := range part {
				effects = append(effects, m.Step(later, model.Key{Name: string(r), Text: string(r)})...)
			}
			continue
		}
		for _, name := range strings.Fields(part) {
			effects = append(effects, m.Step(later, model.Key{Name: name})...)
		}
	}
	return effects
}

var later = noon.Add(90 * time.Second)

// TestTakingPart: what is typed becomes what a terminal of the room would send.
func TestTakingPart(t *testing.T) {
	for _, tt := range []struct{ name, keys, want string }{
		{"a message", "i 'hi' enter", `sits, types, "hi"`},
		{"emptied", "i 'hi' backspace backspace", "sits, types, stops"},
		{"left", "enter 'hi' esc", "sits, types, stops"},
		{"nothing", "i enter", "sits"},
		{"a command is no talk", "i '/why 3' enter", "sits, /why 3"},
		{"one that says something", "i '/msg bob hi' enter", "sits, types, stops, /msg bob hi"},
		{"a slash", "i '//etc is a folder' enter", `sits, types, "/etc is a folder"`},
		{"no command", "i '/' enter", "sits"},
		{"one behind space", "i ' /msg bob hi' enter", "sits, types, stops, types, stops, /msg bob hi"},
		{"leaving the line", "i '/exit' enter q", "sits, quits"},
		{"two", "i 'a' enter 'b' enter", `sits, types, "a", types, "b"`},
		{"what was said again", "i 'a' enter up enter", `sits, types, "a", types, "a"`},
		{"leaving", "q", "quits"},
		{"leaving from a line", "i 'x' ctrl+c", "sits, types, quits"},
		{"a letter in a line is no key", "i 'q?/' enter", `sits, types, "q?/"`},
		{"a search asks for what is older", "/ 'zeppelins' enter", "seeks zeppelins"},
		{"a search for nothing", "/ enter n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := opened(80, 24, busy().events)
			if got := tale(presses(m, tt.keys)); got != tt.want {
				t.Errorf("%s does %s, want %s", tt.keys, got, tt.want)
			}
		})
	}
}

// tale writes effects the short way.
func tale(effects []model.Effect) string {
	var words []string
	for _, e := range effects {
		switch e := e.(type) {
		case model.JoinRequest:
			words = append(words, "sits")
		case model.Quit:
			words = append(words, "quits")
		case model.Seek:
			words = append(words, "seeks "+e.Words)
		case model.Around:
			words = append(words, fmt.Sprint("around ", e.At))
		case model.Older:
			words = append(words, fmt.Sprint("older than ", e.Before))
		case model.Reload:
			words = append(words, "reloads")
		case model.Emit:
			switch b := e.Body.(type) {
			case earshot.Typing:
				words = append(words, map[bool]string{true: "types", false: "stops"}[b.Began])
			case earshot.Message:
				words = append(words, fmt.Sprintf("%q", string(b.Text)))
			case earshot.Command:
				words = append(words, strings.TrimSpace("/"+b.Name+" "+string(b.Args)))
			}
		}
	}
	return strings.Join(words, ", ")
}

// TestPaste: several lines are one message, and one that is too long is refused.
func TestPaste(t *testing.T) {
	m := opened(80, 24, nil)
	presses(m, "i")
	m.Step(later, model.Key{Name: "paste", Text: "one\ntwo"})
	if !strings.Contains(words(m.Screen()), "say: one⏎two") {
		t.Errorf("the line is not shown:\n%s", words(m.Screen()))
	}
	m.Step(later, model.Key{Name: "paste", Text: strings.Repeat("x", earshot.MaxText)})
	if !strings.Contains(words(m.Screen()), "too long") {
		t.Errorf("nothing is said:\n%s", words(m.Screen()))
	}
	if got := tale(presses(m, "enter")); got != `"one\ntwo"` {
		t.Errorf("sent %s", got)
	}
}

// TestWork: what goes on beside the talk is shown below the scene.
func TestWork(t *testing.T) {
	m := opened(80, 24, busy().events)
	m.Step(later, model.House{Work: "2 tasks, 1 waiting for an answer"})
	presses(m, "4")
	if got, want := words(m.Screen()), "2 tasks, 1 waiting for an answer"; !strings.Contains(got, want) {
		t.Errorf("there is no %q:\n%s", want, got)
	}
}

// TestKeys: what is on the screen after some keys.
func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		name, keys string
		has, lacks []string
	}{
		{"follows", "", []string{"following", "the microphone is gone"}, nil},
		{"a page up", "pgup", []string{"looking back", "End follows"}, []string{"the microphone is gone"}},
		{"to the beginning", "home", []string{"▶12:00:00 Ann has come in"}, nil},
		{"and back", "home end", []string{"following", "the microphone is gone"}, []string{"▶"}},
		{"chosen", "up", []string{"▶12:01:13 ✗ the microphone is gone", "Why this"}, nil},
		{"and the one before", "up up up", []string{"▶12:01:11 Earshot will remind"}, nil},
		{"and let go", "up esc", []string{"looking back"}, []string{"▶"}},
		{"down to the end follows", "up up down down", []string{"following"}, []string{"▶"}},
		{"searched", "/ 'teapot' enter", []string{"▶12:00:46 Ann → Bob [private]: the ring is in the teapot", "“teapot” n N"}, nil},
		{"searched in another form", "/ 'teapots' enter", []string{"▶12:00:46 Ann → Bob [private]: the ring is in the teapot"}, nil},
		{"searched by its beginning", "/ 'tea*' enter", []string{"▶12:00:46 Ann → Bob [private]: the ring is in the teapot"}, nil},
		{"searched as it is written", `/ '"ring is in"' enter`, []string{"▶12:00:46 Ann → Bob [private]: the ring is in the teapot"}, nil},
		{"in another order", `/ '"is ring in"' enter`, []string{"no match further up"}, []string{"▶"}},
		{"by who said it", "/ 'from:Ann ring' enter", []string{"▶12:00:46 Ann → Bob"}, nil},
		{"by oneself", "/ 'from:me ring' enter", []string{"▶12:00:46 Ann → Bob"}, nil},
		{"by who did not", "/ 'from:Bob ring' enter", []string{"no match further up"}, []string{"▶"}},
		{"of a day", "/ 'on:2026-11-22 ring' enter", []string{"▶12:00:46 Ann → Bob"}, nil},
		{"of another", "/ 'before:2026-11-22 ring' enter", []string{"no match further up"}, []string{"▶"}},
		{"of no day", "/ 'ring on:yesturday' enter", []string{"on: names no day to search for: give"}, []string{"▶"}},
		{"the next match up", "/ 'tides' enter n n", []string{"▶12:00:51 Ann → Earshot: write me two lines"}, nil},
		{"and down again", "/ 'tides' enter n n N", []string{"▶12:00:52 Earshot → Alice: two lines about"}, nil},
		{"nowhere", "/ 'elephant' enter", []string{"no match further up"}, nil},
		{"a time", "t '12:00:29' enter", []string{"▶12:00:29 Bob (voice, 82%)"}, nil},
		{"no time", "t 'noon' enter", []string{"this time is not understood"}, nil},
		{"from a reply to its question", "t '12:00:09' enter r", []string{"▶12:00:07 Ann → Earshot: wait, how high"}, nil},
		{"and back", "t '12:00:09' enter r r", []string{"▶12:00:09 Earshot → Ann: In the Bay"}, nil},
		{"why", "t '12:00:29' enter w", []string{"[Why this]", "Bob “mind the step over there”", "- nobody called me by name"}, nil},
		{"why a reply", "t '12:00:09' enter w", []string{"[Why this]", "▶12:00:07", "- nobody else is here, so it was for me"}, nil},
		{"r without a choice", "r", []string{"choose a line first"}, nil},
		{"a person", "f 'bob' enter", []string{"mind the step", "teapot", "only: bob"}, []string{"the microphone", "Bay of Fundy"}},
		{"private", "f 'private' enter", []string{"teapot"}, []string{"mind the step"}},
		{"kinds", "f 'voice' enter", []string{"mind the step", "thank you dear"}, []string{"teapot"}},
		{"an agent and a kind", "f 'earshot replies' enter", []string{"Bay of Fundy"}, []string{"Alice writes", "teapot"}},
		{"no longer", "f 'voice' enter esc", []string{"the microphone is gone"}, []string{"only:"}},
		{"the scene", "tab tab tab", []string{"[Scene]", "20 s  the harbour flat has no lift"}, nil},
		{"the other way", "shift+tab", []string{"[Speed]", "dqat"}, nil},
		{"by number", "2", []string{"[Thought]", "parked: Ann began to write"}, nil},
		{"health", "5", []string{"[Health]✗1", "microphone (sense) ill for 10 s", "→ plug it in again"}, nil},
		{"zoomed", "6 z", []string{"[Speed]", "silent 12 ms after the cut"}, []string{"the microphone is gone"}},
		{"and back", "6 z z", []string{"the microphone is gone"}, nil},
		{"help", "?", []string{"What you see here", "any key closes"}, []string{"the microphone is gone"}},
		{"and out of it", "? x", []string{"the microphone is gone"}, nil},
		{"the rest of the help", "? pgdown pgdown pgdown pgdown pgdown pgdown pgdown pgdown", []string{"earshot keeps running"}, nil},
		{"a line", "i", []string{"say:", "Enter sends, Esc leaves"}, nil},
		{"typed", "i 'hello'", []string{"say: hello"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := opened(80, 24, busy().events)
			m.Screen()
			presses(m, tt.keys)
			got := words(m.Screen())
			for _, want := range tt.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q shows no %q:\n%s", tt.keys, want, got)
				}
			}
			for _, not := range tt.lacks {
				if strings.Contains(got, not) {
					t.Errorf("%q shows %q:\n%s", tt.keys, not, got)
				}
			}
		})
	}
}

// TestScrollingThere: a page up and a page down again is where it was, and nothing is
// passed over on the way.
func TestScrollingThere(t *testing.T) {
	m := opened(80, 24, busy().events)
	m.Screen()
	var seen []string
	for range 20 {
		for _, row := range strings.Split(words(m.Screen()), "\n")[1:17] {
			seen = append(seen, strings.TrimSpace(row))
		}
		presses(m, "pgup")
	}
	for _, want := range []string{"Ann has come in", "Bob (voice, 82%): mind the step over there", "In the Bay of Fundy, sixteen metres.", "Ann added to notes"} {
		if !slices.ContainsFunc(seen, func(row string) bool { return strings.Contains(row, want) }) {
			t.Errorf("never saw %q", want)
		}
	}
	top := words(m.Screen())
	if !strings.Contains(top, "12:00:00 Ann has come in") {
		t.Errorf("the top is\n%s", top)
	}
	for range 20 {
		presses(m, "pgdown")
	}
	if got := words(m.Screen()); !strings.Contains(got, "following") || !strings.Contains(got, "the microphone is gone") {
		t.Errorf("back at the end is\n%s", got)
	}
}

// TestMeanwhile: what comes while somebody looks back moves nothing, and is counted.
func TestMeanwhile(t *testing.T) {
	s := busy()
	m := opened(80, 24, s.events)
	m.Screen()
	presses(m, "up")
	before := strings.Split(words(m.Screen()), "\n")
	n := len(s.events)
	s.add(time.Second, "z1", "bob", earshot.Message{Text: "one more"})
	s.add(time.Second, "z2", "bob", earshot.Message{Text: "and another"})
	m.Step(later, model.Events(s.events[n:]))
	after := strings.Split(words(m.Screen()), "\n")
	if !slices.Equal(before[1:16], after[1:16]) {
		t.Errorf("the screen moved to\n%s", strings.Join(after, "\n"))
	}
	if !strings.Contains(after[23], "2 new below (End follows)") {
		t.Errorf("the last row is %q", after[23])
	}
	presses(m, "end")
	if got := words(m.Screen()); !strings.Contains(got, "and another") || strings.Contains(got, "new below") {
		t.Errorf("at the end stands\n%s", got)
	}
}

// TestNothingTwice: events that come again, as after a lost connection, are shown once.
func TestNothingTwice(t *testing.T) {
	s := busy()
	m := opened(200, 60, s.events[:12])
	m.Step(later, model.Lost{Why: "the connection to earshot was lost"})
	if got := words(m.Screen()); !strings.Contains(got, "✗ the connection to earshot was lost; trying again") || strings.Contains(got, "probably 2 here") {
		t.Errorf("lost, it shows\n%s", got)
	}
	m.Step(later, model.Reconnection{})
	m.Step(later, house())
	m.Step(later, model.Events(s.events[6:]))
	if got, want := words(m.Screen()), words(opened(200, 60, s.events).Screen()); got != want {
		t.Errorf("after the loss it shows\n%s\nwithout\n%s", got, want)
	}
}

// TestAScriptWrites: who said no name is called as everywhere else, also while it follows,
// though they are nobody who is known.
func TestAScriptWrites(t *testing.T) {
	m := opened(200, 60, nil)
	s := new(script)
	s.add(0, "1", participants.Generic, earshot.Message{Text: "the tests are green"}, participants.Agent)
	m.Step(later, model.Events(s.events))
	if got := words(m.Screen()); !strings.Contains(got, "user → ") || strings.Contains(got, "unknown") {
		t.Errorf("it shows\n%s", got)
	}
}

// TestOlder: what was before is asked for once at the top, and stands above.
func TestOlder(t *testing.T) {
	s := busy()
	m := opened(80, 24, s.events[20:])
	m.Screen()
	if got := tale(presses(m, "home home pgup")); got != "older than 21" {
		t.Fatalf("it asks for %q", got)
	}
	before := words(m.Screen())
	m.Step(later, model.Past{Events: s.events[10:20]})
	m.Screen()
	if got := strings.Split(words(m.Screen()), "\n"); !strings.Contains(before, strings.TrimSpace(got[3])) {
		t.Errorf("what was on the screen moved:\n%s\nbefore\n%s", strings.Join(got, "\n"), before)
	}
	if got := tale(presses(m, "home")); got != "older than 11" {
		t.Errorf("then it asks for %q", got)
	}
	m.Step(later, model.Past{Events: s.events[:10], Whole: true})
	if got := tale(presses(m, "home home")); got != "" {
		t.Errorf("at the beginning it asks for %q", got)
	}
	if got := words(m.Screen()); !strings.Contains(got, "▶12:00:00 Ann has come in") || !strings.Contains(got, "tell me about the tides") {
		t.Errorf("the beginning is\n%s", got)
	}
}

// TestForgotten: what was forgotten is gone from the screen and from memory.
func TestForgotten(t *testing.T) {
	s := busy()
	m := opened(200, 60, s.events)
	m.Screen()
	n := len(s.events)
	s.add(time.Second, "fg", "", earshot.ErasureRecord{Events: 2})
	if got := tale(m.Step(later, model.Events(s.events[n:]))); got != "reloads" {
		t.Fatalf("it %s", got)
	}
	kept := slices.DeleteFunc(slices.Clone(s.events), func(e earshot.Event) bool { return e.ID == "m3" || e.ID == "v1" })
	m.Step(later, model.Again{Events: kept})
	got := words(m.Screen())
	if strings.Contains(got, "teapot") || strings.Contains(got, "mind the step over") && !strings.Contains(got, "said ") {
		t.Errorf("it still shows\n%s", got)
	}
	presses(m, "/ 'teapot' enter")
	if got := words(m.Screen()); !strings.Contains(got, "no match further up") {
		t.Errorf("it is found:\n%s", got)
	}
}

// TestTakenBack: a message that its author takes back or changes.
func TestTakenBack(t *testing.T) {
	s := busy()
	s.add(time.Second, "rev", "ann", earshot.Revision{Of: "m2", Text: "how high is high water?"})
	s.add(time.Second, "wd", "ann", earshot.Withdrawal{Of: "m1", With: []earshot.EventID{"r1"}})
	got := words(opened(200, 60, s.events).Screen())
	for _, want := range []string{"how high is high water? (edited)", "(a message that was taken back or erased; nothing of it is kept)", "(a reply that was", "Ann took a message back"} {
		if !strings.Contains(got, want) {
			t.Errorf("it shows no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "tides are the sea") || strings.Contains(got, "wait, how high") {
		t.Errorf("it shows what is gone:\n%s", got)
	}
}

// TestASCII: where the terminal knows nothing else, nothing else is shown.
func TestASCII(t *testing.T) {
	m := model.New(true)
	m.Step(noon, model.Size{Width: 120, Height: 40})
	m.Step(noon, house())
	s := busy()
	s.add(time.Second, "o", "ann", earshot.Message{Text: "Ärger mit 日本 “quoted” … 👍"}, agent)
	m.Step(later, model.Events(s.events))
	got := words(m.Screen())
	for _, r := range got {
		if r > 126 {
			t.Fatalf("it shows %q in\n%s", r, got)
		}
	}
	if !strings.Contains(got, "x Earshot kept silent: these are the quiet hours") || !strings.Contains(got, `?rger mit ?? "quoted" ... ?`) {
		t.Errorf("it shows\n%s", got)
	}
	for _, keys := range []string{"?", "? ? i 'x'", "esc f"} {
		presses(m, keys)
		for _, r := range words(m.Screen()) {
			if r > 126 {
				t.Errorf("after %s it shows %q", keys, r)
			}
		}
	}
}

// TestNothingShown: where a filter shows nothing, no key does harm.
func TestNothingShown(t *testing.T) {
	m := opened(80, 24, busy().events)
	presses(m, "f 'nobodyiscalledso' enter")
	for _, key := range []string{"home", "g", "up", "down", "pgup", "pgdown", "end", "r", "w", "n", "N", "z", "esc"} {
		presses(m, key)
		m.Screen()
	}
}

// TestReadAnew: what comes while the past is read anew stays, with what is decided about it,
// and answers to commands are not shown as anything else.
func TestReadAnew(t *testing.T) {
	s := busy()
	m := opened(200, 60, s.events)
	n := len(s.events)
	s.add(time.Second, "fg", "", earshot.ErasureRecord{Events: 2})
	m.Step(later, model.Events(s.events[n:]))
	read := slices.Clone(s.events)
	m.Step(later, model.Told{Text: "an answer to Ann"})
	s.add(time.Second, "late", "ann", earshot.Message{Text: "is anybody there"})
	s.add(time.Second, "why", agent, decides("late", earshot.Silent, "", "it is late at night"))
	m.Step(later, model.Events(s.events[n+1:]))
	m.Step(later, model.Again{Events: read})
	got := words(m.Screen())
	for _, want := range []string{"is anybody there", "it is late at night"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not there any more:\n%s", want, got)
		}
	}
	if strings.Contains(got, "an answer to Ann") {
		t.Errorf("an answer stands where it was not given:\n%s", got)
	}
}

// TestWeight: what the transcript is said to weigh is what it weighs, whatever is decided
// about it, changed, taken back or dropped.
func TestWeight(t *testing.T) {
	m := opened(80, 24, nil)
	s := new(script)
	long := earshot.Text(strings.Repeat("word ", 1000))
	for k := range 20_500 {
		id := earshot.EventID(fmt.Sprint(k))
		s.add(time.Second, id, "ann", earshot.Message{Text: "a word"})
		s.add(0, "d"+id, agent, decides(id, earshot.Silent, "", "no"))
		if k%100 == 0 {
			s.add(0, "r"+id, "ann", earshot.Revision{Of: id, Text: long})
			s.add(0, "w"+id, "ann", earshot.Withdrawal{Of: id})
		}
	}
	m.Step(later, model.Events(s.events))
	if said, has := model.Weighed(m); said != has {
		t.Errorf("it is said to have %d bytes, and has %d", said, has)
	}
}

// TestBounds: a day with too much in it forgets its beginning, and no more is loaded.
func TestBounds(t *testing.T) {
	m := opened(80, 24, nil)
	var events []earshot.Event
	for k := range 21_000 {
		events = append(events, earshot.Event{ID: earshot.EventID(fmt.Sprint(k)), Sequence: int64(k + 1), At: noon, Author: "ann",
			Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: earshot.Text(fmt.Sprint("number ", k))}})
	}
	m.Step(later, model.Events(events))
	m.Screen()
	if got := tale(presses(m, "home")); got != "" {
		t.Errorf("it asks for %s", got)
	}
	if got := words(m.Screen()); !strings.Contains(got, "number 1000") || strings.Contains(got, "number 999") {
		t.Errorf("the oldest are\n%s", got)
	}
}

// day is a thousand messages, one a second, of which every hundredth speaks of a zeppelin.
func day() *script {
	s := new(script)
	for n := range 1000 {
		text := earshot.Text(fmt.Sprintf("number %d", n+1))
		if (n+1)%100 == 0 {
			text += " is a zeppelin of lead"
		}
		s.add(time.Second, earshot.EventID(fmt.Sprint("m", n+1)), "ann", earshot.Message{Text: text})
	}
	return s
}

// TestSearchLongAgo: what was found in what is not here any more is shown with what stands
// around it, n goes on from there, and End comes back to what happened meanwhile.
func TestSearchLongAgo(t *testing.T) {
	s := day()
	m := opened(80, 24, s.events[900:])
	m.Screen()
	shows := func(when string, has, lacks string) {
		t.Helper()
		got := words(m.Screen())
		if !strings.Contains(got, has) || lacks != "" && strings.Contains(got, lacks) {
			t.Fatalf("%s there is no %q, or %q:\n%s", when, has, lacks, got)
		}
	}
	found := func(before int64) model.Found { // as the daemon does
		f := model.Found{Words: "lead zeppelin"}
		for _, e := range slices.Backward(s.events[:before-1]) {
			if strings.Contains(string(e.Body.(earshot.Message).Text), "zeppelin") {
				f.Events = append(f.Events, e)
			}
		}
		return f
	}
	presses(m, "/ 'lead zeppelin' enter")
	shows("here", "▶12:16:40 Ann: number 1000 is a zeppelin of lead", "")
	for _, at := range []int64{900, 700} {
		effects := presses(m, "n")
		seek, ok := effects[0].(model.Seek)
		if len(effects) != 1 || !ok {
			t.Fatalf("n does %s", tale(effects))
		}
		f := found(seek.Before)
		if at == 700 {
			f.Events = f.Events[1:] // the one between was taken back
		}
		if got := tale(m.Step(later, f)); got != fmt.Sprint("around ", at) {
			t.Fatalf("before %d it goes %s", seek.Before, got)
		}
		m.Step(later, model.Surroundings{At: at, Events: s.events[at-21 : at+19]})
		shows("then", fmt.Sprintf("Ann: number %d is a zeppelin of lead", at), "number 1000")
		shows("then", "looking far back (End returns)", "")
	}
	m.Step(later, model.Events{*s.add(time.Second, "new", "ann", earshot.Message{Text: "what is that up there"})})
	shows("meanwhile", "looking far back, 1 new meanwhile", "up there")
	m.Step(later, model.Events{*s.add(time.Second, "gone", "ann", earshot.Withdrawal{Of: "m700"})})
	shows("taken back", "a message that was taken back or erased", "number 700")
	if got := tale(presses(m, "home")); got != "older than 680" {
		t.Errorf("further up it asks for %s", got)
	}
	m.Step(later, model.Past{Before: 901, Events: s.events[700:900]}) // asked for before
	shows("what was asked for elsewhere", "number 680", "number 801")
	m.Step(later, model.Past{Before: 680, Events: s.events[479:679]})
	presses(m, "up")
	shows("older", "number 679", "")
	presses(m, "N")
	presses(m, "end")
	shows("back", "what is that up there", "looking far back")
	shows("back", "following", "number 700")
	presses(m, "home")
	m.Step(later, model.Surroundings{At: 900, Events: s.events[880:920]})
	presses(m, "t '2026-11-22 12:16:30' enter")
	shows("at a time of today", "▶12:16:30 Ann: number 990", "")
	presses(m, "esc esc")
	m.Step(later, model.Surroundings{At: 900, Events: s.events[880:920]})
	shows("when nobody searches any more", "number 990", "number 900")
}

// TestSearchLongAgoInVain: what is no help is said, and nothing else is shown for it.
func TestSearchLongAgoInVain(t *testing.T) {
	s := day()
	for _, tt := range []struct {
		name string
		came any
		says string
	}{
		{"nothing", model.Found{Words: "zeppelin"}, "no older event has these words"},
		{"what is here", model.Found{Words: "zeppelin", Events: s.events[999:]}, "no older event has these words"},
		{"another search", model.Found{Words: "lead", Events: s.events[99:100]}, "searching older events"},
		{"it cannot be searched", model.Found{Words: "zeppelin", Err: errors.New("the disk is gone")}, "searching: the disk is gone"},
		{"it cannot be read", model.Surroundings{At: 100, Err: errors.New("the disk is gone")}, "searching: the disk is gone"},
		{"it was forgotten just now", model.Surroundings{At: 100, Events: s.events[50:70]}, "it no longer exists"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := opened(80, 24, s.events[900:])
			m.Screen()
			presses(m, "/ 'zeppelin' enter n")
			if got := tale(m.Step(later, tt.came)); got != "" {
				t.Errorf("it does %s", got)
			}
			if got := words(m.Screen()); !strings.Contains(got, tt.says) || !strings.Contains(got, "number 1000") {
				t.Errorf("it says\n%s", got)
			}
		})
	}
	m := opened(80, 24, s.events[900:])
	presses(m, "/ 'zeppelin' enter n")
	m.Step(later, model.Surroundings{At: 100, Events: s.events[50:150]})
	m.Step(later, model.Again{Events: s.events[901:]})
	if got := words(m.Screen()); !strings.Contains(got, "following") || strings.Contains(got, "number 100 ") {
		t.Errorf("after something was forgotten there is\n%s", got)
	}
}
