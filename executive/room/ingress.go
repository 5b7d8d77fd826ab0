package room

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// keepRecent is how many IDs the room remembers to know an event that is sent
// twice: a sender that has had no answer tries again within seconds.
const keepRecent = 1024

// Admit lets an event in. For one that is kept it returns after the commit, or
// with the reason why it was not kept; for one that is not, as soon as it has
// acted. Ending ctx stops the waiting: the event may then be kept or not, and
// sending it again with the same ID is safe. Admit may be called from many
// goroutines.
func (r *Room) Admit(ctx context.Context, e earshot.Event) error {
	e, who, err := r.resolve(e)
	if err != nil {
		return err
	}
	signal := signal(e, who, r.cfg.Settings().Name)
	if signal != nil && r.heeds(signal) {
		r.floor.Signal(signal)
	}
	switch body := e.Body.(type) {
	case earshot.Command:
		return r.command(ctx, e, who, body)
	case earshot.Typing:
		r.typing(e, who, body)
		return nil
	case earshot.Presence:
		if !r.presence(who, body) {
			return nil
		}
	}
	return r.queue(ctx, &entry{event: e, signal: signal, done: make(chan error, 1)})
}

// resolve fixes, for good, who said it, to whom, and who may see it.
func (r *Room) resolve(e earshot.Event) (earshot.Event, participants.Participant, error) {
	var who participants.Participant
	scope := earshot.Public
	switch body := e.Body.(type) {
	case earshot.Message:
		if len(body.Text) > earshot.MaxText {
			return e, who, fmt.Errorf("a message of %d bytes is too long: at most %d; send it in parts", len(body.Text), earshot.MaxText)
		}
		body.Text = earshot.Text(strings.ToValidUTF8(string(body.Text), "\uFFFD"))
		if strings.TrimSpace(string(body.Text)) == "" {
			return e, who, fmt.Errorf("an empty message says nothing")
		}
		e.Body = body
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

// signal returns what e is to the floor, or nil if it is nothing.
func signal(e earshot.Event, who participants.Participant, agent string) *interrupt.Signal {
	s := &interrupt.Signal{From: e.From, By: who.ID, Operator: who.Operator, Confidence: 1, At: e.At}
	switch body := e.Body.(type) {
	case earshot.Message:
		s.Kind, s.Words = interrupt.Addressed, body.Text
		if reflex.Recognise(body.Text, agent).Cuts() {
			s.Kind = interrupt.Command
		}
	case earshot.Command:
		if body.Name != "stop" {
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

// heeds reports whether the user wants to be able to interrupt like this. A
// command word always counts, and nobody is held back by what is over.
func (r *Room) heeds(s *interrupt.Signal) bool {
	set := r.cfg.Settings().Interruption
	return s.Kind == interrupt.Command || s.Kind == interrupt.Over ||
		set.Enabled && slices.Contains(set.Sources, source(s.From))
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

// queue hands an entry to the owner and waits until it is on disk.
func (r *Room) queue(ctx context.Context, e *entry) error {
	r.mu.Lock()
	switch {
	case r.closed:
		r.mu.Unlock()
		return ErrClosed
	case slices.Contains(r.recent, e.event.ID):
		r.mu.Unlock()
		return nil // it was sent twice
	case len(r.waiting) >= maxWaiting:
		r.mu.Unlock()
		return ErrBusy
	}
	r.waiting = append(r.waiting, e)
	r.recent = append(r.recent, e.event.ID)
	if len(r.recent) > keepRecent {
		r.recent = slices.Delete(r.recent, 0, len(r.recent)-keepRecent)
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-e.done:
		if err != nil {
			r.forget(e.event.ID)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// forget lets an event that was not kept be sent again.
func (r *Room) forget(id earshot.EventID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = slices.DeleteFunc(r.recent, func(x earshot.EventID) bool { return x == id })
}

// command answers a command where it was given.
func (r *Room) command(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) error {
	answer, err := r.commands.Do(ctx, c, command.Call{By: who, From: e.From})
	if err != nil {
		return err
	}
	if answer != "" {
		r.tell(e.Via, earshot.Notice{Text: answer})
	}
	return nil
}

// typing notes in the scene that somebody is about to say something.
func (r *Room) typing(e earshot.Event, who participants.Participant, t earshot.Typing) {
	state := who.Name + " is here"
	if t.Began {
		state = who.Name + " is typing"
	}
	r.scene.Put(scene.Item{Field: scene.User, Source: e.From.Provider, At: e.At, Text: earshot.Text(state), Visibility: e.Visibility})
}

// presence notes who comes and goes, and reports whether it is news.
func (r *Room) presence(who participants.Participant, p earshot.Presence) bool {
	if who.ID == "" {
		return false
	}
	if p.Here {
		return r.cfg.People.Come(who.ID, p.Session)
	}
	return r.cfg.People.Go(who.ID, p.Session)
}
