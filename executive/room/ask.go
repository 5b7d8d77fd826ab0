package room

import (
	"context"
	"earshot/executive/toolset"
	"iter"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/generation"
	"earshot/executive/question"
	"earshot/executive/reflex"
)

// noWord is what a waiting person is told while a model says nothing.
const noWord = "the model has not answered yet; it may be loading. /stop gives up, earshot doctor says more"

// newGeneration returns the request to the model for q, and what the turn does besides talking.
func (r *Room) newGeneration(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) (*generation.Request, *toolset.Turn) {
	v := q.Message.Visibility
	to := r.exchange.WorksFor(v)
	g := &generation.Request{
		Prompt: r.takeRequest(set, q, a, aloud),
		Filter: conversation.ReplyFilter{Envelopes: conversation.EnvelopeFilter{Own: q.Seat.Name}, Call: r.callback(q)},
		Trace:  q.Trace, Now: r.cfg.Now, Log: r.cfg.Log,
		To: to, Parting: r.exchange.Parting(&earshot.Handover{Why: earshot.Passed, To: to}, q.Seat.Name, 0, 0),
	}
	c := r.toolContext(q, a)
	g.Model, q.Seat.Askers = c.Loop(r.set, r.model()), c.Askers
	if q.HasPicture() {
		c.Picture = q.Look.Picture().At
	}
	if q.FromPerson() && !r.cfg.Lasts { // in a place whose messages last, something else shows that somebody writes
		via := q.Message.Via
		g.SlowAfter, g.Slow = set.LLM.SlowNotice.Duration(), func() { r.tell(via, earshot.Notice{Text: noWord}) }
	}
	return g, c.Turn
}

// replyText returns the words of the reply: those of a reflex if one knows the answer, otherwise
// the model's. It notes in q what they are made from. aloud says that a voice will say them.
func (r *Room) replyText(set executive.Config, q *question.Question, a earshot.Audience, aloud bool) (func(context.Context) iter.Seq2[string, error], *generation.Request) {
	if q.Words != "" {
		return generation.Fixed(q.Words), nil
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
		return generation.Fixed(answer), nil
	}
	if r.cfg.Model == nil {
		return generation.Unable, new(generation.Request)
	}
	g, run := r.newGeneration(set, q, a, aloud)
	return func(ctx context.Context) iter.Seq2[string, error] {
		return q.Progress.Listen(run.Dated(g.Words(ctx)))
	}, g
}
