package erase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/executive/record"
	"earshot/participants"
	"earshot/speakers"
)

// An Erasure is what another daemon has erased from the journal, which this one forgets as well.
type Erasure struct {
	At     time.Time                            `json:"at"`
	By     earshot.ParticipantID                `json:"by,omitempty"` // the operator, if one asked
	Events map[earshot.RoomID][]earshot.EventID `json:"events,omitempty"`
	Turns  []earshot.TurnID                     `json:"turns,omitempty"`  // of the replies among them
	People []earshot.ParticipantID              `json:"people,omitempty"` // all identities of one person
}

// Take forgets what another daemon has erased, in everything that is kept here. What was added to the
// journal before must have been taken in. It may be repeated.
func (o *Eraser) Take(ctx context.Context, e Erasure) error {
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
	if ids == nil {
		return true, o.reviewAll(ctx)
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return false, err
	}
	in := make(map[earshot.RoomID][]earshot.EventID)
	err = o.Store.Look(ctx, func(v earshot.View) error {
		rows, err := v.QueryContext(ctx, "SELECT room, id, payload LIKE '%\"was\":\"actor\"%' FROM journal WHERE kind = 'erased' AND id IN (SELECT value FROM json_each(?))", string(list))
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

// maxReviewed is how many erased events a room is told of at once, since most of a journal may be erased.
const maxReviewed = 4096

// reviewAll forgets whatever is erased in the journal.
func (o *Eraser) reviewAll(ctx context.Context) error {
	faults := []error{o.orphans(ctx)}
	for _, r := range o.Rooms() {
		for last := earshot.EventID(""); ; {
			ids, err := column[earshot.EventID](ctx, o.Store, `SELECT id FROM journal WHERE room = ? AND kind = 'erased'
				AND sequence > coalesce((SELECT sequence FROM journal WHERE id = ?), 0) ORDER BY sequence LIMIT ?`, r.ID, last, maxReviewed)
			if err != nil || len(ids) == 0 {
				faults = append(faults, err)
				break
			}
			faults, last = append(faults, r.Room.Forget(ctx, ids, nil)), ids[len(ids)-1]
		}
	}
	return errors.Join(faults...)
}

// ReviewPeople has who there is read anew, and forgets the voices of those who are known no more.
func (o *Eraser) ReviewPeople(read func() error) error {
	unknown := func(s speakers.Speaker) bool { _, known := o.People.Get(s.Who); return !known }
	owned := slices.DeleteFunc(o.Voices.Known(), unknown)
	if err := read(); err != nil {
		return err
	}
	var gone []earshot.Handle
	for _, s := range owned {
		if unknown(s) {
			gone = append(gone, s.Handle)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return o.forgetVoices(gone, speakers.Attestation{By: participants.Owner, At: time.Now()})
}
