package lockorder_test

import (
	"sync"
	"testing"

	"earshot/internal/lockorder"
)

// TestOrder: where the order is checked, taking a lock that precedes a held one is refused; taking
// locks in their order is not.
func TestOrder(t *testing.T) {
	var mode lockorder.Mutex[lockorder.ModeChange]
	var state lockorder.Mutex[lockorder.State]
	var one, other lockorder.Mutex[lockorder.Leaf]
	mode.Lock()
	state.Lock()
	take(&one)
	state.Unlock()
	mode.Unlock()
	for name, take := range map[string]func(){
		"an outer lock": func() { state.Lock(); defer state.Unlock(); take(&mode) },
		"a second leaf": func() { one.Lock(); defer one.Unlock(); take(&other) },
	} {
		if got := panics(take); got != lockorder.Checks {
			t.Errorf("%s: refused is %v", name, got)
		}
	}
	take(&state) // the refused calls left nothing locked
	take(&other)
}

func take(l sync.Locker) {
	l.Lock()
	defer l.Unlock()
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
