package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/executive"
	"earshot/executive/admission"
	"earshot/executive/command"
	"earshot/executive/revision"
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
		answer, err := r.command(ctx, in.Event, in.Who, body)
		if err == nil && answer != "" {
			r.notices.Tell(in.Event.Via, earshot.Notice{Text: answer})
		}
		return err
	case earshot.Typing:
		r.setUserState(in.Event, in.Who, map[bool]string{true: typing, false: "here"}[body.Began])
	case earshot.Presence:
		en, err := r.arrive(in.Event, in.Who, body)
		if en == nil || err != nil {
			return err
		}
		return en.Wait(ctx)
	case earshot.Glance:
		if i, fits := r.viewer.Status.Light(in.Event, body); fits {
			r.observeItem(i)
		}
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
		r.follow(in)
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

// actOnFloor lets an event act on the floor. A revision or withdrawal of the message that is being
// answered always counts, because that question no longer exists.
func (r *Room) actOnFloor(set *executive.Config, in admission.Input) {
	if in.Change.Of == "" {
		r.heed(set, in.Signal)
	} else if in.Signal != nil {
		r.floor.Signal(in.Signal)
	}
}

// yield parks the mind when somebody begins to write or speak, or says something to an agent: a
// reply must not wait for a thought. It acts on the goroutine of the sense, as soon as the state
// that floorTaken reads shows it and before anything waits in a queue. The owner releases the mind
// when that is over.
func (r *Room) yield(in admission.Input) {
	if !in.Begins() || r.mind.HasSpareSlot() {
		return
	}
	by := earshot.Interruption{Signal: interrupt.Addressed.String(), At: in.Event.At}
	if in.Event.Visibility.Scope != earshot.Private { // nobody else is told of a private one
		by.By = in.Who.ID
	}
	if in.Signal != nil && in.Signal.Kind != interrupt.Over { // this is its signal for the floor
		by.Signal = in.Signal.Kind.String()
	}
	r.mind.Park(by)
	r.owner.Wake()
}

// Mode returns the room's mode, and a channel that is closed when it changes.
func (r *Room) Mode() (earshot.Mode, <-chan struct{}) { return r.mode.Mode() }

// SetMode changes the room's mode, and tells everybody there who did. A stricter mode applies
// before SetMode returns, whatever the disk does: if nothing is answered in it, the live reply is
// cut; and senses that capture sound end when they see the change; what they send until then is
// thrown away. A mode that lets in more applies when everybody has been told.
//
// Events admitted before the change are kept, even if they are not on disk yet; later events are
// treated in the new way. An error says that the change could not be recorded, so that it ends with
// the program.
func (r *Room) SetMode(ctx context.Context, by earshot.ParticipantID, m earshot.Mode) error {
	return r.mode.Set(ctx, by, m)
}

// Hold presses a talk key for somebody: what is said at the microphone is for an agent until
// release is called, and a muted room is live. Everybody there is told, and the room is muted again
// afterwards, unless somebody has set its mode meanwhile. In a stricter mode Hold returns an error.
//
// release waits some seconds for the end of what is being said, and is called once. Both are safe
// for concurrent use.
func (r *Room) Hold(ctx context.Context, by earshot.ParticipantID) (release func(), err error) {
	return r.mode.Hold(ctx, by)
}

// showOffRecord shows what was written off the record to those who may see it, and forgets it. Only
// the author gets the ID back, to know that it was sent.
func (r *Room) showOffRecord(set *executive.Config, in admission.Input) {
	r.heed(set, admission.Sent(in.Event)) // nothing more: the floor remembers who cut
	e, seen := in.Event, false
	others := func(id earshot.ParticipantID) bool { return id != in.Who.Reader() }
	for _, p := range r.notices.Outlets.Around(e.Visibility) {
		e.ID = ""
		if p.Name() == e.Via {
			e.ID = in.Event.ID
		}
		seen = seen || slices.ContainsFunc(p.Around().Members, others)
		p.Show(e)
	}
	if !seen && e.Visibility.Scope == earshot.Private {
		r.notices.Tell(e.Via, earshot.Notice{Text: "Nobody has seen that: the recipient is not here or is an agent, and off the record nothing is kept."})
	}
}

// Commands returns the commands of this room.
func (r *Room) Commands() command.Table { return slices.Clone(r.slash.Table()) }

// command carries out a command, and returns the answer.
func (r *Room) command(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) (string, error) {
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
	return r.command(ctx, in.Event, in.Who, c)
}
