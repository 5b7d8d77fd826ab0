package room

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/steer"
	"earshot/interrupt"
	"earshot/participants"
)

// The reasons for decisions about what is said to an agent that works on something.
const (
	HowFar     = "it asks how far I am, which I say without stopping"
	Meanwhile  = "it has nothing to do with what I am at, so that goes on, and I answer afterwards"
	Afterwards = "it is something else to do, so I do it after what I am at"
	Replaces   = "it comes in place of what I was at"
	Steers     = "it says how I am to go on with what I was at, so I begin that anew"
)

// An amid is what something means that is said to an agent while it works. The zero
// value is said while it does not.
type amid struct {
	kind steer.Kind
	is   bool    // there is work
	live *labour // of the turn; nil for nothing that goes on in one
	seat *seat   // of the agent

	begins bool // it is still being said
}

// goesOn reports whether the work goes on.
func (a amid) goesOn() bool {
	return a.live != nil && (a.kind == steer.Side || a.kind == steer.Status || a.kind == steer.Task)
}

// amidst tells what a text means that was said to some agents, by somebody whom they
// answer. A turn that talks is cut by whoever talks to its agent, whatever they say;
// one that works and says nothing meanwhile is not, unless it is meant; and how far
// one is may be asked until the first word has come.
func (r *Room) amidst(e earshot.Event, who participants.Participant, to []earshot.ParticipantID, text earshot.Text) amid {
	live := r.labouring(e, to)
	if live == nil || who.Type.Machine() {
		return amid{}
	}
	a := amid{is: true, live: live.labour, seat: live.seat}
	a.kind = steer.Classify(text, live.seat.Name, live.labour.on)
	works, spoken := live.labour.quiet()
	if works || !spoken && (a.kind == steer.Status || a.kind == steer.Stop) {
		return a
	}
	return amid{}
}

// labouring returns the live turn, if it is of the same conversation as e, and of one
// of the agents that e calls.
func (r *Room) labouring(e earshot.Event, to []earshot.ParticipantID) *live {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.live
	if l == nil || l.labour == nil || !together(l.message.Visibility, e.Visibility) {
		return nil
	}
	for _, id := range to {
		if id == l.seat.ID {
			return l
		}
	}
	return nil
}

// of returns what it means to the work of one agent.
func (a amid) of(by *seat) amid {
	if a.seat != by {
		return amid{}
	}
	return a
}

// signal returns what s is to the floor, given what is worked on.
func (a amid) signal(s *interrupt.Signal) *interrupt.Signal {
	switch {
	case s == nil || !a.is || s.Kind == interrupt.Command:
	case a.begins:
		if s.Kind == interrupt.Addressed || s.Kind == interrupt.Words {
			s.Kind = interrupt.Voice
		}
	case a.kind == steer.Stop:
		s.Kind = interrupt.Command
	case a.goesOn():
		s.Kind = interrupt.Over
	}
	return s
}

// decides returns what was decided about it, and why, given the work.
func (a amid) decides(v earshot.Verdict, reasons []string) (earshot.Verdict, []string) {
	if !a.is || v != earshot.Speak {
		return v, reasons
	}
	switch a.kind {
	case steer.Stop:
		return earshot.Silent, []string{Commanded}
	case steer.Status:
		return earshot.Note, append(reasons, HowFar)
	}
	why := map[steer.Kind]string{steer.Side: Meanwhile, steer.Task: Afterwards, steer.Instead: Replaces, steer.Steer: Steers}
	return v, append(reasons, why[a.kind])
}

// patience is how long who has asked something waits for a work that says nothing
// meanwhile: longer than most tools take, and as long as one waits for a slow model.
const patience = 10 * time.Second

// impatient returns a channel that yields when somebody has waited so long, nil if
// nobody does.
func (r *Room) impatient() <-chan time.Time {
	if i := r.waitsMeanwhile(); i >= 0 {
		return time.After(r.pending[i].message.At.Add(patience).Sub(r.cfg.Now()))
	}
	return nil
}

// waitsMeanwhile returns which of the questions that wait does so for a work that
// goes on, -1 for none.
func (r *Room) waitsMeanwhile() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		return -1
	}
	return slices.IndexFunc(r.pending, func(q question) bool { return q.amid.goesOn() && q.amid.live == r.live.labour })
}

// presses gives the floor to who has waited long enough.
func (r *Room) presses() {
	i := r.waitsMeanwhile()
	if i < 0 || r.cfg.Now().Before(r.pending[i].message.At.Add(patience)) {
		return
	}
	q := r.pending[i]
	r.floor.Signal(&interrupt.Signal{
		Kind: interrupt.Addressed, From: q.message.From, Via: q.message.Via, By: q.message.Author, Confidence: 1, At: r.cfg.Now(),
	})
	for i, waits := range r.pending {
		r.pending[i].ticket = r.floor.Renew(waits.ticket, r.floor.Ticket())
		if waits.amid.goesOn() {
			r.pending[i].amid = amid{} // it goes on no more
		}
	}
}

// reports tells whoever asked how far an agent is, where they asked; if they did so
// aloud, where everybody reads. The work goes on.
func (r *Room) reports(e *entry) {
	if e.amid.kind != steer.Status || e.amid.live == nil {
		return
	}
	who := ""
	if len(r.agents()) > 1 {
		who = e.amid.seat.Name
	}
	n := earshot.Notice{Text: e.amid.live.work(r.cfg.Now()).Report(who)}
	if e.event.Via != "" {
		r.tell(e.event.Via, n)
		return
	}
	told := r.event(e.event.Visibility, n)
	for _, p := range r.around(told.Visibility) {
		p.show(told)
	}
}

// anew tells the model that what was said last is how to go on with what was broken
// off for it.
func (q question) anew() string {
	if q.amid.kind != steer.Steer || q.amid.live == nil {
		return ""
	}
	work := q.amid.live.work(q.message.At)
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
