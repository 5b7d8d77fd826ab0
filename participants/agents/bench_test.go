package agents_test

import (
	"fmt"
	"testing"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// crowd returns an open house in which many agents live, and some have ended.
func crowd(b *testing.B, live, dead int) *house {
	b.Helper()
	h := newHouse(b)
	parent := h.create(earshot.Profile{Name: "Parent"})
	event := func(act earshot.Act, i int) earshot.Event {
		path, err := agents.ChildPath(parent.Path, earshot.PathSub, i)
		if err != nil {
			b.Fatal(err)
		}
		a := earshot.Agent{Act: act, ID: earshot.ParticipantID(fmt.Sprintf("%026d", 1<<40+i)), Path: path, User: participants.Owner, PathKind: earshot.PathSub}
		return earshot.Event{At: h.setup.Now(), Room: earshot.Desk, Visibility: earshot.Visibility{Scope: earshot.System}, Body: a}
	}
	for i := 0; i < live+dead; i += 1000 {
		var events []earshot.Event
		for k := i; k < min(i+1000, live+dead); k++ {
			events = append(events, event(earshot.Created, k))
			if k >= live {
				events = append(events, event(earshot.Ended, k))
			}
		}
		if _, err := h.store.Append(b.Context(), events...); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	h.restart()
	b.Logf("opening a house with %d agents took %v", live, time.Since(began))
	return h
}

// BenchmarkResolve resolves a path among 100,000.
func BenchmarkResolve(b *testing.B) {
	h := crowd(b, 100_000, 1000)
	for _, bm := range []struct {
		name string
		path earshot.Path
		ok   bool
	}{
		{"live", "/owner/agent/parent/sub/77777", true},
		{"dead", "/owner/agent/parent/sub/100777", false},
		{"unknown", "/owner/agent/parent/sub/777777", false},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.book.Resolve(b.Context(), bm.path); (err == nil) != bm.ok {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSpawn makes an agent below another, which is recorded on disk, and ends it.
func BenchmarkSpawn(b *testing.B) {
	h := newHouse(b)
	parent := h.create(earshot.Profile{Name: "Parent"})
	for b.Loop() {
		r, err := h.book.Spawn(b.Context(), parent.ID, parent.Path, earshot.PathSub, earshot.Profile{})
		if err != nil {
			b.Fatal(err)
		}
		if err := h.book.Finish(b.Context(), parent.ID, r.ID); err != nil {
			b.Fatal(err)
		}
	}
}
