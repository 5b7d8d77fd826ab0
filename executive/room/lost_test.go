package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
)

// TestACutThatNobodyHeardLosesNoReminder: somebody who cuts in, or ends the program, before a word
// of a reminder was heard has not been reminded, so the reminder is still to be said. A voice takes
// a while until its first sound.
func TestACutThatNobodyHeardLosesNoReminder(t *testing.T) {
	for _, tt := range []struct {
		name string
		cuts func(t *testing.T, c *company)
	}{
		{"a message", func(t *testing.T, c *company) { c.must(t, "ann", "Earshot, what time is it?", 0) }},
		{"stop", func(t *testing.T, c *company) { c.must(t, "ann", "stop", 0) }},
		{"the end of the program", func(_ *testing.T, c *company) { c.Leave() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.console = &testkit.Voice{Called: "console", Every: 2 * time.Second}
				c := gather(t, h)
				c.must(t, "ann", "/remind 1m tea", time.Minute+time.Second)
				tt.cuts(t, c)
				time.Sleep(time.Second)
				c.stop()
				open := 0
				for _, e := range c.journal.Events() {
					if r, ok := e.Body.(earshot.Reminder); ok && r.Act == earshot.Created {
						open++
					} else if ok {
						open--
					}
				}
				if replies := c.replies(); len(replies) == 0 || replies[0].Outcome != earshot.Interrupted || strings.Contains(string(replies[0].Delivered()), "reminded") {
					t.Fatalf("the reminder was not cut before it was heard: %+v", replies)
				}
				if open != 1 {
					t.Errorf("%d reminders are still to be said, want 1", open)
				}
			})
		})
	}
}
