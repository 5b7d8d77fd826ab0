// Package attention decides when an agent thinks unasked, and when it speaks unasked.
//
// A [NoveltyTracker] tracks how much of what happens in a room is new, compared with what has
// recently been usual there. It says when that is worth a thought, and when to check again if it
// almost was. [Read] says what people's words amount to, such as a question to the room, one side
// of a telephone call, or grief. [Decide] decides whether to speak, about words, a finding, or
// somebody who comes into view, and gives its reasons; [Again] says when a wait may be over.
//
// All of it is pure: the time is an argument, no goroutine is started, and no model is asked. So a
// decision can be explained in words later, and tested on scenes of people: see testdata/ambient.
package attention

import (
	"slices"
	"time"

	"earshot"
	"earshot/interrupt"
)

// The reasons for a decision, as the journal records them.
const (
	Addressed    = "it is for me"
	WhatIFound   = "I found something worth saying"
	WasAsked     = "somebody asked me for this, and now it is ready"
	ToTheRoom    = "it is a question to the room, and nobody has answered it"
	NotForMe     = "people are talking to each other"
	ForLater     = "it may matter later"
	PeopleFirst  = "it is a question to the room, and people go first"
	Answered     = "it has been answered"
	OnTheLine    = "somebody is on the telephone"
	Tender       = "it is a personal moment between people"
	Performed    = "it is read aloud, played, sung or a joke, not a real question"
	Unasked      = "executive.attention.speak_unasked is false"
	Passive      = "in the passive style I speak only when I am called"
	AtNight      = "these are the quiet hours"
	Spent        = "I have spoken unasked often enough for this hour"
	Cooling      = "I have only just spoken unasked"
	Snoozing     = "I was told to keep quiet for a while"
	Hushed       = "I was asked to be quiet"
	ToldNo       = "I was just told not now"
	OthersTalk   = "others are talking"
	AskerTalks   = "the person who asked has only just spoken"
	SomebodyType = "somebody is typing"
	NotWorth     = "it is not worth saying"
	NotSure      = "I am not sure enough of it"
	Stale        = "it is no longer true"
	Told         = "it has been said already"
	NobodyHere   = "nobody it is meant for is here"
)

const (
	// gap is how long nobody may have spoken before the agent begins: between the turns of a
	// conversation, people rarely leave more than two seconds.
	gap = 3 * time.Second

	// patience is how long a question to the room is left to the people in it, who need a moment to
	// find that none of them knows.
	patience = 5 * time.Second

	// refusal is how long "not now" applies to what nobody asked for, and refusalAsked how long it
	// applies to what somebody asked for.
	refusal      = 15 * time.Minute
	refusalAsked = 2 * time.Minute

	// tender is how long grief, a quarrel or a telephone call counts as going on after its last
	// words.
	tender = 3 * time.Minute
)

// Facts are what the decision whether to speak depends on.
type Facts struct {
	Now   time.Time
	Set   Config
	Style interrupt.Style

	// The decision is about one of these: a finding that the agent could say by itself, an arrival
	// or, if those are nil, the last words, as Talk has them.
	Finding   *Finding
	Arrival   *Arrival
	Addressed bool // the last words are for the agent

	Talk   Talk
	Others time.Time // when anybody who does not wait for the finding last spoke; zero if nobody did
	Here   int       // how many of the people for whom it is are present
	Typing bool      // somebody is typing

	Spoke   []time.Time // when the agent recently spoke unasked
	ToldNo  time.Time   // when somebody last told it "not now"
	Snoozed time.Time   // until when the agent was told to keep quiet
	Hushed  bool        // the agent was told to keep quiet until somebody calls it
}

// A Finding is what the decision needs to know about something that the agent could say.
type Finding struct {
	Asked      bool // somebody waits for it
	Worth      bool // worth saying unasked
	Confidence float64
	Stale      bool
	Told       bool // a reply has contained it already
}

// A blocker keeps the agent from speaking, until a time or, if that is zero, until something
// happens.
type blocker struct {
	reason string
	until  time.Time
}

// Decide says whether to speak, and why. A question to the room that cannot be answered now is not
// answered later; a finding waits.
func Decide(f Facts) (earshot.Verdict, []string) {
	switch {
	case f.Finding != nil:
		return decideFinding(f)
	case f.Arrival != nil:
		return decideArrival(f)
	case f.Talk.Hushes:
		return earshot.Silent, []string{ToldNo}
	case f.Addressed:
		return earshot.Speak, []string{Addressed}
	}
	return decideTalk(f)
}

// Again returns when the result of Decide for f may change if nothing happens until then; the zero
// Time if it will not.
func Again(f Facts) (at time.Time) {
	if verdict, _ := Decide(f); verdict != earshot.Wait {
		return time.Time{}
	}
	for _, h := range blockers(f) {
		if h.until.IsZero() {
			at = time.Time{}
			break
		}
		if h.until.After(at) {
			at = h.until
		}
	}
	if f.Finding == nil && f.Arrival != nil {
		if end := f.Arrival.At.Add(welcome); at.IsZero() || end.Before(at) {
			return end
		}
	}
	return at
}

// blockers returns what the agent has to wait for.
func blockers(f Facts) []blocker {
	switch {
	case f.Finding != nil:
		return append(limits(f), occupied(f)...)
	case f.Arrival != nil:
		return occupied(f)
	}
	return before(f)
}

