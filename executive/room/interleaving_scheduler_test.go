//go:build lockorder && !race

package room_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"earshot/internal/lockorder"
)

// A thread is a goroutine that a scheduler lets go on.
type thread struct {
	name string
	rank int    // the thread of the lowest rank goes first, and of equals the older one
	id   uint64 // the same in each performance of the same acts
	n    int    // how many locks it has taken

	seen uint64 // a hash of everything that happened before where it is

	wants lockorder.Lock // the lock before which it is held; nil before its act
	again chan struct{}  // closed to let it go on; nil if it is not held
	where []uintptr      // where it is held
}

// A stop is a moment at which one of several threads goes on.
type stop struct {
	thread *thread
	n      int  // the thread's lock
	choice bool // another thread could go on instead
	state  uint64
	hash   uint64 // of the state of the room and the scheduler once the thread is held
	held   bool   // the thread is held from here on
	where  []uintptr
}

// mostStops is how many locks may be taken before a room comes to rest without time passing. The
// longest performances take a tenth of it.
const mostStops = 20_000

// A scheduler lets the goroutines of a room go on one at a time, each as far as the next lock that
// it takes: only there can it see what others did. The room goes before the acts, an act before
// those after it, and a thread goes on until it waits for something; so, by itself, each act comes
// when nothing remains of those before. At some stops, the thread that would go on is held instead,
// until all others wait: that is how a processor that does something else makes them meet.
type scheduler struct {
	holds []int // the stops at which a thread is held

	root    uint64 // the goroutine of the test
	changed chan struct{}

	mu      sync.Mutex // guards the following; a goroutine holds it for a moment only
	threads map[uint64]*thread
	byAge   []*thread
	locks   map[lockorder.Lock]*[2]uint64 // of each lock its name, and a hash of what its holders had seen
	free    bool                          // nobody is held
	last    *thread                       // went on last

	state uint64 // a hash of who has seen what: the same whenever the same things have happened in an equivalent order
	acts  uint64 // a hash of when each act has begun: what it does may concern what no lock guards
	held  int    // how many threads have been held
	stops []stop
	fault string
}

// newScheduler returns a scheduler that holds nobody yet, but gets to know the threads of a room.
func newScheduler(holds []int) *scheduler {
	return &scheduler{
		holds: holds, root: lockorder.Goroutine(), changed: make(chan struct{}, 1), free: true,
		threads: make(map[uint64]*thread), locks: make(map[lockorder.Lock]*[2]uint64),
	}
}

// mix returns a hash of two numbers, of which the order counts.
func mix(a, b uint64) uint64 {
	a ^= b + 0x9e3779b97f4a7c15 + a<<6 + a>>2
	a = (a ^ a>>30) * 0xbf58476d1ce4e5b9
	a = (a ^ a>>27) * 0x94d049bb133111eb
	return a ^ a>>31
}

// yield is called by each goroutine before it takes a lock.
func (s *scheduler) yield(g uint64, l lockorder.Lock) {
	if g != s.root {
		s.hold(g, "", 0, l)
	}
}

// act does something on a thread of its own, after all acts of a lower rank.
func (s *scheduler) act(name string, rank int, do func()) {
	go func() {
		s.hold(lockorder.Goroutine(), name, rank, nil)
		do()
	}()
}

// hold holds a thread before it takes a lock until it may go on.
func (s *scheduler) hold(g uint64, name string, rank int, l lockorder.Lock) {
	s.mu.Lock()
	t := s.threads[g]
	if t == nil {
		t = &thread{name: name, rank: rank, id: uint64(len(s.byAge) + 1)}
		switch {
		case name != "":
			t.id = mix(math.MaxUint64, uint64(rank))
		case s.last != nil:
			t.id = mix(s.last.id, uint64(s.last.n)) // it was begun, or woken, by what that did
		}
		s.threads[g], s.byAge = t, append(s.byAge, t)
	}
	s.name(t, l)
	where := make([]uintptr, 6)
	where = where[:runtime.Callers(4, where)]
	if s.free || slices.ContainsFunc(where, excludes) {
		s.mu.Unlock()
		return
	}
	again := make(chan struct{})
	t.wants, t.again, t.where = l, again, where
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	<-again
}

// name gives a lock that nobody has taken yet a name by its first taker. The caller holds s.mu.
func (s *scheduler) name(t *thread, l lockorder.Lock) {
	if l != nil && s.locks[l] == nil {
		s.locks[l] = &[2]uint64{mix(t.id, uint64(t.n)), 0}
	}
	t.n++
}

// excluding are functions that take locks while others may wait for them in a way that a bubble does
// not see: in them no thread is held.
var excluding = []string{"hearing.(*Listener).Heard", "delivery.(*TurnOutlet).Open"}

// excluded says of each place in the program whether it is in one of those; guarded by the mutex of
// the scheduler, of which there is one at a time.
var excluded = make(map[uintptr]bool)

