package room

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"earshot"
	"earshot/executive"
	"earshot/interrupt"
)

// Mode returns the room's mode, and a channel that is closed when it changes.
func (r *Room) Mode() (earshot.Mode, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode, r.moded
}

// SetMode changes the room's mode, and tells everybody there who did. A stricter mode applies
// before SetMode returns, whatever the disk does: if nothing is answered in it, the live reply is
// cut; and senses that capture sound end when they see the change; what they send until then is
// thrown away. A mode that lets in more applies when everybody has been told.
//
// Events admitted before the change are kept, even if they are not on disk yet; later events are
// treated in the new way. An error says that the change could not be recorded, so that it ends with
// the program.
func (r *Room) SetMode(ctx context.Context, by earshot.ParticipantID, m earshot.Mode) error {
	e := r.event(earshot.Visibility{Scope: earshot.System}, earshot.ModeChange{Mode: m})
	e.Author = by
	en, err := r.modeChange(e, m)
	if en == nil || err != nil {
		return err
	}
	if err := en.wait(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the room is %s, but only until earshot stops: %w", m, err)
	}
	return ctx.Err()
}

// modeChange queues a change of the mode. The journal has the changes in the order in which they
// were made, and the last one applies.
func (r *Room) modeChange(e earshot.Event, m earshot.Mode) (*entry, error) {
	r.modeMu.Lock()
	defer r.modeMu.Unlock()
	return r.modeTo(e, m)
}

// modeTo is modeChange for callers that hold r.modeMu. Once somebody has set the mode, the release
// of a talk key does not change it back.
func (r *Room) modeTo(e earshot.Event, m earshot.Mode) (*entry, error) {
	if m == r.wished && !r.pushToTalk.opened {
		return nil, nil
	}
	r.pushToTalk.opened = false
	r.wished = m
	r.wishes++
	wish := r.wishes
	if m.Stricter(r.is()) {
		r.switchTo(m)
	}
	if !m.Answers() {
		r.floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: e.From, By: e.Author, Confidence: 1, At: e.At})
	}
	return r.enqueue(e, func(err error) {
		if errors.Is(err, ErrClosed) {
			return // there is nobody left
		}
		if err != nil {
			r.show(e) // it applies, and people must know
		}
		r.modeMu.Lock()
		defer r.modeMu.Unlock()
		if wish == r.wishes {
			r.switchTo(m)
		}
	})
}

// switchTo changes the mode now.
func (r *Room) switchTo(m earshot.Mode) {
	r.mu.Lock()
	if r.mode != m {
		r.mode = m
		close(r.moded)
		r.moded = make(chan struct{})
	}
	r.mu.Unlock()
	if !m.Listens() {
		r.hush()
	}
	r.changes.Notify()
}

// wants returns the mode that was last requested. opened says that a talk key requested it.
func (r *Room) wants() (m earshot.Mode, opened bool) {
	r.modeMu.Lock()
	defer r.modeMu.Unlock()
	return r.wished, r.pushToTalk.opened
}

// is returns the room's mode.
func (r *Room) is() earshot.Mode {
	m, _ := r.Mode()
	return m
}

// deaf reports whether e is sound or sight that the room does not take in, and counts it: a sense
// takes a moment to end. The end of a voice is taken in: it tells nothing, and somebody may be
// waiting for it.
func (r *Room) deaf(e earshot.Event) bool {
	takesIn := earshot.Mode.Listens
	switch body := e.Body.(type) {
	case earshot.Speech:
		if body.Stage == earshot.VoiceOver {
			return false
		}
	case earshot.Utterance, earshot.Edit: // which a sense has noticed
	case earshot.Sight, earshot.Glance:
		takesIn = earshot.Mode.Watches
	default:
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if takesIn(r.mode) {
		return false
	}
	r.dropped++
	return true
}

// pass shows what was written off the record to those who may see it, and forgets it. Only the
// author gets the ID back, to know that it was sent.
func (r *Room) pass(set *executive.Config, in resolvedEvent) {
	r.heed(set, sent(in.event)) // nothing more: the floor remembers who cut
	e, seen := in.event, false
	others := func(id earshot.ParticipantID) bool { return id != in.who.Reader() }
	for _, p := range r.places.Around(e.Visibility) {
		e.ID = ""
		if p.Name() == e.Via {
			e.ID = in.event.ID
		}
		seen = seen || slices.ContainsFunc(p.Around().Members, others)
		p.Show(e)
	}
	if !seen && e.Visibility.Scope == earshot.Private {
		r.tell(e.Via, earshot.Notice{Text: "Nobody has seen that: the recipient is not here or is an agent, and off the record nothing is kept."})
	}
}
