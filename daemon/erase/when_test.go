package erase

import (
	"testing"
	"time"

	"earshot"
)

// TestBygone: shows what people mean by a past time.
func TestBygone(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"": "0001-01-01 00:00", "10:00": "2026-03-02 10:00", "13:00": "2026-03-01 13:00", "2h": "2026-03-02 10:00", "3d": "2026-02-27 12:00",
		"2026-01-31": "2026-01-31 00:00", "2026-01-31 15:04": "2026-01-31 15:04", "soon": "no time", "-3h": "no time", "0d": "no time",
	} {
		got, err := ParseTime(text, now)
		if said := got.Format("2006-01-02 15:04"); err == nil && said != want || err != nil && want != "no time" {
			t.Errorf("%q is %s, %v; want %s", text, said, err, want)
		}
	}
	for text, want := range map[string]string{
		"me": "me||", "me since 10:00": "me|10:00|", "since 10:00": "|10:00|", "Ann from 10:00 to 11:00": "Ann|10:00|11:00",
		"from 2026-01-31 10:00 to 2026-02-01": "|2026-01-31 10:00|2026-02-01", "until 9:00": "||9:00",
	} {
		if rest, from, to := CutSpan(text); rest+"|"+from+"|"+to != want {
			t.Errorf("%q is %q, %q, %q", text, rest, from, to)
		}
	}
}

// TestForgottenKinds: erased events are counted by kind, in words that people use.
func TestForgottenKinds(t *testing.T) {
	for _, tt := range []struct {
		kinds map[earshot.Kind]int
		want  string
	}{
		{map[earshot.Kind]int{earshot.KindReply: 12, earshot.KindDecision: 6, earshot.KindMessage: 6}, "12 replies, 6 decisions, 6 messages"},
		{map[earshot.Kind]int{earshot.KindReply: 1, earshot.KindMessage: 1}, "1 message, 1 reply"},
		{map[earshot.Kind]int{earshot.KindWhose: 2}, "2 whose"},
	} {
		if got := tally(tt.kinds); got != tt.want {
			t.Errorf("%v is told as %q, want %q", tt.kinds, got, tt.want)
		}
	}
}
