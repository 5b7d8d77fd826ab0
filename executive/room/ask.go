package room

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/reflex"
	"earshot/llm"
)

// errMute is a model that has nothing to say twice.
var errMute = errors.New("the model said nothing, twice")

// ErrNoModel is a room without a model, asked what takes one.
var ErrNoModel = errors.New("no language model is set up")

// An asking is one question to the model, and what came of it beside words. It
// belongs to the goroutine of the text, and to conclude once the turn is over.
type asking struct {
	req       *llm.Request
	agent     string
	truncated bool // the reply ended because it may not be longer
	foreign   int  // others' names that the model began with
	halved    bool // the dialogue was too long for the model
}

// text returns the words of the reply: those of a reflex if one knows the
// answer, else the model's. It notes in q what they are made of. Aloud says that
// a voice will say them.
func (r *Room) text(set executive.Config, q *question, a earshot.Audience, aloud bool) (func(context.Context) iter.Seq2[string, error], *asking) {
	facts := r.facts(q.seat, a)
	if q.want == reflex.Resume && (facts.Last == nil || facts.Last.Remainder() == "") && r.modelWorks(q.seat) {
		q.want = reflex.None // there is nothing left unsaid, but perhaps more to say
	}
	if answer := reflex.Answer(q.want, facts); answer != "" {
		if q.want == reflex.Lately || q.want == reflex.Repeat || q.want == reflex.Resume {
			_, used := q.seat.history.prompt(a, q.seat.ID, r.cfg.People.Name, false)
			q.madeOf(used) // it repeats what was said
			if said := q.seat.latest(a, q.want == reflex.Resume); said.Body != nil {
				q.visibility = q.visibility.And(said.Visibility)
			}
		}
		return func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield(answer, nil) }
		}, nil
	}
	if r.cfg.Model == nil {
		return func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield("", ErrNoModel) }
		}, new(asking)
	}
	asked := &asking{req: r.request(set, q, a, aloud), agent: q.seat.Name}
	return func(ctx context.Context) iter.Seq2[string, error] { return r.think(ctx, asked) }, asked
}

// think asks the model, and yields what of its answer may be heard. A prompt
// that is too long is cut to half its dialogue, and a model that says nothing
// is asked again, once each.
func (r *Room) think(ctx context.Context, asked *asking) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for mute := false; ; {
			said, err := r.ask(ctx, asked, yield)
			var fault *llm.Error
			switch {
			case said || ctx.Err() != nil:
				return // err, if any, was yielded
			case errors.As(err, &fault) && fault.Fault == llm.TooLong && !asked.halved:
				asked.req, asked.halved = halve(asked.req), true
			case err != nil:
				yield("", err)
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

// ask asks once. It reports whether anything was yielded; an error before that
// is returned, one after it is yielded.
func (r *Room) ask(ctx context.Context, asked *asking, yield func(string, error) bool) (said bool, err error) {
	scrub := conversation.Scrubber{Own: asked.agent}
	defer func() {
		asked.foreign += scrub.Foreign
		if scrub.Foreign > 0 {
			r.cfg.Log.Warn("the model wrote others' names before its reply; they were taken out", "count", scrub.Foreign)
		}
	}()
	emit := func(text string) bool {
		if !said {
			text = strings.TrimLeft(text, " \t\r\n")
		}
		if text == "" {
			return true
		}
		said = true
		return yield(text, nil)
	}
	for delta, err := range r.cfg.Model.Stream(ctx, asked.req) {
		if err != nil {
			if said {
				yield("", err)
			}
			return said, err
		}
		asked.truncated = delta.Done != nil && delta.Done.Truncated
		if !emit(scrub.Next(delta.Text)) {
			return true, nil
		}
	}
	emit(scrub.End())
	return said, nil
}

// halve returns req with the older half of its dialogue left out.
func halve(req *llm.Request) *llm.Request {
	short := *req
	n := len(req.Messages)
	if n > 3 {
		short.Messages = append(slices.Clone(req.Messages[:1]), req.Messages[1+(n-2)/2:]...)
	}
	return &short
}
