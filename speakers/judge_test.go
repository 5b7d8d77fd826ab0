package speakers_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/speakers"
)

// TestNobody: an uncertain voice is nobody's, and begins no voice.
func TestNobody(t *testing.T) {
	w := open(t, "", config())
	w.says("ann", 5*time.Second)
	w.says("bob", 5*time.Second)
	between := w.voice("ann", 5*time.Second, "desk")
	for i, n := range w.voice("bob", time.Second, "desk").Print {
		between.Print[i] = (between.Print[i] + n) / 2
	}
	odd := w.voice("cleo", 5*time.Second, "desk")
	odd.Print[7] = float32(math.NaN())
	short := w.voice("cleo", 5*time.Second, "desk")
	short.Print = short.Print[:3]
	for name, v := range map[string]*earshot.Voice{
		"too little": w.voice("cleo", 500*time.Millisecond, "desk"), "between two": between, "no number": odd, "another kind": short,
		"a long channel": w.voice("cleo", 5*time.Second, string(make([]byte, 1000))),
	} {
		w.now = w.now.Add(10 * time.Second)
		if j := w.book.Whose(v, w.now); j.Speaker.ID != "" || j.Own {
			t.Errorf("%s: %+v", name, j)
		}
	}
	c := config()
	c.Enabled = false
	if j := open(t, "", c).says("ann", 5*time.Second); j != (speakers.Judgement{}) {
		t.Errorf("nobody is to be known by voice: %+v", j)
	}
}

// TestGuess learns nothing.
func TestGuess(t *testing.T) {
	w := open(t, "", config())
	if j := w.book.Guess(w.voice("ann", 5*time.Second, "desk"), w.now); j.New || j.Speaker.ID != "" || len(w.book.Known()) > 0 {
		t.Errorf("a guess at the first voice is %+v", j)
	}
	is := w.says("ann", 5*time.Second)
	before := w.book.Known()[0].Heard
	if j := w.book.Guess(w.voice("bob", 5*time.Second, "desk"), w.now); !j.Strange || j.Speaker.ID != "" || len(w.book.Known()) > 1 {
		t.Errorf("a guess at somebody unknown is %+v", j)
	}
	if j := w.book.Guess(w.voice("ann", 5*time.Second, "desk"), w.now); j.Strange || j.Speaker != is.Speaker || w.book.Known()[0].Heard != before {
		t.Errorf("a guess at Ann is %+v", j)
	}
}

// TestOwn: the agent's own voice is nobody's, whatever is played of it.
func TestOwn(t *testing.T) {
	w := open(t, "", config())
	for range 3 {
		w.book.LearnOwn(w.voice("agent", 5*time.Second, "synthesis"))
	}
	w.says("ann", 5*time.Second)
	if j := w.says("agent", 3*time.Second); !j.Own || j.Speaker.ID != "" || j.New || j.Sure < 0.8 {
		t.Errorf("the agent is %+v", j)
	}
	if len(w.book.Known()) != 1 {
		t.Errorf("known are %+v", w.book.Known())
	}
}

// TestOwnIsNobodys: nobody's voice learns from sound that is like the agent's, whoever says that it
// was theirs; and such a voice that began before the agent's was known is not kept.
func TestOwnIsNobodys(t *testing.T) {
	w := open(t, t.TempDir(), config())
	early := w.says("agent", 20*time.Second)
	if early.Own || !early.New {
		t.Fatalf("before it was learnt it is %+v", early)
	}
	said := speakers.Attestation{By: "ann", At: w.now}
	for range 3 {
		w.book.LearnOwn(w.voice("agent", 5*time.Second, "desk"))
	}
	if _, err := w.book.Enrol("ann", said, early.Speaker); err == nil {
		t.Error("it was kept as Ann's")
	}
	w = open(t, "", config())
	for range 3 {
		w.book.LearnOwn(w.voice("agent", 5*time.Second, "synthesis"))
	}
	w.says("cleo", 5*time.Second)
	if j := w.says("agent", 5*time.Second); !j.Own {
		t.Fatalf("it is %+v", j)
	}
	if c, err := w.book.Teach(w.now, "ann", said); err == nil {
		t.Errorf("Ann's voice was taught: %+v", c)
	}
	if j := w.says("agent", 5*time.Second); !j.Own || len(w.book.Known()) != 1 {
		t.Errorf("then it is %+v, and known are %+v", j, w.book.Known())
	}
}

