package room

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/interrupt"
)

// A reply that was cut off can be resumed, whatever is answered in between, until it has been, or
// another reply of the same conversation is cut off, or it is forgotten, or it grows old. All of
// that follows from the replies on record, so it is the same after a restart.

// cutOff notes in a reply that has ended whether it can be resumed, and which one it has resumed.
func (r *Room) cutOff(e *turnResult) {
	reply := &e.reply
	reply.Resumes = e.question.resumes.ID
	if reply.Reflex && reply.Resumes == "" || reply.Offered == "" {
		return // a reflex answers again instead
	}
	if reply.Outcome == earshot.Interrupted {
		cut, _ := e.question.resumes.Body.(earshot.Reply)
		reply.Unfinished = reply.Unfinished || reply.Truncated || reply.Reflex && cut.Unfinished
	}
	if within := e.set.Interruption.ResumeWithin.Duration(); within > 0 && dialogue.Unfinished(*reply) {
		reply.Resumable = r.cfg.Now().Add(within).Round(time.Microsecond)
	}
}

// resumer returns the agent whose reply somebody wants resumed who calls none by name: the one that
// was cut off last, by time, because a reply of this run has no sequence before it is kept. It is
// nil if they want something else, or nobody was cut off.
func (r *Room) resumer(e *entry, text earshot.Text) (last *seat) {
	if !slices.ContainsFunc(r.seats, func(s *seat) bool { return s.history.HasCut() }) || reflex.Recognise(text, r.seats[0].Name) != reflex.Resume {
		return nil
	}
	var newest earshot.Event
	for _, s := range r.seats {
		a := r.listeners(question{seat: s, message: e.event, rests: prompt.Provenance{Visibility: e.event.Visibility}})
		cut, ok := s.history.Resumable(e.event.Visibility, a, r.cfg.Now())
		if ok && sees(e.event.Visibility, s.ID) && (last == nil || cut.At.After(newest.At)) {
			last, newest = s, cut
		}
	}
	return last
}

// resumption returns the words that continue a reply that was cut off: first those that are kept,
// and then, if the model had not finished, what it adds.
func (r *Room) resumption(set executive.Config, q *question, a earshot.Audience, aloud bool, cut earshot.Event) (func(context.Context) iter.Seq2[string, error], *modelRequest) {
	reply := cut.Body.(earshot.Reply)
	q.resumes = cut
	q.derives(cut.Visibility, append(slices.Clone(cut.Sources), cut.ID))
	if !reply.Unfinished || !r.modelWorks(q.seat) {
		reply.Unfinished = false // so that no word of it is left out
		return reads(reflex.Answer(reflex.Resume, reflex.Facts{Cut: &reply})), nil
	}
	rest, last := reflex.Rest(reply)
	asked := r.newModelRequest(set, q, a, aloud)
	asked.trace, asked.continues = q.trace, true
	asked.filter.Continue()
	return func(ctx context.Context) iter.Seq2[string, error] {
		return q.progress.Listen(func(yield func(string, error) bool) {
			if rest != "" && !yield(rest, nil) {
				return
			}
			c := conversation.NewContinuation(rest)
			more := false // the model has added something
			for text, err := range asked.toolRun.dated(r.streamModel(ctx, asked)) {
				if err != nil && !more && last != "" && !yield(last, nil) {
					return
				}
				if text = c.Next(text); !more && strings.TrimSpace(text) == "" {
					text = ""
				}
				more = more || text != ""
				if (text != "" || err != nil) && !yield(text, err) || err != nil {
					return
				}
			}
			text := c.End()
			if !more && strings.TrimSpace(text) == "" {
				text = last
			}
			if text != "" && ctx.Err() == nil {
				yield(text, nil)
			}
		})
	}, asked
}

const (
	// mostQuotedHeard and mostQuotedRest are how much of a resumed reply is quoted to the model, in
	// bytes: enough to know where it was.
	mostQuotedHeard = 600
	mostQuotedRest  = 1200
)

// goingOn tells the model that it continues a reply that was cut off: what was heard of it, and
// with which words it has resumed.
func (r *Room) goingOn(q *question) string {
	reply, ok := q.resumes.Body.(earshot.Reply)
	if !ok {
		return ""
	}
	heard := "Nobody had heard anything of it yet."
	if said := strings.TrimSpace(string(reply.Delivered())); said != "" {
		heard = "What had been heard of it ends with " + dialogue.QuoteEnd(said, mostQuotedHeard) + "."
	}
	begun := "Begin it again."
	if rest, _ := reflex.Rest(reply); rest != "" {
		begun = "You have just gone on with it by saying " + dialogue.QuoteEnd(rest, mostQuotedRest) + ". Write only what comes after these words, from the next word on: repeat nothing, and do not introduce it. If nothing is left to say, write nothing."
	}
	return "\n" + conversation.Escape(fmt.Sprintf("You are asked to go on with what you were saying when %s. %s %s", r.endOf(reply), heard, begun))
}

// endOf tells the model what ended a reply that can be resumed.
func (r *Room) endOf(reply earshot.Reply) string {
	switch by, _ := dialogue.Outcome(reply); {
	case reply.Cut == nil:
		return "your reply broke off"
	case reply.Cut.Signal == interrupt.Shutdown.String():
		return "you were switched off"
	case by != "":
		return r.cfg.People.Name(by) + " cut you off"
	}
	return "somebody cut you off"
}
