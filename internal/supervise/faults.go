package supervise

import (
	"maps"
	"slices"
	"sync"
	"time"

	"earshot"
)

// Faults are the things that are not well at the moment, by the keys of their notices, and what people
// were told of them. The zero value knows none. It is safe for concurrent use.
type Faults struct {
	mu      sync.Mutex
	current map[string]earshot.Notice
	outages Outages
}

// Change takes in a fault or its end at now, and reports whether people are told; see
// [Outages.Change].
func (f *Faults) Change(now time.Time, n earshot.Notice) (told bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(n)
	return f.outages.Change(now, n)
}

// Know takes in a fault that people have been told of already, or its end. Nobody is told of either.
func (f *Faults) Know(now time.Time, n earshot.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(n)
	if n.Over {
		f.outages.Forget(n.Key)
		return
	}
	f.outages.Change(now, n)
}

// set notes a fault or its end. f.mu must be held.
func (f *Faults) set(n earshot.Notice) {
	if n.Over {
		delete(f.current, n.Key)
		return
	}
	if f.current == nil {
		f.current = make(map[string]earshot.Notice)
	}
	f.current[n.Key] = n
}

// Has reports whether there is a fault with a key.
func (f *Faults) Has(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, is := f.current[key]
	return is
}

// All returns the faults that there are, by their keys.
func (f *Faults) All() (all []earshot.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.current)) {
		all = append(all, f.current[key])
	}
	return all
}

// Next returns when something may have been back for long enough to tell; see [Outages.Next].
func (f *Faults) Next() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outages.Next()
}

// Steady returns what people are told of that is back; see [Outages.Steady].
func (f *Faults) Steady(now time.Time) []earshot.Notice {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outages.Steady(now)
}
