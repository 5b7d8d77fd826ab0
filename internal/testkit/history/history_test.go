package history_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/testkit/history"
)

// correct is a short history of two owners in a room. What was sent at 30 was neither acknowledged nor
// refused.
var correct = []history.Record{
	{Kind: history.Sent, At: 10, Room: "parlour", ID: "one"},
	{Kind: history.Acknowledged, At: 20, Room: "parlour", ID: "one"},
	{Kind: history.Sent, At: 30, Room: "parlour", ID: "two"},
	{Kind: history.Sent, At: 31, Room: "parlour", ID: "three"},
	{Kind: history.Refused, At: 32, Room: "parlour", ID: "three"},
	{Kind: history.Sent, At: 40, Room: "parlour", ID: "four"},
	{Kind: history.Acknowledged, At: 50, Room: "parlour", ID: "four"},
	{Kind: history.Begun, At: 20, Room: "parlour", ID: "hello", Owner: "a", Fence: 1},
	{Kind: history.Ended, At: 35, Room: "parlour", ID: "hello"},
	{Kind: history.Begun, At: 35, Room: "parlour", ID: "again", Owner: "b", Fence: 2},
	{Kind: history.Ended, At: 45, Room: "parlour", ID: "again"},
	{Kind: history.Asked, At: 10, Room: "parlour", ID: "who"},
	{Kind: history.Answered, At: 20, Room: "parlour", ID: "who"},
	{Kind: history.Asked, At: 11, Room: "parlour", ID: "why"},
	{Kind: history.Told, At: 21, Room: "parlour", ID: "why"},
	{Kind: history.Read, At: 90, Room: "parlour", ID: "one", Owner: "a", Fence: 1},
	{Kind: history.Read, At: 91, Room: "parlour", ID: "two", Owner: "a", Fence: 1},
	{Kind: history.Read, At: 92, Room: "parlour", ID: "four", Owner: "b", Fence: 2},
}

// TestPlanted: each kind of fault is found, and nothing else.
func TestPlanted(t *testing.T) {
	at := func(kind, id string) int {
		return slices.IndexFunc(correct, func(r history.Record) bool { return r.Kind == kind && r.ID == id })
	}
	without := func(kind, id string) []history.Record {
		return slices.Delete(slices.Clone(correct), at(kind, id), at(kind, id)+1)
	}
	with := func(more ...history.Record) []history.Record { return append(slices.Clone(correct), more...) }
	but := func(kind, id string, change func(*history.Record)) []history.Record {
		changed := slices.Clone(correct)
		change(&changed[at(kind, id)])
		return changed
	}
	elsewhere := func(kind string, when time.Duration, id string) history.Record { // of owner a, by its only lease
		return history.Record{Kind: kind, At: when, Room: "parlour", ID: id, Outlet: "elsewhere", Owner: "a", Fence: 1}
	}
	swapped := slices.Clone(correct)
	one, four := at(history.Read, "one"), at(history.Read, "four")
	swapped[one], swapped[four] = swapped[four], swapped[one]
	swapped[one].Fence, swapped[one].Owner, swapped[four].Fence, swapped[four].Owner = 1, "a", 2, "b"
	for _, tt := range []struct {
		name    string
		records []history.Record
		want    string
	}{
		{"nothing", correct, "[]"},
		{"unknown and not there", without(history.Read, "two"), "[]"},
		{"lost", without(history.Read, "one"), "[one in parlour: acknowledged and lost]"},
		{"doubled", with(correct[at(history.Read, "four")]), "[four in parlour: doubled]"},
		{"disordered", swapped, "[one in parlour: before what had been acknowledged before it was sent]"},
		{"refused", with(history.Record{Kind: history.Read, Room: "parlour", ID: "three", Owner: "b", Fence: 2}), "[three in parlour: there although it was refused or never sent]"},
		{"never sent", without(history.Sent, "two"), "[two in parlour: there although it was refused or never sent]"},
		{"an old fence", but(history.Read, "one", func(r *history.Record) { r.Owner, r.Fence = "c", 3 }), "[two in parlour: after what has a higher fence four in parlour: after what has a higher fence]"},
		{"an old voice", but(history.Begun, "again", func(r *history.Record) { r.Owner, r.Fence = "c", 0 }), "[again in parlour: after what has a higher fence]"},
		{"a fence of two", but(history.Read, "two", func(r *history.Record) { r.Owner = "b" }), "[two in parlour: with the fence of another owner hello in parlour: with the fence of another owner]"},
		{"two voices", but(history.Ended, "hello", func(r *history.Record) { r.At = 36 }), "[again in parlour: while another voice is heard]"},
		{"a voice at two outlets", with(elsewhere(history.Begun, 21, "hello"), elsewhere(history.Ended, 34, "hello")), "[]"},
		{"two voices at two outlets", with(elsewhere(history.Begun, 21, "aside"), elsewhere(history.Ended, 22, "aside")), "[aside in parlour: while another voice is heard]"},
		{"a voice that ends late at another outlet", with(elsewhere(history.Begun, 21, "hello"), elsewhere(history.Ended, 36, "hello")), "[again in parlour: while another voice is heard]"},
		{"an old fence at another outlet", with(elsewhere(history.Begun, 46, "late"), elsewhere(history.Ended, 47, "late")), "[late in parlour: after what has a higher fence]"},
		{"a voice without an end", without(history.Ended, "hello"), "[again in parlour: while another voice is heard]"},
		{"answered twice", with(correct[at(history.Answered, "who")]), "[who in parlour: answered twice]"},
		{"answered unasked", without(history.Asked, "who"), "[who in parlour: there although it was refused or never sent]"},
		{"not answered", without(history.Answered, "who"), "[who in parlour: neither answered nor told]"},
		{"not told", without(history.Told, "why"), "[why in parlour: neither answered nor told]"},
	} {
		if got := fmt.Sprint(history.Check(tt.records)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestCorrect: whatever happens in rooms where everything is as it should be, there is no fault; and if
// any event that was acknowledged is then removed or doubled, there is one.
func TestCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, journal := randomHistory(t)
		if faults := history.Check(slices.Concat(records, journal)); len(faults) != 0 {
			t.Fatalf("a correct history has faults: %v", faults)
		}
		acknowledged := make(map[string]bool)
		for _, r := range records {
			acknowledged[r.ID] = acknowledged[r.ID] || r.Kind == history.Acknowledged
		}
		for i, r := range journal {
			if acknowledged[r.ID] && len(history.Check(slices.Concat(records, slices.Delete(slices.Clone(journal), i, i+1)))) != 1 {
				t.Fatalf("%s is missing, and it is not found", r.ID)
			}
			if len(history.Check(slices.Concat(records, slices.Insert(slices.Clone(journal), i, r)))) != 1 {
				t.Fatalf("%s is doubled, and it is not found", r.ID)
			}
		}
	})
}

