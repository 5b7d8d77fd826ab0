package agents

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"earshot"
)

// Projection keeps the table of all present and past agents. The store on which a [Directory] is
// opened must have it.
type Projection struct{}

// Name implements [earshot.Projection].
func (Projection) Name() string { return "agents" }

// Version implements [earshot.Projection].
func (Projection) Version() int { return 2 }

// Create implements [earshot.Projection]. The comments are part of the definition in the file, which
// must not change within one version; paths.Look is [PathLook].
func (Projection) Create(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `CREATE TABLE agents (
		path       TEXT    PRIMARY KEY,
		look       TEXT    NOT NULL, -- of the path, see paths.Look
		id         TEXT    NOT NULL UNIQUE,
		"user"     TEXT    NOT NULL,
		kind       TEXT    NOT NULL,
		role       TEXT    NOT NULL,
		configured INTEGER NOT NULL,
		profile    TEXT    NOT NULL, -- JSON
		made       INTEGER NOT NULL, -- sequence of the event
		told       INTEGER NOT NULL, -- sequence of the event that the profile is of
		dead       INTEGER NOT NULL,
		subs       INTEGER NOT NULL, -- the number of the next sub-agent
		searches   INTEGER NOT NULL  -- the number of the next search
	) STRICT, WITHOUT ROWID`,
		`CREATE INDEX agents_look ON agents (look)`,
		`CREATE INDEX agents_alive ON agents (made) WHERE dead = 0`,
		`CREATE INDEX agents_told ON agents (told)`)
}

// Reset implements [earshot.Projection].
func (Projection) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS agents`)
}

// Apply implements [earshot.Projection]. An agent's texts are removed with the event that contains
// them; that there was an agent at its path remains.
func (Projection) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	switch b := e.Body.(type) {
	case earshot.Agent:
		return apply(ctx, tx, e.Sequence, b)
	case earshot.Tombstone:
		if b.Was == earshot.KindAgent {
			_, err := tx.ExecContext(ctx, `UPDATE agents SET profile = '{}' WHERE told = ?`, e.Sequence)
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, tx *sql.Tx, sequence int64, a earshot.Agent) error {
	switch a.Act {
	case earshot.Created:
		return insert(ctx, tx, sequence, a)
	case earshot.Changed:
		profile, err := json.Marshal(a.Profile)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE agents SET profile = ?, configured = ?, told = ? WHERE path = ?`,
			string(profile), a.Configured, sequence, a.Path)
		return err
	case earshot.Ended: // "0" is the character after "/"
		_, err := tx.ExecContext(ctx, `UPDATE agents SET dead = 1 WHERE path = ?1 OR path > ?1 || '/' AND path < ?1 || '0'`, a.Path)
		return err
	}
	return nil
}

func insert(ctx context.Context, tx *sql.Tx, sequence int64, a earshot.Agent) error {
	profile, err := json.Marshal(a.Profile)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO agents (path, look, id, "user", kind, role, configured, profile, made, told, dead, subs, searches)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0, 0, 0)`,
		a.Path, PathLook(a.Path), a.ID, a.User, a.PathKind, a.Role, a.Configured, string(profile), sequence)
	if err != nil {
		return fmt.Errorf("making the agent %s: %w", a.Path, err)
	}
	at, err := ParsePath(a.Path)
	if err != nil {
		return err
	}
	if column := counters[at.Kind]; column != "" {
		_, err = tx.ExecContext(ctx, `UPDATE agents SET `+column+` = max(`+column+`, ?) WHERE path = ?`, at.Index+1, at.Parent)
	}
	return err
}

// counters are the columns that count the children of a kind.
var counters = map[earshot.PathKind]string{earshot.PathSub: "subs", earshot.PathSearch: "searches"}

// run executes statements one after the other.
func run(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// A row is an agent in the table, dead or alive.
type row struct {
	Record
	dead bool
	next map[earshot.PathKind]int // the numbers of its next children, by kind
}

// columns are the columns of a row, in the order of scan.
const columns = `path, id, "user", kind, role, configured, profile, dead, subs, searches`

func scan(from interface{ Scan(...any) error }) (row, error) {
	var r row
	var profile []byte
	var subs, searches int
	err := from.Scan(&r.Path, &r.ID, &r.User, &r.Kind, &r.Role, &r.Configured, &profile, &r.dead, &subs, &searches)
	if err != nil {
		return r, err
	}
	r.next = map[earshot.PathKind]int{earshot.PathSub: subs, earshot.PathSearch: searches}
	return r, json.Unmarshal(profile, &r.Profile)
}

// at returns the row of a path, if there is or ever was an agent.
func at(ctx context.Context, v earshot.View, path earshot.Path) (row, bool, error) {
	return one(v.QueryRowContext(ctx, "SELECT "+columns+" FROM agents WHERE path = ?", path))
}

// called returns the row of the agent with an ID.
func called(ctx context.Context, v earshot.View, id earshot.ParticipantID) (row, bool, error) {
	return one(v.QueryRowContext(ctx, "SELECT "+columns+" FROM agents WHERE id = ?", id))
}

func one(found *sql.Row) (row, bool, error) {
	r, err := scan(found)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, err
}

// used returns an existing or former path that looks like this one, if there is any.
func used(ctx context.Context, v earshot.View, path earshot.Path) (by earshot.Path, is bool, err error) {
	err = v.QueryRowContext(ctx, "SELECT path FROM agents WHERE look = ? LIMIT 1", PathLook(path)).Scan(&by)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return by, err == nil, err
}

// alive returns all live agents, oldest first.
func alive(ctx context.Context, v earshot.View) ([]Record, error) {
	return several(ctx, v, "WHERE dead = 0 ORDER BY made")
}

// past returns some dead agents, the youngest first.
func past(ctx context.Context, v earshot.View, limit int) ([]Record, error) {
	return several(ctx, v, "WHERE dead <> 0 ORDER BY made DESC LIMIT ?", limit)
}

// former returns the names of dead agents that had a permanent one, oldest first.
func former(ctx context.Context, v earshot.View) (names []string, err error) {
	dead, err := several(ctx, v, "WHERE dead <> 0 AND kind IN (?, ?) ORDER BY made DESC LIMIT ?", earshot.PathAgent, earshot.PathSubuser, mostFormer)
	for _, r := range slices.Backward(dead) {
		if r.Name != "" { // it has not been deleted
			names = append(names, r.Name)
		}
	}
	return names, err
}

func several(ctx context.Context, v earshot.View, which string, args ...any) ([]Record, error) {
	rows, err := v.QueryContext(ctx, "SELECT "+columns+" FROM agents "+which, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Record
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, r.Record)
	}
	return all, rows.Err()
}
