package room

import (
	"context"
	"errors"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/admission"
	"earshot/executive/askers"
	"earshot/executive/delivery"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reply"
)

// prepareReply has an answer prepared for words that sound complete, and drops one that was
// prepared for others.
func (r *Room) prepareReply(in admission.Input) {
	s, is := in.Event.Body.(earshot.Speech)
	if !is || s.Stage != earshot.VoiceWords && s.Stage != earshot.VoiceOver {
		return
	}
	complete := s.Stage != earshot.VoiceOver && s.Stable && !in.Continues && in.Heeded && in.Address.ForAgent() && len(in.Addressees.Agents) == 1
	if r.preparation.Note(in, complete) {
		r.owner.Wake()
	}
}

// prepare begins the request to the model that the words of a voice will make if nothing is added
// to them.
func (r *Room) prepare(ctx context.Context) {
	in, change, ok := r.preparation.Next()
	if !ok {
		return
	}
	set, s := r.set, r.seatOf(in.Addressees.Agents[0])
	if !set.Speech.PrepareReply || s == nil || !s.Awake || r.live.busy() || len(r.pending) > 0 {
		return
	}
	e := in.Event
	said := e.Body.(earshot.Speech)
	e.ID, e.Body = "", earshot.Utterance{Text: r.speech.Listener.Correct(said.Words), LikeAgent: said.LikeAgent}
	if in.Address == conversation.Called {
		e = r.speech.Listener.CorrectName(e, in.UnlikeVoice)
	}
	text := e.Body.(earshot.Utterance).Text
	in.Event = e
	if would := r.scenario(&admission.Entry{Input: in}, s, text); !would.AsksModel() {
		return
	}
	q := question.Question{
		Seat: s, Message: e, Aloud: true, Askers: askers.Add(nil, in.Asker()), Rests: prompt.Provenance{Visibility: e.Visibility},
		Chain: in.Machine(), AsOf: r.cfg.Now(), StillSpoken: true,
	}
	r.preparation.Begin(ctx, change, q, r.reply.Early(set, &q, slices.ContainsFunc(r.outlets(q), (*delivery.Outlet).Audible)))
}

// prepareAsked gives the agent that by asks its part in the turn, and makes its prompt.
func (r *Room) prepareAsked(ctx context.Context, by *reply.ToolContext, asks earshot.Event, seatOf exchange.SeatOf) (to *reply.ToolContext, asked *generation.Request, err error) {
	bad := r.owner.Do(ctx, func(ctx context.Context) {
		s := seatOf(r.seats)
		if s == nil {
			err = exchange.ErrGone
			return
		}
		if !r.ensureAwake(ctx, s) {
			err = errors.New("it cannot remember what was said, so it does not answer; do without it")
			return
		}
		if r.seatOf(s.ID) == nil {
			s.History.Learn(asks, r.cfg.People) // nobody else tells it
		}
		to, asked = r.reply.Asked(r.set, by, s, asks)
	})
	return to, asked, errors.Join(err, bad)
}
