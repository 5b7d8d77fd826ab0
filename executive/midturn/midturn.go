// Package midturn tells what somebody means who says something to an agent while it
// works on what it was asked before: that it shall stop, how it shall go on, how far
// it is, something else that it shall do, or nothing that concerns the work.
//
// It goes by the form of the sentence, by cue words, and by the words that it has in
// common with the work; it knows nothing of the world, and English alone. Whatever it
// is not sure of is side talk: that is answered and the work goes on, so nothing is
// lost. How often it is right is printed by its test, and the sentences are in
// testdata.
package midturn

import (
	"slices"
	"strings"

	"earshot"
)

// A Kind is what somebody means.
type Kind int

// The kinds.
const (
	Side    Kind = iota // it does not concern the work, or nobody can tell
	Stop                // the work is not wanted any more
	Steer               // how the work is to go on
	Status              // how far is it?
	Task                // something else to do, besides
	Instead             // something else to do, in place of the work
)

var kinds = [...]string{Side: "side", Stop: "stop", Steer: "steer", Status: "status", Task: "task", Instead: "instead"}

// String returns the kind's name.
func (k Kind) String() string { return kinds[k] }

// longest is the longest text in bytes that is looked at. Who writes more than some
// sentences asks for an answer of its own.
const longest = 400

// Classify returns what text means to an agent of that name, which works on a task
// that was given in the words work. It is pure.
func Classify(text earshot.Text, agent string, work earshot.Text) Kind {
	if len(text) > longest {
		return Side
	}
	s := parse(string(text), agent)
	if len(s.clauses) == 0 || courtesy.MatchString(s.whole()) {
		return Side
	}
	switch {
	case s.replaces():
		return Instead
	case s.ends():
		return Stop
	case s.asksHowFar():
		return Status
	case s.later():
		return Task
	}
	return s.directs(content(string(work)))
}

// replaces reports whether something else is to be done in place of the work.
func (s sentence) replaces() bool {
	if elsewhere.MatchString(s.whole()) {
		return true
	}
	drops := false
	for _, c := range s.clauses {
		if drops && orders.MatchString(c) {
			return true
		}
		drops = drops || ending.MatchString(c) || dropping.MatchString(c)
		if first, then, ok := strings.Cut(c, " and "); ok && (ending.MatchString(first) || dropping.MatchString(first)) && orders.MatchString(then) {
			return true
		}
	}
	return s.has("instead") && s.orders() && !strings.Contains(s.whole(), "instead of")
}

// ends reports whether the work is to end. What follows says why.
func (s sentence) ends() bool {
	return ending.MatchString(s.whole()) || ending.MatchString(s.clauses[0])
}

// asksHowFar reports whether it is asked how the work goes.
func (s sentence) asksHowFar() bool {
	last := s.clauses[len(s.clauses)-1]
	return howFar.MatchString(s.whole()) || howFar.MatchString(bare(s.whole())) || s.asks && howFar.MatchString(bare(last))
}

// later reports whether something is to be done after the work.
func (s sentence) later() bool {
	return before.MatchString(s.whole()) || after.MatchString(s.whole()) && !s.asks
}

// directs tells whether it is about how to go on, given the words of the work, or
// something else to do.
func (s sentence) directs(work map[string]bool) Kind {
	orders, about := s.orders(), s.about(work)
	switch {
	case suggests.MatchString(s.whole()), meant.MatchString(s.whole()):
		return Steer
	case orders && !about && !pronoun.MatchString(s.whole()):
		return Task
	case orders, s.adjusts():
		return Steer
	case s.asks:
		return Side
	case about, s.denies, wish.MatchString(s.whole()), limits.MatchString(s.whole()):
		return Steer
	}
	return Side
}

// orders reports whether it is an order for something that could be a task.
func (s sentence) orders() bool {
	return slices.ContainsFunc(s.clauses, func(c string) bool { return orders.MatchString(asked.ReplaceAllString(c, "")) })
}

// adjusts reports whether it begins with an order about how something is done, or is
// a fragment of one.
func (s sentence) adjusts() bool {
	first := asked.ReplaceAllString(s.clauses[0], "")
	if adjusts.MatchString(first) || mayIt.MatchString(first) {
		return true
	}
	short := strings.Count(s.whole(), " ") < 3
	return !s.asks && !s.has("i") && !s.has("im") && (fragment.MatchString(first) || s.polite && short)
}

// about reports whether it has a word in common with the work.
func (s sentence) about(work map[string]bool) bool {
	for w := range content(s.whole()) {
		if work[w] {
			return true
		}
	}
	return false
}
