package room

import (
	"context"
	"crypto/sha256"
	"earshot/executive/decision"
	"earshot/executive/delivery"
	"earshot/executive/question"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/prompt"
	"earshot/executive/tool"
	"earshot/participants"
)

// The errors of /confirm. A call that does not exist, one that is over and one for somebody else
// give the same error, so that nobody learns of calls that are not theirs.
var (
	errNoCall      = errors.New("no tool call with that number waits for you here: it was done, has expired, or rested on something that was changed or forgotten; /confirm lists what waits")
	errNoConfirm   = errors.New("nothing can be done now: the room is paused or off the record, or executive.enabled is false; /resume first")
	errUnconfirmed = errors.New("your confirmation could not be recorded, so nothing was done; try again")
)

// holdCall makes a call wait that is held back because of others' words, and shows it to those who
// can confirm it, where everybody who reads along may see its text. A call that rests on something
// that was changed or forgotten during the turn does not wait.
func (p *toolContext) holdCall(ctx context.Context, h *tool.HeldCall) {
	r := p.room
	w := tool.PendingCall{
		HeldCall: *h, Agent: p.who.ID, Question: p.question.Message, Asked: slices.Clone(p.asked),
		Rests: p.question.Rests.With(p.question.Message.ID).Sources, Visibility: p.question.Rests.Visibility,
	}
	_ = r.runOnOwner(context.WithoutCancel(ctx), func(context.Context) {
		r.mu.Lock()
		stands := r.activeTurn != nil && r.activeTurn.Turn == p.turn && !r.activeTurn.moved
		r.mu.Unlock()
		if !stands {
			return
		}
		for w.Number == "" || r.held.Has(w.Number) {
			w.Number = numbered(r.cfg.NewID())
		}
		w = r.held.Add(r.cfg.Now(), w)
		told := r.event(w.Visibility, earshot.Notice{Text: r.offer(w)})
		told.Sources = w.Rests
		for _, place := range r.places.Around(w.Visibility) {
			if r.reads(place, w.By.ID) {
				place.Show(told)
			}
		}
	})
}

// numbered returns the number by which people name a call: short enough to type, and without
// telling how many there are elsewhere.
func numbered(id earshot.EventID) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(sum[:])%1_000_000)
}

// reads reports whether somebody reads, or may read, at an outlet.
func (r *Room) reads(p *delivery.Outlet, who earshot.ParticipantID) bool {
	here := p.Around()
	return here.Unknown || len(here.Members) == 0 || slices.ContainsFunc(here.Members, func(id earshot.ParticipantID) bool { return r.cfg.People.Current(id) == who })
}

// offer says what somebody can confirm, and how. The model's text stands last, on a line of its own
// that it cannot end.
func (r *Room) offer(w tool.PendingCall) string {
	return fmt.Sprintf("%s: %s wants to use %s, but what others said holds it back: %s.\nUntil %s, /confirm %s allows exactly this call, once; or ask again with /%s QUESTION.\n%s %s",
		r.cfg.People.Name(w.By.ID), r.cfg.People.Name(w.Agent), w.Call.Tool, w.Because, w.Until.Local().Format("15:04:05"), w.Number, earshot.OwnWords, w.Call.Tool, w.Shown)
}

// confirmCommand answers /confirm: it lists what waits for the author, or carries out one of these
// calls.
func (r *Room) confirmCommand(ctx context.Context, c command.Call) (answer string, err error) {
	number := strings.TrimSpace(string(c.Args))
	lost := r.runOnOwner(ctx, func(ctx context.Context) {
		theirs := r.held.Of(r.cfg.Now(), c.By, c.Audience)
		if number == "" {
			answer = r.offers(theirs)
			return
		}
		i := slices.IndexFunc(theirs, func(w tool.PendingCall) bool { return w.Number == number })
		if i < 0 {
			err = errNoCall
			return
		}
		err = r.runConfirmed(ctx, theirs[i], c.By)
	})
	return answer, errors.Join(err, lost)
}

// offers lists what somebody can confirm.
func (r *Room) offers(theirs []tool.PendingCall) string {
	if len(theirs) == 0 {
		return "No tool call waits for your confirmation."
	}
	var all []string
	for _, w := range theirs {
		all = append(all, r.offer(w))
	}
	return strings.Join(all, "\n\n")
}

// runConfirmed carries out a confirmed call, in a turn of its own about the same question. Other
// calls in that turn still need the rights of everybody whose words are in its prompt.
func (r *Room) runConfirmed(ctx context.Context, w tool.PendingCall, by participants.Participant) error {
	at := r.seatOf(w.Agent)
	switch {
	case at == nil:
		return errNoCall
	case !r.answers():
		return errNoConfirm
	}
	q := question.Question{
		Seat: at, Message: w.Question, Ticket: r.floor.Ticket(), Turn: earshot.TurnID(r.cfg.NewID()),
		Askers: w.Asked, Rests: prompt.Provenance{Visibility: w.Visibility, Sources: slices.Clone(w.Rests)},
		Confirmed: &tool.ConfirmedCall{Call: w.Call, By: by},
	}
	e := r.decision(q, earshot.Speak, decision.Confirmed)
	d := e.Body.(earshot.Decision)
	d.By = by.ID
	e.Body, e.Sources = d, q.Rests.Sources
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
	if l := r.restsNow(is); l != nil {
		r.mu.Lock()
		l.moved = true
		r.mu.Unlock()
	}
}
