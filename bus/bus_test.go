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

// TestValidate: what cannot be listened at or connected to is a fault of its key, and so are servers without a key, since
// these let anybody else listen, too.
func TestValidate(t *testing.T) {
	cluster := bus.Cluster{Listen: ":6222", Servers: []string{"a:6222"}}
	for _, tt := range []struct {
		cfg  bus.Config
		want string // empty: no fault
	}{
		{bus.Config{}, ""},
		{bus.Config{Listen: ":4223", Addresses: []string{"[::1]:4223"}, Cluster: cluster}, ""},
		{bus.Config{Servers: []string{"a:4222"}, Seed: "S"}, ""},
		{bus.Config{Servers: []string{"a:4222"}}, "seed: is missing"},
		{bus.Config{Listen: "4223"}, `listen: is "4223"; must be HOST:PORT`},
		{bus.Config{Listen: ":65536"}, "listen: is"},
		{bus.Config{Listen: ":0"}, "listen: is"},
		{bus.Config{Listen: ":nats"}, "listen: is"},
		{bus.Config{Listen: ":1", Servers: []string{"a:1"}, Seed: "S"}, "servers: are set, and listen too"},
		{bus.Config{Listen: ":1", Addresses: []string{":1"}}, `addresses: has ":1"`},
		{bus.Config{Listen: ":1", Addresses: make([]string, 17)}, "addresses: has 17 entries"},
		{bus.Config{Cluster: cluster}, "cluster: needs listen and servers"},
		{bus.Config{Listen: ":1", Cluster: bus.Cluster{Listen: ":2"}}, "cluster: needs listen and servers"},
	} {
		err := tt.cfg.Validate()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v; want %q", tt.cfg, err, tt.want)
		}
	}
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
