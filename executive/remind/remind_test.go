package remind_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/remind"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.Local)

func set(id string, who earshot.ParticipantID, due time.Time) earshot.Event {
	return earshot.Event{
		ID: earshot.EventID(id), To: []earshot.ParticipantID{who}, Visibility: earshot.Visibility{Scope: earshot.Public},
		Body: earshot.Reminder{Act: earshot.Created, Due: due, Text: earshot.Text("of " + id)},
	}
}

func over(act earshot.Act, id string) earshot.Event {
	return earshot.Event{Body: earshot.Reminder{Act: act, Of: earshot.EventID(id)}}
}

func everybody(remind.Reminder) bool { return true }

func due(r remind.Reminder) time.Time { return r.Due }

// show is an agenda in one line.
func show(list []remind.Reminder) string {
	var all []string
	for _, r := range list {
		all = append(all, fmt.Sprintf("%s/%d:%s", r.For, r.N, r.Event.ID))
	}
	return strings.Join(all, " ")
}

func TestAgenda(t *testing.T) {
	var a remind.Agenda
	if next := a.Next(due); !next.IsZero() || a.Due(noon, everybody) != nil {
		t.Error("an empty agenda has something due")
	}
	for _, e := range []earshot.Event{
		set("a", "ann", noon.Add(3*time.Minute)), set("b", "bob", noon.Add(time.Minute)), set("c", "ann", noon.Add(time.Minute)),
		set("c", "ann", noon.Add(time.Minute)), {Body: earshot.Message{Text: "nothing to it"}}, {ID: "x", Body: earshot.Reminder{Act: earshot.Created, Due: noon}},
	} {
		a.Apply(e)
	}
	if got := show(a.Of("ann")); got != "ann/2:c ann/1:a" {
		t.Errorf("ann's are %s", got)
	}
	if next := a.Next(due); !next.Equal(noon.Add(time.Minute)) {
		t.Errorf("the next is due at %v", next)
	}
	notBob := func(r remind.Reminder) bool { return r.For != "bob" }
	for _, tt := range []struct {
		after time.Duration
		meets func(remind.Reminder) bool
		want  string
	}{
		{59 * time.Second, everybody, ""}, {time.Minute, everybody, "bob/1:b ann/2:c"}, {time.Hour, everybody, "bob/1:b ann/2:c ann/1:a"}, {time.Hour, notBob, "ann/2:c ann/1:a"},
	} {
		if got := show(a.Due(noon.Add(tt.after), tt.meets)); got != tt.want {
			t.Errorf("after %v %q are due, want %q", tt.after, got, tt.want)
		}
	}
	a.Apply(over(earshot.Fired, "c"))
	a.Apply(over(earshot.Ended, "b"))
	a.Apply(set("d", "ann", noon.Add(time.Hour))) // has the number that is free
	if got := show(a.Due(noon.Add(24*time.Hour), everybody)); got != "ann/1:a ann/2:d" {
		t.Errorf("what is left is %s", got)
	}
	a.Apply(earshot.Event{ID: "a", Body: earshot.Erased{Was: earshot.KindReminder}})
	if theirs := a.Of("ann"); show(theirs) != "ann/2:d" || theirs[0].Text != "of d" {
		t.Errorf("what was erased is still there: %s", show(theirs))
	}
}

func TestBounds(t *testing.T) {
	var a remind.Agenda
	for _, tt := range []struct {
		due  time.Time
		text string
		want string
	}{
		{noon.Add(time.Minute), "tea", ""},
		{noon, "tea", "that time is over; now it is 2026-03-02 12:00"},
		{noon.Add(time.Minute), "", "needs to say of what"},
		{noon.Add(time.Minute), strings.Repeat("x", 301), "of 301 bytes is too long: at most 300"},
		{noon.Add(367 * 24 * time.Hour), "tea", "at most a year"},
	} {
		if err := a.Check(noon, "ann", tt.due, earshot.Text(tt.text)); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	for i := range 1000 {
		who := earshot.ParticipantID(fmt.Sprint("p", i%20))
		if err := a.Check(noon, who, noon.Add(time.Hour), "tea"); err != nil {
			t.Fatalf("the reminder %d: %v", i, err)
		}
		a.Apply(set(fmt.Sprint(i), who, noon.Add(time.Hour)))
	}
	for who, want := range map[earshot.ParticipantID]string{"p1": "there are 50 reminders already", "ann": "1000 reminders in this room"} {
		if err := a.Check(noon, who, noon.Add(time.Hour), "tea"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestAgendaIsTheJournal: over random journals an agenda that is made again is
// the same, each reminder is due once, in order, and no two of one person have
// the same number.
func TestAgendaIsTheJournal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a remind.Agenda
		var journal []earshot.Event
		gone := make(map[earshot.EventID]bool)
		apply := func(e earshot.Event) { journal = append(journal, e); a.Apply(e) }
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			pending := a.Due(noon.Add(24*time.Hour), everybody)
			switch step := rapid.SampledFrom([]string{"set", "fire", "end"}).Draw(t, "step"); {
			case step == "set":
				who := rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob"}).Draw(t, "who")
				apply(set(fmt.Sprint(i), who, noon.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "in"))*time.Minute)))
			case len(pending) > 0:
				r := rapid.SampledFrom(pending).Draw(t, "which")
				if gone[r.Event.ID] {
					t.Fatalf("%s comes twice", r.Event.ID)
				}
				gone[r.Event.ID] = true
				apply(over(earshot.Fired, string(r.Event.ID)))
			}
		}
		var again remind.Agenda
		for _, e := range journal {
			again.Apply(e)
		}
		all := a.Due(noon.Add(24*time.Hour), everybody)
		if show(all) != show(again.Due(noon.Add(24*time.Hour), everybody)) {
			t.Fatal("made again it is another")
		}
		if !slices.IsSortedFunc(all, func(x, y remind.Reminder) int { return x.Due.Compare(y.Due) }) {
			t.Fatalf("out of order: %s", show(all))
		}
		seen := make(map[string]bool)
		for _, r := range all {
			key := fmt.Sprint(r.For, r.N)
			if seen[key] {
				t.Fatalf("two are %s", key)
			}
			seen[key] = true
		}
	})
}

