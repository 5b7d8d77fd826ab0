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
	if within := r.cfg.Settings().Interruption.ResumeWithin.Duration(); within > 0 && leftOff(*reply) {
		reply.Resumable = r.cfg.Now().Add(within).Round(time.Microsecond)
	}
}

// leftOff reports whether part of a reply was not heard.
func leftOff(reply earshot.Reply) bool {
	return reply.Remainder() != "" || reply.Outcome == earshot.Interrupted && reply.Unfinished
}

// trackCut adds a reply of the agent to those that can be resumed, and removes the one that it has
// resumed, and the previous one of the same conversation.
func (s *seat) trackCut(e earshot.Event) {
	reply := e.Body.(earshot.Reply)
	cut := !reply.Resumable.IsZero()
	s.cut = slices.DeleteFunc(s.cut, func(had earshot.Event) bool {
		return cut && together(had.Visibility, e.Visibility) || had.ID == reply.Resumes && (cut || reply.Outcome == earshot.Completed)
	})
	if cut {
		s.cut = append(s.cut, e)
		s.cut = slices.Delete(s.cut, 0, max(0, len(s.cut)-keepSaid))
	}
}

// resumable returns the reply that somebody who asks with visibility v wants resumed, if everybody
// in a may know it: that of their own conversation before any other.
func (s *seat) resumable(v earshot.Visibility, a earshot.Audience, now time.Time) (cut earshot.Event, ok bool) {
	for _, e := range s.cut { // newest last
		fits := e.Visibility.Allows(a) && now.Before(e.Body.(earshot.Reply).Resumable)
		if fits && (!ok || together(e.Visibility, v) || !together(cut.Visibility, v)) {
			cut, ok = e, true
		}
	}
	return cut, ok
}

// concerns reports whether a reply that was cut off is the one that somebody means who asks what it
// was: they may name its subject in words of the reply or of its question.
func (s *seat) concerns(cut earshot.Event, asked earshot.Body) bool {
	var text earshot.Text
	switch b := asked.(type) {
	case earshot.Message:
		text = b.Text
	case earshot.Utterance:
		text = b.Text
	}
	reply := cut.Body.(earshot.Reply)
	topic := reflex.Topic(text)
	return len(topic) == 0 || reflex.Mentions(reply.Offered, topic) ||
		slices.ContainsFunc(s.history.lines, func(l line) bool { return l.event == reply.About && reflex.Mentions(l.text, topic) })
}

// resumer returns the agent whose reply somebody wants resumed who calls none by name: the one that
// was cut off last, by time, because a reply of this run has no sequence before it is kept. It is
// nil if they want something else, or nobody was cut off.
func (r *Room) resumer(e *entry, text earshot.Text) (last *seat) {
	if !slices.ContainsFunc(r.seats, func(s *seat) bool { return len(s.cut) > 0 }) || reflex.Recognise(text, r.seats[0].Name) != reflex.Resume {
		return nil
	}
	var newest earshot.Event
	for _, s := range r.seats {
		a := r.listeners(question{seat: s, message: e.event, visibility: e.event.Visibility})
		cut, ok := s.resumable(e.event.Visibility, a, r.cfg.Now())
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
	asked.filter.said, asked.filter.call = true, conversation.CallPrefixer{} // it is in the middle of a reply
	return func(ctx context.Context) iter.Seq2[string, error] {
		return q.progress.listens(func(yield func(string, error) bool) {
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
		heard = "What had been heard of it ends with " + quoteEnd(said, mostQuotedHeard) + "."
	}
	begun := "Begin it again."
	if rest, _ := reflex.Rest(reply); rest != "" {
		begun = "You have just gone on with it by saying " + quoteEnd(rest, mostQuotedRest) + ". Write only what comes after these words, from the next word on: repeat nothing, and do not introduce it. If nothing is left to say, write nothing."
	}
	return "\n" + conversation.Escape(fmt.Sprintf("You are asked to go on with what you were saying when %s. %s %s", r.endOf(reply), heard, begun))
}

// endOf tells the model what ended a reply that can be resumed.
func (r *Room) endOf(reply earshot.Reply) string {
	switch by, _ := outcome(reply); {
	case reply.Cut == nil:
		return "your reply broke off"
	case reply.Cut.Signal == interrupt.Shutdown.String():
		return "you were switched off"
	case by != "":
		return r.cfg.People.Name(by) + " cut you off"
	}
	return "somebody cut you off"
}

// quoteEnd returns the end of a text, of at most so many bytes, as it stands in an instruction of
// the program.
func quoteEnd(text string, most int) string {
	short := string(tail(earshot.Text(text), most))
	if len(short) < len(text) {
		short = "…" + short
	}
	return quotation(earshot.Text(short))
}
