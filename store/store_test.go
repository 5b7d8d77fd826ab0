package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

func TestAppendGivesBackWhatIsKept(t *testing.T) {
	s := open(t, store.Config{})
	e := said("hello")
	e.Sources = []earshot.EventID{"01H"}
	e.To = []earshot.ParticipantID{"earshot"}
	kept := add(t, s, e, said("again"))
	if kept[0].Sequence != 1 || kept[1].Sequence != 2 || kept[0].ID == "" || kept[0].ID >= kept[1].ID {
		t.Errorf("kept as %d %q and %d %q, want 1 and 2 with rising IDs", kept[0].Sequence, kept[0].ID, kept[1].Sequence, kept[1].ID)
	}
	got, err := s.For(everybody).Events(t.Context(), 0, 10)
	must(t, err)
	if !reflect.DeepEqual(got, kept) {
		t.Errorf("read %+v, want %+v", got, kept)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "a b?c#d%e")
	c := store.Config{Directory: directory}
	s, err := store.Open(t.Context(), c)
	must(t, err)
	want := add(t, s, numbered(10)...)
	must(t, s.Close())
	heard := new(listener)
	c.Report = heard.report
	if got := everything(t, open(t, c)); !reflect.DeepEqual(got, want) {
		t.Errorf("read %d events, want %d", len(got), len(want))
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

func TestSameIDIsKeptOnce(t *testing.T) {
	s := open(t, store.Config{})
	e := said("hello")
	e.ID = "01JABC"
	first := add(t, s, e)
	e.Body = earshot.Message{Text: "hello again"}
	second := add(t, s, said("between"), e, e)
	if !reflect.DeepEqual(second[1], first[0]) || !reflect.DeepEqual(second[2], first[0]) {
		t.Errorf("the retry gave %+v, want %+v", second[1:], first[0])
	}
	if n := len(everything(t, s)); n != 2 {
		t.Errorf("%d events are kept, want 2", n)
	}
}

// TestIDOfAnotherSender: somebody who guesses the ID of a private event can neither read that event
// nor pass off another one under its ID.
func TestIDOfAnotherSender(t *testing.T) {
	s := open(t, store.Config{})
	e := said("between ann and bob")
	e.ID = "01JABC"
	add(t, s, e)
	e.From = earshot.Handle{Provider: "console", ID: "uid1001"}
	other := e
	other.From, other.Author = add(t, s, said(""))[0].From, "bob" // from ann's terminal
	for _, e := range []earshot.Event{e, other} {
		got, err := s.Append(t.Context(), e)
		if !errors.Is(err, store.ErrTaken) || got != nil {
			t.Errorf("append = %v, %v; want ErrTaken", got, err)
		}
	}
}

// TestDecisionSeesWhatCameBefore: if many callers want the same name, exactly one gets it.
func TestDecisionSeesWhatCameBefore(t *testing.T) {
	s := open(t, store.Config{})
	taken := errors.New("taken")
	var won, lost int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := s.Do(detached(t), func(v earshot.View) ([]earshot.Event, error) {
				var n int
				if err := v.QueryRowContext(t.Context(), "SELECT count(*) FROM journal").Scan(&n); err != nil {
					return nil, err
				}
				if n > 0 {
					return nil, taken
				}
				return []earshot.Event{said("me")}, nil
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case errors.Is(err, taken):
				lost++
			default:
				t.Error(err)
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "all callers", all.Wait)
	if won != 1 || lost != 49 {
		t.Errorf("%d won and %d lost, want 1 and 49", won, lost)
	}
}

// TestErrorOfOneDoesNotHurtOthers: callers share commits, not errors.
func TestErrorOfOneDoesNotHurtOthers(t *testing.T) {
	s := open(t, store.Config{})
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			events := []earshot.Event{said("good"), said("good")}
			if i%3 == 0 {
				events[1].Room = ""
			}
			kept, err := s.Append(detached(t), events...)
			if (err != nil) != (i%3 == 0) || err == nil && kept[1].Sequence != kept[0].Sequence+1 {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "all callers", all.Wait)
	events := everything(t, s)
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the sequence %d", i+1, e.Sequence)
		}
	}
	if len(events) != 80 {
		t.Errorf("%d events are kept, want 80", len(events))
	}
}

func TestCallersShareACommit(t *testing.T) {
	s := open(t, store.Config{})
	commits := s.CountChanges()
	inside, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := s.Do(detached(t), func(earshot.View) ([]earshot.Event, error) {
			close(inside)
			<-leave
			return nil, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	testkit.Receive(t, testkit.Patience, "that the writer is held", inside)
	for range 20 {
		all.Go(func() { add(t, s, said("together")) })
	}
	store.AwaitCallers(t, 20)
	close(leave)
	testkit.Finish(t, 5*testkit.Patience, "all callers", all.Wait)
	if n := commits.Load(); n != 1 {
		t.Errorf("%d commits, want one for the 20 that waited together", n)
	}
}

// TestNobodyWaitsForThemself: steps that give way to waiting callers do not count their own caller
// as waiting, however late its goroutine runs again.
func TestNobodyWaitsForThemself(t *testing.T) {
	s := open(t, store.Config{})
	for range 50 {
		inside, leave := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			s.Do(detached(t), func(earshot.View) ([]earshot.Event, error) {
				close(inside)
				<-leave
				return nil, nil
			})
		})
		testkit.Receive(t, testkit.Patience, "that the writer is held", inside)
		waiting := int64(-1)
		all.Go(func() {
			s.Do(detached(t), func(earshot.View) ([]earshot.Event, error) {
				waiting = s.Waiting()
				return nil, nil
			})
		})
		store.AwaitCallers(t, 1)
		close(leave)
		testkit.Finish(t, 5*testkit.Patience, "all callers", all.Wait)
		if waiting != 0 {
			t.Fatalf("%d wait beside the only caller", waiting)
		}
	}
}

// TestLeavingDuringStep: a caller that gives up while its step runs shares nothing with it any more.
func TestLeavingDuringStep(t *testing.T) {
	s := open(t, store.Config{})
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Do(ctx, func(earshot.View) ([]earshot.Event, error) {
			cancel()
			return []earshot.Event{said("in doubt")}, nil
		})
		if err != nil && !errors.Is(err, store.ErrInDoubt) {
			t.Error(err)
		}
	}
}

