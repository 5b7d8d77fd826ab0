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
	mu   sync.Mutex
	open []expectedAnswer // the oldest first
}

// An expectedAnswer is one that has not come.
type expectedAnswer struct {
	id      earshot.EventID
	settled chan struct{}
}

// Expect says that id is about to be asked. The channel is closed when it is
// settled.
func (a *Answers) Expect(id earshot.EventID) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) == expected {
		close(a.open[0].settled)
		a.open = slices.Delete(a.open, 0, 1)
	}
	settled := make(chan struct{})
	a.open = append(a.open, expectedAnswer{id, settled})
	return settled
}

// Settle says that nothing more will come to id.
func (a *Answers) Settle(id earshot.EventID) {
	a.settle(func(one expectedAnswer) bool { return one.id == id })
}

// SettleAll settles everything.
func (a *Answers) SettleAll() { a.settle(func(expectedAnswer) bool { return true }) }

// Expecting reports whether anything is not settled.
func (a *Answers) Expecting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open) > 0
}

// settle settles those for which is holds.
func (a *Answers) settle(is func(expectedAnswer) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(one expectedAnswer) bool {
		over := is(one)
		if over {
			close(one.settled)
		}
		return over
	})
}
