// Package midturn determines what somebody means by speaking to an agent while it works on an
// earlier request: that it should stop, how it should continue, how far it has come, that it should
// do something else, or nothing that concerns the work.
//
// It judges by the form of the sentence, by cue words, and by the words that the sentence has in
// common with the work. It has no knowledge of the world, and knows English only. Whatever it is
// not sure of is side talk: that is answered and the work goes on, so nothing is lost. Its test
// prints how often it is right; the sentences are in testdata.
package midturn

import (
	"slices"
	"strings"

	"earshot"
)

// A Kind is what somebody means by words said to a working agent.
type Kind int

// The kinds.
const (
	Side    Kind = iota // the words do not concern the work, or it is unclear whether they do
	Stop                // the work is no longer wanted
	Steer               // the words say how the work should continue
	Status              // somebody asks how far the work has come
	Task                // something else to do, in addition to the work
	Instead             // something else to do, in place of the work
)

var kinds = [...]string{Side: "side", Stop: "stop", Steer: "steer", Status: "status", Task: "task", Instead: "instead"}

// String returns the kind's name.
func (k Kind) String() string { return kinds[k] }

// longest is the longest text in bytes that is classified. Longer texts, of more than a few
// sentences, need an answer of their own, so they count as side talk.
const longest = 400

// Classify returns what text means to an agent with that name, which is working on a task that was
// given in the words of work. It is a pure function.
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

// replaces reports whether the agent should do something else in place of the work.
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

// ends reports whether the work should end. Clauses after the first only say why.
func (s sentence) ends() bool {
	return ending.MatchString(s.whole()) || ending.MatchString(s.clauses[0])
}

// asksHowFar reports whether the sentence asks how the work is going.
func (s sentence) asksHowFar() bool {
	last := s.clauses[len(s.clauses)-1]
	return howFar.MatchString(s.whole()) || howFar.MatchString(bare(s.whole())) || s.asks && howFar.MatchString(bare(last))
}

// later reports whether the sentence asks for something to be done after the work.
func (s sentence) later() bool {
	return before.MatchString(s.whole()) || after.MatchString(s.whole()) && !s.asks
}

// directs returns whether the sentence says how to continue, asks for something else, or is side
// talk. work holds the words of the work.
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

// orders reports whether the sentence contains an order for something that could be a task.
func (s sentence) orders() bool {
	return slices.ContainsFunc(s.clauses, func(c string) bool { return orders.MatchString(asked.ReplaceAllString(c, "")) })
}

// adjusts reports whether the sentence begins with an order about how something is done, or is a
// fragment of such an order.
func (s sentence) adjusts() bool {
	first := asked.ReplaceAllString(s.clauses[0], "")
	if adjusts.MatchString(first) || mayIt.MatchString(first) {
		return true
	}
	short := strings.Count(s.whole(), " ") < 3
	return !s.asks && !s.has("i") && !s.has("im") && (fragment.MatchString(first) || s.polite && short)
}

// about reports whether the sentence has a word in common with the work.
func (s sentence) about(work map[string]bool) bool {
	for w := range content(s.whole()) {
		if work[w] {
			return true
		}
	}
	return false
}
