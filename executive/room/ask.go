package room

import (
	"context"
	"errors"
	"iter"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/latency"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/llm"
)

// errMute says that the model returned nothing, twice.
var errMute = errors.New("the model returned nothing, twice")

// ErrNoModel says that the room has no model for something that needs one.
var ErrNoModel = errors.New("no language model is set up")

// A modelRequest is one question to the model, and its result besides words. It belongs to the
// goroutine of the text, and to conclude once the turn has ended.
type modelRequest struct {
	req       *llm.Request
	filter    conversation.ReplyFilter
	truncated bool        // the reply ended at its length limit
	halved    bool        // the dialogue was too long for the model
	model     llm.Service // the model that is asked, with its tools
	toolRun   *toolRun
	trace     *latency.Trace // of the turn; nil for what is answered within one

	patience time.Duration // after which the waiting person is told that nothing has come yet; 0 means never
	via      string        // where that person is

	continues bool // it continues words that were said already, so it may have nothing to add

	// leaves is said in place of a reply that passes control without a word; left is set if that
	// happened. It is said to a person.
	leaves string
	to     earshot.ParticipantID
	left   bool
}

// noWord is what a waiting person is told while a model says nothing.
const noWord = "the model has not answered yet; it may be loading. /stop gives up, earshot doctor says more"

// warnWhenSlow tells the waiting person that the model says nothing, if that lasts too long. The
// returned function must be called when something has come.
func (r *Room) warnWhenSlow(asked *modelRequest) (comes func()) {
	if asked.patience <= 0 {
		return func() {}
	}
	t := time.AfterFunc(asked.patience, func() { r.tell(asked.via, earshot.Notice{Text: noWord}) })
	return func() { t.Stop() }
}

// newModelRequest returns the request to the model for q.
func (r *Room) newModelRequest(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) *modelRequest {
	v := q.Message.Visibility
	asked := &modelRequest{
		req:    r.takeRequest(set, q, a, aloud),
		filter: conversation.ReplyFilter{Envelopes: conversation.EnvelopeFilter{Own: q.Seat.Name}, Call: r.callback(q)},
		to:     r.worksFor(r.turnControl.Of(v), v),
	}
	p := r.toolContext(q, a)
	asked.model, q.Seat.Askers = p.loop(), p.askers
	asked.toolRun = p.toolRun
	if q.HasPicture() {
		p.taken = q.Look.Picture().At
	}
	if q.FromPerson() && !r.cfg.Lasts { // in a place whose messages last, something else shows that somebody writes
		asked.patience, asked.via = set.LLM.SlowNotice.Duration(), q.Message.Via
	}
	asked.leaves = r.leave(&earshot.Handover{Why: earshot.Passed, To: asked.to}, q.Seat.Name, 0)
	return asked
}

// replyText returns the words of the reply: those of a reflex if one knows the answer, otherwise
// the model's. It notes in q what they are made from. aloud says that a voice will say them.
func (r *Room) replyText(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) (func(context.Context) iter.Seq2[string, error], *modelRequest) {
	if q.Words != "" {
		return reads(q.Words), nil
	}
	if q.Want == reflex.Resume && q.OwnWords() {
		q.Want = reflex.None // what was being said rests on others' words
	}
	if q.Want == reflex.Resume {
		if cut, ok := q.Seat.History.Resumable(q.Message.Visibility, a, r.cfg.Now()); ok && q.Seat.History.Concerns(cut, q.Message.Body) {
			return r.resumption(set, q, a, aloud, cut)
		}
		if r.modelWorks(q.Seat) {
			q.Want = reflex.None // there is nothing left unsaid, but perhaps more to say
		}
	}
	facts := r.facts(q.Seat, a)
	facts.Sight = r.sightAnswer(q)
	if answer := reflex.Answer(q.Want, facts); answer != "" {
		if q.Want == reflex.Lately || q.Want == reflex.Repeat {
			_, used := q.Seat.History.Prompt(a, q.Seat.ID, r.cfg.People.Name, false, r.cfg.Now())
			q.Rests = q.Rests.AndLines(used, q.Seat.ID) // it repeats what was said
			if said := q.Seat.History.Latest(a); said.Body != nil {
				q.Rests = q.Rests.And(said.Visibility)
			}
		}
		return reads(answer), nil
	}
	if r.cfg.Model == nil {
		return func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield("", ErrNoModel) }
		}, new(modelRequest)
	}
	asked := r.newModelRequest(set, q, a, aloud)
	asked.trace = q.Trace
	return func(ctx context.Context) iter.Seq2[string, error] {
		return q.Progress.Listen(asked.toolRun.dated(r.streamModel(ctx, asked)))
	}, asked
}

// streamModel asks the model, and yields the part of its answer that may be heard. A prompt that is
// too long loses the older half of its dialogue until it fits, and a model that says nothing is
// asked once more.
func (r *Room) streamModel(ctx context.Context, asked *modelRequest) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for mute := false; ; {
			said, err := r.askModel(ctx, asked, yield)
			var fault *llm.Error
			switch {
			case said || ctx.Err() != nil:
				return // err, if any, was yielded
			case asked.filter.Tags.Passed:
				asked.left = true
				yield(asked.leaves, nil)
				return
			case errors.As(err, &fault) && fault.Fault == llm.TooLong && shorten(asked):
				asked.halved = true
			case err != nil:
				yield("", err)
				return
			case asked.continues:
				return
			case mute:
				yield("", errMute)
				return
			default:
				mute = true
			}
		}
	}
}

// askModel asks once. It reports whether anything was yielded; an error before that is returned,
// one after it is yielded. It stops reading when the model passes control.
func (r *Room) askModel(ctx context.Context, asked *modelRequest, yield func(string, error) bool) (said bool, err error) {
	asked.filter.Restart()
	foreign, stray := asked.filter.Envelopes.Foreign, asked.filter.Tags.Stray
	defer func() {
		if n := asked.filter.Envelopes.Foreign - foreign; n > 0 {
			r.cfg.Log.Warn("the model put other people's names before its reply; they were removed", "count", n)
		}
		if n := asked.filter.Tags.Stray - stray; n > 0 {
			r.cfg.Log.Warn("the model wrote meaningless tags; they were removed", "count", n)
		}
	}()
	emit := func(text string) bool {
		said = said || text != ""
		return text == "" || yield(text, nil)
	}
	asked.trace.MarkRequest(r.cfg.Now())
	first, comes := true, r.warnWhenSlow(asked)
	defer comes()
	for delta, err := range asked.model.Stream(ctx, asked.req) {
		comes()
		if first && err == nil {
			asked.trace.MarkFirstToken(r.cfg.Now())
			first = false
		}
		if err != nil {
			if said {
				yield("", err)
			}
			return said, err
		}
		asked.truncated = delta.Done != nil && delta.Done.Truncated
		if !emit(asked.filter.Next(delta.Text)) {
			return true, nil
		}
		if asked.filter.Tags.Passed {
			return said, nil
		}
	}
	emit(asked.filter.End())
	return said, nil
}

// shorten drops the older half of the dialogue, except the last two messages: the question, and the
// situation. It reports whether there was anything to drop.
func shorten(asked *modelRequest) bool {
	req, shorter := asked.req.Shorten(2)
	if shorter {
		asked.req = req
	}
	return shorter
}
