package room

import (
	"time"

	"earshot"
	"earshot/conversation"
)

// replies is how soon people answer each other, from the end of one's words to the beginning of the
// other's. Most answers in a conversation come within half a second; after longer than this the
// speaker may as well have turned to the agent.
const replies = 1500 * time.Millisecond

// A remark is the last thing that was said to somebody else, as far as the voices tell.
type remark struct {
	from earshot.Handle
	end  time.Time
}

// overhears notes what was said to somebody else by a voice other than that of the agent's
// counterpart. The next words through the same microphone whose speaker is unknown answer that, and
// not the agent.
func (r *Room) overhears(in resolvedEvent) {
	u, is := in.event.Body.(earshot.Utterance)
	if !is || in.to != conversation.Aside || !attributed(in.event) && !in.unlike {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aside = remark{in.event.From, in.event.At.Add(u.Lasted)}
}

// answersBystander reports whether e may answer what was said to somebody else. r.mu must be held.
func (r *Room) answersBystander(e earshot.Event) bool {
	last := r.aside
	return last.from == e.From && !last.end.IsZero() && e.At.Sub(last.end) <= replies
}

// differentSpeakers reports whether two different people have said these, as far as anybody knows.
func (r *Room) differentSpeakers(a, b earshot.Event) bool {
	return attributed(a) && attributed(b) && a.From == b.From && !r.same(a, b)
}

// attributed reports whether the speaker is known, or is known to sound like the agent.
func attributed(e earshot.Event) bool { return e.Author != "" || likeAgent(e) }
