package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/executive"
	"earshot/executive/admission"
	"earshot/executive/mode"
	"earshot/interrupt"
)

// newMode returns the control of the room's mode.
func (r *Room) newMode() *mode.Control {
	return mode.New(mode.Host{
		Event: r.event, Closed: ErrClosed, Show: r.show, Shut: r.owner.Closed(), Log: r.cfg.Log,
		Queue: func(e earshot.Event, then func(error)) (wait func(context.Context) error, err error) {
			en, err := r.entries.Enqueue(e, then)
			if err != nil {
				return nil, err
			}
			return en.Wait, nil
		},
		Cut: func(e earshot.Event) {
			r.floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: e.From, By: e.Author, Confidence: 1, At: e.At})
		},
		Changed: func(m earshot.Mode) {
			if !m.Listens() {
				r.speech.ClearWords()
			}
			r.changes.Notify()
		},
		Speaks: func() (<-chan struct{}, bool) { return r.activity.Speaks(r.cfg.Now()) },
	})
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