func TestWhen(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	local := time.Local
	time.Local = berlin
	defer func() { time.Local = local }()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, berlin) // the clocks are put forward on the next day
	for _, tt := range []struct{ text, want string }{
		{"10m", "2026-03-28T12:10:00+01:00"},
		{" 1h30m ", "2026-03-28T13:30:00+01:00"},
		{"90s", "2026-03-28T12:01:30+01:00"},
		{"2d", "2026-03-30T12:00:00+02:00"},
		{"15:04", "2026-03-28T15:04:00+01:00"},
		{"12:00", "2026-03-29T12:00:00+02:00"},
		{"02:30", "2026-03-29T03:30:00+02:00"}, // which there is not
		{"2026-04-01T08:00:00+02:00", "2026-04-01T08:00:00+02:00"},
		{"", "that is no time"}, {"10", "that is no time"}, {"-5m", "that is no time"}, {"0s", "that is no time"}, {"-1d", "that is no time"},
		{"99999d", "that is no time"}, {"25:00", "that is no time"}, {"9999999h", "that is no time"}, {"tomorrow", "that is no time"},
	} {
		got, err := remind.When(now, tt.text)
		if err == nil && got.In(berlin).Format(time.RFC3339) != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q is %v (%v), want %s", tt.text, got.In(berlin).Format(time.RFC3339), err, tt.want)
		}
	}
}

// TestWhenClocksAreSet: the next time that a clock shows something, in places east
// and west, on the days on which it shows an hour twice, or never.
func TestWhenClocksAreSet(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	for _, tt := range []struct{ place, now, text, want string }{
		{"Europe/Berlin", "2026-10-25T02:40:00+02:00", "02:50", "2026-10-25T02:50:00+02:00"}, // in ten minutes, and not in seventy
		{"Europe/Berlin", "2026-10-25T02:50:00+02:00", "02:40", "2026-10-25T02:40:00+01:00"},
		{"Europe/Berlin", "2026-10-25T02:50:00+01:00", "02:40", "2026-10-26T02:40:00+01:00"},
		{"America/New_York", "2026-11-01T01:40:00-04:00", "01:50", "2026-11-01T01:50:00-04:00"},
		{"America/New_York", "2026-11-01T01:50:00-04:00", "01:40", "2026-11-01T01:40:00-05:00"}, // and not on the next day
		{"America/New_York", "2026-03-08T01:45:00-05:00", "02:30", "2026-03-08T03:30:00-04:00"}, // which there is not; and not on the next day
		{"America/New_York", "2026-03-08T00:10:00-05:00", "02:30", "2026-03-08T03:30:00-04:00"}, // and not before it
		{"Australia/Lord_Howe", "2026-04-05T01:35:00+11:00", "01:40", "2026-04-05T01:40:00+11:00"},
		{"Africa/Cairo", "2026-04-23T23:00:00+02:00", "00:30", "2026-04-24T01:30:00+03:00"}, // at midnight
	} {
		place, err := time.LoadLocation(tt.place)
		if err != nil {
			t.Skip("no time zones here")
		}
		time.Local = place
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := remind.When(now, tt.text); err != nil || got.Format(time.RFC3339) != tt.want {
			t.Errorf("%s: at %s %q is %v (%v), want %s", tt.place, tt.now, tt.text, got.Format(time.RFC3339), err, tt.want)
		}
	}
}

// FuzzWhen: whatever is written, it is a time or an error.
func FuzzWhen(f *testing.F) {
	for _, text := range []string{"10m", "2d", "15:04", "2026-04-01T08:00:00+02:00", "d", "9223372036854775807d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := remind.When(noon, text); err == nil && at.IsZero() && !strings.HasPrefix(strings.TrimSpace(text), "0001") {
			t.Errorf("%q is the zero time", text)
		}
	})
}

// BenchmarkAgenda is one look at a full agenda in which nothing is due.
func BenchmarkAgenda(b *testing.B) {
	var a remind.Agenda
	for i := range 1000 {
		a.Apply(set(fmt.Sprint(i), earshot.ParticipantID(fmt.Sprint("p", i%20)), noon.Add(time.Hour)))
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Next(due)
		a.Due(noon, everybody)
	}
}
