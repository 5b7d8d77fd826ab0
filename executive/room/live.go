package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/executive/latency"
	"earshot/executive/question"
	"earshot/internal/lockorder"
	"earshot/participants/agents"
)

// An activeTurn is the turn that has not ended yet. Anybody who got it from the room may read its
// question, which does not change any more.
type activeTurn struct {
	question.Question
	end context.CancelFunc // ends it at once

	moved bool // something that it rests on was changed or forgotten meanwhile; guarded by the mutex of the liveState

	used []earshot.EventID // what its tools brought, on which it rests too; guarded by the mutex of the liveState
}

// A liveState is what other goroutines than the owner may know of what it does.
type liveState struct {
	mu      lockorder.Mutex[lockorder.State]
	turn    *activeTurn // nil if there is none
	waiting int         // questions that wait for a turn
	leaving bool        // the program is ending: no turn begins
	quiet   bool        // somebody has asked for silence

	latencies latency.Log     // of the last turns
	results   chan turnResult // the live turn has ended; its owner receives from it
}

// set sets the live turn, or none, and how many questions wait.
func (l *liveState) set(t *activeTurn, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn, l.waiting = t, waiting
}

// question returns the question of the live turn, which does not change, and the agent that answers
// it; nil if there is none.
func (l *liveState) question() (*question.Question, agents.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn == nil {
		return nil, agents.Record{}
	}
	return &l.turn.Question, l.turn.Seat.Record
}

// busy reports whether no turn can begin.
func (l *liveState) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn != nil || l.leaving
}

// silent reports whether somebody has asked for silence.
func (l *liveState) silent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quiet
}

// answers returns the turn that answers any of some messages, or began with one; nil for none.
func (l *liveState) answers(is func(earshot.EventID) bool) *activeTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil && l.turn.Answers(is) {
		return l.turn
	}
	return nil
}

// restsOn returns the live turn if it rests on any of some events; nil otherwise.
func (l *liveState) restsOn(is func(earshot.EventID) bool) *activeTurn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil && (l.turn.Answers(is) || slices.ContainsFunc(l.turn.Rests.Sources, is) || slices.ContainsFunc(l.turn.used, is)) {
		return l.turn
	}
	return nil
}

// addRests notes that the live turn rests on more than its prompt.
func (l *liveState) addRests(turn earshot.TurnID, from []earshot.EventID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != nil && l.turn.Turn == turn {
		l.turn.used = append(l.turn.used, from...)
	}
}
