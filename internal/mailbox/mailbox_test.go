package mailbox_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"pgregory.net/rapid"

	"earshot/internal/mailbox"
)

// oldest drops the oldest beyond three, newest the new one, and lower the first lower-case letter,
// or else the oldest. Latest keeps one of each letter.
func oldest(items []rune) ([]rune, int) {
	n := max(0, len(items)-3)
	return slices.Delete(items, 0, n), n
}

func newest(items []rune) ([]rune, int) {
	n := max(0, len(items)-3)
	return items[:len(items)-n], n
}

func lower(items []rune) ([]rune, int) {
	if len(items) <= 3 {
		return items, 0
	}
	i := max(0, slices.IndexFunc(items, func(r rune) bool { return r >= 'a' }))
	return slices.Delete(items, i, i+1), 1
}

func latest(items []rune) ([]rune, int) {
	last := items[len(items)-1]
	return append(slices.DeleteFunc(items, func(r rune) bool { return r == last }), last), 0
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		name     string
		rule     mailbox.Rule[rune]
		in, want string // a dash takes one
		dropped  int
	}{
		{"without a rule nothing is dropped", nil, "abcde", "abcde", 0},
		{"what fits is kept", oldest, "abc", "abc", 0},
		{"the oldest", oldest, "abcde", "cde", 2},
		{"what was taken makes room", oldest, "abc--de", "abcde", 0},
		{"taking from an empty queue", oldest, "--a-b", "ab", 0},
		{"the newest", newest, "abcde", "abc", 2},
		{"the least valuable", lower, "AbCdE", "ACE", 2},
		{"the least valuable is the new one", lower, "ABCd", "ABC", 1},
		{"the superseded do not count", latest, "abab", "ab", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := mailbox.New(tt.rule)
			var out strings.Builder
			dropped := 0
			for _, r := range tt.in {
				if r != '-' {
					dropped += q.Put(r)
				} else if q.Len() > 0 {
					first, _ := q.Take(t.Context())
					out.WriteRune(first)
				}
			}
			all, counted := q.TakeAll(nil)
			out.WriteString(string(all))
			if out.String() != tt.want || dropped != tt.dropped || counted != tt.dropped {
				t.Errorf("took %s; Put says that %d were dropped, TakeAll %d; want %s and %d", &out, dropped, counted, tt.want, tt.dropped)
			}
		})
	}
}

// TestModel compares a queue with a plain slice, and accounts for every item.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, first := rapid.IntRange(1, 6).Draw(t, "most"), rapid.Bool().Draw(t, "first")
		q := mailbox.New(func(items []int) ([]int, int) {
			n := max(0, len(items)-most)
			if first {
				return slices.Delete(items, 0, n), n
			}
			return items[:len(items)-n], n
		})
		var model []int
		next, taken, dropped, since := 0, 0, 0, 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				want := 0
				switch {
				case len(model) < most:
					model = append(model, next)
				case first:
					model, want = append(model[1:], next), 1
				default:
					want = 1
				}
				next++
				dropped, since = dropped+want, since+want
				if got := q.Put(next - 1); got != want {
					t.Fatalf("Put dropped %d, want %d", got, want)
				}
			},
			"take": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nothing waits")
				}
				if got, ok := q.Take(context.Background()); !ok || got != model[0] {
					t.Fatalf("Take = %d, %v, want %d", got, ok, model[0])
				}
				model, taken = model[1:], taken+1
			},
			"take all": func(t *rapid.T) {
				all, n := q.TakeAll([]int{-1})
				if !slices.Equal(all[1:], model) || all[0] != -1 || n != since {
					t.Fatalf("TakeAll = %v, %d, want %v, %d", all, n, model, since)
				}
				model, taken, since = nil, taken+len(model), 0
			},
			"": func(t *rapid.T) {
				if q.Len() != len(model) || taken+dropped+q.Len() != next {
					t.Fatalf("%d wait; of %d items, %d were taken and %d dropped; want %d", q.Len(), next, taken, dropped, len(model))
				}
			},
		})
	})
}

