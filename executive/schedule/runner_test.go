package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/tool"
	"earshot/participants"
	"earshot/store"
)

const main earshot.ParticipantID = "agent"

// A house has a real journal, and works on no task.
type house struct {
	t     *testing.T
	dir   string
	store *store.Store
	*Runner
	stop func()

	mu      sync.Mutex
	n       int
	wrong   time.Duration                 // by how much the clock is
	open    bool                          // tasks are never over
	runs    map[earshot.EventID]time.Time // when the tasks were due that are runs
	evening bool                          // tasks last for minutes
	refuses string                        // why no task can be made
	gone    bool                          // nobody is known any more
	at      func(stage string)
	dead    bool // nothing is put on record any more
	kept    int  // what was put on record, or tried
	fails   int  // the number of that which fails, if below 0 after it is on record
	set     executive.Schedule
}

func newHouse(t *testing.T, dir string, n int) *house {
	h := &house{t: t, dir: dir, n: n, runs: make(map[earshot.EventID]time.Time), set: executive.DefaultConfig().Schedule}
	h.set.Zone = "UTC"
	s, err := store.Open(t.Context(), store.Config{Directory: dir, NewID: h.id, Log: slog.New(slog.DiscardHandler), Projections: []earshot.Projection{Projection{}}})
	if err != nil {
		t.Fatal(err)
	}
	h.store = s
	h.Runner = &Runner{
		Journal: h, Tasks: h, NewID: h.id, Log: slog.New(slog.DiscardHandler), Woken: make(chan struct{}, 1),
		Settings: func() executive.Schedule { h.mu.Lock(); defer h.mu.Unlock(); return h.set },
		Person: func(id earshot.ParticipantID) (participants.Participant, bool) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return person(id), !h.gone
		},
		EndWorkers: func(context.Context, earshot.PathKind, func(earshot.Path) bool) {},
		Main:       func(earshot.RoomID) earshot.ParticipantID { return main },
		Keep:       func(ctx context.Context, e earshot.Event) error { _, err := s.Append(ctx, e); return err },
		Now:        func() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return time.Now().Add(h.wrong).UTC() },
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	h.stop = func() { cancel(); running.Wait() }
	return h
}

func person(id earshot.ParticipantID) participants.Participant {
	return participants.Participant{ID: id, Name: string(id), Type: participants.Human, Capabilities: []participants.Capability{participants.SendMessages, participants.UseTools}}
}

func (h *house) close() {
	h.stop()
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *house) id() earshot.EventID {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	return earshot.EventID(fmt.Sprintf("E%06d", h.n))
}

// Do implements the journal.
func (h *house) Do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error)) ([]earshot.Event, error) {
	h.reach("decided")
	before, after := h.writes()
	if before != nil {
		return nil, before
	}
	kept, err := h.store.Do(ctx, decide)
	h.reach("kept")
	return kept, cmp.Or(err, after)
}

// writes counts what is put on record, and returns errors for before and after.
func (h *house) writes() (before, after error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept++
	switch {
	case h.dead:
		return errors.New("the program has ended"), nil
	case h.fails == h.kept:
		return errors.New("the disk is full"), nil
	case h.fails == -h.kept:
		return nil, errors.New("the disk does not answer")
	}
	return nil, nil
}

func (h *house) Look(ctx context.Context, f func(earshot.View) error) error {
	return h.store.Look(ctx, f)
}

func (h *house) reach(stage string) {
	h.mu.Lock()
	at := h.at
	h.mu.Unlock()
	if at != nil {
		at(stage)
	}
}

// New implements [Tasks].
func (h *house) New(by participants.Participant, draft earshot.Event) (earshot.Event, error) {
	h.mu.Lock()
	refuses := h.refuses
	h.mu.Unlock()
	if refuses != "" {
		return earshot.Event{}, errors.New(refuses)
	}
	t, _ := draft.Body.(earshot.Task)
	t.Act = earshot.Created
	id := h.id()
	h.change(func() { h.runs[id] = t.Due })
	return earshot.Event{
		ID: id, At: h.Now(), Room: draft.Room, From: earshot.Handle{Provider: "earshot", ID: "task"}, Author: main, To: []earshot.ParticipantID{by.ID},
		Visibility: draft.Visibility, Sources: draft.Sources, Body: t,
	}, nil
}

// Wake implements [Tasks].
func (h *house) Wake() { h.reach("woken") }

// Open implements [Tasks].
func (h *house) Open(_ context.Context, id earshot.EventID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	lasts := 5 * time.Minute
	if h.runs[id].Hour() == 18 { // of the evenings
		lasts = 70 * time.Minute
	}
	return h.open || time.Now().Add(h.wrong).Sub(h.runs[id]) < lasts && h.evening
}

