package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/activity"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/prompt"
	"earshot/interrupt"
	"earshot/participants"
)

// maxOverheard is how many lines of people's talk are remembered: some minutes of a lively one.
const maxOverheard = 32

// An attentionState is what the main agent notices around it, to know when to speak unasked. It
// belongs to Run.
type attentionState struct {
	novelty attention.NoveltyTracker
	latest  earshot.EventID   // the newest event that it has seen
	routine []earshot.EventID // events being recorded that a reflex answers, in which nothing is new
	lines   []attention.Line
	spoke   marks // unasked, within the last hour
	toldNo  marks
	snoozed marks             // until when it is to be silent
	hangs   *entry            // a question to the room that is left to the people in it
	found   []*pendingFinding // findings that may be said
	arrival *arrival          // who may be greeted; nil if nobody

	answered marks     // events to which an answer was said
	again    time.Time // when one of these is checked again; zero if only an event triggers that
}

// listens takes in what somebody wrote or said, as far as everybody may know it.
func (r *Room) listens(e *entry, text earshot.Text) {
	if !overhears(e.event) {
		return
	}
	unknown := e.event.Author == "" || e.event.Author == participants.Generic
	l := attention.Line{
		Event: e.event.ID, At: r.ends(e.event), Who: string(r.person(e.event.Author)), Here: true, Text: text,
		Unknown: (unknown || e.who.Nameless()) && e.event.Body.Kind() == earshot.KindUtterance,
	}
	if unknown {
		l.Who = e.event.From.Provider + ":" + e.event.From.ID
	}
	r.attentionState.lines = append(r.attentionState.lines, l)
	r.attentionState.lines = slices.Delete(r.attentionState.lines, 0, max(0, len(r.attentionState.lines)-maxOverheard))
}

// overhears reports whether everybody may know e.
func overhears(e earshot.Event) bool {
	return e.Visibility.Scope == earshot.Public && len(e.Visibility.Agents) == 0
}

// attentionFacts returns the facts for the decision "shall I speak?", about something of visibility
// v and, if whom is not empty, for somebody.
func (r *Room) attentionFacts(v earshot.Visibility, whom earshot.ParticipantID) attention.Facts {
	set, now := r.set, r.cfg.Now()
	types, heard, others := r.activity.Recent(now, func(h earshot.Handle) bool { return r.cfg.People.Resolve(h).ID == whom })
	f := attention.Facts{
		Now: now.Local(), Set: set.Attention, Style: r.floor.CurrentStyle(), Typing: types,
		Spoke: r.attentionState.spoke.times(v), ToldNo: r.attentionState.toldNo.last(v), Snoozed: r.attentionState.snoozed.last(v),
	}
	var names []string
	for _, p := range r.cfg.People.Here(r.cfg.ID) {
		names = append(names, p.Name)
		if whom == "" && v.Allows(earshot.Audience{Room: r.cfg.ID, Members: []earshot.ParticipantID{p.ID}}) || whom == p.ID {
			f.Here++
		}
	}
	f.Talk = attention.Read(r.attentionState.lines, names, r.seats[0].Name)
	f.Talk.Last, f.Others = activity.Later(f.Talk.Last, heard), others
	for _, l := range r.attentionState.lines {
		if l.Who != string(whom) && !(l.Unknown && (whom == "" || whom == participants.Generic)) {
			f.Others = activity.Later(f.Others, l.At)
		}
	}
	r.mu.Lock()
	f.Hushed = r.quiet
	r.mu.Unlock()
	return f
}

// overheard decides for the main agent about words that do not call it. why is the reason for which
// it would stay silent.
func (r *Room) overheard(e *entry, why string) (earshot.Verdict, []string) {
	if why != addressing.Elsewhere && why != Overheard || !e.heeded || !overhears(e.event) {
		return earshot.Silent, []string{why}
	}
	facts := r.attentionFacts(e.event.Visibility, "")
	if !facts.Talk.Asked.IsZero() && !facts.Talk.Asked.Equal(r.ends(e.event)) && !facts.Talk.Answered {
		return earshot.Silent, []string{why} // an earlier question is still open, or has been closed
	}
	verdict, reasons := attention.Decide(facts)
	switch {
	case verdict == earshot.Silent && slices.Equal(reasons, []string{attention.NotForMe}):
		return verdict, []string{why}
	case verdict == earshot.Wait:
		r.attentionState.hangs, r.attentionState.again = e, time.Time{}
	case verdict == earshot.Speak:
		r.spokeUp(facts.Now, e.event.Visibility)
	}
	if verdict != earshot.Silent {
		e.aim.Lost = false // it may yet be answered
		return verdict, reasons
	}
	return verdict, append([]string{why}, reasons...)
}

