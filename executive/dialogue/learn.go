package dialogue

import (
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
)

// Learn takes an event into the dialogue, if it belongs there.
func (h *History) Learn(e earshot.Event, people *participants.Registry) {
	h.mended(e)
	l, ok := h.Line(e, people)
	switch {
	case !ok:
	case l.Announces:
		h.announced(l)
	default:
		h.Add(l)
	}
}

// Line returns an event as a line of the dialogue, and whether it belongs there. What was said
// aloud to others does not: people talk all day, and would displace everything else.
func (h *History) Line(e earshot.Event, people *participants.Registry) (Line, bool) {
	l := Line{Event: e.ID, Sequence: e.Sequence, At: e.At, Author: e.Author, From: e.From, To: e.To, Visibility: e.Visibility, Beyond: h.beyond(e)}
	switch body := e.Body.(type) {
	case earshot.Message:
		l.Revised, l.OwnWords = body.Revised, body.OwnWords
		l.About, l.Text, l.Turn, l.answers, l.attached = body.About, body.Whole(), body.Turn, body.ReplyTo, body.Attachments
		if e.Author == h.Agent && body.About == "" && len(e.To) > 0 { // it did not say this aloud
			l.Text, l.Note = "", "You wrote to "+people.Name(e.To[0])+": "+Quote(body.Text)
		}
	case earshot.Utterance:
		l.Text, l.Aloud, l.Voice, l.continues, l.manner = body.Text, true, body.Speaker, body.Continues, manner(e.Author, body)
		return l, slices.Contains(e.To, h.Agent)
	case earshot.Presence:
		l.To, l.Announces, l.comes = nil, true, body.Here
		l.Note = announcement(people, e.Author, body)
	case earshot.Reply:
		l.About, l.Text, l.Turn, l.Replies = body.About, body.Delivered(), body.Turn, true
		l.OwnWords = slices.ContainsFunc(h.Lines, func(x Line) bool { return x.Event == l.About && x.OwnWords })
		if body.Handover != nil { // these are the program's words
			return h.handed(l, body.Handover, people), true
		}
		if body.Reflex && strings.HasPrefix(string(l.Text), conversation.StatusReport) {
			l.Text = "" // what a reflex reported of the program's faults is nobody's own word
		}
		if e.Author != h.Agent {
			if !h.has(l.About) {
				l.About = "" // another agent was asked, so the line stays where it came
			}
			return l, l.Text != ""
		}
		l.To, l.Note = nil, ended(body, people.Name)
		return l, body.Offered != "" || l.Note != ""
	default:
		return l, false
	}
	return l, true
}

// Overhear takes words that were said aloud to nobody in particular into the dialogue, because the
// agent is answering them. It applies the corrections among edits, which are in the order in which they
// were made.
func (h *History) Overhear(e earshot.Event, edits []earshot.Event) {
	if u, aloud := e.Body.(earshot.Utterance); aloud && !h.has(e.ID) {
		h.Add(Line{Event: e.ID, At: e.At, Author: e.Author, From: e.From, Text: u.Text, Visibility: e.Visibility, Aloud: true, Voice: u.Speaker, manner: manner(e.Author, u)})
		for _, edit := range edits {
			h.mended(edit)
		}
	}
}

// handed returns the line l for a reply by which agents handed over.
func (h *History) handed(l Line, over *earshot.Handover, people *participants.Registry) Line {
	to := "a person"
	if over.To != "" {
		to = people.Name(over.To)
	}
	l.Note = people.Name(l.Author) + " has handed over to " + to + "."
	if over.Why == earshot.Apart {
		l.Note += " It had called an agent of another user, which only people may; tell them what you want of it."
	}
	l.Author, l.About, l.To, l.Text = h.Agent, "", nil, ""
	return l
}

// remember keeps a reply, for people who ask what the agent said.
func (h *History) remember(reply earshot.Event) {
	h.said = append(h.said, reply)
	h.said = slices.Delete(h.said, 0, max(0, len(h.said)-keepSaid))
}

// Latest returns the last reply that everybody in a may know.
func (h *History) Latest(a earshot.Audience) earshot.Event {
	for _, said := range slices.Backward(h.said) {
		if said.Visibility.Allows(a) {
			return said
		}
	}
	return earshot.Event{}
}

// Sleep frees the dialogue, and keeps what is needed to restore it. newest is the newest event.
func (h *History) Sleep(newest int64) {
	left := sleepingHistory{until: newest}
	for _, l := range h.Lines {
		left.lines = append(left.lines, l.Event)
	}
	for _, said := range h.said {
		left.said = append(left.said, said.ID)
	}
	*h = History{Agent: h.Agent, Recent: h.Recent, cut: h.cut, left: left}
}

// Wake restores the dialogue from the newest events that the agent may see: the dialogue as it was
// when the agent fell asleep, and what has happened since. An agent that was never awake has heard
// all of them. began is the newest event from before the program began.
func (h *History) Wake(events []earshot.Event, began int64, people *participants.Registry) {
	known := make(map[earshot.EventID]earshot.Event, len(events))
	for _, e := range events {
		known[e.ID] = e
	}
	for _, id := range h.left.lines {
		if l, ok := h.Line(known[id], people); ok {
			h.Lines = append(h.Lines, l)
		}
	}
	for _, e := range events {
		if e.Sequence <= h.left.until {
			h.mended(e)
		}
	}
	h.said = nil // replies from before the program began are among events
	for _, id := range h.left.said {
		if e, ok := known[id]; ok {
			h.remember(e)
		}
	}
	fresh := h.left.until == 0
	for _, e := range events {
		if e.Sequence <= h.left.until {
			continue
		}
		if fresh && e.Sequence > began {
			h.EndPresence()
			fresh = false
		}
		h.Learn(e, people)
		h.Spoke(e)
	}
	if fresh {
		h.EndPresence()
	}
	h.left = sleepingHistory{}
}

// Spoke remembers e if it is a reply of the agent itself: for people who ask what the agent said, or
// want it resumed.
func (h *History) Spoke(e earshot.Event) {
	if body, ok := e.Body.(earshot.Reply); ok && e.Author == h.Agent && body.Offered != "" && body.Handover == nil {
		h.remember(e)
		h.trackCut(e, body)
	}
}

// manner returns a note for the model on words that were said aloud: why they may not be by the
// person they seem to be by. Somebody whom the provider knows, as in a call where everybody is
// heard separately, is not mistaken for another.
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
