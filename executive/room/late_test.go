package room_test

import (
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// TestWhatComesLateIsKeptAndNotAnswered: a message that a provider brings in long after it was
// written is kept. It is not answered and does not cut the agent off, since nobody waits for it any
// more.
func TestWhatComesLateIsKeptAndNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		h.say(t, "count")
		time.Sleep(25 * time.Millisecond)
		late := message("what was that?")
		late.ID, late.At = "late", time.Now().Add(-11*time.Minute)
		if err := h.Admit(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		soon := message("and this?")
		soon.At = time.Now().Add(-9 * time.Minute)
		if err := h.Admit(t.Context(), soon); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		h.stop()
		if got := h.replies(); len(got) != 2 || got[0].Outcome != earshot.Completed || got[1].Outcome != earshot.Completed {
			t.Errorf("the replies are %+v", got)
		}
		kept := false
		for _, e := range h.journal.Events() {
			kept = kept || e.ID == "late"
			if d, ok := e.Body.(earshot.Decision); ok && d.About == "late" && d.Verdict != earshot.Silent {
				t.Errorf("decided %+v", d)
			}
		}
		if !kept {
			t.Error("it is not kept")
		}
	})
}
