//go:build lockorder

package lockorder

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// Checks reports whether the order is checked.
const Checks = true

// A Mutex is a mutual exclusion lock with a place in the order. The zero value is unlocked.
type Mutex[R Ranked] struct {
	mu    sync.Mutex
	owner uint64 // the goroutine that holds it
}

// Lock locks m. It panics if the goroutine holds a lock that does not stand before m.
func (m *Mutex[R]) Lock() {
	var place R
	g := goroutine()
	held.check(g, place)
	m.mu.Lock()
	m.owner = g
	held.add(g, place)
}

// Unlock unlocks m.
func (m *Mutex[R]) Unlock() {
	var place R
	held.remove(m.owner, place)
	m.mu.Unlock()
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

// goroutine returns the number of the calling goroutine, which only its stack tells.
func goroutine() uint64 {
	var buf [64]byte
	text := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	n, err := strconv.ParseUint(string(text[1]), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