// TestOverlapped: when two people are heard at once, the judgement is less sure, and nothing is
// learnt; no new voice begins.
func TestOverlapped(t *testing.T) {
	w := open(t, "", config())
	for range 3 {
		w.says("ann", 5*time.Second)
	}
	w.says("cleo", 5*time.Second)
	alone, spoken := w.says("ann", 5*time.Second), w.book.Known()
	both := w.voice("ann", 5*time.Second, "desk")
	both.Overlapped = true
	w.now = w.now.Add(10 * time.Second)
	switch j := w.book.Whose(both, w.now); {
	case j.Sure >= alone.Sure, j.Speaker != alone.Speaker && j.Speaker.ID != "":
		t.Errorf("alone she is %+v, and with others %+v", alone, j)
	case !slices.EqualFunc(w.book.Known(), spoken, func(a, b speakers.Speaker) bool { return a.Spoken == b.Spoken }):
		t.Errorf("learnt was %+v", w.book.Known())
	}
	odd := w.voice("dan", 5*time.Second, "desk")
	odd.Overlapped = true
	if j := w.book.Whose(odd, w.now.Add(10*time.Second)); j.New || len(w.book.Known()) != len(spoken) {
		t.Errorf("somebody has begun: %+v", j)
	}
}

// TestAgain: a sound that equals an earlier one to many digits was played; it is nobody's, and
// teaches nothing. A second judgement of one utterance does not count.
func TestAgain(t *testing.T) {
	w := open(t, "", config())
	for range 4 {
		w.says("ann", 3*time.Second)
	}
	v := w.voice("ann", 3*time.Second, "desk")
	w.now = w.now.Add(10 * time.Second)
	said := w.book.Whose(v, w.now)
	if twice := w.book.Whose(v, w.now); twice.Again || twice.Speaker != said.Speaker {
		t.Errorf("judged twice it is %+v, and then %+v", said, twice)
	}
	heard := w.book.Known()[0].Spoken
	for i := range v.Print {
		v.Print[i] *= 1.0001
	}
	if played := w.book.Whose(v, w.now.Add(time.Minute)); !played.Again || played.Speaker.ID != "" || played.Sure > said.Sure/2 {
		t.Errorf("said it is %+v, and played %+v", said, played)
	}
	if w.book.Known()[0].Spoken != heard {
		t.Error("it was learnt from")
	}
}

// TestChannels: the same people are still distinguished through a microphone that adds something to
// all voices.
func TestChannels(t *testing.T) {
	w := open(t, "", config())
	people := []string{"ann", "bob", "cleo", "dan"}
	handles := make(map[string]earshot.Handle)
	for _, name := range slices.Concat(people, people) {
		handles[name] = w.says(name, 4*time.Second).Speaker
	}
	right := 0
	for range 3 {
		for _, name := range people {
			v := w.voice(name, 4*time.Second, "phone")
			for i := range v.Print {
				v.Print[i] += 0.3
			}
			w.now = w.now.Add(10 * time.Second)
			switch j := w.book.Whose(v, w.now); j.Speaker {
			case handles[name]:
				right++
			case earshot.Handle{}:
			default:
				t.Errorf("%s is taken for %+v", name, j)
			}
		}
	}
	if right < 8 {
		t.Errorf("%d of 12 were known", right)
	}
}

// TestCrowd: of too many voices the one that was heard longest ago is dropped, a named one last,
// and a kept one never.
func TestCrowd(t *testing.T) {
	c := config()
	c.MostUnknown, c.Enrol = 3, 2
	w := open(t, t.TempDir(), c)
	kept, named, old := w.says("ann", 5*time.Second), w.says("bob", 5*time.Second), w.says("cleo", 5*time.Second)
	if _, err := w.book.Enrol("ann", w.said(), kept.Speaker); err != nil {
		t.Fatal(err)
	}
	if _, err := w.book.Name(named.Speaker, "bob", w.said()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dan", "eve", "fay", "gil"} {
		w.says(name, 5*time.Second)
	}
	for h, want := range map[earshot.Handle]bool{kept.Speaker: true, named.Speaker: true, old.Speaker: false} {
		if _, ok := w.book.Speaker(h); ok != want {
			t.Errorf("%v is known: %v", h, ok)
		}
	}
	if n := len(w.book.Known()); n != 4 {
		t.Errorf("%d voices are known", n)
	}
}