// change changes the house while it runs.
func (h *house) change(f func()) { h.mu.Lock(); defer h.mu.Unlock(); f() }

func (h *house) wait(long time.Duration) {
	time.Sleep(long)
	synctest.Wait()
}

// every gives the command.
func (h *house) every(by earshot.ParticipantID, words string) string {
	h.t.Helper()
	answer, err := h.Command(earshot.Desk).Do(h.t.Context(), command.Call{
		By: person(by), Event: earshot.Event{From: earshot.Handle{Provider: "console", ID: string(by)}}, Audience: earshot.Audience{Members: []earshot.ParticipantID{by}}, Args: earshot.Text(words),
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return answer
}

// told returns what is on record of runs, and what somebody is told.
func (h *house) told() (all []string) {
	for e, err := range h.store.Export(h.t.Context()) {
		if err != nil {
			h.t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case earshot.Task:
			all = append(all, "task "+b.Due.UTC().Format("2 15:04"))
		case earshot.Schedule:
			switch {
			case b.Act == earshot.ScheduleSkipped:
				all = append(all, "skipped "+b.Due.UTC().Format("2 15:04"))
			case b.Act == earshot.Ended && h.evening:
				all = append(all, "ended")
			}
		case earshot.Reminder:
			all = append(all, "says "+string(b.Text))
		}
	}
	return all
}

func (h *house) expect(want ...string) {
	h.t.Helper()
	if got := h.told(); !slices.Equal(got, want) {
		h.t.Errorf("on record is %q, want %q", got, want)
	}
}

// TestEvery: people set, list, pause and cancel what is done, and hear what is wrong.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is Saturday, 1 January 2000, 0:00
		h := newHouse(t, t.TempDir(), 0)
		defer h.close()
		for _, tt := range []struct{ by, words, want string }{
			{"ann", "", "There are no schedules; /every weekday at 7:30 WHAT sets one."},
			{"ann", "weekday at 7:30, tell me what is due", "Set as number 1  weekday at 7:30: tell me what is due (next Mon 2000-01-03 07:30 UTC)"},
			{"ann", "add 2 hours zone=Asia/Tokyo missed=all jitter=10m model=m tokens=500 tools=none room=none private to look for mail", "Set as number 2  2 hours: look for mail (next Sat 2000-01-01 10:00 JST)"},
			{"bob", "day until=friday lock up", "Set as number 1  day: lock up (next Sat 2000-01-01 09:00 UTC)"},
			{"ann", "list", "1  weekday at 7:30: tell me what is due (next Mon 2000-01-03 07:30 UTC)\n2  2 hours: look for mail (next Sat 2000-01-01 10:00 JST)"},
			{"ann", "pause 1", "It is paused."},
			{"ann", "", "1  weekday at 7:30: tell me what is due (paused)\n2  2 hours: look for mail (next Sat 2000-01-01 10:00 JST)"},
			{"ann", "resume 1", "It goes on."},
			{"ann", "cancel 1", "It is cancelled."},
			{"ann", "hour look", "Set as number 1  hour: look (next Sat 2000-01-01 01:00 UTC)"},
			{"bob", "cancel 2", "error: there is no such schedule; list them to see their numbers"},
			{"bob", "now and then", "error: that does not say how often"},
			{"bob", "day", "error: say what is to be done"},
			{"bob", "day missed=never go", `error: missed cannot be "never"; write missed=skip, once or all`},
			{"bob", "day until=1999-12-01 go", `error: until cannot be`},
			{"bob", "day room=kitchen go", `error: room cannot be "kitchen"; write missed=skip`},
			{"bob", "day tools= go", `error: tools cannot be ""`},
			{"bob", "day zone=Mars/Olympus go", `error: there is no time zone "Mars/Olympus" here`},
			{"bob", "30 7 31 2 * go", "error: \"30 7 31 2 *\" is never"},
			{string(participants.Generic), "day go", "error: a schedule needs somebody"},
		} {
			if got := h.every(earshot.ParticipantID(tt.by), tt.words); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: /every %s: %q, want %q", tt.by, tt.words, got, tt.want)
			}
		}
		if got := h.every("ann", "show 2"); !strings.Contains(got, "0 */2 * * * in Asia/Tokyo, missed: all, overlap: skip, late by ") || !strings.HasSuffix(got, "at /owner/cron/e000003") {
			t.Errorf("it shows %q", got)
		}
		all, err := h.entries(t.Context(), "ann")
		if err != nil || len(all) != 2 || all[1].Model != "m" || all[1].Budget.Tokens != 500 || !all[1].Quiet || !slices.Equal(all[1].Tools, []string{"none"}) || all[1].Event.Visibility.Scope != earshot.Private {
			t.Errorf("Ann has %+v, %v", all, err)
		}
		h.change(func() { h.set.Most = 2 })
		if got := h.every("ann", "day go"); got != "error: you have 2 schedules, and can have no more; cancel one first" {
			t.Error(got)
		}
		h.change(func() { h.set.Most, h.refuses = 3, "you may not have tools used" })
		if got := h.every("ann", "day go"); got != "error: you may not have tools used" {
			t.Error(got)
		}
		h.change(func() { h.refuses, h.set.Enabled = "", false })
		if got := h.every("ann", "day go"); !strings.HasPrefix(got, "error: nothing is done by the clock here") {
			t.Error(got)
		}
		h.wait(24 * time.Hour)
		h.expect()
	})
}

