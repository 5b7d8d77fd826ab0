package journal

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"earshot"
)

// A Selection says which events are selected. All of its conditions must hold. An empty Selection
// selects everything that happened.
//
// Events that say who exists, what a room is like and that something was forgotten are selected
// only by their ID, or by [Selection.Kinds].
type Selection struct {
	Events []earshot.EventID `json:"events,omitempty"` // these

	// People are all the IDs of one person. They select what the person did, what was said in a
	// voice that was taken for theirs, what is for them alone, and the event that says they exist.
	// Something counts as for them alone even if it is also for one of Agents.
	People []earshot.ParticipantID `json:"people,omitempty"`
	Agents []earshot.ParticipantID `json:"agents,omitempty"`

	// Handle selects the events of this handle whose author was not known.
	Handle earshot.Handle `json:"handle,omitzero"`

	Room  earshot.RoomID `json:"room,omitempty"` // empty means any
	From  time.Time      `json:"from,omitzero"`  // events that began at or after it
	To    time.Time      `json:"to,omitzero"`    // and before this
	Kinds []earshot.Kind `json:"kinds,omitempty"`

	// Until is the last selected sequence; 0 means no limit.
	Until int64 `json:"until,omitempty"`
}

// A SelectedEvent is an event that is selected, or was made from a selected one.
type SelectedEvent struct {
	Sequence int64
	ID       earshot.EventID
	At       time.Time
	Room     earshot.RoomID
	Kind     earshot.Kind
	Author   earshot.ParticipantID
	About    earshot.EventID // what a reply answers
	Turn     earshot.TurnID  // of a reply
	Derived  bool            // not selected itself, but made from a selected event
}

// lastingKinds are the kinds of events that say who exists, what a room is like, and that something
// was forgotten.
var lastingKinds = []earshot.Kind{earshot.KindActor, earshot.KindAgent, earshot.KindMode, earshot.KindForgotten}

// SelectedColumns are the columns of a [SelectedEvent]. selectable is the condition of every
// selection. The journal is called j.
const (
	SelectedColumns = `j.sequence, j.id, j.at, j.room, j.kind, j.author, CASE j.kind WHEN 'reply' THEN coalesce(json_extract(j.payload, '$.body.about'), '') ELSE '' END,
		CASE j.kind WHEN 'reply' THEN coalesce(json_extract(j.payload, '$.body.turn'), '') ELSE '' END`
	selectable = `j.kind <> 'erased' AND (@until = 0 OR j.sequence <= @until) AND (@room = '' OR j.room = @room)
		AND (@from IS NULL OR j.at >= @from) AND (@to IS NULL OR j.at < @to)
		AND (@kinds IS NULL AND (j.kind NOT IN (SELECT value FROM json_each(@lasts)) OR @events IS NOT NULL) OR j.kind IN (SELECT value FROM json_each(@kinds)))`
)

// Select returns the selected events, followed by everything that was made from them, leaving out
// what is already erased, each in the order of the journal. It ignores visibility.
func Select(ctx context.Context, v earshot.View, sel Selection) ([]SelectedEvent, error) {
	all, err := selectEvents(ctx, v, sel)
	if err != nil {
		return nil, err
	}
	return addDerived(ctx, v, all)
}

// args are the arguments of selectable.
func (sel Selection) args() []any {
	null := func(is bool, value any) any {
		if is {
			return nil
		}
		return value
	}
	return []any{
		sql.Named("until", sel.Until), sql.Named("room", sel.Room), sql.Named("lasts", JSON(lastingKinds)),
		sql.Named("from", null(sel.From.IsZero(), sel.From.UnixMilli())), sql.Named("to", null(sel.To.IsZero(), sel.To.UnixMilli())),
		sql.Named("kinds", null(len(sel.Kinds) == 0, JSON(sel.Kinds))), sql.Named("events", null(len(sel.Events) == 0, JSON(sel.Events))),
	}
}