// TestUnite: two voices that turn out to be one are the older one from then on, and the listener is
// told.
func TestUnite(t *testing.T) {
	var told []speakers.Change
	c := config()
	c.Changed = func(c speakers.Change) { told = append(told, c) }
	w := open(t, "", c)
	half := func(share float32) speakers.Judgement { // of Ann, who has a cold at first
		v := w.voice("ann", 5*time.Second, "desk")
		for i, n := range print("cold") {
			v.Print[i] = v.Print[i]*(1-share) + share*n
		}
		w.now = w.now.Add(10 * time.Second)
		return w.book.Whose(v, w.now)
	}
	first, second := half(0.85), half(0)
	if !first.New || !second.New {
		t.Fatalf("they are %+v and %+v", first, second)
	}
	for share := float32(0.8); share > 0 && len(told) == 0; share -= 0.05 {
		for range 12 { // as much as a voice remembers
			half(share)
		}
	}
	if len(told) != 1 || told[0].Act != speakers.Merged || told[0].Voice != first.Speaker || told[0].Other != second.Speaker || told[0].Said.By != "" {
		t.Fatalf("told %+v", told)
	}
	if s, ok := w.book.Speaker(second.Speaker); !ok || s.Handle != first.Speaker {
		t.Errorf("the second is %+v", s)
	}
}

// TestTeach: somebody says who said something.
func TestTeach(t *testing.T) {
	w := open(t, "", config())
	w.says("ann", 4*time.Second)
	first := w.now
	ann := w.book.Known()[0].Handle
	if c, err := w.book.Teach(first, "ann", w.said()); err != nil || c.Act != speakers.Named || c.Voice != ann || c.Who != "ann" {
		t.Errorf("the first is %+v, %v", c, err)
	}
	w.says("ann", 4*time.Second) // it was Zoe, who sounds like her
	second := w.now
	c, err := w.book.Teach(second, "zoe", w.said())
	if err != nil || c.Act != speakers.Taught || c.Other != ann || c.Who != "zoe" || c.Was != "ann" || !slices.Equal(c.Moved, []time.Time{second}) {
		t.Errorf("the second is %+v, %v", c, err)
	}
	if s, ok := w.book.Speaker(c.Voice); !ok || s.Who != "zoe" || s.Kept {
		t.Errorf("Zoe is %+v", s)
	}
	if _, err := w.book.Teach(start, "zoe", w.said()); err == nil {
		t.Error("what nobody has heard was said by somebody")
	}
	if _, err := w.book.Teach(second, "zoe", speakers.Attestation{}); err == nil {
		t.Error("nobody says so, and it is so")
	}
}

// TestTeachUndone: an attribution of an utterance can be undone, whichever voice lost it and
// whichever gained it. Everything is as before, and nobody else is affected.
func TestTeachUndone(t *testing.T) {
	for _, tt := range []struct {
		name     string
		known    bool // Zoe has a voice already
		heard    time.Duration
		voice    string
		from, to bool // a voice that is known had it, has it then
	}{
		{"of another, to one that was not known", false, 4 * time.Second, "ann", true, true},
		{"of another, to one that is known", true, 4 * time.Second, "ann", true, true},
		{"of nobody, to one that was not known", false, time.Second, "cleo", false, false},
		{"of nobody, to one that is known", true, time.Second, "cleo", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, "", config())
			ann := w.says("ann", 4*time.Second).Speaker
			if tt.known {
				zoe := w.says("zoe", 4*time.Second).Speaker
				if _, err := w.book.Name(zoe, "zoe", w.said()); err != nil {
					t.Fatal(err)
				}
			}
			w.says(tt.voice, tt.heard)
			began, before := w.now, fmt.Sprint(w.book.Known())
			if _, err := w.book.Name(ann, "ann", w.said()); err != nil {
				t.Fatal(err)
			}
			taught, err := w.book.Teach(began, "zoe", w.said())
			if err != nil || taught.Act != speakers.Taught || taught.Who != "zoe" || taught.Other.ID != "" != tt.from {
				t.Fatalf("it is %+v, %v", taught, err)
			}
			if s, ok := w.book.Speaker(taught.Voice); !ok || s.Who != "zoe" || s.Spoken < tt.heard {
				t.Errorf("Zoe is %+v", s)
			}
			c, err := w.book.Undo(w.said())
			if err != nil || c.Act != speakers.Taught || !c.Undo || c.Voice != taught.Other || c.Other != taught.Voice || !slices.Equal(c.Moved, []time.Time{began}) {
				t.Errorf("undone it is %+v, %v", c, err)
			}
			if _, ok := w.book.Speaker(taught.Voice); ok != tt.to {
				t.Errorf("who had it is known: %v", ok)
			}
			if _, err := w.book.Undo(w.said()); err != nil {
				t.Error(err)
			}
			s, _ := w.book.Speaker(ann)
			was := fmt.Sprint(w.book.Known())
			for _, h := range s.Also { // the voice that it went to in between
				was = strings.Replace(was, fmt.Sprintf(" [%v] ", h), " [] ", 1)
			}
			if was != before {
				t.Errorf("before\n%s\nafter\n%s", before, was)
			}
		})
	}
}

