package attention_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/attention"
	"earshot/internal/field"
	"earshot/interrupt"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// found are facts in which a finding worth saying is said.
func found(change func(*attention.Facts)) attention.Facts {
	f := attention.Facts{
		Now: noon, Set: attention.DefaultConfig(), Here: 1,
		Finding: &attention.Finding{Worth: true, Confidence: 0.9},
	}
	change(&f)
	return f
}

// asked are facts in which the answer to a question is said.
func asked(change func(*attention.Facts)) attention.Facts {
	return found(func(f *attention.Facts) { f.Finding = &attention.Finding{Asked: true}; change(f) })
}

// came are facts in which somebody is greeted.
func came(change func(*attention.Facts)) attention.Facts {
	f := attention.Facts{Now: noon, Set: attention.DefaultConfig(), Arrival: &attention.Arrival{
		At: noon.Add(-time.Second), Greet: true, After: 10 * time.Minute, Absence: 11 * time.Minute, Sure: 0.8,
	}}
	change(&f)
	return f
}

// room are facts in which a question to the room is answered.
func room(change func(*attention.Facts)) attention.Facts {
	f := attention.Facts{Now: noon, Set: attention.DefaultConfig(), Here: 2, Talk: attention.Talk{Asked: noon.Add(-10 * time.Second), Last: noon.Add(-10 * time.Second)}}
	change(&f)
	return f
}

