package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/admission"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/seat"
)

// A reply that was cut off can be resumed, whatever is answered in between, until it has been, or
// another reply of the same conversation is cut off, or it is forgotten, or it grows old. All of
// that follows from the replies on record, so it is the same after a restart.

// cutOff notes in a reply that has ended whether it can be resumed, and which one it has resumed.
func (r *Room) cutOff(e *turnResult) {
	reply := &e.Reply
	reply.Resumes = e.Question.Resumes.ID
	if reply.Reflex && reply.Resumes == "" || reply.Offered == "" {
		return // a reflex answers again instead
	}
	if reply.Outcome == earshot.Interrupted {
		cut, _ := e.Question.Resumes.Body.(earshot.Reply)
		reply.Unfinished = reply.Unfinished || reply.Truncated || reply.Reflex && cut.Unfinished
	}
	if within := e.set.Interruption.ResumeWithin.Duration(); within > 0 && dialogue.Unfinished(*reply) {
		reply.Resumable = r.cfg.Now().Add(within).Round(time.Microsecond)
	}
}

// resumer returns the agent whose reply somebody wants resumed who calls none by name: the one that
// was cut off last, by time, because a reply of this run has no sequence before it is kept. It is
// nil if they want something else, or nobody was cut off.
func (r *Room) resumer(e *admission.Entry, text earshot.Text) (last *seat.Seat) {
	if !slices.ContainsFunc(r.seats, func(s *seat.Seat) bool { return s.History.HasCut() }) || reflex.Recognise(text, r.seats[0].Name) != reflex.Resume {
		return nil
	}
	var newest earshot.Event
	for _, s := range r.seats {
		a := r.listeners(question.Question{Seat: s, Message: e.Event(), Rests: prompt.Provenance{Visibility: e.Event().Visibility}})
		cut, ok := s.History.Resumable(e.Event().Visibility, a, r.cfg.Now())
		if ok && e.Event().Visibility.AllowsAgent(s.ID) && (last == nil || cut.At.After(newest.At)) {
			last, newest = s, cut
		}
	}
	return last
}
