package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/executive/command"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// keepRecent is how many IDs the room remembers to know an event that is sent
// twice: a sender that has had no answer tries again within seconds.
const keepRecent = 1024

var errOffRecord = errors.New("the room is off the record, and a note is kept; /resume first")

// Admit lets an event in. For one that is kept it returns after the commit, or
// with the reason why it was not kept; for one that is not, as soon as it has
// acted. Ending ctx stops the waiting: the event may then be kept or not, and
// sending it again with the same ID is safe, and waits for the same commit.
// Admit may be called from many goroutines.
func (r *Room) Admit(ctx context.Context, e earshot.Event) error {
	e, who, err := r.resolve(e)
	if err != nil {
		return err
	}
	if r.deaf(e) {
		return nil
	}
	to := r.address(e)
	if to != "" && !to.ForAgent() {
		e.To = nil
	}
	signal := r.signal(e, who, to)
	if k := e.Body.Kind(); !k.Durable() || k == earshot.KindPresence {
		r.heed(signal)
		return r.act(ctx, e, who)
	}
	if to == conversation.Own {
		r.heed(signal)
		r.cfg.Log.Debug("the agent's own voice came back", "provider", e.From.Provider)
		return nil
	}
	entry, first, err := r.reserve(e)
	if err != nil {
		r.heed(signal) // what cannot be kept may still cut
		return err
	}
	switch {
	case first && entry.passes:
		r.pass(e, signal)
	case first:
		r.heed(signal)
		entry.to, entry.signal, entry.ticket = to, signal, r.floor.Ticket()
		r.queue(entry, who)
	}
	return entry.wait(ctx)
}

// enqueue admits an event of the house's own, to be kept.
func (r *Room) enqueue(e earshot.Event) (*entry, error) {
	en, first, err := r.reserve(e)
	if first {
		r.queue(en, participants.Participant{})
	}
	return en, err
}

