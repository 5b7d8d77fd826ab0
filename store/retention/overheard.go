package retention

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/store/edit"
	"earshot/store/journal"
)

// overheard is the condition that event j of the journal was said aloud and meant for no agent: it
// addresses no agent, no agent answered it, and nothing was done for it. @heeded are the reasons
// for silence that show that an agent was meant. @unheeded are the reasons for speaking that do not
// show it.
const overheard = `j.kind = 'utterance' AND coalesce(json_array_length(j.payload, '$.to'), 0) = 0
	AND NOT EXISTS (SELECT 1 FROM derived h CROSS JOIN journal k ON k.id = h.event WHERE h.source = j.id
		AND (k.kind = 'snooze' OR k.kind = 'decision' AND json_extract(k.payload, '$.body.about') = j.id
			AND (json_extract(k.payload, '$.body.verdict') = 'speak'
					AND NOT EXISTS (SELECT 1 FROM json_each(k.payload, '$.body.reasons') r WHERE r.value IN (SELECT value FROM json_each(@unheeded)))
				OR EXISTS (SELECT 1 FROM json_each(k.payload, '$.body.reasons') r WHERE r.value IN (SELECT value FROM json_each(@heeded))))))`

// Overheard erases what was said aloud and meant for no agent.
type Overheard struct {
	editor           *edit.Editor
	heeded, unheeded sql.NamedArg // see overheard
}

// NewOverheard returns an Overheard that erases by the editor. heeded are the reasons for silence
// that show that an agent was meant. unheeded are the reasons for speaking that do not show it.
func NewOverheard(editor *edit.Editor, heeded, unheeded []string) *Overheard {
	return &Overheard{editor, sql.Named("heeded", journal.JSON(heeded)), sql.Named("unheeded", journal.JSON(unheeded))}
}

// Find returns the first events of a room after a sequence that were overheard before a time.
func (o *Overheard) Find(ctx context.Context, v earshot.View, room earshot.RoomID, after int64, before time.Time, limit int) ([]journal.SelectedEvent, error) {
	return journal.CollectSelected(v.QueryContext(ctx, "SELECT "+journal.SelectedColumns+" FROM journal j WHERE j.room = @room AND j.sequence > @after AND j.at < @before AND "+overheard+" ORDER BY j.sequence LIMIT @limit",
		sql.Named("room", room), sql.Named("after", after), sql.Named("before", before.UnixMilli()), o.heeded, o.unheeded, sql.Named("limit", limit)))
}

// A Plan says what happens to overheard events, and to what was made from them.
type Plan struct {
	erases  []earshot.EventID        // each after everything that was made from it
	loosens []earshot.EventID        // these stay, but lose the erased events as sources
	known   map[earshot.EventID]bool // everything in both at the beginning
	gone    map[earshot.EventID]bool // everything in erases at the beginning
}

// Erases returns the events that are still to be erased.
func (p Plan) Erases() []earshot.EventID { return slices.Clone(p.erases) }

// IsDone reports whether nothing is left to do.
func (p Plan) IsDone() bool { return len(p.loosens)+len(p.erases) == 0 }

// Plan determines what was made from some overheard events, and what happens to it.
func (o *Overheard) Plan(ctx context.Context, v earshot.View, events []journal.SelectedEvent) (p Plan, err error) {
	p.known, p.gone = make(map[earshot.EventID]bool), make(map[earshot.EventID]bool)
	for _, e := range events {
		p.erases = append(p.erases, e.ID)
		p.known[e.ID], p.gone[e.ID] = true, true
	}
	for i := 0; i < len(p.erases); i++ {
		made, err := edit.MadeOf(ctx, v, p.erases[i])
		if err != nil {
			return Plan{}, err
		}
		for _, m := range made {
			if p.known[m.ID] {
				continue
			}
			p.known[m.ID] = true
			asked, err := o.isAsked(ctx, v, m, p.gone)
			switch {
			case err != nil:
				return Plan{}, err
			case asked:
				p.loosens = append(p.loosens, m.ID)
			default:
				p.erases = append(p.erases, m.ID)
				p.gone[m.ID] = true
			}
		}
	}
	slices.Reverse(p.erases)
	return p, nil
}

