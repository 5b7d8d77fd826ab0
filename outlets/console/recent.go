package console

import (
	"slices"
	"sync"
)

// A recent holds the newest of some things, the newest last. The zero value is ready.
type recent[T any] struct {
	mu  sync.Mutex
	all []T
}

// add adds one, and forgets the oldest where there are more than most.
func (r *recent[T]) add(one T, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
	r.all = slices.Delete(r.all, 0, max(0, len(r.all)-most))
}

// find returns the oldest for which is holds.
func (r *recent[T]) find(is func(T) bool) (one T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.all, is); i >= 0 {
		return r.all[i], true
	}
	return one, false
}

// drop forgets those for which over holds, and returns the newest that is left; the zero value if
// none is.
func (r *recent[T]) drop(over func(T) bool) (newest T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, over)
	if len(r.all) > 0 {
		newest = r.all[len(r.all)-1]
	}
	return newest
}
