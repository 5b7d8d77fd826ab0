package bus_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/bus"
	"earshot/bus/bustest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLocal(t *testing.T) {
	bustest.Run(t, func(*testing.T) bustest.Pair {
		var dropped atomic.Int64
		l := &bus.Local{Dropped: func(n int) { dropped.Add(int64(n)) }}
		return bustest.Pair{A: l, B: l, Dropped: dropped.Load}
	})
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a.b", false},
		{"a.b", "a", false},
		{"*", "a", true},
		{"*", "a.b", false},
		{"a.*", "a", false},
		{"a.*.c", "a.b.c", true},
		{"a.*.c", "a.b.d", false},
		{">", "a", true},
		{">", "a.b.c", true},
		{"a.>", "a", false},
		{"a.>", "a.b", true},
		{"a.>", "b.b", false},
		{"earshot.satellite.*.join", "earshot.satellite.kitchen.join", true},
		{"earshot.satellite.kitchen.up.>", "earshot.satellite.bath.up.sound", false},
	} {
		if got := bus.Matches(tt.pattern, tt.subject); got != tt.want {
			t.Errorf("%s matches %s: %v", tt.pattern, tt.subject, got)
		}
	}
}

// TestMatchesModel makes patterns of subjects: they match, and do not if a word is another one.
func TestMatchesModel(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		subject := rapid.SliceOfN(word, 1, 6).Draw(t, "subject")
		pattern := append([]string(nil), subject...)
		for i := range pattern {
			if rapid.Bool().Draw(t, "any") {
				pattern[i] = "*"
			}
		}
		if n := rapid.IntRange(0, len(pattern)-1).Draw(t, "rest"); rapid.Bool().Draw(t, "and more") {
			pattern = append(pattern[:n], ">")
		}
		p, s := strings.Join(pattern, "."), strings.Join(subject, ".")
		if bus.CheckSubject(p, true) != nil || bus.CheckSubject(s, false) != nil || !bus.Matches(p, s) {
			t.Fatalf("%s does not match %s", p, s)
		}
		for i, w := range pattern {
			if w != "*" && w != ">" {
				other := append([]string(nil), subject...)
				other[i] += "x"
				if bus.Matches(p, strings.Join(other, ".")) {
					t.Fatalf("%s matches %s", p, strings.Join(other, "."))
				}
			}
		}
		if bus.Matches(p, s+".more") != (pattern[len(pattern)-1] == ">") {
			t.Fatalf("%s and %s.more", p, s)
		}
	})
}

// FuzzSubjects: whatever they are, checking and matching ends, what is a subject is also a pattern, and
// one that matches itself.
func FuzzSubjects(f *testing.F) {
	for _, s := range []string{"", "a", "a.b", "*", "a.>", "a..b", "a b", ".", ">.a"} {
		f.Add(s, "a.b")
	}
	f.Fuzz(func(t *testing.T, pattern, subject string) {
		subjectOK, patternOK := bus.CheckSubject(subject, false) == nil, bus.CheckSubject(pattern, true) == nil
		if subjectOK && (bus.CheckSubject(subject, true) != nil || !bus.Matches(subject, subject) || strings.ContainsAny(subject, "*> \r\n")) {
			t.Errorf("%q is a subject", subject)
		}
		if bus.Matches(pattern, subject) && patternOK && subjectOK {
			if words := strings.Split(pattern, "."); words[len(words)-1] != ">" && len(words) != strings.Count(subject, ".")+1 {
				t.Errorf("%q matches %q", pattern, subject)
			}
		}
	})
}
