package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/participants"
)

// TestWhy: /why tells in words what was decided about what, for as many decisions as are asked for,
// and tells the same after a restart.
func TestWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		if got := h.give(t, "why", ""); got != "No decision has been made yet." {
			t.Errorf("before anything it tells %q", got)
		}
		for _, text := range []string{"count to four", "and again", "stop"} {
			h.say(t, text)
			time.Sleep(time.Second)
		}
		all := h.give(t, "why", "")
		for _, want := range []string{
			"ann wrote “count to four”\n          I answered because " + addressing.Alone,
			"ann wrote “stop”\n          I kept silent because " + reason.Commanded,
		} {
			if strings.Count(all, want) != 1 {
				t.Errorf("told\n%s\nwithout\n%s", all, want)
			}
		}
		if last := h.give(t, "why", "1"); strings.Contains(last, "again") || !strings.HasSuffix(all, last) {
			t.Errorf("the last one is\n%s\nof\n%s", last, all)
		}
		if got := h.give(t, "why", "Earshot 2"); strings.Count(got, "because") != 2 {
			t.Errorf("of Earshot it tells %q", got)
		}
		if got := h.give(t, "why", "ann"); !strings.Contains(got, "error: there is no agent of that name; write /why, /why 10 or /why Earshot") {
			t.Errorf("of a person it tells %q", got)
		}
		h.stop()

		again := newHouse()
		again.journal, again.past = h.journal, nil
		again.open(t.Context())
		if got := again.give(t, "why", ""); got != all {
			t.Errorf("after a restart it tells\n%s\nand before\n%s", got, all)
		}
		again.stop()
	})
}

// TestDo: a command that is given from a shell acts like one at a terminal, and its answer goes
// back to the shell and nowhere else.
func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "count")
		time.Sleep(15 * time.Millisecond)
		do := func(name string) string {
			answer, err := h.Do(t.Context(), earshot.Event{From: ann, Body: earshot.Command{Name: name}})
			if err != nil {
				return "error: " + err.Error()
			}
			return answer
		}
		shown := len(texts(h.console))
		if got := do("stop"); got != "" {
			t.Errorf("stop is answered %q", got)
		}
		time.Sleep(time.Second)
		if r := h.replies(); len(r) != 1 || r[0].Outcome != earshot.Interrupted || r[0].Cut.By != participants.Owner {
			t.Errorf("replies %+v", r)
		}
		if got := do("who"); !strings.Contains(got, "The room is live") || len(texts(h.console)) != shown {
			t.Errorf("who is answered %q, and the console shows %q", got, texts(h.console)[shown:])
		}
		if got := do("dance"); !strings.HasPrefix(got, "error: there is no /dance") {
			t.Errorf("dance is answered %q", got)
		}
		h.stop()
	})
}
