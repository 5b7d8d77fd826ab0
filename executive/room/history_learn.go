package room

import (
	"earshot"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/participants"
	"slices"
	"strings"
)

// learn takes what happened into the dialogue, if it belongs there.
func (h *history) learn(e earshot.Event, people *participants.Registry) {
	h.mended(e)
	h.revised(e)
	l, ok := h.line(e, people)
	switch {
	case !ok:
	case l.announces:
		h.announced(l)
	default:
		h.add(l)
	}
}

// line returns what happened as a line of the dialogue. What was said aloud to
// others is none: people talk all day, and would drive everything else out.
func (h *history) line(e earshot.Event, people *participants.Registry) (line, bool) {
	l := line{event: e.ID, sequence: e.Sequence, at: e.At, author: e.Author, from: e.From, to: e.To, visibility: e.Visibility}
	switch body := e.Body.(type) {
	case earshot.Message:
		l.revised, l.ownWords = body.Revised, body.OwnWords
		l.about, l.text, l.turn, l.answers, l.attached = body.About, body.Whole(), body.Turn, body.ReplyTo, body.Attachments
		if e.Author == h.agent && body.About == "" && len(e.To) > 0 { // which it did not say aloud
			l.text, l.note = "", "You wrote to "+people.Name(e.To[0])+": "+quotation(body.Text)
		}
	case earshot.Utterance:
		l.text, l.aloud, l.voice, l.continues, l.manner = body.Text, true, body.Speaker, body.Continues, manner(e.Author, body)
		return l, slices.Contains(e.To, h.agent)
	case earshot.Presence:
		l.to, l.announces, l.comes = nil, true, body.Here
		l.note = announcement(people, e.Author, body)
	case earshot.Reply:
		l.about, l.text, l.turn, l.replies = body.About, body.Delivered(), body.Turn, true
		l.ownWords = slices.ContainsFunc(h.lines, func(x line) bool { return x.event == l.about && x.ownWords })
		if body.Handover != nil { // which is the house's word
			return h.handed(l, body.Handover, people), true
		}
		if body.Reflex && strings.HasPrefix(string(l.text), reflex.Reporting) {
			l.text = "" // what a reflex reported of the house's faults is nobody's own word
		}
		if e.Author != h.agent {
			if !h.has(l.about) {
				l.about = "" // another was asked, so it stands where it came
			}
			return l, l.text != ""
		}
		l.to, l.note = nil, ended(body, people.Name)
		return l, body.Offered != "" || l.note != ""
	default:
		return l, false
	}
	return l, true
}

// overhears takes what was said aloud to nobody in particular into the dialogue, since
// the agent answers it, with what has been changed since.
func (h *history) overhears(e earshot.Event, changes []scene.Version) {
	if u, aloud := e.Body.(earshot.Utterance); aloud && !h.has(e.ID) {
		h.add(line{event: e.ID, at: e.At, author: e.Author, from: e.From, text: u.Text, visibility: e.Visibility, aloud: true, voice: u.Speaker, manner: manner(e.Author, u)})
		for _, v := range slices.Backward(changes) {
			h.mended(v.Edit)
		}
	}
}

// handed returns the line l of a reply by which agents handed over.
func (h *history) handed(l line, over *earshot.Handover, people *participants.Registry) line {
	to := "a person"
	if over.To != "" {
		to = people.Name(over.To)
	}
	l.note = people.Name(l.author) + " has handed over to " + to + "."
	if over.Why == earshot.Apart {
		l.note += " It had called an agent of another user, which only people may; tell them what you want of it."
	}
	l.author, l.about, l.to, l.text = h.agent, "", nil, ""
	return l
}

// spoke remembers a reply, for those who ask what was said.
func (h *history) spoke(reply earshot.Event) {
	h.said = append(h.said, reply)
	h.said = slices.Delete(h.said, 0, max(0, len(h.said)-keepSaid))
}

// latest returns the last reply that everybody in a may know of.
func (h *history) latest(a earshot.Audience) earshot.Event {
	for _, said := range slices.Backward(h.said) {
		if said.Visibility.Allows(a) {
			return said
		}
	}
	return earshot.Event{}
}

// sleep frees the dialogue, and keeps what is needed to have it again.
func (h *history) sleep(newest int64) {
	left := sleepingHistory{until: newest}
	for _, l := range h.lines {
		left.lines = append(left.lines, l.event)
	}
	for _, said := range h.said {
		left.said = append(left.said, said.ID)
	}
	*h = history{agent: h.agent, recent: h.recent, cut: h.cut, left: left}
}

// wake makes the dialogue again of the newest events that the agent may see: what
// it was when it fell asleep, and what has happened since. One that was never
// awake has heard all of them; began is the newest of those from before the
// program began.
func (h *history) wake(events []earshot.Event, began int64, people *participants.Registry) {
	known := make(map[earshot.EventID]earshot.Event, len(events))
	for _, e := range events {
		known[e.ID] = e
	}
	for _, id := range h.left.lines {
		if l, ok := h.line(known[id], people); ok {
			h.lines = append(h.lines, l)
		}
	}
	for _, e := range events {
		if e.Sequence <= h.left.until {
			h.mended(e)
			h.revised(e)
		}
	}
	h.said = nil // what is known of them from before the program began is among events
	for _, id := range h.left.said {
		if e, ok := known[id]; ok {
			h.spoke(e)
		}
	}
	fresh := h.left.until == 0
	for _, e := range events {
		if e.Sequence <= h.left.until {
			continue
		}
		if fresh && e.Sequence > began {
			h.nobody()
			fresh = false
		}
		h.learn(e, people)
		h.relearn(e)
	}
	if fresh {
		h.nobody()
	}
	h.left = sleepingHistory{}
}

// relearn remembers e if it is a reply of the agent's own, from before it can
// tell how that came about.
func (h *history) relearn(e earshot.Event) {
	if body, ok := e.Body.(earshot.Reply); ok && e.Author == h.agent && body.Offered != "" && body.Handover == nil {
		h.spoke(e)
		h.trackCut(e)
	}
}

// manner returns what a model is told beside words of an author that were said aloud: why
// they may be somebody else's than it seems. Whom the provider knows, as in a call where
// everybody is heard for themselves, is not taken for another.
func manner(author earshot.ParticipantID, u earshot.Utterance) earshot.Text {
	switch {
	case u.LikeAgent:
		return " (in a voice like yours)"
	case u.Overlaps && author != "" && u.Speaker.ID == "":
		return " (somebody else spoke at the same time)"
	case u.Overlaps:
		return " (somebody else spoke at the same time: who said it, and what, may be mistaken)"
	}
	return ""
}
