package admission_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/executive/admission"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue returns a queue of a room in a mode, with places for n entries.
func queue(m earshot.Mode, n int) *admission.Queue {
	return &admission.Queue{
		Limit: n, Mode: func() earshot.Mode { return m }, Wake: func() {}, Shut: make(chan struct{}),
	}
}

func message(id, by string) admission.Input {
	return admission.Input{Event: earshot.Event{ID: earshot.EventID(id), Author: earshot.ParticipantID(by), Body: earshot.Message{Text: "hello"}}}
}

// TestReserve: an event that is sent twice is one entry, an ID belongs to one event, and off the record
// nothing is kept that somebody says or does.
func TestReserve(t *testing.T) {
	q := queue(earshot.Live, 2)
	en, first, err := q.Reserve(message("a", "ann"))
	if err != nil || !first {
		t.Fatal(first, err)
	}
	if again, first, err := q.Reserve(message("a", "ann")); again != en || first || err != nil {
		t.Errorf("sent again it is first %t, %v", first, err)
	}
	if _, _, err := q.Reserve(message("a", "bob")); err != admission.ErrTaken {
		t.Errorf("the ID of another event: %v", err)
	}
	if _, _, err := q.Reserve(message("b", "ann")); err != nil {
		t.Error(err)
	}
	if _, _, err := q.Reserve(message("c", "ann")); err != admission.ErrBusy {
		t.Errorf("a full queue: %v", err)
	}
	if _, first, err := q.Reserve(admission.Input{Event: earshot.Event{ID: "d", Body: earshot.Withdrawal{Of: "a"}}}); !first || err != nil {
		t.Errorf("a withdrawal waits for nothing: %v", err)
	}
	q.Close()
	if _, _, err := q.Reserve(message("e", "ann")); err != admission.ErrClosed {
		t.Errorf("a closed queue: %v", err)
	}

	q = queue(earshot.OffRecord, 2)
	if en, first, err := q.Reserve(message("a", "ann")); err != nil || !first || !en.OffRecord || !en.Over() || en.Event.Author != "" {
		t.Errorf("off the record: %+v, %t, %v", en, first, err)
	}
	if _, _, err := q.Reserve(admission.Input{Event: earshot.Event{ID: "m", Body: earshot.Memo{Text: "x"}}}); err == nil {
		t.Error("a note is kept off the record")
	}
}

// TestKeep: whoever waits for an entry gets its result, and what was not kept may be sent again. Of two
// events with a condition one is checked at a time.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		q := queue(earshot.Live, 8)
		how := make(chan error, 3)
		for _, id := range []string{"a", "b"} {
			go func() { how <- q.KeepIf(t.Context(), message(id, "ann").Event, func() error { return nil }) }()
			synctest.Wait()
		}
		batch := q.Fitting(q.Next())
		if len(batch) != 1 || batch[0].Event.ID != "a" || q.Len() != 1 {
			t.Fatalf("%d fit at once, and %d wait", len(batch), q.Len())
		}
		q.Finish(batch[0], full)
		if err := <-how; err != full || q.Recent("a").ID != "" {
			t.Errorf("the result is %v; remembered is %q", err, q.Recent("a").ID)
		}
		q.Finish(q.Fitting(q.Next())[0], nil)
		if err := <-how; err != nil || q.Recent("b").ID != "b" {
			t.Errorf("the result is %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Keep(ctx, message("c", "ann").Event); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody keeps it, and the result is %v", err)
		}
	})
}

// TestReserveWhenFree: the author of a message waits until there is room for it.
func TestReserveWhenFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue(earshot.Live, 1)
		en, _, err := q.Reserve(message("a", "ann"))
		if err != nil {
			t.Fatal(err)
		}
		q.Push(en)
		waits, free := 0, make(chan error, 1)
		go func() {
			_, _, waited, err := q.ReserveWhenFree(t.Context(), message("b", "bob"), func() { waits++ })
			if !waited {
				err = errors.New("it did not wait")
			}
			free <- err
		}()
		synctest.Wait()
		q.Finish(q.Next()[0], nil)
		if err := <-free; err != nil || waits != 1 {
			t.Errorf("it waited %d times: %v", waits, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, _, err := q.ReserveWhenFree(ctx, message("c", "cid"), func() {}); !errors.Is(err, admission.ErrBusy) {
			t.Errorf("who gives up is told %v", err)
		}
	})
}

// TestQueue: an entry takes the place that it has reserved, what waits leaves together, and a closed
// queue takes nothing more.
func TestQueue(t *testing.T) {
	q := queue(earshot.Live, 3)
	a, _, _ := q.Reserve(message("a", "ann"))
	b, _, _ := q.Reserve(admission.Input{Event: earshot.Event{ID: "b", Body: earshot.Withdrawal{Of: "x"}}, Change: admission.Change{Of: "x"}})
	late, _, _ := q.Reserve(message("late", "ann"))
	if q.ChangesSoon("x") {
		t.Error("an entry waits that has not acted yet")
	}
	q.Push(a)
	q.Push(b)
	if q.Waiting() != 2 || q.Len() != 3 {
		t.Errorf("%d wait in %d places", q.Waiting(), q.Len())
	}
	if !q.ChangesSoon("x") || q.ChangesSoon("a") {
		t.Error("the wrong entries wait")
	}
	if all := q.Next(); len(all) != 2 || all[0] != a || q.Len() != 1 {
		t.Errorf("taken were %v", all)
	}
	c, _, _ := q.Reserve(message("c", "ann"))
	q.Push(c)
	if left := q.Close(); len(left) != 1 || left[0] != c || !q.Closed() {
		t.Errorf("left are %v", left)
	}
	q.Push(late)
	if err := late.Wait(t.Context()); err != admission.ErrClosed || q.Forget("late") {
		t.Errorf("an entry that comes late is told %v", err)
	}
	if !q.Forget("a") || q.Forget("a") {
		t.Error("it was not remembered, or was not forgotten")
	}
}

// TestQueueAtOnce: of many that come at once as many enter as there are places, and each that waits
// for one gets it.
func TestQueueAtOnce(t *testing.T) {
	const all, limit = 200, 7
	q := queue(earshot.Live, limit)
	var came sync.WaitGroup
	for i := range all {
		came.Go(func() {
			en, _, _, err := q.ReserveWhenFree(t.Context(), message(fmt.Sprint(i), "ann"), func() {})
			if err != nil {
				t.Error(err)
				return
			}
			q.Push(en)
		})
	}
	n := 0
	testkit.Finish(t, testkit.Patience, "all events to enter", func() {
		for n < all {
			got := len(q.Next())
			if n += got; got > limit {
				t.Errorf("%d waited in %d places", got, limit)
			}
			runtime.Gosched()
		}
		came.Wait()
	})
}