// TestLeavingEarly: a caller that gives up before its step begins knows that nothing was kept. One
// that gives up later is in doubt, and may try again.
func TestLeavingEarly(t *testing.T) {
	s := open(t, store.Config{})
	inside, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	e := said("in doubt")
	e.ID = "01JDOUBT"
	ctx, cancel := context.WithCancel(t.Context())
	all.Go(func() {
		_, err := s.Do(ctx, func(earshot.View) ([]earshot.Event, error) {
			close(inside)
			<-leave
			return []earshot.Event{e}, nil
		})
		if !errors.Is(err, store.ErrInDoubt) || !errors.Is(err, context.Canceled) {
			t.Errorf("who left while it was written was told %v", err)
		}
	})
	testkit.Receive(t, testkit.Patience, "that the writer is held", inside)
	cancel()
	if _, err := s.Append(ctx, said("never")); errors.Is(err, store.ErrInDoubt) || !errors.Is(err, context.Canceled) {
		t.Errorf("who left before was told %v", err)
	}
	testkit.Finish(t, 5*testkit.Patience, "all callers", all.Wait) // callers that gave up do not wait for the write
	close(leave)
	add(t, s, e)
	if got := texts(everything(t, s)); got != "in doubt" {
		t.Errorf("kept %s, want it once", got)
	}
}

func TestGrown(t *testing.T) {
	s := open(t, store.Config{})
	grown := s.Grown()
	e := add(t, s, said("more"))[0]
	select {
	case <-grown:
	default:
		t.Error("nobody was woken")
	}
	grown = s.Grown()
	add(t, s, e)
	select {
	case <-grown:
		t.Error("woken for an event that was there already")
	default:
	}
}

func TestOneOwner(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, said("hello"))
	directory := filepath.Dir(s.Path())
	_, err := store.Open(t.Context(), store.Config{Directory: directory})
	var locked *store.ErrLocked
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Directory != directory {
		t.Errorf("the second owner was told %v", err)
	}
	r, err := store.OpenReader(t.Context(), store.Config{Directory: directory})
	must(t, err)
	defer r.Close()
	got, err := r.For(everybody).Events(t.Context(), 0, 10)
	must(t, err)
	if texts(got) != "hello" {
		t.Errorf("a reader beside the owner read %s", texts(got))
	}
}

