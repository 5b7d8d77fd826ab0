package record

import (
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/turncontrol"
	"earshot/interrupt"
	"earshot/participants"
)

// A LastWord is what an agent said last in a conversation, and whom it answered.
type LastWord struct {
	Said earshot.Event
	To   earshot.ParticipantID
}

// LastWords returns the last words of the conversations in which an agent spoke last: the program
// may have ended before the agents handed over. Answers to all agents call nobody.
func LastWords(past []earshot.Event, kind func(earshot.ParticipantID) participants.Type) (all []LastWord) {
	authors := make(map[earshot.EventID]earshot.ParticipantID)
	calls := make(map[earshot.TurnID]bool) // its reply may call others
	for _, e := range past {
		authors[e.ID] = e.Author
		if d, ok := e.Body.(earshot.Decision); ok && d.Turn != "" {
			calls[d.Turn] = !slices.Contains(d.Reasons, addressing.Everybody)
		}
		move := turncontrol.EventOf(e, kind).Kind
		if move == turncontrol.Irrelevant || move == turncontrol.Set {
			continue
		}
		all = slices.DeleteFunc(all, func(l LastWord) bool { return conversation.SameCircle(l.Said.Visibility, e.Visibility) })
		if reply, ok := e.Body.(earshot.Reply); ok && move == turncontrol.Word && reply.Outcome == earshot.Completed && calls[reply.Turn] {
			all = append(all, LastWord{e, authors[reply.About]})
		}
	}
	return all
}

// Unended returns the decisions in the past to begin a turn that has no end: the program was killed in
// the middle of it.
func Unended(past []earshot.Event) (decisions []earshot.Event) {
	ended := replies(past)
	for _, e := range past {
		d, ok := e.Body.(earshot.Decision)
		if _, over := ended[d.Turn]; ok && d.Turn != "" && !over {
			decisions = append(decisions, e)
		}
	}
	return decisions
}

// replies returns the replies in the past by their turns.
func replies(past []earshot.Event) map[earshot.TurnID]earshot.Reply {
	all := make(map[earshot.TurnID]earshot.Reply)
	for _, e := range past {
		if reply, ok := e.Body.(earshot.Reply); ok {
			all[reply.Turn] = reply
		}
	}
	return all
}

// CutShort returns the unanswered messages in the past: nothing was heard of the last answer of an
// agent, because earshot stopped. What was said since lost counts, too, if the turn about it has no end, or
// nothing was decided about it yet; a zero lost means that none is to count. had are the agents that have had their turn about a
// message.
func CutShort(past []earshot.Event, lost time.Time) (left []earshot.Event, had map[earshot.EventID][]earshot.ParticipantID) {
	type asked struct {
		about earshot.EventID
		of    earshot.ParticipantID
	}
	last, ended, began := make(map[asked]earshot.TurnID), replies(past), make(map[earshot.TurnID]time.Time)
	decided := make(map[earshot.EventID]bool)
	for _, e := range past {
		d, ok := e.Body.(earshot.Decision)
		if decided[d.About] = true; ok && d.Turn != "" {
			last[asked{d.About, d.Agent}], began[d.Turn] = d.Turn, e.At
		}
	}
	had, owed, spoken := make(map[earshot.EventID][]earshot.ParticipantID), make(map[earshot.EventID]bool), make(map[earshot.EventID]bool)
	for a, turn := range last {
		reply, over := ended[turn]
		if !over && !lost.IsZero() && !began[turn].Before(lost) {
			owed[a.about], spoken[a.about] = true, true
		} else if reply.Cut != nil && reply.Cut.Signal == interrupt.Shutdown.String() && reply.Delivered() == "" {
			owed[a.about] = true
		} else {
			had[a.about] = append(had[a.about], a.of)
		}
	}
	for _, e := range past {
		if !lost.IsZero() && !e.At.Before(lost) && !decided[e.ID] && len(e.To) > 0 {
			owed[e.ID], spoken[e.ID] = true, true
		}
		m, written := e.Body.(earshot.Message)
		if owed[e.ID] && written && m.Turn == "" || spoken[e.ID] && e.Body.Kind() == earshot.KindUtterance {
			left = append(left, e)
		}
	}
	return left, had
}
