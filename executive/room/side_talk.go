package room

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/decision"
	"earshot/executive/midturn"
	"earshot/executive/think"
	"earshot/interrupt"
	"earshot/participants"
)

// A sideTalk is what something means that is said to an agent while it works. The zero value was
// said while the agent did not work.
type sideTalk struct {
	kind     midturn.Kind
	is       bool              // the agent was working
	progress *midturn.Progress // of the turn; nil if the work is not a turn
	seat     *seat             // of the agent

	begins bool // it is still being said

	// For a thought that somebody asked for: the thought.
	thought *think.View
}

// goesOn reports whether the work continues.
func (a sideTalk) goesOn() bool {
	return a.progress != nil && (a.kind == midturn.Side || a.kind == midturn.Status || a.kind == midturn.Task)
}

// resolveSideTalk determines what a text means that was said to some agents, by somebody whom they
// answer. A turn that talks is cut by anybody who talks to its agent, whatever they say. A turn
// that works silently is only cut if the text is about the work, or the agent waits for another
// one. Its progress can be asked for until the first word has come.
func (r *Room) resolveSideTalk(e earshot.Event, who participants.Participant, to []earshot.ParticipantID, text earshot.Text) sideTalk {
	if who.Type.Machine() {
		return sideTalk{}
	}
	live, agent, busy := r.busyTurn(e, to)
	switch {
	case !busy:
		return r.whileThinking(e, to, text)
	case live == nil:
		return sideTalk{}
	}
	a := sideTalk{is: true, progress: live.progress, seat: live.seat}
	a.kind = midturn.Classify(text, agent, live.progress.On())
	works, spoken := live.progress.Quiet()
	if (a.kind == midturn.Side || a.kind == midturn.Task) && r.exchanges() {
		return sideTalk{} // a person precedes what agents have to say to each other
	}
	if (a.kind == midturn.Steer || a.kind == midturn.Instead) && !r.interrupts(e.From) {
		return sideTalk{} // nothing is broken off
	}
	if works || !spoken && (a.kind == midturn.Status || a.kind == midturn.Stop) {
		return a
	}
	return sideTalk{}
}

// exchanges reports whether the agent that has the floor waits for another one.
func (r *Room) exchanges() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.awaitedSeats) > 0
}

// whileThinking is the same while nobody talks, and an agent thinks about something that it was
// asked in the same conversation. Anything unrelated is said to an agent that has time.
func (r *Room) whileThinking(e earshot.Event, to []earshot.ParticipantID, text earshot.Text) sideTalk {
	main := r.agents()[0]
	if !slices.Contains(to, main.ID) {
		return sideTalk{}
	}
	var about *think.View
	for _, v := range r.mind.View() {
		mine := about == nil || r.cfg.People.Current(v.By) == r.cfg.People.Current(e.Author) || r.cfg.People.Current(about.By) != r.cfg.People.Current(e.Author)
		if v.Cause.Asked() && mine && conversation.SameCircle(v.Visibility, e.Visibility) {
			about = &v
		}
	}
	if about == nil {
		return sideTalk{}
	}
	a := sideTalk{is: true, thought: about, kind: midturn.Classify(text, main.Name, about.Question.Text)}
	if a.kind == midturn.Side || a.kind == midturn.Task {
		return sideTalk{}
	}
	return a
}

// busyTurn returns the live turn, if it belongs to the conversation of e and to one of the agents
// that e calls, and that agent's name; busy says whether there is one.
func (r *Room) busyTurn(e earshot.Event, to []earshot.ParticipantID) (_ *activeTurn, agent string, busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.activeTurn
	if l == nil || l.progress == nil || !conversation.SameCircle(l.message.Visibility, e.Visibility) || !slices.Contains(to, l.seat.ID) {
		return nil, "", l != nil
	}
	return l, l.seat.Name, true
}

// sideTalkFor returns what it means for the work of one agent.
func (r *Room) sideTalkFor(a sideTalk, by *seat) sideTalk {
	if a.thought != nil && by == r.seats[0] || a.progress != nil && a.seat == by {
		return a
	}
	return sideTalk{}
}

// atOnce returns what an agent says at once to something about its thought; empty for nothing.
func (r *Room) atOnce(a sideTalk) string {
	switch {
	case a.thought == nil:
	case a.kind == midturn.Status:
		return r.thinksOf(a.thought).Report("")
	case a.kind == midturn.Steer:
		return "I take that into account, and come back to it."
	}
	return ""
}

// thinksOf returns the progress of a thought.
func (r *Room) thinksOf(v *think.View) midturn.Work {
	w := midturn.Work{
		Thought: true, On: v.Question.Text, For: r.cfg.Now().Sub(v.At), GaveWay: len(v.Spans), Aside: v.Phase == think.Parked,
	}
	from := 0
	for _, s := range append(slices.Clone(v.Spans), think.Span{To: len(v.Text)}) { // there may be no space between them
		w.Words += len(strings.Fields(string(v.Text[from:s.To])))
		from = s.To
	}
	for _, other := range r.mind.View() {
		if other.ID == v.ID {
			break
		}
		if v.Phase == think.Waiting && other.Cause.Asked() {
			w.Behind++
		}
	}
	return w
}

