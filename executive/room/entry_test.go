package room

import (
	"strings"
	"testing"

	"earshot"
)

// TestRecentEntriesAreBounded has a room remember long texts: of those that are kept it forgets
// the oldest, but none that waits for the journal.
func TestRecentEntriesAreBounded(t *testing.T) {
	kept := make(chan struct{})
	close(kept)
	text := earshot.Text(strings.Repeat("a", earshot.MaxText))
	add := func(c *recentEntries, n int, done chan struct{}) {
		for i := range n {
			id := earshot.EventID(strings.Repeat("i", len(c.order)+i+1))
			c.add(&entry{resolvedEvent: resolvedEvent{event: earshot.Event{ID: id, Body: earshot.Message{Text: text}}}, done: done})
		}
	}
	var c recentEntries
	add(&c, 3*keepRecentBytes/earshot.MaxText, kept)
	if most := keepRecentBytes / earshot.MaxText; len(c.order) != most || len(c.byID) != most || c.bytes != keepRecentBytes {
		t.Errorf("of kept texts it remembers %d (%d by ID, %d bytes), want %d", len(c.order), len(c.byID), c.bytes, most)
	}
	c = recentEntries{}
	const waiting = 2 * keepRecentBytes / earshot.MaxText
	add(&c, waiting, make(chan struct{}))
	if len(c.order) != waiting {
		t.Errorf("of %d texts that wait for the journal it remembers %d", waiting, len(c.order))
	}
	for len(c.order) > 0 {
		c.remove(c.order[0])
	}
	if c.bytes != 0 || len(c.byID) != 0 {
		t.Errorf("when all are removed, it counts %d entries of %d bytes", len(c.byID), c.bytes)
	}
}