// wait returns when it is known how it went, or ctx ends.
func (en *entry) wait(ctx context.Context) error {
	select {
	case <-en.done:
		return en.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// heed lets a signal act on the floor, if the user wants to be able to
// interrupt like this. A command word always counts, and nobody is held back
// by what is over.
func (r *Room) heed(s *interrupt.Signal) {
	if s == nil {
		return
	}
	set := r.cfg.Settings().Interruption
	if s.Kind == interrupt.Command || s.Kind == interrupt.Over ||
		set.Enabled && slices.Contains(set.Sources, source(s.From)) {
		r.floor.Signal(s)
	}
}

// act does what an event asks for that is not kept, or not as it came.
func (r *Room) act(ctx context.Context, e earshot.Event, who participants.Participant) error {
	switch body := e.Body.(type) {
	case earshot.Command:
		return r.command(ctx, e, who, body)
	case earshot.Typing:
		r.userIs(e, who, map[bool]string{true: "typing", false: "here"}[body.Began])
	case earshot.Presence:
		return r.arrive(ctx, e, who, body)
	}
	return nil
}

// resolve fixes, for good, who said it, to whom, and who may see it.
func (r *Room) resolve(e earshot.Event) (earshot.Event, participants.Participant, error) {
	var who participants.Participant
	scope := earshot.Public
	switch body := e.Body.(type) {
	case earshot.Message:
		text, err := wording(body.Text, earshot.MaxText)
		if err != nil {
			return e, who, err
		}
		body.Text = text
		e.Body = body
	case earshot.Utterance:
		body, err := utterance(body)
		if err != nil {
			return e, who, err
		}
		body.Text = r.listener().Correct(body.Text)
		e.Body = body
	case earshot.Speech:
		e.Body = speech(body)
	case earshot.Presence:
		scope = earshot.System
	case earshot.Typing, earshot.Command:
	default:
		return e, who, fmt.Errorf("a provider may not bring in a %T", e.Body)
	}
	who = r.cfg.People.Resolve(e.From)
	if e.ID == "" {
		e.ID = r.cfg.NewID()
	}
	if e.At.IsZero() || e.At.After(r.cfg.Now()) {
		e.At = r.cfg.Now()
	}
	e.Room, e.Author, e.Sequence, e.Sources = r.cfg.ID, who.ID, 0, nil
	e.To = []earshot.ParticipantID{participants.Agent}
	e.Visibility = earshot.Visibility{Scope: scope}
	return e, who, nil
}

// wording returns text as it may be kept: of at most so many bytes, and valid.
func wording(text earshot.Text, most int) (earshot.Text, error) {
	if len(text) > most {
		return "", fmt.Errorf("a message of %d bytes is too long: at most %d; send it in parts", len(text), most)
	}
	text = earshot.Text(strings.ToValidUTF8(string(text), "\uFFFD"))
	if strings.TrimSpace(string(text)) == "" {
		return "", errors.New("an empty message says nothing")
	}
	return text, nil
}

// signal returns what e is to the floor, or nil if it is nothing.
func (r *Room) signal(e earshot.Event, who participants.Participant, to conversation.Address) *interrupt.Signal {
	agent := r.cfg.Settings().Name
	s := &interrupt.Signal{From: e.From, Via: e.Via, By: who.ID, Operator: who.Can(participants.Operate), Confidence: 1, At: e.At}
	switch body := e.Body.(type) {
	case earshot.Message:
		s.Kind, s.Words = interrupt.Addressed, body.Text
		if reflex.Recognise(body.Text, agent).Cuts() {
			s.Kind = interrupt.Command
		}
	case earshot.Utterance:
		sounding := body.Own > 0 || r.aloud.sounds(e.At, e.At.Add(body.Lasted))
		return uttered(s, body, to, sounding, agent)
	case earshot.Speech:
		return voiced(s, body, to, agent)
	case earshot.Command:
		if !strings.EqualFold(body.Name, "stop") {
			return nil
		}
		s.Kind = interrupt.Command
	case earshot.Typing:
		s.Kind = interrupt.Over
		if body.Began {
			s.Kind = interrupt.Typing
		}
	case earshot.Presence:
		if body.Here {
			return nil
		}
		s.Kind = interrupt.Over
	}
	return s
}

// source returns the seed's word for where an interruption comes from.
func source(h earshot.Handle) string {
	switch h.Provider {
	case "discord":
		return "discord"
	case "microphone", "voice":
		return "audio"
	}
	return "text"
}

// reserve makes an entry of e, unless there is one with its ID: an event that
// is sent twice must neither act twice nor be acknowledged before it is kept.
// Here it is settled whether a message is on the record: of one that is not
// only the ID is remembered, so that it is not kept when it is sent again later.
func (r *Room) reserve(e earshot.Event) (en *entry, first bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if en, ok := r.known[e.ID]; ok {
		return en, false, nil
	}
	switch {
	case r.closed:
		return nil, false, ErrClosed
	case r.mode == earshot.OffRecord && e.Body.Kind() == earshot.KindMessage:
		en = &entry{event: earshot.Event{ID: e.ID}, done: make(chan struct{}), passes: true}
		close(en.done)
		r.know(en)
		return en, true, nil
	case r.mode == earshot.OffRecord && e.Body.Kind() == earshot.KindMemo:
		return nil, false, errOffRecord
	case r.coming+len(r.waiting) >= maxWaiting && !governs(e.Body.Kind()):
		return nil, false, ErrBusy
	}
	r.coming++
	en = &entry{event: e, done: make(chan struct{})}
	r.know(en)
	return en, true, nil
}

// governs reports whether events of kind k say how the room is. They are few,
// whatever people do, and never refused.
func governs(k earshot.Kind) bool { return k == earshot.KindPresence || k == earshot.KindMode }

// know remembers an entry by its ID, and forgets the oldest. It wants r.mu.
func (r *Room) know(en *entry) {
	r.known[en.event.ID] = en
	r.recent = append(r.recent, en.event.ID)
	if len(r.recent) > keepRecent {
		delete(r.known, r.recent[0])
		r.recent = r.recent[1:]
	}
}

// queue hands an entry to the owner.
func (r *Room) queue(en *entry, who participants.Participant) {
	if en.event.Body.Kind() == earshot.KindMessage {
		r.userIs(en.event, who, "here")
	}
	r.mu.Lock()
	closed := r.closed
	r.coming--
	if !closed {
		r.waiting = append(r.waiting, en)
	}
	r.mu.Unlock()
	if closed {
		r.finish(en, ErrClosed)
		return
	}
	r.nudge()
}

// nudge makes the owner look.
func (r *Room) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// finish tells everybody who waits for the entry how it went. What was not kept
// may be sent again, and has not happened.
func (r *Room) finish(en *entry, err error) {
	if err != nil {
		r.mu.Lock()
		delete(r.known, en.event.ID)
		r.mu.Unlock()
	}
	en.err = err
	close(en.done)
}

// command answers a command where it was given.
func (r *Room) command(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) error {
	answer, err := r.commands.Do(ctx, c, command.Call{By: who, Event: e, Audience: r.readers(e.Via, who)})
	if err != nil {
		return err
	}
	if answer != "" {
		r.tell(e.Via, earshot.Notice{Text: answer})
	}
	return nil
}

// userIs notes in the scene what somebody is doing.
func (r *Room) userIs(e earshot.Event, who participants.Participant, what string) {
	if who.ID == "" {
		return
	}
	r.scene.Put(scene.Item{
		Field: scene.User, Source: e.From.Provider, At: e.At,
		Text: earshot.Text(who.Name + " is " + what), Visibility: earshot.Visibility{Scope: earshot.Public},
	})
}
