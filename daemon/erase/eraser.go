// Package erase forgets what somebody wants forgotten, wherever it is kept. Before that it shows
// what would go, without a word of the content.
package erase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/record"
	"earshot/executive/tool/workspace"
	"earshot/internal/atomicfile"
	"earshot/participants"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

// An Eraser forgets everything, wherever it is kept: in the journal, in the memory of rooms, in
// the registry of voices, in the workspaces of agents, in the registry of people. It may be used
// from many goroutines, and carries out one request after another.
//
// A request is written down first, as a selection and never as words, and removed when it is done:
// if it is interrupted, the next start completes it.
type Eraser struct {
	Dir    string // of the journal
	Store  *store.Store
	People *participants.Registry
	Voices *speakers.Registry
	Files  *workspace.Store
	Tokens *token.Store

	ForgetPosts func(map[earshot.TurnID]bool) error // for the replies of some turns on Discord
	ForgetName  func(name string) error             // removes the record that this name came in last
	OnDiscord   func(earshot.RoomID) bool           // reports whether a room is on Discord
	Rooms       func() []Room                       // that run; nil if no daemon runs
	Tell        func(context.Context, Erasure)      // tells other daemons, and waits until they have forgotten it; nil without any

	NewID func() earshot.EventID
	Log   *slog.Logger

	doing  sync.Mutex                         // held while a request is carried out
	yields atomic.Pointer[context.CancelFunc] // interrupts a holder that is in no hurry; nil if there is none
}

// A Room is a running room.
type Room struct {
	Room Forgetter
	ID   earshot.RoomID
	Name string
}

// A Forgetter forgets what a room remembers, which is the room itself.
type Forgetter interface {
	// Forget removes erased events, and what the room knows by itself about forgotten people. It
	// returns when that is done.
	Forget(ctx context.Context, gone []earshot.EventID, people []earshot.ParticipantID) error

	// Forgot records that so many events of the room are forgotten.
	Forgot(id earshot.EventID, events int, by earshot.ParticipantID) error
}

