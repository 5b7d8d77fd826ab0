package record_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"earshot"
	"earshot/executive/record"
	"earshot/internal/testkit"
)

// An arrival is an entry of a queue.
type arrival struct {
	e    earshot.Event
	over bool
}

func (a *arrival) Event() earshot.Event { return a.e }
func (a *arrival) With(now earshot.Event) *arrival {
	return &arrival{e: now, over: a.over}
}
func (a *arrival) Over() bool { return a.over }

// come returns the rule of an ordinary event, and one that is kept however full the queue is.
func come(id earshot.EventID, place, always bool) record.Rule[*arrival] {
	return record.Rule[*arrival]{
		Same:   func(*arrival) (bool, error) { return true, nil },
		Create: func() (*arrival, bool, error) { return &arrival{e: earshot.Event{ID: id}}, place, nil },
		Always: always,
	}
}

// TestQueue: an event enters once, a full queue refuses all but what must never be refused, and a
// place that is given back is offered to whoever waits.
func TestQueue(t *testing.T) {
	q := record.Queue[*arrival]{Limit: 2}
	enter := func(id earshot.EventID, place, always bool) (*arrival, bool, error) {
		return q.Reserve(id, come(id, place, always))
	}
	a, first, err := enter("a", true, false)
	if err != nil || !first {
		t.Fatal(first, err)
	}
	if again, first, err := enter("a", true, false); err != nil || first || again != a {
		t.Errorf("sent twice it is %p, %v, %v; want %p", again, first, err, a)
	}
	if _, first, err := enter("off the record", false, false); err != nil || !first || q.Len() != 1 {
		t.Errorf("what needs no place: %v, %v, %d places", first, err, q.Len())
	}
	b, _, _ := enter("b", true, false)
	if _, _, err := enter("c", true, false); err != record.ErrFull {
		t.Errorf("a full queue says %v", err)
	}
	vacant := q.Vacancy()
	if _, first, err := enter("d", true, true); err != nil || !first {
		t.Errorf("what is never refused: %v, %v", first, err)
	}
	select {
	case <-vacant:
		t.Error("a full queue has a vacancy")
	default:
	}
	if !q.Take(a) || !q.Take(b) || q.Waiting() != 2 || q.Len() != 3 {
		t.Errorf("%d wait in %d places", q.Waiting(), q.Len())
	}
	if !q.Has(func(x *arrival) bool { return x == b }) || q.Has(func(x *arrival) bool { return x.e.ID == "d" }) {
		t.Error("the wrong entries wait")
	}
	all := q.Next()
	select {
	case <-vacant:
	default:
		t.Error("nobody was told of the vacancy")
	}
	if len(all) != 2 || all[0] != a {
		t.Errorf("taken were %v", all)
	}
	q.PutBack(all[1:])
	if left := q.Close(); len(left) != 1 || left[0] != b || !q.Closed() {
		t.Errorf("left are %v", left)
	}
	if _, _, err := enter("e", true, true); err != record.ErrClosed {
		t.Errorf("a closed queue says %v", err)
	}
	if q.Take(&arrival{}) {
		t.Error("an entry that comes late is taken")
	}
}

// TestQueueRefuses: what the rule refuses leaves nothing behind, and an entry that was not kept may
// be sent again.
func TestQueueRefuses(t *testing.T) {
	q := record.Queue[*arrival]{Limit: 2}
	taken, off := errors.New("taken"), errors.New("off the record")
	refuses := record.Rule[*arrival]{Create: func() (*arrival, bool, error) { return nil, false, off }}
	if en, first, err := q.Reserve("a", refuses); en != nil || first || err != off || q.Len() != 0 {
		t.Errorf("refused: %v, %v, %v", en, first, err)
	}
	_, _, _ = q.Reserve("a", come("a", true, false))
	other := come("a", true, false)
	other.Same = func(*arrival) (bool, error) { return false, taken }
	if _, _, err := q.Reserve("a", other); err != taken {
		t.Errorf("another event of that ID: %v", err)
	}
	other.Same = func(*arrival) (bool, error) { return false, nil }
	if _, first, err := q.Reserve("a", other); err != nil || !first {
		t.Errorf("one that replaces it: %v, %v", first, err)
	}
	if !q.Forget("a") || q.Forget("a") {
		t.Error("it was not remembered, or was not forgotten")
	}
	if had, known := q.Remember(&arrival{e: earshot.Event{ID: "a"}}); known {
		t.Errorf("forgotten, and yet there is %v", had)
	}
	if _, known := q.Remember(&arrival{e: earshot.Event{ID: "a"}}); !known {
		t.Error("it is remembered twice")
	}
}

// TestQueueAtOnce: of many that come at once as many enter as there are places, and each that waits
// for one gets it.
func TestQueueAtOnce(t *testing.T) {
	const all, limit = 200, 7
	q := record.Queue[*arrival]{Limit: limit}
	var came sync.WaitGroup
	for i := range all {
		came.Go(func() {
			id := earshot.EventID(fmt.Sprint(i))
			for {
				en, _, err := q.Reserve(id, come(id, true, false))
				if err == nil {
					q.Take(en)
					return
				}
				<-q.Vacancy() // the loop below makes one
			}
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
