package speakers_test

import (
	"sync"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/speakers"
)

// TestForgottenForGood: an undo at the moment when a voice is forgotten finds nothing to undo.
func TestForgottenForGood(t *testing.T) {
	for range 50 {
		var book *speakers.Registry
		var undone error
		var undoing sync.WaitGroup
		c := config()
		c.Changed = func(c speakers.Change) {
			if c.Act == speakers.Forgotten {
				undoing.Go(func() { _, undone = book.Undo(speakers.Attestation{By: "bob", At: start}) })
			}
		}
		w := open(t, t.TempDir(), c)
		book = w.book
		j := w.says("ann", 3*time.Second)
		if _, err := book.Name(j.Speaker, "ann", w.said()); err != nil {
			t.Fatal(err)
		}
		if _, err := book.Forget(j.Speaker, w.said()); err != nil {
			t.Fatal(err)
		}
		testkit.Finish(t, 5*testkit.Patience, "the end of what is undone", undoing.Wait)
		if _, known := book.Speaker(j.Speaker); known || undone == nil {
			t.Fatalf("known %v, and to undo it said %v", known, undone)
		}
	}
}

// TestSplitBesideTheAgent: learning the agent's own voice meanwhile neither disturbs a change, nor
// is lost by one.
func TestSplitBesideTheAgent(t *testing.T) {
	w := open(t, "", config())
	own := w.voice("earshot", time.Second, "desk")
	w.book.LearnOwn(own)
	var last speakers.Judgement
	for range 8 {
		last = w.says("ann", 2*time.Second)
	}
	var learning sync.WaitGroup
	learning.Go(func() {
		for range 2000 {
			w.book.LearnOwn(own)
		}
	})
	for range 20 {
		if _, err := w.book.Split(last.Speaker, w.said()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.book.Undo(w.said()); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Finish(t, 5*testkit.Patience, "the end of what is learned", learning.Wait)
}
