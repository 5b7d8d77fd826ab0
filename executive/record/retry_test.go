package record_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/record"
)

var errFull = errors.New("the disk is full")

// A disk is a journal that refuses some events, or any two together.
type disk struct {
	refuses func(earshot.Event) bool
	kept    []earshot.EventID
	meant   func() // called on each attempt; may be nil
}

func (d *disk) append(events ...earshot.Event) ([]earshot.Event, error) {
	if d.meant != nil {
		d.meant()
	}
	if slices.ContainsFunc(events, d.refuses) {
		return nil, errFull
	}
	for _, e := range events {
		d.kept = append(d.kept, e.ID)
	}
	return events, nil
}

// records returns events by their IDs; those that begin with "p" say that somebody comes or goes.
func records(ids string) (all []earshot.Event) {
	for id := range strings.FieldsSeq(ids) {
		e := earshot.Event{ID: earshot.EventID(id), Body: earshot.Reply{}}
		if strings.HasPrefix(id, "p") {
			e.Body = earshot.Presence{}
		}
		all = append(all, e)
	}
	return all
}

// TestFlush: of several records one that is refused holds up no other, except that nobody goes
// before they came.
func TestFlush(t *testing.T) {
	for _, tt := range []struct {
		name, waits, refused, kept string
		waiting                    int
	}{
		{"nothing", "", "", "", 0},
		{"all", "1 2 p3", "", "1 2 p3", 0},
		{"one of them", "1 2 p3", "2", "1 p3", 1},
		{"one alone", "1", "1", "", 1},
		{"an arrival", "1 p2 3 p4 5", "p2", "1 3 5", 2},
		{"a departure", "p2 3 p4", "p4", "p2 3", 1},
		{"everything", "1 p2 3", "1 p2 3", "", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var q record.RetryQueue
			q.Add(records(tt.waits)...)
			d := &disk{refuses: func(e earshot.Event) bool { return slices.Contains(strings.Fields(tt.refused), string(e.ID)) }}
			kept, dropped, err := q.Flush(d.append)
			if got := fmt.Sprint(d.kept); got != "["+tt.kept+"]" || len(kept) != len(d.kept) || q.Len() != tt.waiting || dropped != 0 {
				t.Errorf("kept are %s, want %s; %d were returned, %d wait, %d were dropped", got, tt.kept, len(kept), q.Len(), dropped)
			}
			if (err != nil) != (tt.waiting > 0) {
				t.Errorf("the reason is %v", err)
			}
			now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
			if next := q.NextRetry(now); next.IsZero() != (tt.waiting == 0) || !next.IsZero() && next.Sub(now) != time.Second {
				t.Errorf("it is tried again at %v", next)
			}
			if _, _, err := q.Flush(d.append); err != nil || q.Len() != tt.waiting {
				t.Errorf("the second time %d wait; the reason is %v", q.Len(), err)
			}
			d.refuses = func(earshot.Event) bool { return false }
			if _, _, err := q.Flush(d.append); err != nil || q.Len() != 0 || len(d.kept) != len(records(tt.waits)) || q.Announces() {
				t.Errorf("when the disk is free %d wait, kept are %v; the reason is %v", q.Len(), d.kept, err)
			}
		})
	}
}

// TestFlushIsBounded: the oldest records are dropped, those that come during an attempt wait for the
// next, and none is kept twice or lost otherwise.
func TestFlushIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q record.RetryQueue
		full, added, dropped := false, 0, 0
		add := func() {
			q.Add(records(fmt.Sprint(rapid.SampledFrom([]string{"p", "r"}).Draw(t, "kind"), added))...)
			added++
		}
		d := &disk{refuses: func(earshot.Event) bool { return full || rapid.IntRange(0, 9).Draw(t, "bad") == 0 }}
		d.meant = func() {
			if rapid.IntRange(0, 9).Draw(t, "meanwhile") == 0 {
				add()
			}
		}
		for range rapid.IntRange(1, 10).Draw(t, "attempts") {
			for range rapid.IntRange(0, 40).Draw(t, "records") {
				add()
			}
			full = rapid.Bool().Draw(t, "full")
			_, n, _ := q.Flush(d.append)
			if dropped += n; q.Len() > 64 {
				t.Fatalf("%d wait", q.Len())
			}
		}
		full, d.meant, d.refuses = false, nil, func(earshot.Event) bool { return false }
		q.Flush(d.append)
		if got := len(d.kept) + dropped; got != added {
			t.Fatalf("of %d records %d were kept and %d dropped", added, len(d.kept), dropped)
		}
		slices.Sort(d.kept)
		if n := len(slices.Compact(d.kept)); n != added-dropped {
			t.Fatalf("of %d kept %d differ", added-dropped, n)
		}
	})
}
