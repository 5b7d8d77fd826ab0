package journal

import (
	"context"
	"database/sql"
	"slices"

	"earshot"
)

// Visible selects the rows of the journal j that the audience may see. It is
// [earshot.Visibility.Allows] in SQL.
const Visible = `j.room = @room AND (j.scope IN ('public', 'system') OR j.scope = 'private' AND @known
	AND NOT EXISTS (SELECT 1 FROM json_each(@members) a WHERE NOT EXISTS
		(SELECT 1 FROM members m WHERE m.sequence = j.sequence AND m.member = a.value)))
	AND (j.agents IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(@agents) a WHERE NOT EXISTS
		(SELECT 1 FROM json_each(j.agents) m WHERE m.value = a.value)))`

// ReadVisible returns the events that a query finds and that an audience may see. The query must
// use [Visible].
func ReadVisible(ctx context.Context, db earshot.View, who earshot.Audience, query string, args ...any) ([]earshot.Event, error) {
	members := slices.Concat(who.Members, who.Agents)
	found, err := Collect(db.QueryContext(ctx, query, append(args, sql.Named("room", who.Room), sql.Named("members", JSON(members)),
		sql.Named("agents", JSON(who.Agents)), sql.Named("known", !who.Unknown && len(members) > 0))...))
	if err != nil {
		return nil, err
	}
	return OpenVisible(found, who)
}

// OpenVisible returns the events in rows that any of some audiences may see. The columns beside an
// event only preselect it. Its visibility is checked again in the event itself, which alone has a
// checksum.
func OpenVisible(rows []Row, who ...earshot.Audience) ([]earshot.Event, error) {
	events := make([]earshot.Event, 0, len(rows))
	for _, row := range rows {
		e, err := row.Event()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(who, func(a earshot.Audience) bool { return e.Room == a.Room && e.Visibility.Allows(a) }) {
			events = append(events, e)
		}
	}
	return events, nil
}
