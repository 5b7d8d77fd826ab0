package rerun_test

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
	"earshot/rerun"
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
	data, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	var kept []earshot.Event
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// again performs what is on record of a scene.
func again(t *testing.T, s *scenetest.Scene, events []earshot.Event) (res *rerun.Result) {
	t.Helper()
	actors, seats := s.Cast()
	d := rerun.Between(time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "")
	for _, e := range events {
		if _, err := d.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	synctest.Test(t, func(t *testing.T) {
		var err error
		setup := rerun.Setup{Settings: s.Config, Actors: actors, Account: scenetest.Ann, AccountName: "ann", Agents: seats, Settle: synctest.Wait}
		if res, err = setup.Perform(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	})
	return res
}

// differences returns them for people.
func differences(res *rerun.Result) string {
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
			revised := func(d rerun.Difference) bool { return d.Revised } // whose words of then are kept nowhere
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
