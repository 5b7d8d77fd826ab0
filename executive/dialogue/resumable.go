package dialogue

import (
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/interrupt"
)

// trackCut adds a reply of the agent to those that can be resumed, and removes the reply that it
// has resumed, and the previous one of the same conversation.
func (h *History) trackCut(e earshot.Event, reply earshot.Reply) {
	cut := !reply.Resumable.IsZero()
	h.cut = slices.DeleteFunc(h.cut, func(had earshot.Event) bool {
		return cut && conversation.SameCircle(had.Visibility, e.Visibility) || had.ID == reply.Resumes && (cut || reply.Outcome == earshot.Completed)
	})
	if cut {
		h.cut = append(h.cut, e)
		h.cut = slices.Delete(h.cut, 0, max(0, len(h.cut)-keepSaid))
	}
}

// Resumable returns the reply that can be resumed for somebody who asks with visibility v, if
// everybody in a may know that reply. A reply in the asker's own conversation comes before any
// other.
func (h *History) Resumable(v earshot.Visibility, a earshot.Audience, now time.Time) (cut earshot.Event, ok bool) {
	for _, e := range h.cut { // newest last
		fits := e.Visibility.Allows(a) && now.Before(e.Body.(earshot.Reply).Resumable)
		if fits && (!ok || conversation.SameCircle(e.Visibility, v) || !conversation.SameCircle(cut.Visibility, v)) {
			cut, ok = e, true
		}
	}
	return cut, ok
}

// Concerns reports whether an interrupted reply is about what somebody wants resumed: whether it or
// its question mentions that.
func (h *History) Concerns(cut earshot.Event, mentioned func(earshot.Text) bool) bool {
	reply := cut.Body.(earshot.Reply)
	return mentioned(reply.Offered) || slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Event == reply.About && mentioned(l.Text) })
}

// keepSaid is how many replies are remembered: one for each conversation that may go on at the same
// time.
const keepSaid = conversation.MaxCircles

// Unfinished reports whether part of a reply was not heard.
func Unfinished(reply earshot.Reply) bool {
	return reply.Remainder() != "" || reply.Outcome == earshot.Interrupted && reply.Unfinished
}

// ended returns what the model is told about how its reply ended, or "" if it ended by itself and
// was heard.
func ended(r earshot.Reply, name func(earshot.ParticipantID) string) string {
	by, note := Outcome(r)
	if by != "" {
		return name(by) + " " + note
	}
	return note
}

// Outcome returns how a reply of an agent ended, in the words for its model. by is who cut the
// reply off; note leaves out their name. Both are empty if the reply ended by itself and was heard.
func Outcome(r earshot.Reply) (by earshot.ParticipantID, note string) {
	where := " there."
	if r.Delivered() == "" {
		where = " before you said anything."
	}
	switch {
	case r.Cut != nil && r.Cut.Signal == interrupt.Shutdown.String():
		return "", "You were switched off" + where
	case r.Cut != nil && r.Cut.By == "":
		return "", "somebody cut you off" + where
	case r.Cut != nil:
		return r.Cut.By, "cut you off" + where
	case r.Offered == "":
		return "", ""
	case r.Delivered() == "":
		return "", "You answered, but nobody heard it."
	case r.Outcome == earshot.Failed:
		return "", "Your reply broke off there."
	}
	return "", ""
}