// randomHistory performs clients of some rooms, whose owners change. What is under way when they do has
// an unknown outcome.
func randomHistory(t *rapid.T) (records, journal []history.Record) {
	type room struct {
		fence  int64
		owner  string
		voice  string
		flying []string // sent, without an outcome so far
	}
	rooms := map[string]*room{"parlour": {fence: 1, owner: "a"}, "attic": {fence: 1, owner: "b"}}
	now, n := time.Duration(0), 0
	add := func(kind, in, id string) history.Record {
		now += time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) + 1
		r := history.Record{Kind: kind, At: now, Room: in, ID: id, Owner: rooms[in].owner, Fence: rooms[in].fence}
		records = append(records, r)
		return r
	}
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		name := rapid.SampledFrom([]string{"attic", "parlour"}).Draw(t, "room")
		r := rooms[name]
		n++
		id := fmt.Sprint("id", n)
		switch rapid.SampledFrom([]string{"send", "commit", "refuse", "speak", "ask", "move"}).Draw(t, "what") {
		case "send":
			add(history.Sent, name, id)
			r.flying = append(r.flying, id)
		case "commit": // any of those that are under way, whose answer may be lost
			if len(r.flying) > 0 {
				i := rapid.IntRange(0, len(r.flying)-1).Draw(t, "which")
				journal = append(journal, history.Record{Kind: history.Read, Room: name, ID: r.flying[i], Owner: r.owner, Fence: r.fence})
				if rapid.Bool().Draw(t, "answered") {
					add(history.Acknowledged, name, r.flying[i])
				}
				r.flying = slices.Delete(r.flying, i, i+1)
			}
		case "refuse":
			if len(r.flying) > 0 {
				add(history.Refused, name, r.flying[0])
				r.flying = r.flying[1:]
			}
		case "speak":
			if r.voice != "" {
				add(history.Ended, name, r.voice)
				r.voice = ""
			} else {
				r.voice = add(history.Begun, name, id).ID
			}
		case "ask":
			add(history.Asked, name, id)
			add(rapid.SampledFrom([]string{history.Answered, history.Told}).Draw(t, "how"), name, id)
		case "move":
			if r.voice != "" {
				add(history.Ended, name, r.voice)
			}
			r.voice, r.flying = "", nil
			r.fence, r.owner = r.fence+1, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "owner")
		}
	}
	for name, r := range rooms {
		if r.voice != "" {
			add(history.Ended, name, r.voice)
		}
	}
	return rapid.Permutation(records).Draw(t, "order"), journal
}