// isAsked reports whether m, which was made partly from overheard events, was made for somebody who
// spoke to an agent. A damaged event counts as not made for anybody, because nobody will read it.
func (o *Overheard) isAsked(ctx context.Context, v earshot.View, m edit.Entry, gone map[earshot.EventID]bool) (is bool, err error) {
	e, err := m.Event()
	if err != nil {
		return false, nil
	}
	switch b := e.Body.(type) {
	case earshot.Reply:
		return b.About != "" && !gone[b.About], nil
	case earshot.Thought:
		return b.Cause.Asked() && !gone[b.About], nil
	case earshot.Finding:
		is, err = journal.Exists(ctx, v, "SELECT 1 FROM journal WHERE id = ? AND kind = 'thought' AND json_extract(payload, '$.body.cause') IN (?, ?, ?)",
			b.Thought, earshot.ByTrigger, earshot.ByCommand, earshot.ByDelegation)
		return is && !gone[b.Thought], err
	case earshot.Decision:
		return false, nil
	}
	return journal.Exists(ctx, v, "SELECT 1 FROM json_each(@sources) s CROSS JOIN journal j ON j.id = s.value WHERE j.kind = 'message' OR j.kind = 'utterance' AND NOT ("+overheard+")",
		sql.Named("sources", journal.JSON(e.Sources)), o.heeded, o.unheeded)
}

// Perform carries out the first part of a plan, at least one event of it and then more while the
// function more reports true. It returns the rest of the plan, and what was erased.
func (o *Overheard) Perform(ctx context.Context, tx *sql.Tx, p Plan, more func() bool) (rest Plan, gone []journal.SelectedEvent, err error) {
	rest = p
	changed := false
	for first := true; !rest.IsDone() && (first || more()); first = false {
		if len(rest.loosens) > 0 {
			err = loosen(ctx, tx, rest.loosens[0], rest.gone)
			rest.loosens, changed = rest.loosens[1:], true
		} else {
			var was []journal.SelectedEvent
			was, err = o.eraseOne(ctx, tx, rest.erases[0], rest.known)
			rest.erases, gone = rest.erases[1:], append(gone, was...)
		}
		if err != nil {
			return p, nil, err
		}
	}
	if changed || len(gone) > 0 { // the copy of the file must contain the loosened events too
		err = journal.MarkTraces(ctx, tx)
	}
	return rest, gone, err
}

// Erase erases those of some events that were overheard, and what was made from them.
func (o *Overheard) Erase(ctx context.Context, tx *sql.Tx, ids []earshot.EventID) (gone []journal.SelectedEvent, err error) {
	events, err := journal.CollectSelected(tx.QueryContext(ctx, "SELECT "+journal.SelectedColumns+" FROM journal j WHERE j.id IN (SELECT value FROM json_each(@ids)) AND "+overheard,
		sql.Named("ids", journal.JSON(ids)), o.heeded, o.unheeded))
	if err != nil {
		return nil, err
	}
	plan, err := o.Plan(ctx, tx, events)
	if err == nil {
		_, gone, err = o.Perform(ctx, tx, plan, func() bool { return true })
	}
	return gone, err
}

// loosen removes erased events from the sources of an event. No view depends on these.
func loosen(ctx context.Context, tx *sql.Tx, id earshot.EventID, gone map[earshot.EventID]bool) error {
	var r journal.Row
	err := r.Scan(tx.QueryRowContext(ctx, "SELECT "+journal.Columns+" FROM journal j WHERE j.id = ? AND j.kind <> ?", id, earshot.KindErased))
	if errors.Is(err, sql.ErrNoRows) {
		return nil // somebody has erased it meanwhile
	}
	if err != nil {
		return err
	}
	e, err := r.Event()
	if err != nil {
		return nil // a damaged event is not changed
	}
	for _, source := range e.Sources {
		if gone[source] {
			if _, err := tx.ExecContext(ctx, "DELETE FROM derived WHERE source = ? AND event = ?", source, id); err != nil {
				return err
			}
		}
	}
	e.Sources = slices.DeleteFunc(e.Sources, func(id earshot.EventID) bool { return gone[id] })
	if r, _, err = journal.Seal(e, r.Sequence); err != nil {
		return err
	}
	return journal.Overwrite(ctx, tx, r)
}

// eraseOne erases one event, unless something was made from it meanwhile. In that case both are
// erased the next time.
func (o *Overheard) eraseOne(ctx context.Context, tx *sql.Tx, id earshot.EventID, known map[earshot.EventID]bool) ([]journal.SelectedEvent, error) {
	made, err := edit.MadeOf(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(made, func(m edit.Entry) bool { return !known[m.ID] }) {
		return nil, nil
	}
	return o.editor.EraseOne(ctx, tx, id)
}
