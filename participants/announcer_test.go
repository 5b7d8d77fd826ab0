package participants_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
)

// TestAnnouncer: each character is two seconds. "+" is an arrival and "-" a departure; among the
// announcements, a digit after these is the number of times.
func TestAnnouncer(t *testing.T) {
	for _, tt := range []struct{ name, happens, announced string }{
		{"comes and goes", "+....-", "0:+ 10:-"},
		{"forgot something", "+-+-", "0:+ 2:- 4:+ 6:-"},
		{"comes a third time", "+-+-+", "0:+ 2:- 4:+ 6:- 28:+"},
		{"flaps and stays", "+-+-+-+-+", "0:+ 2:- 4:+ 6:- 36:+2"},
		{"flaps and is gone as was said", "+-+-+-+-", "0:+ 2:- 4:+ 6:-"},
		{"flaps, and again before it is steady", "+-+-+......-+", "0:+ 2:- 4:+ 6:- 44:+1"},
		{"comes twice", "++..--", "0:+ 8:-"},
		{"slowly, each is said", "+.......-.......+.......-.......+.......-", "0:+ 16:- 32:+ 48:- 64:+ 80:-"},
		{"at peace for a minute", "+-+-+-+-" + strings.Repeat(".", 30) + "+", "0:+ 2:- 4:+ 6:- 76:+"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(perform(tt.happens+strings.Repeat(".", 15)), " "); got != tt.announced {
				t.Errorf("%s announced %s, want %s", tt.happens, got, tt.announced)
			}
		})
	}
}

func perform(happens string) (announced []string) {
	var a participants.Announcer
	begin := time.Unix(1e9, 0)
	for i, c := range happens {
		now := begin.Add(time.Duration(i) * 2 * time.Second)
		var news []participants.Announcement
		if next := a.Next(); !next.IsZero() && !now.Before(next) {
			news = a.Steady(now)
		}
		if c != '.' {
			if n, ok := a.Change(now, "ann", earshot.Presence{Session: "1", Here: c == '+'}); ok {
				news = append(news, n)
			}
		}
		for _, n := range news {
			announced = append(announced, fmt.Sprintf("%d:%s", i*2, sign(n)))
		}
	}
	return announced
}

func sign(n participants.Announcement) string {
	s := map[bool]string{true: "+", false: "-"}[n.Here]
	if n.Times > 0 {
		s += fmt.Sprint(n.Times)
	}
	return s
}

// TestAnnouncedBecomesTrue: whatever people do, the announcements about each of them alternate
// between arrival and departure, and are never many. 20 s after somebody's last change they are
// true.
func TestAnnouncedBecomesTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a participants.Announcer
		people := []earshot.ParticipantID{"ann", "bob"}
		here, told := map[earshot.ParticipantID]bool{}, map[earshot.ParticipantID]bool{}
		said := map[earshot.ParticipantID][]time.Time{}
		now := time.Unix(1e9, 0)
		hear := func(n participants.Announcement) {
			if n.Here == told[n.Who] {
				t.Fatalf("%s was announced as %v twice", n.Who, n.Here)
			}
			told[n.Who] = n.Here
			said[n.Who] = append(said[n.Who], now)
			if s := said[n.Who]; len(s) > 7 && now.Sub(s[len(s)-8]) < time.Minute {
				t.Fatalf("%s was announced eight times within a minute", n.Who)
			}
		}
		settle := func(until time.Time) {
			for next := a.Next(); !next.IsZero() && !next.After(until); next = a.Next() {
				now = next
				for _, n := range a.Steady(now) {
					hear(n)
				}
			}
			now = until
		}
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			settle(now.Add(time.Duration(rapid.IntRange(0, 30000).Draw(t, "ms")) * time.Millisecond))
			who := rapid.SampledFrom(people).Draw(t, "who")
			here[who] = rapid.Bool().Draw(t, "here")
			if n, ok := a.Change(now, who, earshot.Presence{Here: here[who]}); ok {
				hear(n)
			}
		}
		settle(now.Add(20 * time.Second))
		for _, who := range people {
			if told[who] != here[who] {
				t.Fatalf("%s is here: %v, but was announced as %v", who, here[who], told[who])
			}
		}
		if !a.Next().IsZero() {
			t.Fatal("something is still held back")
		}
	})
}
