// Package edit changes what a journal holds, in a transaction of its caller: it adds events, and
// revises, withdraws and erases earlier ones. The views change with the events.
package edit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot"
	"earshot/store/journal"
)

// ErrTaken says that another event already has the ID of this one.
var ErrTaken = errors.New("the ID belongs to another event")

// Views are the tables that are made from the journal.
type Views interface {
	// Apply updates them with an event.
	Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error

	// Remove removes the words of an event from them, before the event is overwritten.
	Remove(ctx context.Context, tx *sql.Tx, sequence int64) error
}

// An Editor changes one journal. It is used by one goroutine at a time.
type Editor struct {
	Views Views
	Above int64 // new events get higher sequences

	Now    func() time.Time       // the time of an event that has none
	NewID  func() earshot.EventID // the ID of an event that has none
	Traces func()                 // called when something loses its content, of which the file has traces

	// Tell tells others, in the transaction, that an event is erased; nil if nobody else has the journal.
	Tell func(ctx context.Context, tx *sql.Tx, id earshot.EventID) error

	known known
}

// Add appends e to the journal and updates the views. It returns the event as it is kept, and
// reports whether it was added now.
func (d *Editor) Add(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, bool, error) {
	if err := journal.CheckEvent(e); err != nil {
		return e, false, fmt.Errorf("keeping an event: %w", err)
	}
	if e.At.IsZero() {
		e.At = d.Now()
	}
	if err := d.known.read(ctx, tx); err != nil {
		return e, false, err
	}
	if e.ID == "" {
		e.ID = d.NewID()
	} else if e.ID <= d.known.highest && !d.known.unused[e.ID] {
		if old, err := Find(ctx, tx, e); err == nil || !errors.Is(err, sql.ErrNoRows) {
			return old, false, err
		}
	}
	if b, is := e.Body.(earshot.Revision); is && !slices.Contains(e.Sources, b.Of) {
		e.Sources = append(slices.Clip(e.Sources), b.Of) // the message that it changes
	}
	orphan, err := d.isAnyErased(ctx, tx, e.Sources)
	if err != nil {
		return e, false, err
	}
	if orphan {
		e = Erased(e)
	}
	if e, err = d.Change(ctx, tx, e); err != nil {
		return e, false, err
	}
	r, e, err := journal.Seal(e, max(d.known.last, d.Above)+1)
	if err != nil {
		return e, false, fmt.Errorf("keeping an event: %w", err)
	}
	if err := journal.Insert(ctx, tx, r, e); err != nil {
		return e, false, err
	}
	d.known.add(e)
	return e, true, d.Views.Apply(ctx, tx, e)
}

// Find returns the event with the ID of e, or [sql.ErrNoRows]. It does not return an event of
// another sender, whose ID somebody may have guessed.
func Find(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, error) {
	old, err := journal.Find(ctx, tx, "j.id = ?", e.ID)
	if err != nil {
		return e, err
	}
	if _, gone := old.Body.(earshot.Tombstone); gone && old.Room == e.Room {
		return old, nil
	}
	if old.Room != e.Room || old.From != e.From || old.Author != e.Author || old.Body.Kind() != e.Body.Kind() {
		return e, fmt.Errorf("keeping event %s: %w", e.ID, ErrTaken)
	}
	return old, nil
}

func (d *Editor) isAnyErased(ctx context.Context, tx *sql.Tx, ids []earshot.EventID) (bool, error) {
	if !slices.ContainsFunc(ids, func(id earshot.EventID) bool { return !d.known.whole[id] }) {
		return false, nil
	}
	return journal.Exists(ctx, tx, "SELECT 1 FROM journal WHERE kind = ? AND id IN (SELECT value FROM json_each(?))", earshot.KindErased, journal.JSON(ids))
}

// maxKnown is how many events are known not to be erased: more than a reply is made from.
const maxKnown = 4096

// known is what an editor knows of its journal without a query, for which a server would take a round
// trip while somebody waits. Nobody else changes the journal, unless several daemons share it: then each
// transaction reads it.
type known struct {
	valid   bool
	last    int64                    // the highest sequence
	highest earshot.EventID          // the highest ID; a higher one is new
	whole   map[earshot.EventID]bool // some that are not erased
	unused  map[earshot.EventID]bool // some that no event has
}

// read reads it, unless it is known.
func (k *known) read(ctx context.Context, tx *sql.Tx) error {
	if k.valid {
		return nil
	}
	err := tx.QueryRowContext(ctx, "SELECT coalesce(max(sequence), 0), coalesce((SELECT max(id) FROM journal), '') FROM journal").Scan(&k.last, &k.highest)
	k.valid, k.whole = err == nil, map[earshot.EventID]bool{}
	return err
}

// add notes that an event was added.
func (k *known) add(e earshot.Event) {
	if len(k.whole) == maxKnown {
		clear(k.whole)
	}
	if _, gone := e.Body.(earshot.Tombstone); !gone {
		k.whole[e.ID] = true
	}
	delete(k.unused, e.ID)
	k.last, k.highest = e.Sequence, max(k.highest, e.ID)
}

