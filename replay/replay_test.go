package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/scenetest"
	"earshot/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scenes are all of the repository.
func scenes(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("../testdata/scenes/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("found no scenes: %v", err)
	}
	return all
}

func scene(t testing.TB, path string) *scenetest.Scene {
	t.Helper()
	archive, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenetest.Parse(archive)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recorded performs a scene, and returns what is on record of it, as a journal gives it.
func recorded(t *testing.T, s *scenetest.Scene) []earshot.Event {
	t.Helper()
	var events []earshot.Event
	synctest.Test(t, func(t *testing.T) {
		var err error
		if events, err = s.Record(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return kept(t, events)
}

// kept returns events as a journal gives them back.
func kept(t testing.TB, events []earshot.Event) (all []earshot.Event) {
	t.Helper()
	data, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// dayOf returns all of some events as a day.
func dayOf(events []earshot.Event) *replay.Day {
	d := replay.Between(time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "")
	for _, e := range events {
		if more, err := d.Add(e); err != nil || !more {
			panic(err) // there are few
		}
	}
	d.Close()
	return d
}

// encoded returns the body of an event as JSON.
func encoded(e earshot.Event) string {
	data, _ := json.Marshal(e.Body)
	return string(data)
}

// again performs what is on record of a scene.
func again(t *testing.T, s *scenetest.Scene, events []earshot.Event) (res *replay.Result) {
	t.Helper()
	actors, seats := s.Cast()
	d := dayOf(events)
	synctest.Test(t, func(t *testing.T) {
		var err error
		setup := replay.Setup{Settings: s.Config, Actors: actors, Account: scenetest.Ann, AccountName: "ann", Agents: seats, Settle: synctest.Wait}
		if res, err = setup.Perform(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	})
	return res
}

// differences returns them for people.
func differences(res *replay.Result) string {
	data, _ := json.MarshalIndent(res.Differences, "", " ")
	return string(data)
}

// TestScenes: what was decided in a scene is decided again, from what is on record of it.
func TestScenes(t *testing.T) {
	for _, path := range scenes(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			s := scene(t, path)
			events := recorded(t, s)
			if !decides(events) {
				t.Skip("nothing is decided in it")
			}
			res := again(t, s, events)
			revised := func(d replay.Difference) bool { return d.Revised } // whose words of then are kept nowhere
			if res.Differences = slices.DeleteFunc(res.Differences, revised); len(res.Differences) > 0 || res.Shift != 0 {
				t.Errorf("of %d decisions %d are the same, at most %v apart:\n%s", res.Decisions, res.Same, res.Shift, differences(res))
			}
		})
	}
}

func decides(events []earshot.Event) bool {
	for _, e := range events {
		if e.Body.Kind() == earshot.KindDecision {
			return true
		}
	}
	return false
}

// TestTwice: a performance is the same twice, to the last byte.
func TestTwice(t *testing.T) {
	for _, name := range []string{"agents-private", "spoken-stop", "sight-greets-politely"} {
		s := scene(t, "../testdata/scenes/"+name+".txtar")
		events := recorded(t, s)
		one, other := again(t, s, events), again(t, s, events)
		if a, b := everything(t, one), everything(t, other); a != b {
			t.Errorf("%s: once\n%s\nand then\n%s", name, a, b)
		}
	}
}

func everything(t testing.TB, res *replay.Result) string {
	t.Helper()
	data, err := json.MarshalIndent(struct {
		*replay.Result
		Decided []earshot.Event
	}{res, res.Now}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBytes: three scenes of different kinds are decided again to the last byte.
func TestBytes(t *testing.T) {
	for _, name := range []string{"agents-private", "spoken-stop", "sight-greets-politely"} {
		s := scene(t, "../testdata/scenes/"+name+".txtar")
		events := recorded(t, s)
		var then, now []string
		for _, e := range events {
			if e.Body.Kind() == earshot.KindDecision {
				then = append(then, whole(t, e))
			}
		}
		for _, e := range again(t, s, events).Now {
			now = append(now, whole(t, e))
		}
		if len(then) == 0 || !slices.Equal(then, now) {
			t.Errorf("%s: decided then:\n%s\nand now:\n%s", name, strings.Join(then, "\n"), strings.Join(now, "\n"))
		}
	}
}

func whole(t testing.TB, e earshot.Event) string {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOtherwise: with another configuration it is told what would have been decided.
func TestOtherwise(t *testing.T) {
	s := scene(t, "../testdata/scenes/sight-greets-politely.txtar")
	events := recorded(t, s)
	s.Config.Attention.HourlyBudget = 0
	res := again(t, s, events)
	spoke := 0
	for _, d := range res.Differences {
		if d.What == replay.Other && verdict(d.Then) == earshot.Speak && verdict(d.Now) == earshot.Silent {
			spoke++
		}
	}
	if spoke == 0 || res.Same+len(res.Differences) < res.Decisions {
		t.Errorf("of %d decisions %d are the same with no budget:\n%s", res.Decisions, res.Same, differences(res))
	}
	s.Config.Enabled = false
	if res := again(t, s, events); res.Same > 0 {
		t.Errorf("%d decisions are the same with nobody who decides:\n%s", res.Same, differences(res))
	}
}

func verdict(e *earshot.Event) earshot.Verdict {
	if e == nil {
		return ""
	}
	return e.Body.(earshot.Decision).Verdict
}

// TestErased: a day of which something was forgotten is performed without.
func TestErased(t *testing.T) {
	s := scene(t, "../testdata/scenes/agents-private.txtar")
	events := recorded(t, s)
	gone := map[earshot.EventID]bool{}
	erased := 0
	for i, e := range events {
		m, ok := e.Body.(earshot.Message)
		first := ok && m.Turn == "" && len(gone) == 0
		derived := slices.ContainsFunc(e.Sources, func(id earshot.EventID) bool { return gone[id] })
		if first || derived {
			gone[e.ID] = true
			erased++
			events[i] = earshot.Event{ID: e.ID, Sequence: e.Sequence, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Tombstone{Was: e.Body.Kind()}}
		}
	}
	res := again(t, s, events)
	if res.Erased != erased || erased < 3 || res.Decisions == 0 || len(res.Differences) > 0 {
		t.Errorf("%d of %d erased events are told, and of %d decisions %d are the same:\n%s", res.Erased, erased, res.Decisions, res.Same, differences(res))
	}
}

// TestDay: a day is what happened in it, and goes on from what was before.
func TestDay(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	event := func(n int64, at time.Time, id earshot.RoomID) earshot.Event {
		return earshot.Event{ID: earshot.EventID(rune('a' + n)), Sequence: n, At: at, Room: id, Body: earshot.Message{Text: "x"}}
	}
	d := replay.Between(noon, noon.Add(time.Hour), "desk")
	for i, e := range []earshot.Event{
		event(1, noon.Add(-time.Hour), "desk"), event(2, noon.Add(-time.Minute), "den"), event(3, noon, "desk"),
		event(4, noon.Add(-time.Hour), "desk"), event(5, noon.Add(time.Minute), "den"), event(6, noon.Add(time.Hour), "desk"),
	} {
		more, err := d.Add(e)
		if err != nil || more != (i < 5) {
			t.Errorf("event %d: more is %v, error %v", i+1, more, err)
		}
	}
	d.Close()
	if len(d.Past) != 1 || d.Past[0].Sequence != 1 || len(d.Events) != 2 || d.Empty() {
		t.Errorf("the past has %d events, and the day %d", len(d.Past), len(d.Events))
	}
}
