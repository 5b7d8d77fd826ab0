package mls_test

import (
	"testing"

	"earshot/internal/discord/mls"
)

// of25 returns a group of 25, in which each member has committed once, and the proposal to add
// another.
func of25(b *testing.B) (w *world, c change) {
	b.Helper()
	w = newWorld(b, 1)
	var users []uint64
	for user := range uint64(24) {
		users = append(users, user+2)
	}
	w.commit(1, w.propose(users, nil))
	for _, user := range users {
		w.commit(user, w.propose(nil, nil))
	}
	return w, w.propose([]uint64{100}, nil)
}

// BenchmarkCommit measures making a commit that adds a 26th member, and its welcome.
func BenchmarkCommit(b *testing.B) {
	w, c := of25(b)
	g := w.views[1]
	known := c.read(b, g)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := g.Commit(nil, known); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply measures following that commit.
func BenchmarkApply(b *testing.B) {
	w, c := of25(b)
	commit, _, _, err := w.views[1].Commit(nil, c.read(b, w.views[1]))
	if err != nil {
		b.Fatal(err)
	}
	g := w.views[9]
	known := c.read(b, g)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Apply(commit, known); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJoin measures joining as the 26th member: most of it is checking the signatures of the
// others.
func BenchmarkJoin(b *testing.B) {
	w, _ := of25(b)
	g := w.views[1]
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		c := w.propose([]uint64{100}, nil)
		_, welcome, _, err := g.Commit(nil, c.read(b, g))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := mls.Join(welcome, c.joining[100]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExport measures deriving the key of one sender.
func BenchmarkExport(b *testing.B) {
	g := newWorld(b, 1).views[1]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Export("Discord Secure Frames v0", channel, 16); err != nil {
			b.Fatal(err)
		}
	}
}
