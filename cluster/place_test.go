package cluster_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/cluster"
)

// A world is members and who has which room, for placement alone.
type world map[string]*cluster.Heartbeat

// beats returns what everybody says.
func (w world) beats() (all []cluster.Heartbeat) {
	for _, b := range w {
		all = append(all, *b)
	}
	return all
}

// owners returns who has each room.
func (w world) owners() map[string]string {
	all := make(map[string]string)
	for id, b := range w {
		for room := range b.Rooms {
			all[room] = id
		}
	}
	return all
}

// do performs moves, and checks that each is one.
func (w world) do(t *rapid.T, moves []cluster.Move) {
	owners := w.owners()
	for _, m := range moves {
		if m.From != owners[m.Room] || m.From == m.To || w[m.To] == nil || w[m.To].Drains {
			t.Fatalf("%v is moved from %q", m, owners[m.Room])
		}
		fence := int64(1)
		if m.From != "" {
			fence = w[m.From].Rooms[m.Room].Fence + 1
			delete(w[m.From].Rooms, m.Room)
		}
		w[m.To].Rooms[m.Room] = cluster.Tenure{Fence: fence}
	}
}

func (w world) age() {
	for _, b := range w {
		for room, tenure := range b.Rooms {
			b.Rooms[room] = cluster.Tenure{Fence: tenure.Fence, Seconds: tenure.Seconds + int(cluster.Stay.Seconds())}
		}
	}
}

// TestPlace: whatever there is, everything is where it should be after one step, stays there, is
// balanced as far as senses let it, and needs no more moves than it must.
func TestPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rooms []string
		for i := range rapid.IntRange(0, 30).Draw(t, "rooms") {
			rooms = append(rooms, fmt.Sprint("room", i))
		}
		w := world{}
		for i := range rapid.IntRange(1, 5).Draw(t, "members") {
			id := fmt.Sprintf("m%d.x", i)
			b := &cluster.Heartbeat{ID: id, Drains: rapid.IntRange(0, 4).Draw(t, "drains") == 0, Load: rapid.Float64Range(0, 0.9).Draw(t, "load"), Rooms: map[string]cluster.Tenure{}, Senses: map[string]int{}}
			for _, room := range rooms {
				b.Senses[room] = max(0, rapid.IntRange(-6, 2).Draw(t, "senses"))
			}
			w[id] = b
		}
		ids := slices.Sorted(maps.Keys(w))
		for _, room := range rooms {
			if id := rapid.SampledFrom(append([]string{""}, ids...)).Draw(t, "owner"); id != "" {
				w[id].Rooms[room] = cluster.Tenure{Fence: 1, Seconds: rapid.SampledFrom([]int{0, 30}).Draw(t, "tenure")}
			}
		}
		fit := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return w[id].Drains })

		before := w.owners()
		moves := cluster.Place(w.beats(), rooms)
		if other := cluster.Place(w.beats(), rapid.Permutation(rooms).Draw(t, "order")); !slices.Equal(moves, other) {
			t.Fatalf("members disagree: %v and %v", moves, other)
		}
		for _, m := range moves {
			if from := w[m.From]; from != nil && !from.Drains && from.Rooms[m.Room].Seconds == 0 {
				t.Fatalf("%v is moved although it has just come", m)
			}
		}
		w.do(t, moves)
		if len(fit) == 0 {
			if !maps.Equal(before, w.owners()) {
				t.Fatal("rooms are moved although nobody takes any")
			}
			return
		}
		w.age()
		w.do(t, cluster.Place(w.beats(), rooms)) // what had just come
		w.age()
		if again := cluster.Place(w.beats(), rooms); len(again) != 0 {
			t.Fatalf("it does not come to rest: %v", again)
		}
		owners := w.owners()
		least := slices.Min(counts(w, fit))
		for _, room := range rooms {
			owner, most := w[owners[room]], 0
			for _, id := range fit {
				most = max(most, w[id].Senses[room])
			}
			if owner == nil || owner.Drains || owner.Senses[room] != most {
				t.Fatalf("%s is at %q, where there are not most of its senses", room, owners[room])
			}
			if most == 0 && len(owner.Rooms) > least+1 {
				t.Fatalf("%s is at %s, which has %d rooms, while another has %d", room, owner.ID, len(owner.Rooms), least)
			}
		}

		// Somebody goes, and the others keep what they have, as far as balance lets them.
		if len(fit) < 2 {
			return
		}
		gone := rapid.SampledFrom(fit).Draw(t, "gone")
		lost := len(w[gone].Rooms)
		delete(w, gone)
		if n := len(cluster.Place(w.beats(), rooms)); n < lost || n > 2*len(rooms) || n > lost && !hasSenses(w, rooms) {
			t.Fatalf("%d rooms lost their owner, and %d are moved", lost, n)
		}
	})
}

