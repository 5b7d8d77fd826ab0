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
	a.Apply(earshot.Event{ID: "a", Body: earshot.Tombstone{Was: earshot.KindReminder}})
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
		{noon, "tea", "that time has passed; it is 2026-03-02 12:00 now"},
		{noon.Add(time.Minute), "", "the reminder is empty"},
		{noon.Add(time.Minute), strings.Repeat("x", 301), "has 301 bytes, which is too long; at most 300"},
		{noon.Add(367 * 24 * time.Hour), "tea", "within a year"},
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
	for who, want := range map[earshot.ParticipantID]string{"p1": "at most 50 reminders", "ann": "a room can have at most 1000 reminders"} {
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
		{"", "that is not a time"}, {"10", "that is not a time"}, {"-5m", "that is not a time"}, {"0s", "that is not a time"}, {"-1d", "that is not a time"},
		{"99999d", "that is not a time"}, {"25:00", "that is not a time"}, {"9999999h", "that is not a time"}, {"soon", "that is not a time"}, {"tomorrow tea", "that is not a time"},
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

// TestParse: what people write when they want to be reminded, on a Monday evening.
func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 23, 18, 40, 0, 0, time.Local)
	for _, tt := range []struct{ text, at, of string }{
		{"10m the pizza", "Mon 23 Nov 18:50:00", "the pizza"},
		{"in 5 minutes tea", "Mon 23 Nov 18:45:00", "tea"},
		{"me in 10 min to call Ann", "Mon 23 Nov 18:50:00", "call Ann"},
		{"me to call Ann in 10 min", "Mon 23 Nov 18:50:00", "call Ann"},
		{"In an hour and a half: the film", "Mon 23 Nov 20:10:00", "the film"},
		{"in an hour and a half the film", "Mon 23 Nov 20:10:00", "the film"},
		{"in half an hour x", "Mon 23 Nov 19:10:00", "x"},
		{"in two and a half hours, x", "Mon 23 Nov 21:10:00", "x"},
		{"in 1.5 hours x", "Mon 23 Nov 20:10:00", "x"},
		{"1h 30m x", "Mon 23 Nov 20:10:00", "x"},
		{"in 1 hour and 5 minutes x", "Mon 23 Nov 19:45:00", "x"},
		{"in a couple of hours x", "Mon 23 Nov 20:40:00", "x"},
		{"in twenty minutes x", "Mon 23 Nov 19:00:00", "x"},
		{"in twenty five minutes x", "Mon 23 Nov 19:05:00", "x"},
		{"me in an hour and fifty-five minutes to call Ann", "Mon 23 Nov 20:35:00", "call Ann"},
		{"x in fifteen minutes", "Mon 23 Nov 18:55:00", "x"},
		{"at nine thirty x", "Mon 23 Nov 21:30:00", "x"},
		{"tomorrow nine oh five x", "Tue 24 Nov 09:05:00", "x"},
		{"nine am x", "Tue 24 Nov 09:00:00", "x"},
		{"at eight forty five p.m. x", "Mon 23 Nov 20:45:00", "x"},
		{"half past nine am x", "Tue 24 Nov 09:30:00", "x"},
		{"at twenty five to nine x", "Mon 23 Nov 20:35:00", "x"},
		{"at nine 30 people", "Mon 23 Nov 21:00:00", "30 people"},
		{"twenty people", "", "that is not a time"},
		{"at nine", "Mon 23 Nov 21:00:00", ""},
		{"on the 3rd of December at 9 x", "Thu 3 Dec 09:00:00", "x"},
		{"3rd of dec x", "Thu 3 Dec 09:00:00", "x"},
		{"in 90 seconds x", "Mon 23 Nov 18:41:30", "x"},
		{"10 minutes from now x", "Mon 23 Nov 18:50:00", "x"},
		{"in 10 min 5 eggs", "Mon 23 Nov 18:50:00", "5 eggs"},
		{"10m 5 min walk", "Mon 23 Nov 18:50:00", "5 min walk"},
		{"in 3 days x", "Thu 26 Nov 18:40:00", "x"},
		{"in 3 days at noon x", "Thu 26 Nov 12:00:00", "x"},
		{"in a week x", "Mon 30 Nov 18:40:00", "x"},
		{"in a month x", "Wed 23 Dec 18:40:00", "x"},
		{"at 17:30 x", "Tue 24 Nov 17:30:00", "x"},
		{"17:30 x", "Tue 24 Nov 17:30:00", "x"},
		{"monday at 10 x", "Mon 30 Nov 10:00:00", "x"},
		{"monday at 8 x", "Mon 30 Nov 08:00:00", "x"},
		{"monday at 8 pm x", "Mon 23 Nov 20:00:00", "x"},
		{"half past nine tomorrow to call Bob", "Tue 24 Nov 09:30:00", "call Bob"},
		{"tomorrow at half past 9 pm x", "Tue 24 Nov 21:30:00", "x"},
		{"at a quarter to seven x", "Mon 23 Nov 18:45:00", "x"},
		{"at quarter to one x", "Tue 24 Nov 00:45:00", "x"},
		{"at 10 minutes past 8 x", "Mon 23 Nov 20:10:00", "x"},
		{"on friday at five to twelve x", "Fri 27 Nov 11:55:00", "x"},
		{"at 17.30 x", "Tue 24 Nov 17:30:00", "x"},
		{"tomorrow 9.30am x", "Tue 24 Nov 09:30:00", "x"},
		{"ten to nine people x", "", "that is not a time"},
		{"17.30 for the cab", "", "that is not a time"},
		{"at 19:30 x", "Mon 23 Nov 19:30:00", "x"},
		{"at 9 x", "Mon 23 Nov 21:00:00", "x"},
		{"at 5 x", "Tue 24 Nov 05:00:00", "x"},
		{"at 18 x", "Tue 24 Nov 18:00:00", "x"},
		{"at nine x", "Mon 23 Nov 21:00:00", "x"},
		{"9 o'clock x", "Mon 23 Nov 21:00:00", "x"},
		{"at 9am x", "Tue 24 Nov 09:00:00", "x"},
		{"9 p.m. x", "Mon 23 Nov 21:00:00", "x"},
		{"at 9:15pm x", "Mon 23 Nov 21:15:00", "x"},
		{"at noon x", "Tue 24 Nov 12:00:00", "x"},
		{"midnight x", "Tue 24 Nov 00:00:00", "x"},
		{"today at 19:00 x", "Mon 23 Nov 19:00:00", "x"},
		{"today at 7 x", "Mon 23 Nov 19:00:00", "x"},
		{"today at 9am x", "Mon 23 Nov 09:00:00", "x"}, // which is over
		{"today x", "", "at what time today? Write today at 17:30; now it is 18:40"},
		{"tonight x", "Mon 23 Nov 20:00:00", "x"},
		{"tonight at 11 x", "Mon 23 Nov 23:00:00", "x"},
		{"tonight at 2 x", "Tue 24 Nov 02:00:00", "x"},
		{"tonight at midnight x", "Tue 24 Nov 00:00:00", "x"},
		{"tomorrow x", "Tue 24 Nov 09:00:00", "x"},
		{"tomorrow 9am", "Tue 24 Nov 09:00:00", ""},
		{"Tomorrow at 5 x", "Tue 24 Nov 17:00:00", "x"},
		{"9am tomorrow to call Ann", "Tue 24 Nov 09:00:00", "call Ann"},
		{"me tomorrow morning at 8 that the bins go out", "Tue 24 Nov 08:00:00", "the bins go out"},
		{"tomorrow evening x", "Tue 24 Nov 19:00:00", "x"},
		{"tomorrow evening at 8 x", "Tue 24 Nov 20:00:00", "x"},
		{"in the morning x", "Tue 24 Nov 09:00:00", "x"},
		{"at 9 in the morning x", "Tue 24 Nov 09:00:00", "x"},
		{"this evening at 8 x", "Mon 23 Nov 20:00:00", "x"},
		{"the day after tomorrow at 17:00 x", "Wed 25 Nov 17:00:00", "x"},
		{"on friday at noon x", "Fri 27 Nov 12:00:00", "x"},
		{"friday x", "Fri 27 Nov 09:00:00", "x"},
		{"fri 8am x", "Fri 27 Nov 08:00:00", "x"},
		{"on Sat at 3 x", "Sat 28 Nov 15:00:00", "x"},
		{"monday 19:00 x", "Mon 23 Nov 19:00:00", "x"},
		{"on monday at 8am x", "Mon 30 Nov 08:00:00", "x"},
		{"next monday at 8 x", "Mon 30 Nov 08:00:00", "x"},
		{"next week x", "Mon 30 Nov 09:00:00", "x"},
		{"wednesday next week at 10:00 x", "Wed 2 Dec 10:00:00", "x"},
		{"next week on sunday x", "Sun 6 Dec 09:00:00", "x"},
		{"2026-12-01 09:00 x", "Tue 1 Dec 09:00:00", "x"},
		{"2026-12-01T09:00 x", "Tue 1 Dec 09:00:00", "x"},
		{"on 1 December at 9 x", "Tue 1 Dec 09:00:00", "x"},
		{"December 1st, 2026 x", "Tue 1 Dec 09:00:00", "x"},
		{"3 Jan 10:00 x", "Sun 3 Jan 10:00:00", "x"},
		{"23 november 18:00 x", "Tue 23 Nov 18:00:00", "x"}, // of the next year
		{"call Ann tomorrow at 9", "Tue 24 Nov 09:00:00", "call Ann"},
		{"to sit in the sun in 20 minutes", "Mon 23 Nov 19:00:00", "sit in the sun"},
		{"about the sun", "", "that is not a time; write 10m"},
		{"2026-02-30 x", "", "that is not a time"}, {"30 february x", "", "that is not a time"}, {"25:00 x", "", "that is not a time"}, {"13pm x", "", "that is not a time"},
		{"in 5 x", "", "that is not a time"}, {"a day off", "", "that is not a time"}, {"in x", "", "that is not a time"}, {"me", "", "that is not a time"}, {"on", "", "that is not a time"},
		{"every day at 9 x", "", "cannot repeat"}, {"9am every day x", "", "cannot repeat"}, {"water them every monday", "", "cannot repeat"},
	} {
		at, of, err := remind.Parse(now, tt.text)
		switch got := at.Local().Format("Mon 2 Jan 15:04:05"); {
		case tt.at == "" && (err == nil || !strings.Contains(err.Error(), tt.of)):
			t.Errorf("%q is %s %q: %v, want %q", tt.text, got, of, err, tt.of)
		case tt.at != "" && (err != nil || got != tt.at || of != tt.of):
			t.Errorf("%q is %s %q: %v, want %s %q", tt.text, got, of, err, tt.at, tt.of)
		}
	}
}

// FuzzWhen: whatever is written, it is a time or an error.
func FuzzWhen(f *testing.F) {
	for _, text := range []string{"10m", "2d", "15:04", "a quarter to 1 pm", "at 0.5 past 24", "half past", "2026-04-01T08:00:00+02:00", "d", "9223372036854775807d", "me in an hour and a half to call Ann", "next monday at 8pm",
		"call Ann tomorrow morning", "9am on 29 February 2028", "the day after tomorrow at midnight", "every", "in 1.5e9 months", "tonight at 12"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, of, err := remind.Parse(noon, text); err == nil && (at.IsZero() && !strings.Contains(text, "0001") || len(of) > len(strings.ToValidUTF8(text, "\uFFFD"))) {
			t.Errorf("%q is %v, of %q", text, at, of)
		}
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