func TestDecide(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	four := []time.Time{ago(50 * time.Minute), ago(40 * time.Minute), ago(30 * time.Minute), ago(20 * time.Minute)}
	for _, tt := range []struct {
		name  string
		facts attention.Facts
		want  earshot.Verdict
		why   string
		again time.Duration // from now; 0 for when something happens
	}{
		{"somebody comes", came(func(f *attention.Facts) {}), earshot.Speak, attention.SomebodyCame, 0},
		{"nobody is to be greeted", came(func(f *attention.Facts) { f.Arrival.Greet = false }), earshot.Silent, attention.NoGreeting, 0},
		{"somebody comes, switched off", came(func(f *attention.Facts) { f.Set.SpeakUnasked = false }), earshot.Silent, attention.Unasked, 0},
		{"somebody comes, passive", came(func(f *attention.Facts) { f.Style = interrupt.Passive }), earshot.Silent, attention.Passive, 0},
		{"after a coffee", came(func(f *attention.Facts) { f.Arrival.Absence = 5 * time.Minute }), earshot.Silent, attention.NotAway, 0},
		{"after a coffee, aggressive", came(func(f *attention.Facts) { f.Arrival.Absence, f.Style = 5*time.Minute, interrupt.Aggressive }), earshot.Speak, attention.SomebodyCame, 0},
		{"after a moment, aggressive", came(func(f *attention.Facts) { f.Arrival.Absence, f.Style = time.Minute, interrupt.Aggressive }), earshot.Silent, attention.NotAway, 0},
		{"one more", came(func(f *attention.Facts) { f.Arrival.Were = 1 }), earshot.Silent, attention.OthersGreet, 0},
		{"one more, aggressive", came(func(f *attention.Facts) { f.Arrival.Were, f.Style = 1, interrupt.Aggressive }), earshot.Speak, attention.SomebodyCame, 0},
		{"a shadow", came(func(f *attention.Facts) { f.Arrival.Sure = 0.5 }), earshot.Silent, attention.NotSure, 0},
		{"gone again", came(func(f *attention.Facts) { f.Arrival.Gone = true }), earshot.Silent, attention.LeftAgain, 0},
		{"spoken to already", came(func(f *attention.Facts) { f.Arrival.Met = true }), earshot.Silent, attention.Talking, 0},
		{"here for a while", came(func(f *attention.Facts) { f.Arrival.At = ago(30 * time.Second) }), earshot.Silent, attention.TooLate, 0},
		{"somebody comes at night", came(func(f *attention.Facts) { f.Set.QuietHours = "11:30-12:45" }), earshot.Silent, attention.AtNight, 0},
		{"somebody comes in a snooze", came(func(f *attention.Facts) { f.Snoozed = noon.Add(time.Hour) }), earshot.Silent, attention.Snoozing, 0},
		{"somebody comes, told not now", came(func(f *attention.Facts) { f.ToldNo = ago(14 * time.Minute) }), earshot.Silent, attention.ToldNo, 0},
		{"somebody comes, hushed", came(func(f *attention.Facts) { f.Hushed = true }), earshot.Silent, attention.Hushed, 0},
		{"somebody comes, budget spent", came(func(f *attention.Facts) { f.Spoke = four }), earshot.Silent, attention.Spent, 0},
		{"somebody comes, just spoken", came(func(f *attention.Facts) { f.Spoke = []time.Time{ago(time.Minute)} }), earshot.Silent, attention.Cooling, 0},
		{"somebody comes and types", came(func(f *attention.Facts) { f.Typing = true }), earshot.Wait, attention.SomebodyType, 29 * time.Second},
		{"somebody comes while others talk", came(func(f *attention.Facts) { f.Talk.Last = ago(time.Second) }), earshot.Wait, attention.OthersTalk, 2 * time.Second},
		{"somebody comes on the telephone", came(func(f *attention.Facts) { f.Talk.Last, f.Talk.Call = ago(10*time.Second), true }), earshot.Wait, attention.OnTheLine, 29 * time.Second},
		{"a finding", found(func(f *attention.Facts) {}), earshot.Speak, attention.WhatIFound, 0},
		{"stale", found(func(f *attention.Facts) { f.Finding.Stale = true }), earshot.Silent, attention.Stale, 0},
		{"not worth it", found(func(f *attention.Facts) { f.Finding.Worth = false }), earshot.Note, attention.NotWorth, 0},
		{"not sure", found(func(f *attention.Facts) { f.Finding.Confidence = 0.5 }), earshot.Note, attention.NotSure, 0},
		{"switched off", found(func(f *attention.Facts) { f.Set.SpeakUnasked = false }), earshot.Note, attention.Unasked, 0},
		{"passive", found(func(f *attention.Facts) { f.Style = interrupt.Passive }), earshot.Note, attention.Passive, 0},
		{"quiet hours", found(func(f *attention.Facts) { f.Set.QuietHours = "11:30-12:45" }), earshot.Wait, attention.AtNight, 45 * time.Minute},
		{"snoozed", found(func(f *attention.Facts) { f.Snoozed = noon.Add(time.Hour) }), earshot.Wait, attention.Snoozing, time.Hour},
		{"told already", found(func(f *attention.Facts) { f.Finding.Told = true }), earshot.Silent, attention.Told, 0},
		{"hushed", found(func(f *attention.Facts) { f.Hushed = true }), earshot.Wait, attention.Hushed, 0},
		{"to the room, hushed", room(func(f *attention.Facts) { f.Hushed = true }), earshot.Silent, attention.Hushed, 0},
		{"told no", found(func(f *attention.Facts) { f.ToldNo = ago(time.Minute) }), earshot.Wait, attention.ToldNo, 14 * time.Minute},
		{"told no long ago", found(func(f *attention.Facts) { f.ToldNo = ago(time.Hour) }), earshot.Speak, attention.WhatIFound, 0},
		{"over budget", found(func(f *attention.Facts) { f.Spoke = four }), earshot.Wait, attention.Spent, 10 * time.Minute},
		{"no budget at all", found(func(f *attention.Facts) { f.Set.HourlyBudget = 0 }), earshot.Wait, attention.Spent, 0},
		{"cool-down", found(func(f *attention.Facts) { f.Spoke = []time.Time{ago(time.Minute)} }), earshot.Wait, attention.Cooling, time.Minute},
		{"others talk", found(func(f *attention.Facts) { f.Talk.Last = ago(time.Second) }), earshot.Wait, attention.OthersTalk, 2 * time.Second},
		{"others talk, aggressive", found(func(f *attention.Facts) { f.Talk.Last, f.Style = ago(time.Second), interrupt.Aggressive }), earshot.Speak, attention.WhatIFound, 0},
		{"somebody types", found(func(f *attention.Facts) { f.Typing = true }), earshot.Wait, attention.SomebodyType, 0},
		{"nobody here", found(func(f *attention.Facts) { f.Here = 0 }), earshot.Wait, attention.NobodyHere, 0},
		{"a telephone call", found(func(f *attention.Facts) { f.Talk.Call, f.Talk.Last = true, ago(time.Minute) }), earshot.Wait, attention.OnTheLine, 2 * time.Minute},
		{"grief", found(func(f *attention.Facts) { f.Talk.Tender, f.Talk.Last = true, ago(time.Minute) }), earshot.Wait, attention.Tender, 2 * time.Minute},
		{"two reasons", found(func(f *attention.Facts) { f.Typing, f.Talk.Last = true, ago(time.Second) }), earshot.Wait, attention.SomebodyType + "; " + attention.OthersTalk, 0},
		{"two times", found(func(f *attention.Facts) { f.Snoozed, f.Talk.Last = noon.Add(time.Minute), ago(time.Second) }), earshot.Wait, attention.Snoozing + "; " + attention.OthersTalk, time.Minute},

		{"asked", asked(func(f *attention.Facts) {}), earshot.Speak, attention.WasAsked, 0},
		{"asked, in quiet hours, snoozed, over budget, passive", asked(func(f *attention.Facts) {
			f.Set.QuietHours, f.Snoozed, f.Spoke, f.Style, f.Set.SpeakUnasked = "11:00-13:00", noon.Add(time.Hour), four, interrupt.Passive, false
		}), earshot.Speak, attention.WasAsked, 0},
		{"asked, and stale", asked(func(f *attention.Facts) { f.Finding.Stale = true }), earshot.Silent, attention.Stale, 0},
		{"asked, and told no", asked(func(f *attention.Facts) { f.ToldNo = ago(time.Minute) }), earshot.Wait, attention.ToldNo, time.Minute},
		{"asked, while others talk", asked(func(f *attention.Facts) { f.Talk.Last, f.Others = ago(time.Second), ago(2*time.Second) }), earshot.Wait, attention.OthersTalk, 2 * time.Second},
		{"asked just now", asked(func(f *attention.Facts) { f.Talk.Last = ago(time.Second) }), earshot.Wait, attention.AskerTalks, 2 * time.Second},
		{"asked just now, when others had talked", asked(func(f *attention.Facts) { f.Talk.Last, f.Others = ago(time.Second), ago(5*time.Second) }), earshot.Wait, attention.AskerTalks, 2 * time.Second},
		{"asked, and nobody here", asked(func(f *attention.Facts) { f.Here = 0 }), earshot.Wait, attention.NobodyHere, 0},

		{"to the room", room(func(f *attention.Facts) {}), earshot.Speak, attention.ToTheRoom, 0},
		{"just asked", room(func(f *attention.Facts) { f.Talk.Asked, f.Talk.Last = noon, noon }), earshot.Wait, attention.PeopleFirst, 5 * time.Second},
		{"just asked, aggressive", room(func(f *attention.Facts) { f.Talk.Asked, f.Style = noon, interrupt.Aggressive }), earshot.Speak, attention.ToTheRoom, 0},
		{"to the room, passive", room(func(f *attention.Facts) { f.Style = interrupt.Passive }), earshot.Silent, attention.Passive, 0},
		{"answered", room(func(f *attention.Facts) { f.Talk.Answered = true }), earshot.Silent, attention.Answered, 0},
		{"to the room, at night", room(func(f *attention.Facts) { f.Set.QuietHours = "11:00-13:00" }), earshot.Silent, attention.AtNight, 0},
		{"to the room, snoozed", room(func(f *attention.Facts) { f.Snoozed = noon.Add(time.Hour) }), earshot.Silent, attention.Snoozing, 0},
		{"to the room, switched off", room(func(f *attention.Facts) { f.Set.SpeakUnasked = false }), earshot.Silent, attention.Unasked, 0},
		{"to the room, while somebody types", room(func(f *attention.Facts) { f.Typing = true }), earshot.Wait, attention.SomebodyType, 0},
		{"on the telephone", room(func(f *attention.Facts) { f.Talk.Call = true }), earshot.Silent, attention.OnTheLine, 0},
		{"in tears", room(func(f *attention.Facts) { f.Talk.Tender = true }), earshot.Silent, attention.Tender, 0},
		{"a song", room(func(f *attention.Facts) { f.Talk.Performed = true }), earshot.Silent, attention.Performed, 0},
		{"for later", room(func(f *attention.Facts) { f.Talk = attention.Talk{Keep: true} }), earshot.Note, attention.ForLater, 0},
		{"nothing", room(func(f *attention.Facts) { f.Talk = attention.Talk{} }), earshot.Silent, attention.NotForMe, 0},
		{"called", room(func(f *attention.Facts) { f.Addressed, f.Snoozed = true, noon.Add(time.Hour) }), earshot.Speak, attention.Addressed, 0},
		{"called to be told no", room(func(f *attention.Facts) { f.Addressed, f.Talk.Hushes = true, true }), earshot.Silent, attention.ToldNo, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict, why := attention.Decide(tt.facts)
			if verdict != tt.want || strings.Join(why, "; ") != tt.why {
				t.Errorf("decided %s because %q, want %s because %q", verdict, why, tt.want, tt.why)
			}
			want := time.Time{}
			if tt.again > 0 {
				want = noon.Add(tt.again)
			}
			if got := attention.Again(tt.facts); !got.Equal(want) {
				t.Errorf("looks again at %v, want %v", got, want)
			}
		})
	}
}