func decideFinding(f Facts) (earshot.Verdict, []string) {
	is := f.Finding
	switch {
	case is.Stale:
		return earshot.Silent, []string{Stale}
	case is.Told:
		return earshot.Silent, []string{Told}
	case !is.Asked && !f.Set.SpeakUnasked:
		return earshot.Note, []string{Unasked}
	case !is.Asked && f.Style == interrupt.Passive:
		return earshot.Note, []string{Passive}
	case !is.Asked && !is.Worth:
		return earshot.Note, []string{NotWorth}
	case !is.Asked && !(is.Confidence >= f.Set.LeastConfidence):
		return earshot.Note, []string{NotSure}
	}
	if all := blockers(f); len(all) > 0 {
		return earshot.Wait, reasons(all)
	}
	if is.Asked {
		return earshot.Speak, []string{WasAsked}
	}
	return earshot.Speak, []string{WhatIFound}
}

// decideTalk decides about words that do not address the agent.
func decideTalk(f Facts) (earshot.Verdict, []string) {
	t := f.Talk
	switch {
	case t.Call:
		return earshot.Silent, []string{OnTheLine}
	case t.Tender:
		return earshot.Silent, []string{Tender}
	case t.Performed:
		return earshot.Silent, []string{Performed}
	case t.Keep:
		return earshot.Note, []string{ForLater}
	case t.Asked.IsZero():
		return earshot.Silent, []string{NotForMe}
	case t.Answered:
		return earshot.Silent, []string{Answered}
	case !f.Set.SpeakUnasked:
		return earshot.Silent, []string{Unasked}
	case f.Style == interrupt.Passive:
		return earshot.Silent, []string{Passive}
	}
	if all := limits(f); len(all) > 0 {
		return earshot.Silent, reasons(all)
	}
	if all := blockers(f); len(all) > 0 {
		return earshot.Wait, reasons(all)
	}
	return earshot.Speak, []string{ToTheRoom}
}

// before returns who takes precedence over the agent when the room was asked something.
func before(f Facts) (all []blocker) {
	if f.Typing {
		all = append(all, blocker{reason: SomebodyType})
	}
	if end := f.Talk.Asked.Add(patience); f.Style != interrupt.Aggressive && f.Now.Before(end) {
		all = append(all, blocker{PeopleFirst, end})
	}
	return all
}

// limits returns what holds back everything that nobody asked for. For what somebody asked, only
// "not now" counts.
func limits(f Facts) (all []blocker) {
	no := refusal
	if f.Finding != nil && f.Finding.Asked {
		no = refusalAsked
	}
	if end := f.ToldNo.Add(no); !f.ToldNo.IsZero() && f.Now.Before(end) {
		all = append(all, blocker{ToldNo, end})
	}
	if f.Finding != nil && f.Finding.Asked {
		return all
	}
	if f.Hushed {
		all = append(all, blocker{reason: Hushed})
	}
	if f.Now.Before(f.Snoozed) {
		all = append(all, blocker{Snoozing, f.Snoozed})
	}
	if f.Set.QuietHours.Has(f.Now) {
		all = append(all, blocker{AtNight, f.Set.QuietHours.Over(f.Now)})
	}
	return append(all, budget(f)...)
}

// budget returns what holds the agent back because it has recently spoken unasked.
func budget(f Facts) (all []blocker) {
	hour := slices.DeleteFunc(slices.Clone(f.Spoke), func(at time.Time) bool { return f.Now.Sub(at) >= time.Hour })
	slices.SortFunc(hour, time.Time.Compare)
	if n := len(hour); n >= f.Set.HourlyBudget {
		until := time.Time{} // the budget allows nothing
		if f.Set.HourlyBudget > 0 {
			until = hour[n-f.Set.HourlyBudget].Add(time.Hour)
		}
		all = append(all, blocker{Spent, until})
	}
	if n := len(hour); n > 0 {
		if end := hour[n-1].Add(f.Set.CoolDown.Duration()); f.Now.Before(end) {
			all = append(all, blocker{Cooling, end})
		}
	}
	return all
}

// occupied returns the activities during which a finding or a greeting has to wait. Somebody who is
// to be greeted counts as present.
func occupied(f Facts) (all []blocker) {
	if f.Here == 0 && f.Finding != nil {
		all = append(all, blocker{reason: NobodyHere})
	}
	if f.Typing {
		all = append(all, blocker{reason: SomebodyType})
	}
	last := f.Talk.Last
	if f.Talk.Call && f.Now.Sub(last) < tender {
		all = append(all, blocker{OnTheLine, last.Add(tender)})
	}
	if f.Talk.Tender && f.Now.Sub(last) < tender {
		all = append(all, blocker{Tender, last.Add(tender)})
	}
	if f.Style != interrupt.Aggressive && !last.IsZero() && f.Now.Sub(last) < gap {
		reason := OthersTalk
		if f.Finding != nil && f.Finding.Asked && (f.Others.IsZero() || f.Now.Sub(f.Others) >= gap) {
			reason = AskerTalks
		}
		all = append(all, blocker{reason, last.Add(gap)})
	}
	return all
}

func reasons(all []blocker) (words []string) {
	for _, h := range all {
		words = append(words, h.reason)
	}
	return words
}

// Reasons returns every possible reason for a decision, as the journal records it.
func Reasons() []string {
	return []string{
		Addressed, WhatIFound, WasAsked, ToTheRoom, NotForMe, ForLater, PeopleFirst, Answered, OnTheLine, Tender, Performed,
		Unasked, Passive, AtNight, Spent, Cooling, Snoozing, Hushed, ToldNo, OthersTalk, AskerTalks, SomebodyType, NotWorth,
		NotSure, Stale, Told, NobodyHere,
		SomebodyCame, NoGreeting, NotAway, OthersGreet, LeftAgain, Talking, TooLate,
	}
}