// TestRuns: runs become tasks in time, while the clock is set as well, and the next one after a run that
// cannot be is tried again, but its person hears so once.
func TestRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, t.TempDir(), 0)
		defer h.close()
		h.every("ann", "hour look")
		h.wait(59 * time.Minute)
		h.expect()
		h.wait(time.Minute)
		want := []string{"task 1 01:00"}
		h.expect(want...)
		h.change(func() { h.wrong = -30 * time.Minute }) // set back
		h.wait(time.Hour)
		h.expect(want...)
		h.wait(30 * time.Minute)
		want = append(want, "task 1 02:00")
		h.expect(want...)
		h.change(func() { h.wrong += 24 * time.Hour }) // asleep for a day
		h.wait(time.Minute)
		want = append(want, "task 2 02:00")
		h.expect(want...)
		h.change(func() { h.open = true })
		h.wait(time.Hour)
		want = append(want, "skipped 2 03:00")
		h.expect(want...)
		h.change(func() { h.open, h.refuses = false, "you may not have tools used" })
		h.wait(2 * time.Hour)
		want = append(want, "skipped 2 04:00", "says what you wanted every hour cannot be done: you may not have tools used", "skipped 2 05:00")
		h.expect(want...)
		h.change(func() { h.refuses, h.gone = "", true })
		h.wait(time.Hour)
		want = append(want, "skipped 2 06:00", "says what you wanted every hour cannot be done: whoever set it is not known any more")
		h.expect(want...)
		if got := h.every("ann", "run 1"); got != "error: whoever set it is not known any more" {
			t.Error(got)
		}
		want = append(want, "skipped 2 06:01")
		h.change(func() { h.gone = false })
		if got := h.every("ann", "run 1"); got != "It runs." {
			t.Error(got)
		}
		want = append(want, "task 2 06:01")
		h.expect(want...)
		h.every("ann", "pause 1")
		h.wait(10 * time.Hour)
		h.expect(want...)
		h.every("ann", "resume 1")
		h.change(func() { h.set.Enabled = false })
		h.wait(2 * time.Hour)
		h.expect(want...)
		h.change(func() { h.set.Enabled = true })
		h.wait(time.Minute)
		h.expect(append(want, "task 2 18:00")...)
	})
}

// evenings are what becomes of a schedule for every hour in which the run of six o'clock lasts until after seven, the machine sleeps
// for hours, and the last run comes: for missed and overlap.
var evenings = []struct{ missed, overlap, want string }{
	{MissedAll, OverlapSkip, "task 1 17:00, task 1 18:00, task 1 19:00, task 1 20:00, task 1 21:00, task 1 22:00, task 1 23:00, ended"},
	{MissedOnce, OverlapQueue, "task 1 17:00, task 1 18:00, task 1 19:00, task 1 22:00, task 1 23:00, ended"},
	{MissedSkip, OverlapSkip, "task 1 17:00, task 1 18:00, skipped 1 19:00, skipped 1 22:00, task 1 23:00, ended"},
}

// pass lets an evening pass, and returns what is on record of it, and whether it came to the moment
// before which prepare disturbed it. If the house is dead then, it goes on at left in another.
func pass(t *testing.T, missed, overlap, left string, prepare func(*house), came func(*house) bool) (string, bool) {
	time.Sleep(16 * time.Hour)
	h := newHouse(t, t.TempDir(), 0)
	defer func() { h.close() }()
	h.every("ann", "hour until=2000-01-01 missed="+missed+" overlap="+overlap+" look")
	h.change(func() { h.kept = 0 })
	prepare(h)
	for n := 1; n < 330; n++ {
		h.change(func() {
			h.evening = true
			if n == 215 {
				h.wrong = 165 * time.Minute // until 22:20
			}
		})
		h.wait(time.Minute)
		if h.dead {
			h.close()
			dead := h
			h = newHouse(t, left, 1000)
			h.change(func() { h.wrong, h.runs, h.evening = dead.wrong, dead.runs, true })
			h.Wake()
			synctest.Wait()
		}
	}
	return strings.Join(h.told(), ", "), came(h)
}

