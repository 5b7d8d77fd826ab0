package console

import (
	"slices"
	"sync"

	"earshot"
)

// remembered is how many questions are kept for an answer that refers to them: a room answers one
// at a time, and the others that wait are given up.
const remembered = 64

// A question is a line, by anybody, that a reply may answer.
type question struct {
	id    earshot.EventID
	to    []earshot.ParticipantID
	waits bool // somebody here waits for the answer
}

// A questionLog holds the recent questions. The zero value is ready.
type questionLog struct {
	mu  sync.Mutex
	all []question // the newest last
}

func (a *questionLog) add(e earshot.Event, waits bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.all) == remembered {
		a.all = slices.Delete(a.all, 0, 1)
	}
	a.all = append(a.all, question{e.ID, e.To, waits})
}

// find returns the question with an ID.
func (a *questionLog) find(id earshot.EventID) (question, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.all, func(q question) bool { return q.id == id })
	if i < 0 || id == "" {
		return question{}, false
	}
	return a.all[i], true
}
