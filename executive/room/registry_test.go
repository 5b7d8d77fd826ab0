package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/participants"
)

// TestWhoIsWho: an operator of the house can make two people one, undo that, and rename somebody.
// Nobody else can.
func TestWhoIsWho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x, y := h.terminal(t, "one", participants.Owner), h.terminal(t, "two", "bob")
		if got := y.give(t, "identity", "Dan Smith"); !strings.Contains(got, "You are now Dan Smith") {
			t.Fatalf("told %q", got)
		}
		for _, tt := range []struct {
			by            *terminal
			command, args string
			want          string
		}{
			{y, "rename", "Bob to Rob", "error: /rename is for operators of this earshot; ask one, or if you are one: /identity NAME"},
			{x, "rename", "Bob", "error: write /rename NAME TO NAME"},
			{x, "rename", "Bbo to Rob", "error: nobody is called Bbo; did you mean Bob?"},
			{x, "rename", "Dan Smith to Dan Jones", "Dan Smith is now called Dan Jones."},
			{x, "merge", "Bob", "error: write /merge KEEP OTHER; put names of several words in quotes"},
			{x, "merge", `Bob "Dan Jones"`, `Dan Jones is now Bob; /split "Dan Jones" undoes that.`},
			{x, "merge", `Bob, Dan Jones`, `is the same person already`},
			{x, "split", `Dan Jones`, "Dan Jones is a separate person again."},
			{x, "split", `Dan Jones`, "error: nobody with that name was merged into somebody else"},
		} {
			if got := tt.by.give(t, tt.command, tt.args); !strings.Contains(got, tt.want) {
				t.Errorf("/%s %s: %q, want %q", tt.command, tt.args, got, tt.want)
			}
		}
		if got := texts(y.Voice); !strings.Contains(strings.Join(got, "\n"), "Dan Smith is now called Dan Jones.") {
			t.Errorf("the room was told %q", got)
		}
		if got := y.give(t, "help", ""); strings.Contains(got, "/merge") || !strings.Contains(got, "/msg NAME text") || !strings.Contains(got, "/offrecord") {
			t.Errorf("help is\n%s", got)
		}
		h.stop()
	})
}

// TestWhoWasMergedLeaves: somebody who joined by one name and was merged into another leaves by the
// other, once, and is announced again when they come after a split.
func TestWhoWasMergedLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, newHouse(), "bob", "carol")
		announced := func() string {
			var all []string
			for _, e := range c.journal.Events() {
				if p, ok := e.Body.(earshot.Presence); ok {
					all = append(all, string(e.Author)+map[bool]string{true: "+", false: "-"}[p.Here])
				}
			}
			return strings.Join(all, " ")
		}
		c.goes(t, "carol")
		c.must(t, "ann", "/merge carol bob", time.Minute)
		c.goes(t, "bob")
		want := "owner+ bob+ carol+ carol- carol-"
		if got := announced(); got != want {
			t.Errorf("merged, announced were %s\nwant %s", got, want)
		}
		c.come(t, "bob")
		c.goes(t, "bob")
		c.must(t, "ann", "/split bob", time.Minute)
		c.come(t, "bob")
		want += " carol+ carol- bob+"
		if got := announced(); got != want {
			t.Errorf("split, announced were %s\nwant %s", got, want)
		}
		c.must(t, "ann", "/merge carol bob", time.Minute)
		c.come(t, "carol")
		c.must(t, "ann", "/split bob", time.Minute)
		c.goes(t, "bob")
		if here := c.state().Here; len(here) != 2 || here[1].ID != "carol" {
			t.Errorf("here are %v", here)
		}
		c.stop()
	})
}

// TestAPersonSeesItByEachHandle: somebody who was merged sees at their old handle what is written
// to the person since, and nothing that was written before.
func TestAPersonSeesItByEachHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := crowd(t)
		x, y, z := h.terminal(t, "one", participants.Owner), h.terminal(t, "two", "bob"), h.terminal(t, "three", "bob")
		z.give(t, "identity", "Dan")
		x.give(t, "msg", "Bob before")
		x.give(t, "merge", "Bob Dan")
		x.give(t, "msg", "Bob since")
		z.give(t, "msg", h.config.Name+" and I")
		time.Sleep(time.Second)
		h.stop()
		for who, want := range map[*terminal]string{x: "before since", y: "before since and I", z: "since and I"} {
			var got []string
			for _, e := range who.Shown() {
				if m, ok := e.Body.(earshot.Message); ok {
					got = append(got, string(m.Text))
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s is shown %q, want %q", who.Called, got, want)
			}
		}
		if z.Played() == "" || y.Played() != z.Played() || x.Played() != "" {
			t.Errorf("the answer came out as %q, %q and %q", x.Played(), y.Played(), z.Played())
		}
		for _, e := range h.journal.Events() {
			if _, ok := e.Body.(earshot.Reply); ok && len(e.To) != 1 {
				t.Errorf("the reply is to %v", e.To)
			}
		}
	})
}