func selectEvents(ctx context.Context, v earshot.View, sel Selection) ([]SelectedEvent, error) {
	where := selectable
	if len(sel.Events) > 0 {
		where += " AND j.id IN (SELECT value FROM json_each(@events))"
	}
	args := sel.args()
	if sel.Handle != (earshot.Handle{}) {
		where += " AND j.author = '' AND json_extract(j.payload, '$.from.provider') = @provider AND json_extract(j.payload, '$.from.id') = @handle"
		args = append(args, sql.Named("provider", sel.Handle.Provider), sql.Named("handle", sel.Handle.ID))
	}
	if len(sel.People) == 0 {
		return CollectSelected(v.QueryContext(ctx, "SELECT "+SelectedColumns+" FROM journal j WHERE "+where+" ORDER BY j.sequence", args...))
	}
	return ofPeople(ctx, v, sel, where, args)
}

// ofPeople returns the selected events of one person.
func ofPeople(ctx context.Context, v earshot.View, sel Selection, where string, args []any) ([]SelectedEvent, error) {
	args = append(args, sql.Named("people", JSON(sel.People)))
	did, err := CollectSelected(v.QueryContext(ctx, "SELECT "+SelectedColumns+" FROM journal j WHERE "+where+" AND j.author IN (SELECT value FROM json_each(@people))", args...))
	if err != nil {
		return nil, err
	}
	whose, err := attributions(ctx, v)
	if err != nil {
		return nil, err
	}
	var own []earshot.EventID
	for id, by := range whose {
		if slices.Contains(sel.People, by) {
			own = append(own, id)
		}
	}
	said, err := CollectSelected(v.QueryContext(ctx, "SELECT "+SelectedColumns+" FROM journal j WHERE "+where+" AND j.id IN (SELECT value FROM json_each(@own))",
		append(args, sql.Named("own", JSON(own)))...))
	if err != nil {
		return nil, err
	}
	alone, err := aboutThem(ctx, v, sel, args)
	if err != nil {
		return nil, err
	}
	did = slices.DeleteFunc(did, func(d SelectedEvent) bool {
		by := whose[d.ID] // somebody else may have turned out to have said it
		return d.Kind == earshot.KindUtterance && by != "" && !slices.Contains(sel.People, by) ||
			d.Kind == earshot.KindWhose // it is erased only with its subject: otherwise that would become theirs again
	})
	return sortUnique(slices.Concat(did, said, alone)), nil
}

// attributions returns by whom each utterance was, if that was found out later.
func attributions(ctx context.Context, v earshot.View) (map[earshot.EventID]earshot.ParticipantID, error) {
	all := make(map[earshot.EventID]earshot.ParticipantID)
	err := eachWhere(ctx, v, "j.kind = 'whose'", nil, func(e earshot.Event) {
		if w, is := e.Body.(earshot.Attribution); is {
			all[w.Of] = w.Author
		}
	})
	return all, err
}

// aboutThem returns the events that are for one person alone, and the event that says they exist.
func aboutThem(ctx context.Context, v earshot.View, sel Selection, args []any) (all []SelectedEvent, err error) {
	take := func(e earshot.Event) {
		if sel.concerns(e) {
			all = append(all, Selected(e))
		}
	}
	err = eachWhere(ctx, v, selectable+` AND j.sequence IN (SELECT sequence FROM members WHERE member IN (SELECT value FROM json_each(@people)))
		AND (@events IS NULL OR j.id IN (SELECT value FROM json_each(@events)))`, args, take)
	if err != nil {
		return nil, err
	}
	err = eachWhere(ctx, v, `j.kind IN ('reminder', 'thought', 'task', 'step', 'schedule') AND `+selectable+` AND (@events IS NULL OR j.id IN (SELECT value FROM json_each(@events)))`, args, take)
	if err == nil && sel.Whole() {
		err = eachWhere(ctx, v, "j.kind = 'actor' AND (@until = 0 OR j.sequence <= @until)", args, take)
	}
	return all, err
}

// Whole reports whether everything of a person is selected, anywhere and at any time, and the
// person too.
func (sel Selection) Whole() bool {
	return len(sel.People) > 0 && len(sel.Events) == 0 && len(sel.Kinds) == 0 && sel.Room == "" && sel.From.IsZero() && sel.To.IsZero() && sel.Handle == (earshot.Handle{})
}

