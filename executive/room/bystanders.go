package room

import (
	"time"

	"earshot"
	"earshot/conversation"
)

// replies is how soon people answer each other, from the end of what one says to the
// beginning of what the other does. Most answers in a talk come within half a second;
// who takes longer than this may as well have turned to the agent.
const replies = 1500 * time.Millisecond

// A remark is the last that was said to somebody else, as far as the voices tell.
type remark struct {
	from earshot.Handle
	end  time.Time
}

// overhears notes what was said to somebody else by a voice that is not that of whom the
// agent is in talk with. What comes next through the same microphone, of which nobody
// can tell whose it is, answers that, and not the agent.
func (r *Room) overhears(in resolvedEvent) {
	u, is := in.event.Body.(earshot.Utterance)
	if !is || in.to != conversation.Aside || !attributed(in.event) && !in.unlike {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aside = remark{in.event.From, in.event.At.Add(u.Lasted)}
}

// answersBystander reports whether e may answer what was said to somebody else. It wants r.mu.
func (r *Room) answersBystander(e earshot.Event) bool {
	last := r.aside
	return last.from == e.From && !last.end.IsZero() && e.At.Sub(last.end) <= replies
}

// differentSpeakers reports whether two people have said these, as far as anybody knows.
func (r *Room) differentSpeakers(a, b earshot.Event) bool {
	return attributed(a) && attributed(b) && a.From == b.From && !r.same(a, b)
}

// attributed reports whether it can be told who has said something, or that it was somebody
// who sounds like the agent.
func attributed(e earshot.Event) bool { return e.Author != "" || likeAgent(e) }
