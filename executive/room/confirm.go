package room

import (
	"context"
	"errors"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reason"
	"earshot/executive/reply"
	"earshot/executive/tool"
	"earshot/participants"
)

// The errors of /confirm, besides [tool.ErrNoCall].
var (
	errNoConfirm   = errors.New("nothing can be done now: the room is paused or off the record, or executive.enabled is false; /resume first")
	errUnconfirmed = errors.New("your confirmation could not be recorded, so nothing was done; try again")
)

// holdCall makes a call wait that is held back because of others' words, and shows it to those who
// can confirm it, where everybody who reads along may see its text. A call that rests on something
// that was changed or forgotten during the turn does not wait.
func (r *Room) holdCall(ctx context.Context, by *reply.ToolContext, h *tool.HeldCall) {
	q := by.Question
	w := tool.PendingCall{
		HeldCall: *h, Agent: by.Agent.ID, Question: q.Message, Asked: slices.Clone(by.Called),
		Rests: q.Rests.With(q.Message.ID).Sources, Visibility: q.Rests.Visibility,
	}
	_ = r.owner.Do(context.WithoutCancel(ctx), func(context.Context) {
		r.live.mu.Lock()
		stands := r.live.turn != nil && r.live.turn.Turn == by.ID && !r.live.turn.moved
		r.live.mu.Unlock()
		if !stands {
			return
		}
		w.Number = r.held.NewNumber(r.cfg.NewID)
		w = r.held.Add(r.cfg.Now(), w)
		told := r.event(w.Visibility, earshot.Notice{Text: w.Offer(r.cfg.People.Name)})
		told.Sources = w.Rests
		for _, place := range r.notices.Outlets.Around(w.Visibility) {
			if r.notices.ReadsAt(place, w.By.ID) {
				place.Show(told)
			}
		}
	})
}

// confirmCommand answers /confirm: it lists what waits for the author, or carries out one of these
// calls.
func (r *Room) confirmCommand(ctx context.Context, c command.Call) (answer string, err error) {
	number := strings.TrimSpace(string(c.Args))
	lost := r.owner.Do(ctx, func(ctx context.Context) {
		var w *tool.PendingCall
		if answer, w, err = r.held.Choose(r.cfg.Now(), c.By, c.Audience, number, r.cfg.People.Name); w != nil {
			err = r.runConfirmed(ctx, *w, c.By)
		}
	})
	return answer, errors.Join(err, lost)
}

// runConfirmed carries out a confirmed call, in a turn of its own about the same question. Other
// calls in that turn still need the rights of everybody whose words are in its prompt.
func (r *Room) runConfirmed(ctx context.Context, w tool.PendingCall, by participants.Participant) error {
	at := r.seatOf(w.Agent)
	switch {
	case at == nil:
		return tool.ErrNoCall
	case !r.answers():
		return errNoConfirm
	}
	q := question.Question{
		Seat: at, Message: w.Question, Ticket: r.floor.Ticket(), Turn: earshot.TurnID(r.cfg.NewID()),
		Askers: w.Asked, Rests: prompt.Provenance{Visibility: w.Visibility, Sources: slices.Clone(w.Rests)},
		Confirmed: &tool.ConfirmedCall{Call: w.Call, By: by},
	}
	d := q.Decision(earshot.Speak, reason.Confirmed)
	d.By = by.ID
	e := r.decided(q, d)
	e.Sources = q.Rests.Sources
	if !r.settle(ctx, e) {
		return errUnconfirmed
	}
	r.held.Drop(func(had tool.PendingCall) bool { return had.Number == w.Number })
	r.wait(append(r.pending, q))
	return nil
}

// dropHeldCalls drops the waiting calls that rest on events which are changed or forgotten,
// including one that the live turn is about to make.
func (r *Room) dropHeldCalls(is func(earshot.EventID) bool) {
	r.held.Forget(is)
	r.drop(func(q question.Question) bool { return q.Confirmed != nil && slices.ContainsFunc(q.Rests.Sources, is) })
	if l := r.live.restsOn(is); l != nil {
		r.live.mu.Lock()
		l.moved = true
		r.live.mu.Unlock()
	}
}
