package erase

import (
	"cmp"
	"context"
	"errors"
	"time"

	"earshot"
	"earshot/speakers"
)

// Erased is what another daemon has erased from the journal, which this one forgets as well.
type Erased struct {
	At     time.Time                            `json:"at"`
	By     earshot.ParticipantID                `json:"by,omitempty"` // the operator, if one asked
	Events map[earshot.RoomID][]earshot.EventID `json:"events,omitempty"`
	Turns  []earshot.TurnID                     `json:"turns,omitempty"`  // of the replies among them
	People []earshot.ParticipantID              `json:"people,omitempty"` // all identities of one person

	// Record, if there is one, is the ID under which whoever has Room records that Count of its events
	// are forgotten.
	Record earshot.EventID `json:"record,omitempty"`
	Room   earshot.RoomID  `json:"room,omitempty"`
	Count  int             `json:"count,omitempty"`
}

// Take forgets what another daemon has erased, in everything that is kept here. What was added to the
// journal before must have been taken in. It may be repeated.
func (o *Eraser) Take(ctx context.Context, e Erased) error {
	if r, here := o.find(e.Room); e.Record != "" && here {
		return r.Room.Forgot(e.Record, e.Count, e.By)
	}
	faults := []error{o.tellRooms(ctx, e.Events, e.People)}
	if len(e.Events) > 0 {
		var all []earshot.EventID
		for _, ids := range e.Events {
			all = append(all, ids...)
		}
		_, err := o.Files.Forget(Among(all))
		faults = append(faults, err)
	}
	if len(e.Turns) > 0 {
		turns := make(map[earshot.TurnID]bool)
		for _, t := range e.Turns {
			turns[t] = true
		}
		faults = append(faults, o.ForgetPosts(turns))
	}
	if len(e.People) > 0 {
		faults = append(faults, o.forgetVoices(o.voicesOf(e.People), speakers.Attestation{By: cmp.Or(e.By, e.People[0]), At: e.At}))
		o.People.Forget(e.People[0])
	}
	return errors.Join(faults...)
}

// Review forgets what is erased in the journal, whoever erased it and whenever, in the running rooms and
// in the files of agents. It is for when news of it may have been missed.
func (o *Eraser) Review(ctx context.Context) error {
	faults := []error{o.orphans(ctx)}
	if o.Rooms == nil {
		return faults[0]
	}
	for _, r := range o.Rooms() {
		gone, err := column[earshot.EventID](ctx, o.Store, "SELECT id FROM journal WHERE kind = 'erased' AND room = ?", string(r.ID))
		if err == nil && len(gone) > 0 {
			err = r.Room.Forget(ctx, gone, nil)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