// concerns reports whether e is for the selected person alone, or says that they exist.
func (sel Selection) concerns(e earshot.Event) bool {
	is := func(id earshot.ParticipantID) bool { return slices.Contains(sel.People, id) }
	switch b := e.Body.(type) {
	case earshot.Actor:
		return is(b.Participant) || is(b.Into)
	case earshot.Reminder, earshot.Thought, earshot.Task, earshot.Step, earshot.Schedule: // it contains what they asked
		if len(e.To) > 0 && !slices.ContainsFunc(e.To, func(id earshot.ParticipantID) bool { return !is(id) }) {
			return true
		}
	}
	if e.Visibility.Scope != earshot.Private || !slices.ContainsFunc(e.Visibility.Members, is) {
		return false
	}
	return !slices.ContainsFunc(e.Visibility.Members, func(id earshot.ParticipantID) bool {
		return !is(id) && id != e.Author && !slices.Contains(sel.Agents, id)
	})
}

// eachWhere calls do with the events of the journal j that match, in their order.
func eachWhere(ctx context.Context, v earshot.View, where string, args []any, do func(earshot.Event)) error {
	found, err := Collect(v.QueryContext(ctx, "SELECT "+Columns+" FROM journal j WHERE "+where+" ORDER BY j.sequence", usedArgs(where, args)...))
	if err != nil {
		return err
	}
	for _, r := range found {
		e, err := r.Event()
		if err != nil {
			return err
		}
		do(e)
	}
	return nil
}

// usedArgs returns the arguments that occur in a statement, because SQLite rejects others.
func usedArgs(statement string, args []any) []any {
	return slices.DeleteFunc(slices.Clone(args), func(a any) bool {
		named, is := a.(sql.NamedArg)
		return is && !strings.Contains(statement, "@"+named.Name)
	})
}

// Selected returns an event as a SelectedEvent.
func Selected(e earshot.Event) SelectedEvent {
	d := SelectedEvent{Sequence: e.Sequence, ID: e.ID, At: e.At, Room: e.Room, Kind: e.Body.Kind(), Author: e.Author}
	if r, is := e.Body.(earshot.Reply); is {
		d.About, d.Turn = r.About, r.Turn
	}
	return d
}

// CollectSelected reads rows of the SelectedColumns.
func CollectSelected(rows *sql.Rows, err error) ([]SelectedEvent, error) {
	return List(rows, err, func(d *SelectedEvent, rows *sql.Rows) error {
		var at int64
		err := rows.Scan(&d.Sequence, &d.ID, &at, &d.Room, &d.Kind, &d.Author, &d.About, &d.Turn)
		d.At = time.UnixMilli(at)
		return err
	})
}

// sortUnique returns events in the order of the journal, without duplicates.
func sortUnique(all []SelectedEvent) []SelectedEvent {
	slices.SortStableFunc(all, func(a, b SelectedEvent) int { return int(a.Sequence - b.Sequence) })
	return slices.CompactFunc(all, func(a, b SelectedEvent) bool { return a.Sequence == b.Sequence })
}

// maxTraced is for how many events at once derived events are looked up.
const maxTraced = 500

// addDerived returns some events, followed by everything made from them.
func addDerived(ctx context.Context, v earshot.View, all []SelectedEvent) ([]SelectedEvent, error) {
	seen := make(map[int64]bool, len(all))
	for _, d := range all {
		seen[d.Sequence] = true
	}
	n := len(all)
	for from := 0; from < len(all); {
		var ids []earshot.EventID
		for _, d := range all[from:min(from+maxTraced, len(all))] {
			ids = append(ids, d.ID)
		}
		from += len(ids)
		more, err := CollectSelected(v.QueryContext(ctx, `SELECT DISTINCT `+SelectedColumns+` FROM json_each(?) s CROSS JOIN derived d ON d.source = s.value
			CROSS JOIN journal j ON j.id = d.event WHERE j.kind <> 'erased'`, JSON(ids)))
		if err != nil {
			return nil, err
		}
		for _, d := range more {
			if !seen[d.Sequence] {
				seen[d.Sequence], d.Derived = true, true
				all = append(all, d)
			}
		}
	}
	derived := all[n:]
	slices.SortFunc(derived, func(a, b SelectedEvent) int { return int(a.Sequence - b.Sequence) })
	return all, nil
}
