package terminal

import (
	"slices"
	"sync"

	"earshot"
)

// expected bounds what is waited for. Who asks more is not waited for longer
// than that many questions.
const expected = 64

// Answers is what was asked and has not been answered, so that the sense that
// asks and the outlet that hears of the answer need not know each other. The
// zero value is ready.
type Answers struct {
	mu    sync.Mutex
	order []earshot.EventID
	open  map[earshot.EventID]chan struct{}
}

// Expect says that id is about to be asked. The channel is closed when it is
// settled.
func (a *Answers) Expect(id earshot.EventID) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[earshot.EventID]chan struct{}{}
	}
	if len(a.order) == expected {
		a.settle(a.order[0])
	}
	settled := make(chan struct{})
	a.order, a.open[id] = append(a.order, id), settled
	return settled
}

// Settle says that nothing more will come to id.
func (a *Answers) Settle(id earshot.EventID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle(id)
}

// SettleAll settles everything.
func (a *Answers) SettleAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.order) > 0 {
		a.settle(a.order[0])
	}
}

// Expecting reports whether anything is not settled.
func (a *Answers) Expecting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.order) > 0
}

func (a *Answers) settle(id earshot.EventID) {
	if settled, ok := a.open[id]; ok {
		close(settled)
		delete(a.open, id)
		a.order = slices.DeleteFunc(a.order, func(other earshot.EventID) bool { return other == id })
	}
}