// excludes reports whether a place in the program is in one of the functions of [excluding].
func excludes(at uintptr) (is bool) {
	is, known := excluded[at]
	if known {
		return is
	}
	for frames := runtime.CallersFrames([]uintptr{at}); ; {
		f, more := frames.Next()
		is = is || slices.ContainsFunc(excluding, func(name string) bool { return strings.HasSuffix(f.Function, name) })
		if !more {
			break
		}
	}
	excluded[at] = is
	return is
}

// settle lets the threads go on until all of them wait for something that is not their turn.
func (s *scheduler) settle() {
	for {
		synctest.Wait()
		s.mu.Lock()
		t, others := s.next()
		if t == nil {
			s.mu.Unlock()
			return
		}
		at := stop{thread: t, n: t.n, choice: others, state: s.state, where: t.where}
		if rank := t.rank; others {
			t.rank = math.MaxInt32 + s.held
			at.hash = s.hash()
			if at.held = slices.Contains(s.holds, len(s.stops)); at.held {
				s.held++
			} else {
				t.rank = rank
			}
		}
		s.stops = append(s.stops, at)
		switch {
		case len(s.stops) >= mostStops:
			s.fault = fmt.Sprintf("after %d locks the room does not come to rest", mostStops)
			s.mu.Unlock()
			s.release()
			return
		case !at.held:
			s.goOn(t)
		}
		s.mu.Unlock()
	}
}

// next returns the thread that goes on next, and whether another one could; nil if none can. The
// caller holds s.mu.
func (s *scheduler) next() (t *thread, others bool) {
	held := 0
	for _, other := range s.byAge {
		if other.again == nil {
			continue
		}
		held++
		if other.wants != nil && other.wants.Taken() {
			continue
		}
		others = others || t != nil
		if t == nil || other.rank < t.rank {
			t = other
		}
	}
	if t == nil && held > 0 {
		s.fault = fmt.Sprintf("%d goroutines wait for each other's locks", held)
	}
	return t, others
}

// goOn lets a thread go on. The caller holds s.mu.
func (s *scheduler) goOn(t *thread) {
	sees := s.acts
	if l := s.locks[t.wants]; t.wants != nil {
		sees = mix(sees, mix(l[0], l[1]))
		l[1] = mix(mix(t.id, t.seen), sees)
	} else {
		s.acts = mix(mix(s.acts, s.state), t.id)
	}
	s.state ^= mix(t.id, t.seen)
	t.seen = mix(t.seen, sees)
	s.state ^= mix(t.id, t.seen)
	s.last = t
	again := t.again
	t.again = nil
	close(again)
}

// hash returns a hash of the state of the room and of the scheduler: from where it is the same, the
// same follows. The caller holds s.mu.
func (s *scheduler) hash() uint64 {
	h := s.state
	for _, t := range s.byAge {
		if t.again != nil || t.rank >= math.MaxInt32 {
			h ^= mix(t.id, uint64(t.rank))
		}
	}
	return h
}

// elapse lets some time pass, in which the threads go on as they are woken.
func (s *scheduler) elapse(d time.Duration) {
	for end := time.After(d); ; {
		s.settle()
		select {
		case <-s.changed:
			continue
		case <-end:
		}
		s.settle()
		s.mu.Lock()
		s.state = mix(s.state, uint64(d))
		s.mu.Unlock()
		return
	}
}

// begin makes the scheduler hold threads.
func (s *scheduler) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = false
}

// release makes the scheduler hold nobody any more.
func (s *scheduler) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = true
	for _, t := range s.byAge {
		if t.again != nil {
			close(t.again)
			t.again = nil
		}
	}
}

// String tells in which order the threads went on, and where each was held.
func (s *scheduler) String() string {
	var b strings.Builder
	for n := 0; n < len(s.stops); {
		t, from := s.stops[n].thread, n
		for n < len(s.stops) && s.stops[n].thread == t && !s.stops[n].held {
			n++
		}
		if n > from {
			fmt.Fprintf(&b, "%5d  %s takes %d locks, the first %s\n", from, s.called(t), n-from, place(s.stops[from].where))
		}
		if n < len(s.stops) && s.stops[n].thread == t {
			fmt.Fprintf(&b, "%5d  %s is held before one %s\n", n, s.called(t), place(s.stops[n].where))
			n++
		}
	}
	return b.String()
}

// called returns the name of a thread.
func (s *scheduler) called(t *thread) string {
	if t.name != "" {
		return fmt.Sprintf("%q", t.name)
	}
	return fmt.Sprint("goroutine ", slices.Index(s.byAge, t), " of the room")
}

// place names the functions in which a thread is held.
func place(where []uintptr) string {
	var names []string
	for frames := runtime.CallersFrames(where); len(names) < 4; {
		f, more := frames.Next()
		if name := f.Function[strings.LastIndex(f.Function, "/")+1:]; strings.Contains(f.Function, "executive") && !strings.Contains(f.Function, "_test") {
			names = append(names, name)
		}
		if !more {
			break
		}
	}
	if len(names) == 0 {
		return "at its beginning"
	}
	return "in " + strings.Join(names, " in ")
}