// Read reads again what is known of the journal, since another daemon may have changed it on the server, and
// whether it has any of some events that are about to be added: IDs that several daemons make do not rise, and
// to ask for each would take a round trip for which all daemons wait.
func (d *Editor) Read(ctx context.Context, tx *sql.Tx, events []earshot.Event) error {
	k := known{valid: true, whole: make(map[earshot.EventID]bool), unused: make(map[earshot.EventID]bool)}
	ids, taken := make([]earshot.EventID, len(events)), false
	for i, e := range events {
		ids[i] = e.ID
	}
	err := tx.QueryRowContext(ctx, `SELECT coalesce(max(sequence), 0), coalesce((SELECT max(id) FROM journal), ''),
		EXISTS (SELECT 1 FROM journal WHERE id = ANY (ARRAY(SELECT value FROM json_each(?)))) FROM journal`, journal.JSON(ids)).Scan(&k.last, &k.highest, &taken)
	if err != nil {
		return err
	}
	for _, id := range ids {
		k.unused[id] = !taken
	}
	d.known = k
	return nil
}

// Forget has the editor read again what it knows of the journal: after a step that was undone, or
// changed the journal in another way.
func (d *Editor) Forget() { d.known = known{} }

// Change applies e to the earlier events that it changes, and returns e as it is kept.
func (d *Editor) Change(ctx context.Context, tx *sql.Tx, e earshot.Event) (earshot.Event, error) {
	var err error
	switch b := e.Body.(type) {
	case earshot.Revision:
		err = d.revise(ctx, tx, e, b)
	case earshot.Withdrawal:
		e.Body, err = d.withdraw(ctx, tx, b, e.Room)
	default:
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("keeping an event: %w", err)
	}
	d.Traces()
	return e, journal.MarkTraces(ctx, tx)
}

// revise overwrites a message and everything that repeats its old text: earlier revisions, and
// edits that correct something that is no longer there.
func (d *Editor) revise(ctx context.Context, tx *sql.Tx, e earshot.Event, b earshot.Revision) error {
	had, err := journal.Target(ctx, tx, e.Room, b.Of)
	if err != nil {
		return err
	}
	m, ok := had.Body.(earshot.Message)
	if !ok {
		return journal.ErrNoTarget
	}
	about, err := journal.Collect(tx.QueryContext(ctx, "SELECT "+journal.Columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind IN (?, ?) ORDER BY j.sequence",
		b.Of, earshot.KindRevision, earshot.KindEdit))
	if err != nil {
		return err
	}
	for _, r := range about {
		if err := d.removeOldText(ctx, tx, r, b.Of); err != nil {
			return err
		}
	}
	if err := d.eraseMemories(ctx, tx, b.Of); err != nil {
		return err
	}
	m.Text, m.Revised = b.Text, e.At
	had.Body = m
	return d.overwrite(ctx, tx, had)
}