// facts draws any facts.
func facts(t *rapid.T) attention.Facts {
	past := func(name string) time.Time {
		return noon.Add(-time.Duration(rapid.IntRange(0, 7200).Draw(t, name)) * time.Second)
	}
	f := attention.Facts{
		Now: noon, Set: attention.DefaultConfig(), Style: interrupt.Style(rapid.IntRange(0, 2).Draw(t, "style")),
		Hushed: rapid.Bool().Draw(t, "hushed"), Here: rapid.IntRange(0, 3).Draw(t, "here"), Typing: rapid.Bool().Draw(t, "typing"),
		Talk: attention.Talk{
			Last: past("last"), Call: rapid.Bool().Draw(t, "call"), Tender: rapid.Bool().Draw(t, "tender"),
			Performed: rapid.Bool().Draw(t, "performed"), Keep: rapid.Bool().Draw(t, "keep"), Answered: rapid.Bool().Draw(t, "answered"),
		},
	}
	if rapid.Bool().Draw(t, "asks") {
		f.Talk.Asked = f.Talk.Last
	}
	f.Set.SpeakUnasked = rapid.Bool().Draw(t, "unasked")
	f.Set.QuietHours = rapid.SampledFrom([]field.Hours{"", "22:00-07:00", "11:00-13:00"}).Draw(t, "hours")
	f.Set.HourlyBudget = rapid.IntRange(0, 4).Draw(t, "budget")
	for range rapid.IntRange(0, 5).Draw(t, "spoke") {
		f.Spoke = append(f.Spoke, past("at"))
	}
	if rapid.Bool().Draw(t, "snoozed") {
		f.Snoozed = noon.Add(time.Hour)
	}
	if rapid.Bool().Draw(t, "told no") {
		f.ToldNo = past("no")
	}
	if rapid.Bool().Draw(t, "found") {
		f.Finding = &attention.Finding{
			Asked: rapid.Bool().Draw(t, "asked"), Worth: rapid.Bool().Draw(t, "worth"),
			Stale: rapid.Bool().Draw(t, "stale"), Told: rapid.Bool().Draw(t, "told"), Confidence: rapid.Float64Range(0, 1).Draw(t, "sure"),
		}
	}
	if rapid.Bool().Draw(t, "came") {
		f.Arrival = &attention.Arrival{
			At: noon.Add(-time.Duration(rapid.IntRange(0, 40).Draw(t, "ago")) * time.Second), After: 10 * time.Minute, Absence: noon.Sub(past("gone")),
			Greet: rapid.Bool().Draw(t, "greet"), Were: rapid.IntRange(0, 2).Draw(t, "were"), Sure: rapid.Float64Range(0, 1).Draw(t, "sure"),
			Gone: rapid.Bool().Draw(t, "left"), Met: rapid.Bool().Draw(t, "met"),
		}
	}
	return f
}

