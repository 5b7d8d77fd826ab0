package agents_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// A model is what must be true of a directory: all agents ever acknowledged, alive or ended.
type model struct {
	*house
	all   map[earshot.Path]agents.Record
	ended map[earshot.Path]bool
	next  map[earshot.Path]int // the number of the next sub below each path
}

// born adds an acknowledged agent.
func (m *model) born(t *rapid.T, r agents.Record) {
	if _, before := m.all[r.Path]; before {
		t.Fatalf("a second agent at %s", r.Path)
	}
	for _, other := range m.all {
		if other.ID == r.ID {
			t.Fatalf("%s and %s have the ID %s", other.Path, r.Path, r.ID)
		}
	}
	m.all[r.Path] = r
}

// living returns the paths of the living agents that fit.
func (m *model) living(fits func(agents.Record) bool) (paths []earshot.Path) {
	for p, r := range m.all {
		if !m.ended[p] && fits(r) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// pick draws a living agent that fits.
func (m *model) pick(t *rapid.T, fits func(agents.Record) bool) agents.Record {
	some := m.living(fits)
	if len(some) == 0 {
		t.Skip("nobody fits")
	}
	return m.all[rapid.SampledFrom(some).Draw(t, "agent")]
}

func anybody(agents.Record) bool { return true }

// create makes an agent with one of a few names; a name that is taken must be refused.
func (m *model) create(t *rapid.T) {
	name := rapid.SampledFrom([]string{"Coder", "Scout", "Ranger", "Memory Keeper", "Ζωή"}).Draw(t, "name")
	taken := slices.ContainsFunc(m.book.List(), func(r agents.Record) bool { return r.Name == name })
	r, err := m.book.Create(m.t.Context(), owner, "", earshot.Profile{Name: name})
	if taken != (err != nil) || err != nil && !errors.Is(err, participants.ErrReserved) {
		t.Fatalf("making %s, which is taken (%v): %v", name, taken, err)
	}
	if err == nil {
		m.born(t, r)
	}
}

// spawn makes several children of one agent at the same time.
func (m *model) spawn(t *rapid.T) {
	up := m.pick(t, func(r agents.Record) bool { return len(r.Path) < 60 })
	children := make([]agents.Record, rapid.IntRange(1, 5).Draw(t, "children"))
	errs := make([]error, len(children))
	var wait sync.WaitGroup
	for i := range children {
		wait.Go(func() {
			children[i], errs[i] = m.book.Spawn(m.t.Context(), up.ID, up.Path, earshot.PathSub, earshot.Profile{})
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, r := range children {
		m.born(t, r)
	}
	for range children {
		want, _ := agents.ChildPath(up.Path, earshot.PathSub, m.next[up.Path])
		if !slices.ContainsFunc(children, func(r agents.Record) bool { return r.Path == want }) {
			t.Fatalf("no child at %s", want)
		}
		m.next[up.Path]++
	}
}

// end ends an agent, and with it all below it.
func (m *model) end(t *rapid.T) {
	r := m.pick(t, func(r agents.Record) bool { return r.ID != participants.Agent })
	end := func() error { return m.book.End(m.t.Context(), owner, r.ID) }
	if r.Kind.Below() && rapid.Bool().Draw(t, "finish") {
		end = func() error { return m.book.Finish(m.t.Context(), "somebody", r.ID) }
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	for p := range m.all {
		m.ended[p] = m.ended[p] || agents.Within(p, r.Path)
	}
}

// change changes an agent's description.
func (m *model) change(t *rapid.T) {
	r := m.pick(t, func(r agents.Record) bool { return r.ID != participants.Agent })
	words := rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "description")
	r, err := m.book.Change(m.t.Context(), owner, r.ID, func(p *earshot.Profile) { p.Description = words })
	if err != nil || r.Description != words {
		t.Fatalf("changed to %+v, %v", r, err)
	}
	m.all[r.Path] = r
}

// deadEnds tries to reach an ended agent in every way.
func (m *model) deadEnds(t *rapid.T) {
	var gone []earshot.Path
	for p := range m.all {
		if m.ended[p] {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		t.Skip("nobody is dead")
	}
	slices.Sort(gone)
	p := rapid.SampledFrom(gone).Draw(t, "agent")
	r := m.all[p]
	_, found := m.book.ByID(r.ID)
	_, ensured := m.book.Ensure(m.t.Context(), owner, p, earshot.Profile{Name: "Lazarus"})
	_, spawned := m.book.Spawn(m.t.Context(), r.ID, p, earshot.PathSub, earshot.Profile{})
	_, changed := m.book.Change(m.t.Context(), owner, r.ID, func(p *earshot.Profile) { p.Description = "alive" })
	ended := m.book.End(m.t.Context(), owner, r.ID)
	if found || !errors.Is(ensured, agents.ErrDead) || !errors.Is(spawned, agents.ErrDead) || !errors.Is(changed, agents.ErrUnknown) || !errors.Is(ended, agents.ErrUnknown) {
		t.Fatalf("%s is dead, and found (%v), ensured (%v), has children (%v), is changed (%v) and ended (%v)", p, found, ensured, spawned, changed, ended)
	}
}

// check compares the directory with the model.
func (m *model) check(t *rapid.T) {
	for p, want := range m.all {
		got, err := m.book.Resolve(m.t.Context(), p)
		switch {
		case m.ended[p] && !errors.Is(err, agents.ErrDead):
			t.Fatalf("%s is dead, and resolves to %+v, %v", p, got, err)
		case !m.ended[p] && (err != nil || got.ID != want.ID || got.Path != p || got.Kind != want.Kind || got.Role != want.Role || got.Description != want.Description):
			t.Fatalf("%s resolves to %+v, %v; want %+v", p, got, err, want)
		}
	}
	var listed []earshot.Path
	for _, r := range m.book.List() {
		listed = append(listed, r.Path)
	}
	if want := m.living(anybody); !slices.Equal(listed, want) {
		t.Fatalf("the book lists %q, want %q", listed, want)
	}
}

// many checks a property so many times, and a hundred times as often in make proof.
func many(t *testing.T, checks int, property func(*rapid.T)) {
	if os.Getenv("EARSHOT_PROOF") != "" {
		checks *= 100
	}
	asked := flag.Lookup("rapid.checks").Value
	before := asked.String()
	asked.Set(strconv.Itoa(checks))
	defer asked.Set(before)
	rapid.Check(t, property)
}

// TestAnyHistory: whatever happens to agents, also concurrently and over restarts, a path belongs
// to one agent for ever, a number is given only once, ended agents stay ended, and what was
// acknowledged stays.
func TestAnyHistory(t *testing.T) {
	const checks = 25 // few, since each forces some hundred changes to the disk
	many(t, checks, func(rt *rapid.T) {
		directory, err := os.MkdirTemp(t.TempDir(), "state")
		if err != nil {
			rt.Fatal(err)
		}
		m := &model{house: houseIn(t, directory), all: make(map[earshot.Path]agents.Record), ended: make(map[earshot.Path]bool), next: make(map[earshot.Path]int)}
		m.open()
		defer m.close()
		m.born(rt, m.book.Main(earshot.Desk))
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"create":  m.create,
			"spawn":   m.spawn,
			"end":     m.end,
			"change":  m.change,
			"dead":    m.deadEnds,
			"restart": func(*rapid.T) { m.restart() },
		})
	})
}