// TestTakeWaits: a reader waits for an item, and no longer.
func TestTakeWaits(t *testing.T) {
	const soon = 7 * time.Millisecond
	for _, tt := range []struct {
		name string
		then func(q *mailbox.Queue[string], cancel func())
		want string
		ok   bool
	}{
		{"for an item", func(q *mailbox.Queue[string], _ func()) { q.Put("late") }, "late", true},
		{"until it is closed", func(q *mailbox.Queue[string], _ func()) { q.Close() }, "", false},
		{"until ctx ends", func(_ *mailbox.Queue[string], cancel func()) { cancel() }, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				q := mailbox.New[string](nil)
				q.Put("early")
				if s, ok := q.Take(ctx); s != "early" || !ok {
					t.Fatalf("Take = %q, %v", s, ok)
				}
				began := time.Now()
				time.AfterFunc(soon, func() { tt.then(q, cancel) })
				s, ok := q.Take(ctx)
				if took := time.Since(began); s != tt.want || ok != tt.ok || took != soon {
					t.Errorf("Take = %q, %v after %v, want %q, %v after %v", s, ok, took, tt.want, tt.ok, soon)
				}
			})
		})
	}
}

// TestEnd: what waits in a closed queue is taken, but not once ctx has ended.
func TestEnd(t *testing.T) {
	q := mailbox.New[int](nil)
	q.Put(1)
	q.Put(2)
	q.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n, ok := q.Take(ended); ok {
		t.Errorf("took %d after ctx had ended", n)
	}
	for _, want := range []int{1, 2} {
		if n, ok := q.Take(t.Context()); n != want || !ok {
			t.Errorf("Take = %d, %v, want %d", n, ok, want)
		}
	}
	if n, ok := q.Take(t.Context()); ok {
		t.Errorf("took %d from an empty, closed queue", n)
	}
}

// TestMore: a select learns of each item that was put in since it looked.
func TestMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := mailbox.New(oldest)
		go func() {
			for _, r := range "abcdefgh" {
				q.Put(r)
				time.Sleep(time.Millisecond)
			}
		}()
		var got []rune
		for deadline := time.After(time.Second); ; {
			select {
			case <-q.More():
				got, _ = q.TakeAll(got)
				continue
			case <-deadline:
			}
			break
		}
		if string(got) != "abcdefgh" {
			t.Errorf("took %s", string(got))
		}
	})
}

// TestForgets: what was dropped or taken does not stay in memory.
func TestForgets(t *testing.T) {
	type text [64]byte
	q := mailbox.New(func(items []*text) ([]*text, int) {
		n := max(0, len(items)-3)
		return items[:len(items)-n], n
	})
	var gone []weak.Pointer[text]
	for range 4 {
		w := new(text)
		gone = append(gone, weak.Make(w))
		q.Put(w)
	}
	q.Take(t.Context())
	q.Put(new(text))
	runtime.GC()
	for i, kept := range []bool{false, true, true, false} {
		if is := gone[i].Value() != nil; is != kept {
			t.Errorf("item %d is in memory: %v, want %v", i, is, kept)
		}
	}
	q.TakeAll(nil)
	runtime.GC()
	if gone[1].Value() != nil || gone[2].Value() != nil {
		t.Error("what TakeAll returned is still in memory")
	}
	runtime.KeepAlive(q)
}

// TestAllocations: a queue that has been full once allocates no more.
func TestAllocations(t *testing.T) {
	q := mailbox.New(oldest)
	buf := make([]rune, 0, 4)
	use := func() {
		for _, r := range "abcde" {
			q.Put(r)
		}
		q.Take(context.Background())
		buf, _ = q.TakeAll(buf[:0])
	}
	use()
	if n := testing.AllocsPerRun(100, use); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}

// TestNotifier: whoever waits is woken by the next change, once, and by none before they waited.
func TestNotifier(t *testing.T) {
	var n mailbox.Notifier
	woken := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	n.Notify()
	first, same := n.Changed(), n.Changed()
	if woken(first) || woken(same) {
		t.Error("woken by an earlier change")
	}
	n.Notify()
	if !woken(first) || !woken(same) || woken(n.Changed()) {
		t.Error("not woken once")
	}
}