// TestCrash: a program that ends before or after any step goes on with each run once.
func TestCrash(t *testing.T) {
	for _, tt := range evenings {
		for nth, comes := 0, true; comes; nth++ {
			t.Run(fmt.Sprint(tt.missed, nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					left, n := filepath.Join(t.TempDir(), "left"), nth
					var got string
					got, comes = pass(t, tt.missed, tt.overlap, left, func(h *house) {
						h.change(func() {
							h.at = func(string) {
								if n--; n == 0 {
									h.change(func() { h.dead = true })
									if err := os.CopyFS(left, os.DirFS(h.dir)); err != nil {
										t.Error(err)
									}
								}
							}
						})
					}, func(*house) bool { return n <= 0 })
					if got != tt.want {
						t.Errorf("on record is %q, want %q", got, tt.want)
					}
				})
			})
		}
	}
}

// TestRefusals: whatever the journal refuses once, or keeps and cannot say so, the same holds.
func TestRefusals(t *testing.T) {
	for _, tt := range evenings {
		for _, sign := range []int{1, -1} {
			for nth, comes := 1, true; comes; nth++ {
				t.Run(fmt.Sprint(tt.missed, sign*nth), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var got string
						got, comes = pass(t, tt.missed, tt.overlap, "", func(h *house) { h.change(func() { h.fails = sign * nth }) }, func(h *house) bool { return h.kept >= nth })
						if got != tt.want {
							t.Errorf("on record is %q, want %q", got, tt.want)
						}
					})
				})
			}
		}
	}
}

// TestPrivate: what is private is for its members, and what is forgotten is gone, with its runs.
func TestPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, t.TempDir(), 0)
		defer h.close()
		h.every("ann", "hour private feed the swordfish")
		h.every("ann", "hour feed the goldfish")
		h.every("bob", "hour feed the catfish")
		h.wait(2 * time.Hour)
		ask := func(a earshot.Audience, by ...earshot.ParticipantID) (tool.Answer, error) {
			s := tool.Scope{Agent: main, Room: earshot.Desk, Audience: a, Visibility: earshot.Visibility{Scope: earshot.Public}}
			for _, id := range by {
				s.Askers = append(s.Askers, person(id))
			}
			return h.Tool().Do(t.Context(), s, []byte(`{"every":"list"}`))
		}
		both := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann", "bob"}}
		if a, err := ask(both, "ann"); err != nil || strings.Contains(string(a.Text), "swordfish") || !strings.Contains(string(a.Text), "goldfish") || a.Visibility.Scope != earshot.Public {
			t.Errorf("with Bob there: %q, %v", string(a.Text), err)
		}
		if a, err := ask(earshot.Audience{Room: "den", Members: both.Members}, "ann"); err != nil || strings.Contains(string(a.Text), "fish") {
			t.Errorf("in another room: %q, %v", string(a.Text), err)
		}
		if a, err := ask(earshot.Audience{Room: earshot.Desk, Members: both.Members[:1], Agents: []earshot.ParticipantID{main}}, "ann"); err != nil || !strings.Contains(string(a.Text), "swordfish") || a.Visibility.Scope != earshot.Private || len(a.Sources) != 2 {
			t.Errorf("alone: %q, %+v, %v", string(a.Text), a.Visibility, err)
		}
		if _, err := ask(both, "ann", "bob"); err == nil {
			t.Error("two ask at once")
		}
		for e, err := range h.store.Export(t.Context()) {
			if task, is := e.Body.(earshot.Task); err != nil || is && strings.Contains(string(task.Text), "swordfish") && e.Visibility.Allows(both) {
				t.Errorf("Bob may see %+v, %v", e.Visibility, err)
			}
		}
		if n, err := h.store.Forget(t.Context(), store.Selection{People: []earshot.ParticipantID{"ann"}}, func([]store.SelectedEvent) {}); n == 0 || err != nil {
			t.Errorf("%d events are forgotten, %v", n, err)
		}
		if err := h.store.Clean(t.Context()); err != nil {
			t.Error(err)
		}
		var bytes strings.Builder
		err := filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				var data []byte
				data, err = os.ReadFile(path)
				bytes.Write(data)
			}
			return err
		})
		if err != nil || strings.Contains(bytes.String(), "swordfish") || strings.Contains(bytes.String(), "goldfish") || !strings.Contains(bytes.String(), "catfish") {
			t.Errorf("bytes of what was forgotten are left, %v", err)
		}
		all, err := h.entries(t.Context(), "")
		if err != nil || len(all) != 1 || all[0].For != "bob" {
			t.Errorf("%d schedules are left, %v", len(all), cmp.Or(err))
		}
	})
}
