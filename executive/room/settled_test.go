package room_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// settled returns what the console was shown: each reply, and each message that was settled.
func (c *crew) settled() string {
	var all []string
	texts := make(map[earshot.EventID]string)
	for _, e := range c.journal.Events() {
		if m, ok := e.Body.(earshot.Message); ok {
			texts[e.ID] = string(m.Text)
		}
	}
	for _, e := range c.console.Shown() {
		switch body := e.Body.(type) {
		case earshot.Reply:
			all = append(all, fmt.Sprintf("%s %s", c.people.Name(e.Author), body.Outcome))
		case earshot.Settled:
			all = append(all, "settled: "+texts[body.About])
		}
	}
	return strings.Join(all, "; ")
}

// TestSettled: somebody who waits for what comes of a message is told once that nothing more will
// come, when everybody has answered who was called by the message or by an answer to it.
func TestSettled(t *testing.T) {
	for _, tt := range []struct {
		name  string
		write []string
		want  string
	}{
		{"one answers", []string{"what is new?"}, "Earshot completed; settled: what is new?"},
		{"two answer", []string{"@Earshot @Scout hello"}, "Earshot completed; Scout completed; settled: @Earshot @Scout hello"},
		{"they answer each other", []string{"talk to each other"}, "Earshot completed; Scout completed; Scout completed; settled: talk to each other"},
		{"nobody is called", []string{"bob, hello"}, "settled: bob, hello"},
		{"a command word", []string{"stop"}, "settled: stop"},
		{"what is in private", []string{"/msg Scout hello"}, "Scout completed; settled: hello"},
		{"a person cuts in", []string{"talk to each other", "and now?"}, "Earshot interrupted; settled: talk to each other; Earshot completed; settled: and now?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.config.MultiParty.TurnLimit = 2
				h.model = endless("Earshot", "Scout")
				h.model.Every = 100 * time.Millisecond
				if strings.HasPrefix(tt.write[0], "talk") {
					h.model.Rules[0].Replies[0].Text = "@Scout, go on"
				}
				c := pair(t, h)
				for _, text := range tt.write {
					c.must(t, "ann", text, 150*time.Millisecond)
				}
				time.Sleep(time.Hour)
				if got := c.settled(); got != tt.want {
					t.Errorf("%s\nwant %s", got, tt.want)
				}
				c.stop()
			})
		})
	}
}
