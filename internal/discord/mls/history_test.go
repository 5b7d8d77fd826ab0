package mls_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"earshot/internal/discord/mls"
)

// rapidly makes a rapid test into the test that a world needs.
type rapidly struct {
	testing.TB
	r *rapid.T
}

func (r rapidly) Helper()                   { r.r.Helper() }
func (r rapidly) Fatal(args ...any)         { r.r.Fatal(args...) }
func (r rapidly) Fatalf(f string, a ...any) { r.r.Fatalf(f, a...) }

// TestHistories: whatever is added and removed by whom, in a group of up to twenty, all remaining
// members agree, and those who are gone can no longer follow.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(rapidly{t, r}, 1)
		next := uint64(2)
		var gone []*mls.Group
		for range rapid.IntRange(1, 5).Draw(r, "commits") {
			there := slices.Sorted(maps.Keys(w.views))
			committer := rapid.SampledFrom(there).Draw(r, "committer")
			others := slices.DeleteFunc(slices.Clone(there), func(u uint64) bool { return u == committer })
			var remove []uint64
			if len(others) > 0 {
				remove = rapid.SliceOfNDistinct(rapid.SampledFrom(others), 0, min(4, len(others)), rapid.ID).Draw(r, "remove")
			}
			var add []uint64
			for range rapid.IntRange(0, min(6, 20-len(there)+len(remove))).Draw(r, "add") {
				if len(remove) > len(add) && rapid.Bool().Draw(r, "again") {
					add = append(add, remove[len(add)]) // leaves, and comes back at once
					continue
				}
				add, next = append(add, next), next+1
			}
			c := w.propose(add, remove)
			commit, welcome, g, err := w.views[committer].Commit(nil, c.read(w.t, w.views[committer]))
			if err != nil {
				r.Fatal(err)
			}
			for _, old := range gone {
				if _, err := old.Apply(commit, nil); err == nil {
					r.Fatal("who was removed follows")
				}
			}
			for _, left := range w.follow(committer, c, commit, welcome, g) {
				gone = append(gone, left)
			}
		}
	})
}

// TestCompetingCommits: several members commit at once; one commit wins, and the others follow it.
func TestCompetingCommits(t *testing.T) {
	w := newWorld(t, 1)
	w.commit(1, w.propose([]uint64{2, 3, 4}, nil))
	c := w.propose([]uint64{5}, []uint64{4})
	type attempt struct {
		commit, welcome []byte
		next            *mls.Group
	}
	attempts := make(map[uint64]attempt)
	for _, user := range []uint64{1, 2, 3} {
		var a attempt
		var err error
		g := w.views[user]
		if a.commit, a.welcome, a.next, err = g.Commit(nil, c.read(t, g)); err != nil {
			t.Fatal(err)
		}
		attempts[user] = a
	}
	for _, loser := range []uint64{1, 3} {
		attempts[loser].next.Clear() // forgetting the losing attempt harms nobody
	}
	a := attempts[2]
	h, rest, err := mls.Inspect(append(bytes.Clone(a.commit), a.welcome...))
	if err != nil {
		t.Fatal(err)
	}
	if h.Epoch != 1 || h.Sender != w.views[2].Own().Leaf || len(h.Refs) != 2 || h.Inline ||
		!bytes.Equal(h.Group, channel) || !bytes.Equal(rest, a.welcome) {
		t.Errorf("the commit reads as %+v, with %d bytes behind it", h, len(rest))
	}
	w.follow(2, c, a.commit, a.welcome, a.next)
	for _, user := range []uint64{1, 3} {
		if _, err := w.views[user].Apply(attempts[1].commit, nil); !isError(err) {
			t.Errorf("a commit of the epoch before is applied: %v", err)
		}
	}
}

func isError(err error) bool {
	_, ok := errors.AsType[*mls.Error](err)
	return ok
}

// TestClear: a cleared group and a cleared key package are of no use; the other ones still are.
func TestClear(t *testing.T) {
	w := newWorld(t, 1)
	c := w.propose([]uint64{2}, nil)
	old := w.views[1]
	known := c.read(t, old)
	_, welcome, next, err := old.Commit(nil, known)
	if err != nil {
		t.Fatal(err)
	}
	k := c.joining[2]
	joined, err := mls.Join(welcome, k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mls.Join(welcome, k); !errors.Is(err, mls.ErrCleared) {
		t.Errorf("a key package is joined with twice: %v", err)
	}
	k.Clear()
	if _, err := mls.New(nil, k, channel, w.sender); !errors.Is(err, mls.ErrCleared) {
		t.Errorf("a group is made of a cleared key package: %v", err)
	}

	old.Clear()
	if _, err := old.Export("x", nil, 16); !errors.Is(err, mls.ErrCleared) {
		t.Errorf("a cleared group exports: %v", err)
	}
	if _, _, _, err := old.Commit(nil, known); !errors.Is(err, mls.ErrCleared) {
		t.Errorf("a cleared group commits: %v", err)
	}
	if old.EpochAuthenticator() != nil {
		t.Error("a cleared group has an epoch authenticator")
	}
	old.Clear()

	// The groups after it, and that of the key package, still work.
	w.views = map[uint64]*mls.Group{1: next, 2: joined}
	w.agree()
	c = w.propose([]uint64{3}, nil)
	commit, _, _, err := joined.Commit(nil, c.read(t, joined))
	if err != nil {
		t.Fatal(err)
	}
	known = c.read(t, next)
	next.Clear()
	if _, err := next.Apply(commit, known); !errors.Is(err, mls.ErrCleared) {
		t.Errorf("a cleared group applies: %v", err)
	}
}