// refused takes in that somebody does not want to hear the agent: for lasts, if they say so. It
// returns the events to record for that.
func (r *Room) refused(e *entry, lasts time.Duration) (kept []earshot.Event) {
	r.attentionState.toldNo.note(mark{at: e.event.At, visibility: e.event.Visibility})
	if lasts == 0 {
		return nil
	}
	s := r.event(e.event.Visibility, earshot.Snooze{Until: e.event.At.Add(lasts)})
	s.Author, s.Sources = e.event.Author, []earshot.EventID{e.event.ID}
	return []earshot.Event{s}
}

// spokeUp notes that the agent says something unasked to those who may see it.
func (r *Room) spokeUp(at time.Time, v earshot.Visibility) {
	r.attentionState.spoke = slices.DeleteFunc(r.attentionState.spoke, func(was mark) bool { return at.Sub(was.at) >= time.Hour })
	r.attentionState.spoke.note(mark{at: at, visibility: v})
}

// answersTo is how long after the agent spoke unasked "not now" is meant for it, whomever the words
// address.
const answersTo = 30 * time.Second

// justSpokeUp reports whether the agent spoke unasked just before e, to everybody who sees e.
func (r *Room) justSpokeUp(e earshot.Event) bool {
	last := r.attentionState.spoke.last(e.Visibility)
	return !last.IsZero() && e.At.Sub(last) < answersTo
}

// nextAttention returns when something that waits is checked again; the zero time if that only
// follows from events.
func (r *Room) nextAttention() time.Time {
	if r.speaking() || !r.answers() {
		return time.Time{}
	}
	return r.attentionState.again
}

// recheckAttention checks the open question to the room, if there is one: whether somebody has
// answered it, or nobody will.
func (r *Room) recheckAttention(ctx context.Context) {
	since := r.floor.Ticket() // before it is checked whether anybody is answered at all
	e := r.attentionState.hangs
	if e != nil && e.err != nil { // it was not kept
		r.attentionState.hangs, e = nil, nil
	}
	if e == nil || r.speaking() || len(r.pending) > 0 {
		return
	}
	facts := r.attentionFacts(e.event.Visibility, "")
	verdict, why := attention.Decide(facts)
	switch {
	case !r.answers():
		verdict, why = earshot.Silent, []string{OnHold}
	case !facts.Talk.Asked.Equal(r.ends(e.event)):
		verdict, why = earshot.Silent, []string{attention.Answered}
	case verdict == earshot.Wait:
		r.sooner(attention.Again(facts))
		return
	}
	r.attentionState.hangs = nil
	q := question{
		seat: r.seats[0], message: e.event, rank: rank(e), ticket: since, turn: earshot.TurnID(r.cfg.NewID()),
		askers: []participants.Participant{e.asker()}, rests: prompt.Provenance{Visibility: e.event.Visibility}, unasked: true,
		chain: e.machine(), aloud: e.event.Body.Kind() == earshot.KindUtterance,
	}
	if r.settle(ctx, r.decided(q, verdict, why)) && verdict == earshot.Speak {
		r.spokeUp(facts.Now, e.event.Visibility)
		r.wait(append(r.pending, q))
	}
}

// decided returns the event of a decision that the agent made by itself.
func (r *Room) decided(q question, verdict earshot.Verdict, why []string) earshot.Event {
	e := r.decision(q, verdict, "")
	d := e.Body.(earshot.Decision)
	d.Reasons = why
	e.Body = d
	return e
}

// sooner schedules a check of what waits at a time, if that is known.
func (r *Room) sooner(at time.Time) {
	if !at.IsZero() && (r.attentionState.again.IsZero() || at.Before(r.attentionState.again)) {
		r.attentionState.again = at
	}
}

// stopped reports whether a reply was ended by a command word.
func stopped(reply earshot.Reply) bool {
	return reply.Cut != nil && reply.Cut.Signal == interrupt.Command.String()
}