func TestClosed(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir()})
	must(t, err)
	must(t, s.Close())
	must(t, s.Close())
	if _, err := s.Append(t.Context(), said("late")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append after close = %v", err)
	}
}

// TestReportMayUseTheStore: the listener for faults can write a notice into the journal without
// waiting for itself.
func TestReportMayUseTheStore(t *testing.T) {
	var s *store.Store
	told := make(chan error, 10)
	s = open(t, store.Config{Report: func(n earshot.Notice) {
		e := said("")
		e.Body = n
		_, err := s.Append(detached(t), e)
		told <- err
	}})
	must(t, s.Run(t.Context(), "PRAGMA max_page_count = 60"))
	fill(t, s)
	if err := testkit.Receive(t, testkit.Patience, "the report that the disk is full", told); err != nil && !errors.Is(err, store.ErrFull) {
		t.Error(err)
	}
	must(t, s.Run(t.Context(), "PRAGMA max_page_count = 100000"))
	add(t, s, said("and on"))
	if err := testkit.Receive(t, testkit.Patience, "the report that it is over", told); err != nil {
		t.Error(err)
	}
	if got := texts(everything(t, s)); !strings.Contains(got, "|notice") {
		t.Errorf("no notice was kept")
	}
}

// TestIDsRise: IDs rise even if the clock is set back.
func TestIDsRise(t *testing.T) {
	now := began
	s := open(t, store.Config{Now: func() time.Time { return now }})
	last := earshot.EventID("")
	for i := range 100 {
		now = began.Add(time.Duration(50-i) * time.Minute)
		for _, e := range add(t, s, said("a"), said("b")) {
			if e.ID <= last {
				t.Fatalf("%s came after %s", e.ID, last)
			}
			last = e.ID
		}
	}
}

// TestClockAndNamesAreGiven: the clock and the IDs come from the caller, so that a day can be
// replayed.
func TestClockAndNamesAreGiven(t *testing.T) {
	n := 0
	s := open(t, store.Config{NewID: func() earshot.EventID { n++; return earshot.EventID(fmt.Sprint("id", n)) }})
	e := said("a")
	e.At = time.Time{}
	if kept := add(t, s, e)[0]; kept.ID != "id1" || !kept.At.Equal(began) {
		t.Errorf("kept as %s at %v", kept.ID, kept.At)
	}
}

// TestExportStops: an export ends when its loop is left.
func TestExportStops(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, numbered(600)...)
	n := 0
	for _, err := range s.Export(t.Context()) {
		must(t, err)
		if n++; n == 300 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range s.Export(ctx) {
		last = err
		cancel()
	}
	if n != 300 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d events, and in the end %v", n, last)
	}
}

// TestReadersAndWriterTogether: readers beside writers see a beginning of the history, without a
// gap.
func TestReadersAndWriterTogether(t *testing.T) {
	s := open(t, store.Config{})
	var all sync.WaitGroup
	const total = 200
	for range 2 {
		all.Go(func() {
			for range total / 2 {
				if _, err := s.Append(detached(t), said("more")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for last := int64(0); last < total; {
				grown := s.Grown()
				events, err := s.For(everybody).Events(detached(t), last, 7)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					if e.Sequence != last+1 {
						t.Errorf("%d came after %d", e.Sequence, last)
						return
					}
					last = e.Sequence
				}
				if len(events) == 0 {
					<-grown
				}
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "all callers", all.Wait)
}

// TestLook: Look sees the tables as they were at one moment, and cannot change them.
func TestLook(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, said("a"))
	count := func(v earshot.View) (n int) {
		must(t, v.QueryRowContext(t.Context(), "SELECT count(*) FROM journal").Scan(&n))
		return n
	}
	must(t, s.Look(t.Context(), func(v earshot.View) error {
		before := count(v)
		add(t, s, said("b"))
		if after := count(v); before != 1 || after != 1 {
			t.Errorf("there are %d, then %d", before, after)
		}
		if _, err := v.QueryContext(t.Context(), "DELETE FROM journal RETURNING sequence"); err == nil {
			t.Error("a row was deleted by looking")
		}
		return nil
	}))
	no := errors.New("no")
	if err := s.Look(t.Context(), func(earshot.View) error { return no }); !errors.Is(err, no) {
		t.Errorf("look = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Look(ctx, func(earshot.View) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("look after the end = %v", err)
	}
}
