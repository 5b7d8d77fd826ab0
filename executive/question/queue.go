package question

import (
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/seat"
)

// A Queue is the questions that wait for their turn, oldest first.
type Queue []Question

// A Suppression is a question that is given up.
type Suppression struct {
	Question
	By earshot.EventID // the message that is answered in its place; empty if too many questions waited
}

// Supersede keeps, of the questions that wait for one agent in one conversation, the most urgent,
// and of equals the newest, which the model sees last. The others have become context; their turns
// end before they begin, so a burst to a busy agent is answered in order, by one turn. A private
// question is no context for what others asked, so it waits separately. Of the conversations of one
// agent at most [conversation.MaxCircles] wait: beyond that the one that has waited longest is
// given up.
func (all Queue) Supersede() (kept Queue, dropped []Suppression) {
	for _, q := range all {
		i := slices.IndexFunc(kept, func(k Question) bool {
			return k.Seat == q.Seat && !k.Separate(&q)
		})
		switch {
		case i < 0:
			kept = append(kept, q)
		case q.Precedes(kept[i]):
			dropped = append(dropped, Suppression{kept[i], q.Message.ID})
			q.TakeOver(kept[i])
			kept = append(slices.Delete(kept, i, i+1), q)
		default:
			dropped = append(dropped, Suppression{q, kept[i].Message.ID})
			kept[i].TakeOver(q)
		}
	}
	kept, longest := kept.bounded()
	return kept, append(dropped, longest...)
}

// bounded gives up the questions to an agent that have waited longest, if there are too many.
func (all Queue) bounded() (kept Queue, dropped []Suppression) {
	circles := make(map[*seat.Seat]int)
	for _, q := range slices.Backward(all) {
		if circles[q.Seat]++; circles[q.Seat] > conversation.MaxCircles {
			dropped = append(dropped, Suppression{Question: q})
			continue
		}
		kept = append(kept, q)
	}
	slices.Reverse(kept)
	return kept, dropped
}

// Split returns the questions that do not fit, and those that do.
func (all Queue) Split(fits func(Question) bool) (rest, fitting Queue) {
	for _, q := range all {
		if fits(q) {
			fitting = append(fitting, q)
			continue
		}
		rest = append(rest, q)
	}
	return rest, fitting
}

// Next returns the index of the question that is answered next: what people asked goes first, and
// then what agents asked. The conversation in which somebody has waited longest precedes the others;
// among its questions to several agents, the most urgent goes first, and of equals the newest,
// because the talk has moved on. The queue must not be empty.
func (all Queue) Next() int {
	best := max(0, slices.IndexFunc(all, func(q Question) bool { return !q.Chain }))
	for i := best + 1; i < len(all); i++ {
		was, is := all[best], all[i]
		if is.Message.ID != was.Message.ID && !is.Separate(&was) && is.Precedes(was) {
			best = i
		}
	}
	return best
}

// Overtakes reports whether a person waits for an answer in the conversation of q who has asked
// since it began: then the agents have no floor to leave.
func (all Queue) Overtakes(q Question) bool {
	return slices.ContainsFunc(all, func(p Question) bool {
		return !p.Chain && p.Message.ID != q.Origin() && conversation.SameCircle(p.Message.Visibility, q.Message.Visibility)
	})
}
