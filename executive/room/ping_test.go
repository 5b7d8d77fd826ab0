package room_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: Ping answers as long as the room comes round, even in the middle of a reply. It does
// not while the room's owner waits for a disk, and it does not wait for a closed room.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse().open(t.Context())
		late := errors.New("too late")
		turns := func() error {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
			defer cancel()
			return h.Ping(ctx)
		}
		if err := turns(); err != nil {
			t.Errorf("an idle room: %v", err)
		}
		h.say(t, "count")
		time.Sleep(15 * time.Millisecond)
		if err := turns(); err != nil {
			t.Errorf("in the middle of a reply: %v", err)
		}
		h.journal.Slow(time.Hour)
		go h.Admit(t.Context(), message("another question"))
		synctest.Wait()
		if err := turns(); !errors.Is(err, late) {
			t.Errorf("while the disk hangs: %v", err)
		}
		h.journal.Slow(0)
		time.Sleep(2 * time.Hour)
		if err := turns(); err != nil {
			t.Errorf("after the disk is back: %v", err)
		}
		h.stop()
		if err := turns(); err != nil {
			t.Errorf("a closed room: %v", err)
		}
	})
}