// redirectThought applies to a thought what was said about it, once that is kept.
func (r *Room) redirectThought(e *entry) {
	v := e.sideTalk.thought
	if v == nil {
		return
	}
	is := func(q think.Question) bool { return q.ID == v.ID }
	switch e.sideTalk.kind {
	case midturn.Stop, midturn.Instead:
		r.mind.Stop(e.event.Author, is)
	case midturn.Steer:
		r.mind.Steer(e.event.Author, is)
	}
}

// signal returns the signal s for the floor, given the work.
func (a sideTalk) signal(s *interrupt.Signal) *interrupt.Signal {
	switch {
	case s == nil || !a.is || a.thought != nil || s.Kind == interrupt.Command:
	case a.begins:
		if s.Kind == interrupt.Addressed || s.Kind == interrupt.Words {
			s.Kind = interrupt.Voice
		}
	case a.kind == midturn.Stop:
		s.Kind = interrupt.Command
	case a.goesOn():
		s.Kind = interrupt.Over
	}
	return s
}

// decides returns the decision and its reasons, given the work.
func (a sideTalk) decides(v earshot.Verdict, reasons []string) (earshot.Verdict, []string) {
	switch stops := slices.Contains(reasons, decision.Commanded); {
	case a.thought != nil && a.kind == midturn.Stop && (stops || v == earshot.Speak):
		return earshot.Silent, []string{decision.Commanded, decision.Thinks}
	case !a.is || v != earshot.Speak:
		return v, reasons
	case a.thought != nil:
		return v, append(reasons, map[midturn.Kind]string{midturn.Status: decision.HowFar, midturn.Steer: decision.Considers, midturn.Instead: decision.Replaces}[a.kind])
	}
	switch a.kind {
	case midturn.Stop:
		return earshot.Silent, []string{decision.Commanded}
	case midturn.Status:
		return earshot.Note, append(reasons, decision.HowFar)
	}
	why := map[midturn.Kind]string{midturn.Side: decision.Meanwhile, midturn.Task: decision.Afterwards, midturn.Instead: decision.Replaces, midturn.Steer: decision.Steers}
	return v, append(reasons, why[a.kind])
}

// patience is how long a question waits for silent work: longer than most tools take, and as long
// as one waits for a slow model.
const patience = 10 * time.Second

// nextGrant returns when a question has waited that long; the zero time if none waits.
func (r *Room) nextGrant() time.Time {
	if i := r.waitsMeanwhile(); i >= 0 {
		return r.pending[i].message.At.Add(patience)
	}
	return time.Time{}
}

// waitsMeanwhile returns the index of the question that waits for work that continues, -1 for none.
func (r *Room) waitsMeanwhile() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.activeTurn == nil {
		return -1
	}
	return slices.IndexFunc(r.pending, func(q question) bool { return q.sideTalk.goesOn() && q.sideTalk.progress == r.activeTurn.progress })
}

// grantWaiting gives the floor to the question that has waited long enough.
func (r *Room) grantWaiting(context.Context) {
	i := r.waitsMeanwhile()
	if i < 0 || r.cfg.Now().Before(r.pending[i].message.At.Add(patience)) {
		return
	}
	q := r.pending[i]
	r.heed(&interrupt.Signal{
		Kind: interrupt.Addressed, From: q.message.From, Via: q.message.Via, By: q.message.Author, Confidence: 1, At: r.cfg.Now(),
	})
	for i, waits := range r.pending {
		r.pending[i].ticket = r.floor.Renew(waits.ticket, r.floor.Ticket())
		if waits.sideTalk.goesOn() {
			r.pending[i].sideTalk = sideTalk{} // the work does not continue
		}
	}
}

// reports tells the asker the progress of an agent, where they asked; if they asked aloud, where
// everybody reads. The work continues.
func (r *Room) reports(e *entry) {
	if e.sideTalk.kind != midturn.Status || e.sideTalk.progress == nil {
		return
	}
	who := ""
	if len(r.agents()) > 1 {
		who = e.sideTalk.seat.Name
	}
	n := earshot.Notice{Text: e.sideTalk.progress.Work(r.cfg.Now()).Report(who)}
	if e.event.Via != "" {
		r.tell(e.event.Via, n)
		return
	}
	told := r.event(e.event.Visibility, n)
	for _, p := range r.places.Around(told.Visibility) {
		p.Show(told)
	}
}

// anew tells the model that the last message says how to continue the work that was broken off for
// it.
func (q question) anew() string {
	if q.sideTalk.kind != midturn.Steer || q.sideTalk.progress == nil {
		return ""
	}
	work := q.sideTalk.progress.Work(q.message.At)
	used, done := work.Tools, ""
	if work.Using != "" {
		used = append(used, work.Using)
	}
	if len(used) > 0 {
		done = fmt.Sprintf(" You had used %s for it, and what was done by that is done.", strings.Join(used, ", "))
	}
	return "\nWhat was said last is no question of its own: it says how you are to go on with what you were asked before, and broke off." +
		done + " Do all of it now, as they want it."
}
