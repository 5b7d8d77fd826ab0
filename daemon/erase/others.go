package erase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"earshot"
	"earshot/executive/record"
	"earshot/speakers"
)

// An Erasure is what another daemon has erased from the journal, which this one forgets as well.
type Erasure struct {
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
func (o *Eraser) Take(ctx context.Context, e Erasure) error {
	if r, here := o.find(e.Room); e.Record != "" && here {
		return r.Room.Forgot(e.Record, e.Count, e.By)
	}
	faults := []error{o.tellRooms(ctx, e.Events, e.People)}
	if len(e.Events) > 0 {
		var all []earshot.EventID
		for _, ids := range e.Events {
			all = append(all, ids...)
		}
		_, err := o.Files.Forget(record.Among(all))
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

// Review forgets those of some events that are erased in the journal, whoever erased them, in the running
// rooms and in the files of agents; nil stands for all. It reports whether people may have been forgotten,
// so that who there is should be read anew.
func (o *Eraser) Review(ctx context.Context, ids []earshot.EventID) (people bool, err error) {
	query, args := "SELECT room, id, payload LIKE '%\"was\":\"actor\"%' FROM journal WHERE kind = 'erased'", []any(nil)
	if ids != nil {
		list, err := json.Marshal(ids)
		if err != nil {
			return false, err
		}
		query, args = query+" AND id IN (SELECT value FROM json_each(?))", []any{string(list)}
	}
	in := make(map[earshot.RoomID][]earshot.EventID)
	err = o.Store.Look(ctx, func(v earshot.View) error {
		rows, err := v.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var room earshot.RoomID
			var id earshot.EventID
			var person bool
			if err := rows.Scan(&room, &id, &person); err != nil {
				return err
			}
			people = people || person
			in[room] = append(in[room], id)
		}
		return rows.Err()
	})
	if err != nil {
		return true, err
	}
	return people, o.Take(ctx, Erasure{Events: in})
}
