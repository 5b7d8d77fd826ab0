package admission

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/record"
)

// said returns an entry of a message.
func said(id string, text earshot.Text, waits bool) *Entry {
	en := over(earshot.Event{ID: earshot.EventID(id), Author: "ann", Body: earshot.Message{Text: text}})
	if waits {
		en.done = make(chan struct{})
	}
	return en
}

// count returns how many entries are remembered.
func count(c *recentCache) (n int) {
	c.Update(func(had earshot.Event) (earshot.Event, bool) {
		n++
		return had, false
	})
	return n
}

// TestRecentIsBounded has a room remember long texts: of those that are kept it forgets the oldest,
// but none that waits for the journal.
func TestRecentIsBounded(t *testing.T) {
	const most, bytes = 1024, 4 << 20
	long := earshot.Text(strings.Repeat("a", earshot.MaxText))
	for _, tt := range []struct {
		name  string
		text  earshot.Text
		add   int
		waits bool
		want  int
	}{
		{"kept texts", long, 3 * bytes / earshot.MaxText, false, bytes / earshot.MaxText},
		{"texts that wait for the journal", long, 2 * bytes / earshot.MaxText, true, 2 * bytes / earshot.MaxText},
		{"short texts", "a", 3 * most, false, most},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c recentCache
			for round := range 2 { // the second time, nothing of the first is counted
				for i := range tt.add {
					c.Add(said(fmt.Sprint(i), tt.text, tt.waits))
				}
				if got := count(&c); got != tt.want {
					t.Errorf("round %d: it remembers %d, want %d", round, got, tt.want)
				}
				_, gone := c.Get(earshot.EventID(fmt.Sprint(tt.add - tt.want - 1)))
				if _, kept := c.Get(earshot.EventID(fmt.Sprint(tt.add - tt.want))); gone || !kept {
					t.Errorf("round %d: it remembers others than the newest", round)
				}
				for i := range tt.add {
					c.Remove(earshot.EventID(fmt.Sprint(i)))
				}
				if got := count(&c); got != 0 {
					t.Errorf("round %d: when all are removed, it remembers %d", round, got)
				}
			}
		})
	}
}

// TestRecent: by ID the entry that was added or updated last is found, and a reply by its turn.
func TestRecent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c recentCache
		want := make(map[earshot.EventID]*Entry)
		for n := range rapid.IntRange(0, 100).Draw(t, "steps") {
			en := said(rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "id"), earshot.Text(fmt.Sprint(n)), rapid.Bool().Draw(t, "waits"))
			id := en.Event.ID
			switch rapid.SampledFrom([]string{"add", "update", "remove"}).Draw(t, "act") {
			case "add":
				c.Add(en)
				want[id] = en
			case "update":
				c.Update(func(had earshot.Event) (earshot.Event, bool) { return en.Event, had.ID == id })
				if want[id] != nil {
					want[id] = en
				}
			case "remove":
				c.Remove(id)
				delete(want, id)
			}
			if got, ok := c.Get(id); ok != (want[id] != nil) || ok && record.TextOf(got.Event) != record.TextOf(want[id].Event) {
				t.Fatalf("%s is %v, want %v", id, got, want[id])
			}
			if got := count(&c); got != len(want) {
				t.Fatalf("it remembers %d, want %d", got, len(want))
			}
		}
	})
	var c recentCache
	c.Add(said("1", "hello", false))
	c.Add(over(earshot.Event{ID: "2", Body: earshot.Reply{Turn: "t"}}))
	if e, none := c.Reply("t"), c.Reply("u"); e.ID != "2" || none.ID != "" {
		t.Errorf("the reply of the turn is %q, that of another %q", e.ID, none.ID)
	}
}
