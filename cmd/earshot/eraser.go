package main

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
	"earshot/executive/tool/workspace"
	"earshot/internal/atomicfile"
	"earshot/participants"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

// An eraser forgets, wherever something is kept: in the journal, in what rooms remember,
// in the book of voices, in the workspaces of agents, in the registry. It may be used from
// many goroutines, and forgets one thing after the other.
//
// What is to be forgotten is written down first, as the selection that it is and never as
// words, and that is taken away when it is done: whatever cut it off in between, the next
// start finishes it.
type eraser struct {
	dir    string // of the journal
	store  *store.Store
	people *participants.Registry
	voices *speakers.Registry
	files  *workspace.Store
	tokens *token.Store
	own    func() *sayings // on Discord; nil where nobody asks
	rooms  func() rooms    // that run; none where no earshot does
	newID  func() earshot.EventID
	log    *slog.Logger

	doing  sync.Mutex                         // held while something is forgotten
	yields atomic.Pointer[context.CancelFunc] // ends what holds it without hurry; nil if nothing does
}

// hold takes doing, before whatever is in no hurry. It is an error if ctx ends first.
func (o *eraser) hold(ctx context.Context) error {
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

// An eraseRequest is what is to be forgotten, as it is written down.
type eraseRequest struct {
	ID        earshot.EventID        `json:"id"`
	At        time.Time              `json:"at"`
	By        earshot.ParticipantID  `json:"by,omitempty"` // who operates the house, if it was they
	Selection store.Selection        `json:"selection"`
	Voices    []earshot.Handle       `json:"voices,omitempty"`
	Rooms     map[earshot.RoomID]int `json:"rooms,omitempty"` // how much in each
}

// does forgets what f says, if that is what was shown with its digest, and what came of the
// same since. It returns when it is written down as forgotten; see [oblivion.clean].
func (o *eraser) does(ctx context.Context, by participants.Participant, f api.EraseRequest) (*erasePlan, error) {
	if err := o.hold(ctx); err != nil {
		return nil, err
	}
	defer o.doing.Unlock()
	p, err := o.looks(ctx, by, f)
	if err != nil {
		return nil, err
	}
	shown, err := upTo(f.Digest)
	if err != nil {
		return nil, err
	}
	sel := p.wish.Selection
	all, err := o.store.Select(ctx, sel)
	if err != nil {
		return nil, err
	}
	was := slices.DeleteFunc(slices.Clone(all), func(d store.Doomed) bool { return d.Sequence > shown })
	if p.digest(was, shown) != f.Digest {
		return nil, errors.New("that is not what was shown: something of it has changed meanwhile; look at it again")
	}
	p.Since = len(all) - len(was)
	if sel.Whole() {
		if err := forgetIdentity(o.people.Name(sel.People[0])); err != nil {
			return nil, err
		}
	}
	if err := o.resumes(ctx); err != nil { // it would be written over
		return nil, err
	}
	if err := o.writes(p.wish); err != nil {
		return nil, err
	}
	n, err := o.carries(ctx, p.wish)
	if err != nil {
		return nil, fmt.Errorf("%w; it goes on by itself, at the next start at the latest", err)
	}
	p.Done, p.Events = true, max(n, p.Events)
	return p, nil
}

// clean waits until no trace is left that can be removed.
func (o *eraser) clean(ctx context.Context) error {
	if err := o.store.Clean(ctx); err != nil {
		return fmt.Errorf("it is forgotten, but the last traces still lie in the files, and go by themselves: %w", err)
	}
	return nil
}

// wishFile is where what is to be forgotten stands, beside the journal.
const wishFile = "forgetting.json"

// writes writes down what is to be forgotten.
func (o *eraser) writes(w eraseRequest) error {
	data, err := json.Marshal(w)
	if err == nil {
		err = atomicfile.Write(filepath.Join(o.dir, wishFile), data)
	}
	if err != nil {
		return fmt.Errorf("writing down what is to be forgotten: %w", err)
	}
	return nil
}

// finishes carries out what an earlier earshot had no time to, if there is anything, and
// takes out of files and lists what was made of events that are erased already.
func (o *eraser) finishes(ctx context.Context) error {
	o.doing.Lock()
	defer o.doing.Unlock()
	return errors.Join(o.resumes(ctx), o.orphans(ctx))
}

// resumes carries out what was written down and cut off. It is called with doing.
func (o *eraser) resumes(ctx context.Context) error {
	data, err := os.ReadFile(filepath.Join(o.dir, wishFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var w eraseRequest
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return fmt.Errorf("reading what was to be forgotten: %w", err)
	}
	_, err = o.carries(ctx, w, o.orphans)
	return err
}

// carries carries out a wish, and what else belongs to it once the journal has forgotten.
func (o *eraser) carries(ctx context.Context, w eraseRequest, also ...func(context.Context) error) (n int, err error) {
	all, err := o.store.Select(ctx, w.Selection)
	if err == nil {
		err = o.unposts(all) // while it can be told which they are
	}
	if err != nil {
		return 0, err
	}
	all = nil
	n, err = o.store.Forget(ctx, w.Selection, func(some []store.Doomed) {
		all = append(all, some...)
		o.tell(ctx, some, nil)
	})
	if err != nil {
		return n, err
	}
	faults := []error{o.beside(all), o.store.ForgetAside()}
	for _, do := range also {
		faults = append(faults, do(ctx))
	}
	if w.Selection.Whole() {
		faults = append(faults, o.forgets(ctx, w))
	}
	if err := errors.Join(faults...); err != nil {
		return n, err
	}
	o.notes(ctx, w)
	if err := os.Remove(filepath.Join(o.dir, wishFile)); err != nil {
		return n, err
	}
	return n, nil
}

// tell lets the rooms that run forget what is erased, and people.
func (o *eraser) tell(ctx context.Context, some []store.Doomed, people []earshot.ParticipantID) {
	if o.rooms == nil {
		return
	}
	in := make(map[earshot.RoomID][]earshot.EventID)
	for _, d := range some {
		in[d.Room] = append(in[d.Room], d.ID)
	}
	for _, r := range o.rooms() {
		if ids := in[r.is.ID]; len(ids) > 0 || len(people) > 0 {
			if err := r.Forget(ctx, ids, people); err != nil {
				o.log.Warn("a room could not be told what is forgotten", "room", r.is.ID, "err", err)
			}
		}
	}
}

// beside takes what was made of erased events out of what is kept beside the journal.
func (o *eraser) beside(all []store.Doomed) error {
	_, err := o.files.Forget(amongst(all))
	return errors.Join(err, o.unposts(all))
}

// unposts takes out of what is known of Discord which messages were parts of some replies.
func (o *eraser) unposts(all []store.Doomed) error {
	turns := turnsOf(all)
	if len(turns) == 0 || o.own == nil {
		return nil
	}
	return o.own().forget(turns)
}

// turnsOf returns the turns of the replies among some events.
func turnsOf(all []store.Doomed) map[earshot.TurnID]bool {
	turns := make(map[earshot.TurnID]bool)
	for _, d := range all {
		if d.Turn != "" {
			turns[d.Turn] = true
		}
	}
	return turns
}

// forgets forgets somebody themselves.
func (o *eraser) forgets(ctx context.Context, w eraseRequest) error {
	people := w.Selection.People
	var faults []error
	for _, h := range w.Voices {
		if _, err := o.voices.Forget(h, speakers.Said{By: cmp.Or(w.By, people[0]), At: w.At}); err != nil && !errors.Is(err, speakers.ErrUnknown) {
			faults = append(faults, err)
		}
	}
	faults = append(faults, o.voices.ForgetAside())
	o.tell(ctx, nil, people)
	o.people.Forget(people[0])
	known, err := o.tokens.List()
	faults = append(faults, err)
	for _, t := range known {
		if slices.Contains(people, t.Participant) && !o.people.Declared(t.Participant) {
			faults = append(faults, o.tokens.Revoke(t.ID))
		}
	}
	return errors.Join(faults...)
}

// notes writes down in each room that something is forgotten there, once.
func (o *eraser) notes(ctx context.Context, w eraseRequest) {
	for _, id := range slices.Sorted(maps.Keys(w.Rooms)) {
		if w.Rooms[id] == 0 {
			continue
		}
		event := earshot.EventID(string(w.ID) + "-" + string(id))
		if o.rooms != nil {
			if r, ok := o.rooms().find(id); ok && r.Forgot(event, w.Rooms[id], w.By) == nil {
				continue
			}
		}
		_, err := o.store.Append(ctx, earshot.Event{
			ID: event, At: time.Now(), Room: id, From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindForgotten)},
			Author: w.By, Visibility: earshot.Visibility{Scope: earshot.System}, Body: earshot.ErasureRecord{Events: w.Rooms[id]},
		})
		if err != nil {
			o.log.Warn("that something is forgotten could not be written down", "room", id, "err", err)
		}
	}
}

// orphans takes out of the files of agents what was made of events that are erased: a crash
// may have come in between, or whoever erased them did not know of it.
func (o *eraser) orphans(ctx context.Context) error {
	made, err := o.files.Sources()
	if err != nil {
		return err
	}
	gone, err := o.erased(ctx, made)
	if err != nil || len(gone) == 0 {
		return err
	}
	_, err = o.files.Forget(func(id earshot.EventID) bool { return gone[id] })
	return err
}

// erased returns which of some events are.
func (o *eraser) erased(ctx context.Context, ids []earshot.EventID) (map[earshot.EventID]bool, error) {
	gone := make(map[earshot.EventID]bool)
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	err = o.store.Look(ctx, func(v earshot.View) error {
		rows, err := v.QueryContext(ctx, "SELECT id FROM journal WHERE kind = 'erased' AND id IN (SELECT value FROM json_each(?))", string(list))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id earshot.EventID
			if err := rows.Scan(&id); err != nil {
				return err
			}
			gone[id] = true
		}
		return rows.Err()
	})
	return gone, err
}