// TestNeverUnasked: whatever else is true, nothing is said unasked that is forbidden, nor to
// nobody, nor during a tender moment.
func TestNeverUnasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := facts(t)
		verdict, why := attention.Decide(f)
		if len(why) == 0 {
			t.Fatal("no reason")
		}
		if verdict != earshot.Speak || f.Finding != nil && f.Finding.Asked {
			return
		}
		hour := slices.DeleteFunc(slices.Clone(f.Spoke), func(at time.Time) bool { return noon.Sub(at) >= time.Hour })
		for reason, is := range map[string]bool{
			"switched off": !f.Set.SpeakUnasked, "in quiet hours": f.Set.QuietHours.Has(noon), "snoozed": noon.Before(f.Snoozed),
			"over budget": len(hour) >= f.Set.HourlyBudget, "passive": f.Style == interrupt.Passive, "while somebody types": f.Typing,
			"after a no":     !f.ToldNo.IsZero() && noon.Sub(f.ToldNo) < 15*time.Minute,
			"hushed":         f.Hushed,
			"in a cool-down": slices.ContainsFunc(hour, func(at time.Time) bool { return noon.Sub(at) < 2*time.Minute }),
		} {
			if is {
				t.Errorf("spoke %s, because %q", reason, why)
			}
		}
		if a := f.Arrival; f.Finding == nil && a != nil {
			if !a.Greet || a.Gone || a.Met || a.Absence < 2*time.Minute || noon.Sub(a.At) >= 30*time.Second || a.Sure < f.Set.LeastConfidence {
				t.Errorf("greeted who is not to be greeted, because %q", why)
			}
			return
		}
		if f.Finding == nil && (f.Talk.Call || f.Talk.Tender || f.Talk.Performed || f.Talk.Asked.IsZero() || f.Talk.Answered) {
			t.Errorf("answered what was no question to the room, because %q", why)
		}
		if f.Finding != nil && (f.Finding.Stale || !f.Finding.Worth || f.Finding.Confidence < f.Set.LeastConfidence || f.Here == 0) {
			t.Errorf("said what is not to be said, because %q", why)
		}
	})
}

// TestAgainIsRight: a wait that ends by itself ends exactly then, if nothing happens.
func TestAgainIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := facts(t)
		at := attention.Again(f)
		if at.IsZero() {
			return
		}
		f.Now = at
		if verdict, why := attention.Decide(f); verdict == earshot.Wait && !attention.Again(f).After(at) {
			t.Fatalf("still waits because %q, and does not know for what", why)
		}
	})
}