// TestSplit: the words of two people are separated again.
func TestSplit(t *testing.T) {
	w := open(t, "", config())
	ann, bob := w.says("ann", 4*time.Second), w.says("bob", 4*time.Second)
	theirs := w.now
	w.says("ann", 4*time.Second)
	if _, err := w.book.Merge(ann.Speaker, bob.Speaker, w.said()); err != nil {
		t.Fatal(err)
	}
	c, err := w.book.Split(ann.Speaker, w.said())
	if err != nil || c.Voice != ann.Speaker || !slices.Equal(c.Moved, []time.Time{theirs}) {
		t.Fatalf("it is %+v, %v", c, err)
	}
	if j := w.says("bob", 4*time.Second); j.Speaker != c.Other {
		t.Errorf("Bob is %+v, and should be %v", j, c.Other)
	}
	if _, err := w.book.Undo(w.said()); err != nil {
		t.Fatal(err)
	}
	if s, ok := w.book.Speaker(c.Other); !ok || s.Handle != ann.Speaker {
		t.Errorf("when it is undone the new one is %+v", s)
	}
}

// TestAtOnce is for the race detector: judgements wait for no change.
func TestAtOnce(t *testing.T) {
	c := config()
	c.Enrol = 2
	w := open(t, t.TempDir(), c)
	h := w.says("ann", 5*time.Second).Speaker
	v := w.voice("ann", 5*time.Second, "desk")
	said := w.said()
	var both sync.WaitGroup
	both.Go(func() {
		for i := range 200 {
			w.book.Whose(v, start.Add(time.Duration(i)*time.Hour))
			w.book.Known()
		}
	})
	both.Go(func() {
		for range 5 {
			if _, err := w.book.Enrol("ann", said, h); err != nil {
				t.Error(err)
			}
			if _, err := w.book.Undo(said); err != nil {
				t.Error(err)
			}
		}
	})
	testkit.Finish(t, 5*testkit.Patience, "the judgements", both.Wait)
}

// BenchmarkWhose is one judgement among as many voices as there may be.
func BenchmarkWhose(b *testing.B) {
	w := open(b, "", config())
	for i := range 64 {
		w.says(string(rune('a'+i))+"x", 5*time.Second)
	}
	v := w.voice("ax", 3*time.Second, "desk")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.book.Guess(v, w.now.Add(time.Duration(i)*time.Second))
	}
}

// TestForgetOne: erasing a voice erases nothing of other voices that share a sample with it.
func TestForgetOne(t *testing.T) {
	w := open(t, "", config())
	ann := w.says("ann", 4*time.Second).Speaker
	if _, err := w.book.Name(ann, "ann", w.said()); err != nil {
		t.Fatal(err)
	}
	w.says("ann", 4*time.Second)
	c, err := w.book.Teach(w.now, "zoe", w.said())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.book.Forget(ann, w.said()); err != nil {
		t.Fatal(err)
	}
	if j := w.says("ann", 4*time.Second); j.Speaker != c.Voice || j.Sure < 0.99 {
		t.Errorf("Zoe, who sounds like her, is %+v", j)
	}
}