// eraseMemories erases the facts and summaries that were made from a message, and the reminders that
// were made from these. Replies that knew of them stay, like other answers to what was revised.
func (d *Editor) eraseMemories(ctx context.Context, tx *sql.Tx, of earshot.EventID) error {
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE gone (id) AS (
			SELECT d.event FROM derived d CROSS JOIN journal j ON j.id = d.event WHERE d.source = ?1 AND j.kind IN (?2, ?3)
			UNION SELECT d.event FROM gone JOIN derived d ON d.source = gone.id CROSS JOIN journal j ON j.id = d.event WHERE j.kind IN (?2, ?3, ?4))
		SELECT `+entryColumns+` FROM gone CROSS JOIN journal j ON j.id = gone.id ORDER BY j.sequence`,
		of, earshot.KindFact, earshot.KindSummary, earshot.KindReminder)
	_, err = d.eraseEach(ctx, tx, rows, err)
	return err
}

// removeOldText removes the old text of a message from a row that was derived from the message.
func (d *Editor) removeOldText(ctx context.Context, tx *sql.Tx, r journal.Row, of earshot.EventID) error {
	e, err := r.Event()
	if err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case earshot.Revision:
		b.Text = ""
		e.Body = b
		return d.overwrite(ctx, tx, e)
	case earshot.Edit:
		if b.Item == string(of) {
			_, err = d.erase(ctx, tx, Entry{Row: r, ID: e.ID, at: e.At.UnixMilli(), room: e.Room})
			return err
		}
	}
	return nil
}

// overwrite stores e in place of the event with its sequence, and updates the views.
func (d *Editor) overwrite(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	r, now, err := journal.Seal(e, e.Sequence)
	if err == nil {
		err = d.Views.Remove(ctx, tx, e.Sequence)
	}
	if err == nil {
		err = journal.Overwrite(ctx, tx, r)
	}
	if err != nil {
		return err
	}
	gone := Erased(now)
	gone.Sequence = now.Sequence
	if err := d.Views.Apply(ctx, tx, gone); err != nil { // the views keep nothing of the old event
		return err
	}
	return d.Views.Apply(ctx, tx, now)
}

// withdraw erases a message, a reply or a fact, and everything derived from it. It records in the
// withdrawal what that was.
func (d *Editor) withdraw(ctx context.Context, tx *sql.Tx, b earshot.Withdrawal, in earshot.RoomID) (earshot.Withdrawal, error) {
	b.With = nil
	had, err := journal.Target(ctx, tx, in, b.Of)
	if err != nil {
		return b, err
	}
	b.Was = had.Body.Kind()
	switch t := had.Body.(type) {
	case earshot.Message, earshot.Utterance, earshot.Reply, earshot.Fact:
	case earshot.Tombstone: // it is erased already, but something may have been made from it since
		b.Was = t.Was
	default:
		return b, journal.ErrNoTarget
	}
	gone, err := d.EraseAll(ctx, tx, b.Of)
	for _, was := range gone {
		if was.ID != b.Of {
			b.With = append(b.With, was.ID)
		}
	}
	return b, err
}

// An Entry is a row of the journal with its columns, so that a row with a damaged payload can be
// erased.
type Entry struct {
	journal.Row
	ID   earshot.EventID
	at   int64
	room earshot.RoomID
}

// entryColumns are the columns of an Entry. The journal is called j.
const entryColumns = journal.Columns + ", j.id, j.at, j.room"

func (n *Entry) read(rows *sql.Rows) error { return n.Scan(rows, &n.ID, &n.at, &n.room) }

// MadeOf returns what was made directly from an event and is not erased.
func MadeOf(ctx context.Context, v earshot.View, of earshot.EventID) ([]Entry, error) {
	rows, err := v.QueryContext(ctx, "SELECT "+entryColumns+" FROM derived d CROSS JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind <> ? ORDER BY j.sequence", of, earshot.KindErased)
	return journal.List(rows, err, (*Entry).read)
}

// EraseAll erases some events and everything made from them, and returns what was erased.
func (d *Editor) EraseAll(ctx context.Context, tx *sql.Tx, ids ...earshot.EventID) (gone []journal.SelectedEvent, err error) {
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE gone (id) AS (
			SELECT value FROM json_each(?)
			UNION SELECT d.event FROM derived d JOIN gone ON d.source = gone.id)
		SELECT `+entryColumns+` FROM gone CROSS JOIN journal j ON j.id = gone.id
		WHERE j.kind <> ? ORDER BY j.sequence`, journal.JSON(ids), earshot.KindErased)
	return d.eraseEach(ctx, tx, rows, err)
}

// EraseOne erases an event without what was made from it, and returns what was erased: nothing if
// the event does not exist or is erased already.
func (d *Editor) EraseOne(ctx context.Context, tx *sql.Tx, id earshot.EventID) (gone []journal.SelectedEvent, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+entryColumns+" FROM journal j WHERE j.id = ? AND j.kind <> ?", id, earshot.KindErased)
	return d.eraseEach(ctx, tx, rows, err)
}

func (d *Editor) eraseEach(ctx context.Context, tx *sql.Tx, rows *sql.Rows, err error) (gone []journal.SelectedEvent, _ error) {
	found, err := journal.List(rows, err, (*Entry).read)
	if err != nil {
		return nil, err
	}
	for _, n := range found {
		was, err := d.erase(ctx, tx, n)
		if err != nil {
			return nil, err
		}
		gone = append(gone, was)
	}
	return gone, nil
}

// erase overwrites one event and removes it from the views. It returns what the event was.
func (d *Editor) erase(ctx context.Context, tx *sql.Tx, n Entry) (journal.SelectedEvent, error) {
	e, err := n.Event()
	if err != nil { // nobody will see what is left of the event
		e = earshot.Event{ID: n.ID, At: time.UnixMilli(n.at), Room: n.room, Body: earshot.Notice{}}
	}
	delete(d.known.whole, n.ID)
	was := journal.Selected(e)
	was.Sequence, was.Room = n.Sequence, n.room
	r, e, err := journal.Seal(Erased(e), n.Sequence)
	if err == nil {
		err = d.Views.Remove(ctx, tx, n.Sequence)
	}
	if err != nil {
		return was, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE journal SET kind = ?, author = '', payload = ?, sum = ? WHERE sequence = ?",
		earshot.KindErased, string(r.Payload), r.Sum, r.Sequence)
	if err == nil && d.Tell != nil {
		err = d.Tell(ctx, tx, n.ID)
	}
	if err != nil {
		return was, err
	}
	return was, d.Views.Apply(ctx, tx, e)
}

// Erased returns what is left of e.
func Erased(e earshot.Event) earshot.Event {
	return earshot.Event{ID: e.ID, At: e.At, Room: e.Room, Visibility: e.Visibility, Body: earshot.Tombstone{Was: e.Body.Kind()}}
}