// hold locks doing, ahead of holders that are in no hurry. It returns an error if ctx ends first.
func (o *Eraser) hold(ctx context.Context) error {
	for !o.doing.TryLock() {
		if yield := o.yields.Load(); yield != nil {
			(*yield)()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// A Request is what is to be forgotten, in its stored form.
type Request struct {
	ID        earshot.EventID        `json:"id"`
	At        time.Time              `json:"at"`
	By        earshot.ParticipantID  `json:"by,omitempty"` // the operator, if one asked
	Selection store.Selection        `json:"selection"`
	Voices    []earshot.Handle       `json:"voices,omitempty"`
	Rooms     map[earshot.RoomID]int `json:"rooms,omitempty"` // the number of events in each
}

// Erase forgets what f selects, if it is what was shown with its digest, and what came from it
// since. It returns when it is recorded as forgotten; see [Eraser.Clean].
func (o *Eraser) Erase(ctx context.Context, by participants.Participant, f api.EraseRequest) (none api.ErasePreview, _ error) {
	if err := o.hold(ctx); err != nil {
		return none, err
	}
	defer o.doing.Unlock()
	p, err := o.plan(ctx, by, f)
	if err != nil {
		return none, err
	}
	shown, err := upTo(f.Digest)
	if err != nil {
		return none, err
	}
	sel := p.request.Selection
	all, err := o.Store.Select(ctx, sel)
	if err != nil {
		return none, err
	}
	was := slices.DeleteFunc(slices.Clone(all), func(d store.SelectedEvent) bool { return d.Sequence > shown })
	if p.digest(was, shown) != f.Digest {
		return none, errors.New("something has changed since the preview was shown; look at it again")
	}
	p.Since = len(all) - len(was)
	if sel.Whole() {
		if err := o.ForgetName(o.People.Name(sel.People[0])); err != nil {
			return none, err
		}
	}
	if err := o.resume(ctx); err != nil { // otherwise it would be overwritten
		return none, err
	}
	if err := o.writeRequest(p.request); err != nil {
		return none, err
	}
	n, err := o.carryOut(ctx, p.request)
	if err != nil {
		return none, fmt.Errorf("%w; it continues by itself, at the next start at the latest", err)
	}
	p.Done, p.Events = true, max(n, p.Events)
	return p.ErasePreview, nil
}

// Clean waits until every trace that can be removed is gone.
func (o *Eraser) Clean(ctx context.Context) error {
	if err := o.Store.Clean(ctx); err != nil {
		return fmt.Errorf("it is forgotten, but the last traces are still in the files and will be removed by themselves: %w", err)
	}
	return nil
}

// RequestFile is the name of the file, beside the journal, that holds the current request.
const RequestFile = "forgetting.json"

// writeRequest stores the current request.
func (o *Eraser) writeRequest(w Request) error {
	data, err := json.Marshal(w)
	if err == nil {
		err = atomicfile.Write(filepath.Join(o.Dir, RequestFile), data)
	}
	if err != nil {
		return fmt.Errorf("recording what is to be forgotten: %w", err)
	}
	return nil
}

// Finish completes a request that was interrupted, if there is one, and removes from files and
// lists what was made of events that are already erased.
func (o *Eraser) Finish(ctx context.Context) error {
	o.doing.Lock()
	defer o.doing.Unlock()
	return errors.Join(o.resume(ctx), o.orphans(ctx))
}

// resume completes the stored request. The caller holds doing.
func (o *Eraser) resume(ctx context.Context) error {
	data, err := os.ReadFile(filepath.Join(o.Dir, RequestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var w Request
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return fmt.Errorf("reading what was to be forgotten: %w", err)
	}
	_, err = o.carryOut(ctx, w, o.orphans)
	return err
}

// carryOut carries out a request, and what remains to do once the journal has forgotten.
func (o *Eraser) carryOut(ctx context.Context, w Request, also ...func(context.Context) error) (n int, err error) {
	all, err := o.Store.Select(ctx, w.Selection)
	if err == nil {
		err = o.forgetPostsOf(all) // while they can still be identified
	}
	if err != nil {
		return 0, err
	}
	all = nil
	n, err = o.Store.Forget(ctx, w.Selection, func(some []store.SelectedEvent) {
		all = append(all, some...)
		o.tell(ctx, w, some, nil)
	})
	if err != nil {
		return n, err
	}
	faults := []error{o.forgetFiles(all), o.Store.ForgetAside()}
	for _, do := range also {
		faults = append(faults, do(ctx))
	}
	if w.Selection.Whole() {
		faults = append(faults, o.forgetPerson(ctx, w))
	}
	if err := errors.Join(faults...); err != nil {
		return n, err
	}
	o.record(ctx, w)
	if err := os.Remove(filepath.Join(o.Dir, RequestFile)); err != nil {
		return n, err
	}
	return n, nil
}

// tell has the running rooms, and other daemons, forget what is erased, and people.
func (o *Eraser) tell(ctx context.Context, w Request, some []store.SelectedEvent, people []earshot.ParticipantID) {
	in := make(map[earshot.RoomID][]earshot.EventID)
	for _, d := range some {
		in[d.Room] = append(in[d.Room], d.ID)
	}
	if err := o.tellRooms(ctx, in, people); err != nil {
		o.Log.Warn("a room could not be told what was forgotten", "err", err)
	}
	if o.Tell != nil {
		o.Tell(ctx, Erasure{At: w.At, By: w.By, Events: in, Turns: slices.Collect(maps.Keys(TurnsOf(some))), People: people})
	}
}

// tellRooms has the running rooms forget what is erased, and people.
func (o *Eraser) tellRooms(ctx context.Context, in map[earshot.RoomID][]earshot.EventID, people []earshot.ParticipantID) error {
	if o.Rooms == nil {
		return nil
	}
	var faults []error
	for _, r := range o.Rooms() {
		if ids := in[r.ID]; len(ids) > 0 || len(people) > 0 {
			if err := r.Room.Forget(ctx, ids, people); err != nil {
				faults = append(faults, fmt.Errorf("room %s: %w", r.ID, err))
			}
		}
	}
	return errors.Join(faults...)
}

// forgetFiles removes what was made of erased events from the files beside the journal.
func (o *Eraser) forgetFiles(all []store.SelectedEvent) error {
	_, err := o.Files.Forget(contains(all))
	return errors.Join(err, o.forgetPostsOf(all))
}

// forgetPostsOf forgets which Discord messages were parts of some replies.
func (o *Eraser) forgetPostsOf(all []store.SelectedEvent) error {
	turns := TurnsOf(all)
	if len(turns) == 0 {
		return nil
	}
	return o.ForgetPosts(turns)
}

// TurnsOf returns the turns of the replies among some events.
func TurnsOf(all []store.SelectedEvent) map[earshot.TurnID]bool {
	turns := make(map[earshot.TurnID]bool)
	for _, d := range all {
		if d.Turn != "" {
			turns[d.Turn] = true
		}
	}
	return turns
}

// forgetPerson forgets the persons themselves.
func (o *Eraser) forgetPerson(ctx context.Context, w Request) error {
	people := w.Selection.People
	faults := []error{o.forgetVoices(w.Voices, speakers.Attestation{By: cmp.Or(w.By, people[0]), At: w.At})}
	o.tell(ctx, w, nil, people)
	o.People.Forget(people[0])
	known, err := o.Tokens.List()
	faults = append(faults, err)
	for _, t := range known {
		if slices.Contains(people, t.Participant) && !o.People.Declared(t.Participant) {
			faults = append(faults, o.Tokens.Revoke(t.ID))
		}
	}
	return errors.Join(faults...)
}

// forgetVoices forgets what some voices sound like.
func (o *Eraser) forgetVoices(voices []earshot.Handle, said speakers.Attestation) error {
	var faults []error
	for _, h := range voices {
		if _, err := o.Voices.Forget(h, said); err != nil && !errors.Is(err, speakers.ErrUnknown) {
			faults = append(faults, err)
		}
	}
	return errors.Join(append(faults, o.Voices.ForgetAside())...)
}

// record records in each room that something was forgotten there, once.
func (o *Eraser) record(ctx context.Context, w Request) {
	for _, id := range slices.Sorted(maps.Keys(w.Rooms)) {
		if w.Rooms[id] == 0 {
			continue
		}
		event := earshot.EventID(string(w.ID) + "-" + string(id))
		if r, ok := o.find(id); ok && r.Room.Forgot(event, w.Rooms[id], w.By) == nil {
			continue
		}
		_, err := o.Store.Append(ctx, earshot.Event{
			ID: event, At: time.Now(), Room: id, From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindForgotten)},
			Author: w.By, Visibility: earshot.Visibility{Scope: earshot.System}, Body: earshot.ErasureRecord{Events: w.Rooms[id]},
		})
		if err != nil {
			o.Log.Warn("the deletion could not be recorded", "room", id, "err", err)
		}
	}
}

// orphans removes from the files of agents what was made of erased events: a crash may have
// interrupted that, or the eraser did not know of the file.
func (o *Eraser) orphans(ctx context.Context) error {
	made, err := o.Files.Sources()
	if err != nil {
		return err
	}
	list, err := json.Marshal(made)
	if err != nil {
		return err
	}
	gone, err := column[earshot.EventID](ctx, o.Store, "SELECT id FROM journal WHERE kind = 'erased' AND id IN (SELECT value FROM json_each(?))", string(list))
	if err != nil || len(gone) == 0 {
		return err
	}
	_, err = o.Files.Forget(record.Among(gone))
	return err
}

// column returns the only column of the result of a query.
func column[T any](ctx context.Context, s *store.Store, query string, args ...any) (all []T, err error) {
	err = s.Look(ctx, func(v earshot.View) error {
		rows, err := v.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var one T
			if err := rows.Scan(&one); err != nil {
				return err
			}
			all = append(all, one)
		}
		return rows.Err()
	})
	return all, err
}

// find returns the running room with an ID.
func (o *Eraser) find(id earshot.RoomID) (Room, bool) {
	if o.Rooms == nil {
		return Room{}, false
	}
	all := o.Rooms()
	i := slices.IndexFunc(all, func(r Room) bool { return r.ID == cmp.Or(id, earshot.Desk) })
	if i < 0 {
		return Room{}, false
	}
	return all[i], true
}

// Expire forgets what is older than keep allows, until an urgent request comes; the rest waits for
// the next time. Loosen is called before an overheard event is erased.
func (o *Eraser) Expire(ctx context.Context, keep store.Retention, loosen func([]earshot.EventID) error) {
	if keep.Always() {
		return
	}
	ctx, yield := context.WithCancel(ctx)
	defer yield()
	o.doing.Lock()
	defer o.doing.Unlock()
	o.yields.Store(&yield)
	defer o.yields.Store(nil)
	var all []store.SelectedEvent
	each := func(some []store.SelectedEvent) {
		all = append(all, some...)
		if err := o.forgetPostsOf(some); err != nil {
			o.Log.Warn("the record of something old that was posted on Discord could not be deleted", "err", err)
		}
		o.tell(ctx, Request{}, some, nil)
	}
	n, err := o.Store.Expire(ctx, keep, time.Now(), each)
	if err == nil && keep.Overheard > 0 {
		var more int
		more, err = o.Store.Lapse(ctx, time.Now().Add(-time.Duration(keep.Overheard)*time.Hour), loosen, each)
		n += more
	}
	if len(all) > 0 {
		if bad := o.forgetFiles(all); err == nil {
			err = bad
		}
	}
	switch {
	case err != nil && ctx.Err() == nil:
		o.Log.Warn("some old events could not be deleted", "err", err)
	case n > 0:
		o.Log.Info("old events are deleted again", "events", n)
	}
}
