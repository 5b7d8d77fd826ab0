package room

import (
	"context"

	"earshot"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/command"
	"earshot/executive/revision"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// Admit takes an event into the room. For an event that is kept it returns after the commit, or
// with the reason why it was not kept; for any other, as soon as the event has acted. When the
// queue for the journal is full, a message waits until there is space. If ctx ends, the wait ends:
// the event may or may not be kept, and sending it again with the same ID is safe and waits for the
// same commit. Admit is safe for concurrent use.
func (r *Room) Admit(ctx context.Context, e earshot.Event) error {
	set := r.cfg.Settings() // one event sees one configuration
	if style, ok := interrupt.ParseStyle(set.MultiParty.TurnTakingProtocol); ok {
		r.floor.Adopt(style)
	}
	in, err := r.resolver.Resolve(ctx, &set, e)
	switch {
	case err != nil && revision.Needless(e.Body, err):
		return nil
	case err != nil:
		return err
	case !r.mode.TakesIn(in.Event):
		return nil
	}
	if in.BeginsTyping() { // before it is noted: otherwise a line that is sent at the same time could end the note, and then not the signal
		r.heed(&set, in.Signal)
	}
	settle := r.mind.BeginAdmission()
	defer settle()
	defer r.observe(in)()
	if k := in.Event.Body.Kind(); !k.Durable() || k == earshot.KindPresence {
		return r.act(ctx, &set, in, settle)
	}
	if r.speech.DropEmpty(&set, &in) {
		return nil
	}
	return r.reserveAndQueue(ctx, &set, in, settle)
}

// observe takes in what an event tells although it is not kept yet: that somebody types or speaks,
// and is here. The returned function is called when the event has been admitted.
func (r *Room) observe(in admission.Input) (admitted func()) {
	changes := r.activity.Note(in.Event, r.cfg.Now())
	r.observePresence(in)
	if in.Event.Body.Kind() == earshot.KindSpeech {
		r.speech.NoteWords(&in)
	}
	return func() {
		if in.Event.Body.Kind() == earshot.KindUtterance {
			r.speech.EndWords(in.Event)
		}
		if changes {
			r.owner.Wake() // something may have waited for that, or must wait now
		}
	}
}

// act carries out an event that is not kept, or not as it came.
func (r *Room) act(ctx context.Context, set *executive.Config, in admission.Input, settle func()) error {
	r.yield(in)
	settle()
	if !in.BeginsTyping() {
		r.speech.HeedWords(set, &in)
	}
	switch body := in.Event.Body.(type) {
	case earshot.Speech:
		if body.Stage == earshot.VoiceOver {
			r.speech.EndCut(in.Event)
		}
		r.prepareReply(in)
		r.speech.NotePause(set, &in)
	case earshot.Command:
		return r.command(ctx, in.Event, in.Who, body)
	case earshot.Typing:
		r.setUserState(in.Event, in.Who, map[bool]string{true: typing, false: "here"}[body.Began])
	case earshot.Presence:
		return r.arrive(ctx, in.Event, in.Who, body)
	case earshot.Glance:
		r.updateCameraLight(in.Event, body)
	}
	return nil
}

// reserveAndQueue has an event kept, lets it act on the floor, and waits for the result. settle is
// called as soon as the room has the event.
func (r *Room) reserveAndQueue(ctx context.Context, set *executive.Config, in admission.Input, settle func()) error {
	entry, first, waited, err := r.entries.ReserveWhenFree(ctx, in, func() { // whether it cuts is settled before the wait
		settle()
		r.actOnFloor(set, in)
	})
	if err != nil {
		if in.Change.Again == nil && !waited { // a repeated change acts again only when it is kept
			r.actOnFloor(set, in) // a message that cannot be kept may still cut
		}
		return err
	}
	if first { // it also counts as coming, so that no thought continues before the room has it
		r.yield(in)
	}
	settle()
	switch {
	case first && entry.OffRecord:
		r.showOffRecord(set, in)
	case first:
		r.speech.NoteUtterance(&in)
		if !waited {
			r.actOnFloor(set, in)
		}
		r.speech.NoteVoice(&in)
		entry.Ticket = r.floor.Ticket()
		r.noteSent(in)
		r.entries.Push(entry)
	case in.Event.Body.Kind() == earshot.KindMessage: // it came before
		r.heed(set, admission.Sent(in.Event))
	}
	return entry.Wait(ctx)
}

// heed lets a signal act on the floor, if the user wants to be able to interrupt like this. A
// command word always counts, and a signal that ends something always counts, so that it holds
// nobody back.
func (r *Room) heed(set *executive.Config, s *interrupt.Signal) (done interrupt.Action) {
	if s == nil {
		return interrupt.Leave
	}
	if s.Kind == interrupt.Command || s.Kind == interrupt.Over || admission.Interrupts(set, s.From) {
		if done = r.floor.Signal(s); done == interrupt.Pause {
			r.owner.Wake() // not for ever
		}
	}
	return done
}

// command answers a command where it was given.
func (r *Room) command(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) error {
	answer, err := r.ordered(ctx, e, who, c)
	if err == nil && answer != "" {
		r.notices.Tell(e.Via, earshot.Notice{Text: answer})
	}
	return err
}

// ordered carries out a command, and returns the answer.
func (r *Room) ordered(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) (string, error) {
	return r.slash.Table().Do(ctx, c, command.Call{By: who, Event: e, Audience: r.notices.Readers(e.Via, who)})
}

// Do carries out a command that is not given at an outlet, for example in a shell, and returns the
// answer. A private message is sent; the answer is that of [Room.Advice]. Do is safe for concurrent
// use.
func (r *Room) Do(ctx context.Context, e earshot.Event) (string, error) {
	set := r.cfg.Settings()
	in, err := r.resolver.Resolve(ctx, &set, e)
	if err != nil {
		return "", err
	}
	c, ok := in.Event.Body.(earshot.Command)
	if !ok {
		e.ID = in.Event.ID
		if err := r.Admit(ctx, e); err != nil {
			return "", err
		}
		return r.Advice(e.ID), nil
	}
	r.heed(&set, in.Signal)
	return r.ordered(ctx, in.Event, in.Who, c)
}

// typing is the state of somebody who is writing a line.
const typing = "typing"

// noteSent records in the scene that somebody who is here has sent their line.
func (r *Room) noteSent(in admission.Input) {
	if in.Event.Body.Kind() == earshot.KindMessage && addressing.IsAmong(r.cfg.People.Here(r.cfg.ID), in.Who.ID) {
		r.setUserState(in.Event, in.Who, "here")
	}
}

// setUserState records in the scene what somebody is doing.
func (r *Room) setUserState(e earshot.Event, who participants.Participant, what string) {
	if who.ID == "" || who.ID == participants.Generic {
		return
	}
	was, over := r.scene.Observe(scene.Item{
		Field: scene.User, Of: who.ID, Source: e.From.Provider, At: e.At,
		Text: earshot.Text(who.Name + " is " + what), Passing: what == typing, Visibility: earshot.Visibility{Scope: earshot.Public},
	})
	if over {
		r.overruled(was, e.From.Provider)
	}
}