func counts(w world, ids []string) (all []int) {
	for _, id := range ids {
		all = append(all, len(w[id].Rooms))
	}
	return all
}

func hasSenses(w world, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool {
		for _, b := range w {
			if b.Senses[room] > 0 {
				return true
			}
		}
		return false
	})
}

// TestPlaceDetails: who gets what.
func TestPlaceDetails(t *testing.T) {
	old := func(fence int64) cluster.Tenure { return cluster.Tenure{Fence: fence, Seconds: 60} }
	for _, tt := range []struct {
		name    string
		members []cluster.Heartbeat
		want    string
	}{
		{"nobody", nil, ""},
		{"the less loaded", []cluster.Heartbeat{{ID: "a.1", Load: 0.5}, {ID: "b.1", Load: 0.2}}, "attic: → b.1, parlour: → a.1"},
		{"one that can take no more", []cluster.Heartbeat{{ID: "a.1", Load: 0.95}, {ID: "b.1", Load: 0.2}}, "attic: → b.1, parlour: → b.1"},
		{"all can take no more", []cluster.Heartbeat{{ID: "a.1", Load: 0.95}, {ID: "b.1", Load: 1}}, "attic: → a.1, parlour: → b.1"},
		{"one whose database is late", []cluster.Heartbeat{{ID: "a.1", Late: true}, {ID: "b.1", Load: 1}}, "attic: → b.1, parlour: → b.1"},
		{"all of whose databases are late", []cluster.Heartbeat{{ID: "a.1", Late: true}, {ID: "b.1", Late: true}}, "attic: → a.1, parlour: → b.1"},
		{"one whose database is late has it", []cluster.Heartbeat{{ID: "a.1", Late: true, Rooms: map[string]cluster.Tenure{"attic": old(1)}}, {ID: "b.1"}}, "parlour: → b.1"},
		{"where its senses are", []cluster.Heartbeat{{ID: "a.1", Senses: map[string]int{"attic": 1}}, {ID: "b.1", Load: 1, Senses: map[string]int{"attic": 2}}}, "attic: → b.1, parlour: → a.1"},
		{"its senses moved", []cluster.Heartbeat{{ID: "a.1", Rooms: map[string]cluster.Tenure{"attic": old(1), "parlour": old(1)}}, {ID: "b.1", Senses: map[string]int{"attic": 1}}}, "attic: a.1 → b.1"},
		{"its senses moved just now", []cluster.Heartbeat{{ID: "a.1", Rooms: map[string]cluster.Tenure{"attic": {Fence: 1, Seconds: 29}, "parlour": old(1)}}, {ID: "b.1", Senses: map[string]int{"attic": 1}}}, "parlour: a.1 → b.1"},
		{"drains", []cluster.Heartbeat{{ID: "a.1", Drains: true, Rooms: map[string]cluster.Tenure{"attic": {Fence: 1}, "parlour": old(1)}}, {ID: "b.1"}}, "attic: a.1 → b.1, parlour: a.1 → b.1"},
		{"two say that they have it", []cluster.Heartbeat{{ID: "a.1", Rooms: map[string]cluster.Tenure{"attic": old(7)}}, {ID: "b.1", Rooms: map[string]cluster.Tenure{"attic": old(6), "parlour": old(1)}}}, ""},
	} {
		var all []string
		for _, m := range cluster.Place(tt.members, []string{"parlour", "attic"}) {
			all = append(all, strings.ReplaceAll(fmt.Sprintf("%s: %s → %s", m.Room, m.From, m.To), ":  ", ": "))
		}
		if got := strings.Join(all, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
