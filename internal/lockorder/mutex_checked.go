//go:build lockorder

package lockorder

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Checks reports whether the order is checked.
const Checks = true

// A Lock is a [Mutex] that is about to be taken. It is comparable.
type Lock interface {
	// Taken reports whether a goroutine holds it.
	Taken() bool
}

// yield is called before each lock is taken; see [SetYield].
var yield atomic.Pointer[func(uint64, Lock)]

// SetYield has f called by each goroutine, with its number, before it takes a lock, so that a test can
// let others go first; nil ends that.
func SetYield(f func(goroutine uint64, l Lock)) {
	if f == nil {
		yield.Store(nil)
		return
	}
	yield.Store(&f)
}

// A Mutex is a mutual exclusion lock with a place in the order. The zero value is unlocked. Whoever
// waits for it waits for a channel, which testing/synctest can see.
type Mutex[R Ranked] struct {
	once  sync.Once
	taken chan struct{} // has a value while it is locked
	owner uint64        // the goroutine that holds it
}

// Lock locks m. It panics if the goroutine holds a lock that does not stand before m.
func (m *Mutex[R]) Lock() {
	var place R
	g := Goroutine()
	held.check(g, place)
	m.once.Do(func() { m.taken = make(chan struct{}, 1) })
	if f := yield.Load(); f != nil {
		(*f)(g, m)
	}
	m.taken <- struct{}{}
	m.owner = g
	held.add(g, place)
}

// Taken implements [Lock].
func (m *Mutex[R]) Taken() bool { return len(m.taken) > 0 }

// Unlock unlocks m.
func (m *Mutex[R]) Unlock() {
	var place R
	held.remove(m.owner, place)
	<-m.taken
}

// held are the locks that each goroutine holds.
var held = holdings{by: make(map[uint64][]Ranked)}

type holdings struct {
	mu sync.Mutex
	by map[uint64][]Ranked
}

func (h *holdings) check(g uint64, place Ranked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, other := range h.by[g] {
		if other.rank() >= place.rank() {
			panic(fmt.Sprintf("lockorder: the lock %T is taken by a goroutine that holds %T; take it before, or let the other go", place, other))
		}
	}
}

func (h *holdings) add(g uint64, place Ranked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.by[g] = append(h.by[g], place)
}

func (h *holdings) remove(g uint64, place Ranked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.by[g]
	i := slices.Index(all, place)
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		delete(h.by, g)
		return
	}
	h.by[g] = all
}

// Goroutine returns the number of the calling goroutine, which only its stack tells.
func Goroutine() uint64 {
	var buf [64]byte
	text := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	n, err := strconv.ParseUint(string(text[1]), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
