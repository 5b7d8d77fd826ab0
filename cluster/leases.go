package cluster

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// schemaLock is the key of the lock under which the table is made: "cluster" in ASCII.
const schemaLock = 0x636c7573746572

// The fence is part of a key, so that only a change of hands waits for the appends that have locked the
// key, and a renewal does not. Rows are never deleted, since a fence must not begin again.
//
// The server ends a transaction that has checked a fence and then does nothing for longest a second: so
// an owner that stands still in the middle of one does not keep its room from others.
const schema = `
CREATE TABLE IF NOT EXISTS room_leases (
	room  TEXT PRIMARY KEY,
	owner TEXT NOT NULL,
	fence BIGINT NOT NULL,
	until TIMESTAMPTZ NOT NULL,
	UNIQUE (room, fence)
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS cluster_numbers (name TEXT PRIMARY KEY, number BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS cluster_drains (name TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS shared_files (name TEXT PRIMARY KEY, version BIGINT NOT NULL, content BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS model_costs (member TEXT PRIMARY KEY, day TEXT NOT NULL, content BYTEA NOT NULL);
CREATE OR REPLACE FUNCTION check_fence(of_room TEXT, of_owner TEXT, of_fence BIGINT) RETURNS VOID LANGUAGE plpgsql AS '
BEGIN
	PERFORM set_config(''idle_in_transaction_session_timeout'', ''1000'', true);
	PERFORM FROM room_leases WHERE room = of_room AND owner = of_owner AND fence = of_fence FOR KEY SHARE;
	IF NOT FOUND THEN
		RAISE EXCEPTION ''the room has another owner by now'' USING ERRCODE = ''EF001'';
	END IF;
END'`

// Leases are those of one owner, which is a process from its start to its end: another process, even
// of the same daemon, needs another ID. They may be used from many goroutines.
type Leases struct {
	db    *sql.DB
	owner string
	ahead atomic.Int64 // nanoseconds; see Ahead

	mu   sync.Mutex
	held map[string]*Lease // by room
}

// A Lease says that a room is its owner's.
type Lease struct {
	Room, Owner string
	Fence       int64

	since time.Time
	until atomic.Pointer[time.Time] // by the monotonic clock
	lost  chan struct{}
	timer *time.Timer
}

// Valid reports whether the lease still holds. Who asks before each thing that it does has nothing done
// later than that.
func (l *Lease) Valid() bool {
	select {
	case <-l.lost:
		return false
	default:
		return time.Now().Before(*l.until.Load())
	}
}

// Lost returns a channel that is closed when the lease no longer holds.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// OpenLeases makes the tables of this package if they are missing, in the first schema of the database's search
// path. The database is one of package store/postgres, and owner an ID as [NewID] makes them.
func OpenLeases(ctx context.Context, db *sql.DB, owner string) (*Leases, error) {
	if err := CheckID(owner); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("opening the leases: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	_, err = tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", int64(schemaLock))
	if err == nil {
		_, err = tx.ExecContext(ctx, schema)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return nil, fmt.Errorf("opening the leases: %w", err)
	}
	return &Leases{db: db, owner: owner, held: make(map[string]*Lease)}, nil
}

// take makes a room ours for a time, unless somebody else holds it, and returns its new fence. A turn
// is also refused to who has it.
func (l *Leases) take(ctx context.Context, room string, length time.Duration, turn bool) (fence int64, err error) {
	err = l.db.QueryRowContext(ctx, `INSERT INTO room_leases AS l (room, owner, fence, until) VALUES (?, ?, 1, now() + make_interval(secs => ?))
		ON CONFLICT (room) DO UPDATE SET owner = excluded.owner, fence = l.fence + 1, until = excluded.until
		WHERE l.until <= now() OR l.owner = excluded.owner AND ? = 0 RETURNING fence`, room, l.owner, length.Seconds(), turn).Scan(&fence)
	if !errors.Is(err, sql.ErrNoRows) {
		return fence, err
	}
	held, left := &HeldError{Room: room}, int64(0)
	err = l.db.QueryRowContext(ctx, `SELECT owner, greatest(0, extract(epoch FROM until - now()) * 1000000)::bigint FROM room_leases WHERE room = ?`, room).Scan(&held.Owner, &left)
	if err != nil {
		return 0, err
	}
	held.Left = time.Duration(left) * time.Microsecond
	return 0, held
}

// Acquire takes the lease of a room. It returns a [HeldError] while somebody else has it, and waits for
// what the last owner is committing, but not for longer than a second. A lease of ours that still holds
// is lost by it, and a new one begins.
func (l *Leases) Acquire(ctx context.Context, room string) (*Lease, error) {
	sent := time.Now()
	fence, err := l.take(ctx, room, TTL, false)
	if err != nil {
		return nil, fmt.Errorf("taking the lease of %s: %w", room, err)
	}
	got := &Lease{Room: room, Owner: l.owner, Fence: fence, since: sent, lost: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.held[room]; old != nil {
		l.end(old)
	}
	l.held[room] = got
	got.until.Store(new(sent.Add(TTL - Margin)))
	got.timer = time.AfterFunc(time.Until(*got.until.Load()), func() { l.lapse(got) })
	return got, nil
}

// lapse ends a lease if its time is over.
func (l *Leases) lapse(of *Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := time.Until(*of.until.Load()); left > 0 { // it was renewed at this moment
		of.timer.Reset(left)
		return
	}
	l.end(of)
}

// end ends a lease, if it has not ended yet. l.mu must be held.
func (l *Leases) end(of *Lease) (held bool) {
	if l.held[of.Room] != of {
		return false
	}
	delete(l.held, of.Room)
	of.timer.Stop()
	close(of.lost)
	return true
}

// Renew renews all leases that are held, in one statement. Those that somebody else has are lost. It
// asks the database even if there are none, so that an error says that none could be had. It must
// not run twice at once.
func (l *Leases) Renew(ctx context.Context) error {
	type key struct {
		Room  string `json:"room"`
		Fence int64  `json:"fence"`
	}
	held := l.Held()
	keys := make([]key, 0, len(held))
	for _, h := range held {
		keys = append(keys, key{h.Room, h.Fence})
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	sent := time.Now()
	var now int64
	var answer string
	err = l.db.QueryRowContext(ctx, `WITH renewed AS (UPDATE room_leases AS l SET until = now() + make_interval(secs => ?)
		FROM json_to_recordset(?::json) AS h(room text, fence bigint)
		WHERE l.room = h.room AND l.fence = h.fence AND l.owner = ? RETURNING l.room)
		SELECT (extract(epoch FROM now()) * 1000)::bigint, coalesce(json_object_agg(room, true), '{}')::text FROM renewed`, TTL.Seconds(), string(list), l.owner).Scan(&now, &answer)
	renewed := make(map[string]bool)
	if err == nil {
		err = json.Unmarshal([]byte(answer), &renewed)
	}
	if err != nil {
		return fmt.Errorf("renewing %d leases: %w", len(held), err)
	}
	most, least := time.UnixMilli(now).Sub(sent), time.Until(time.UnixMilli(now))
	if is := l.Ahead(); is < least-time.Second || is > most+time.Second {
		l.ahead.Store(int64(least + (most-least)/2))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range held {
		switch {
		case l.held[h.Room] != h: // it has ended meanwhile
		case !renewed[h.Room]:
			l.end(h)
		default:
			h.until.Store(new(sent.Add(TTL - Margin)))
			h.timer.Reset(time.Until(*h.until.Load()))
		}
	}
	return nil
}

// Ahead returns how far the database's clock is ahead of that of this machine, as of the last [Leases.Renew]; 0
// if they agree within a second.
func (l *Leases) Ahead() time.Duration { return time.Duration(l.ahead.Load()) }

// Release gives a lease up, so that anybody can acquire it at once. What has its fence is refused from
// now on. Releasing a lease that was lost does nothing.
func (l *Leases) Release(ctx context.Context, of *Lease) error {
	l.mu.Lock()
	held := l.end(of)
	l.mu.Unlock()
	if !held {
		return nil
	}
	_, err := l.db.ExecContext(ctx, `UPDATE room_leases SET owner = '', fence = fence + 1, until = now()
		WHERE room = ? AND owner = ? AND fence = ?`, of.Room, l.owner, of.Fence)
	if err != nil {
		return fmt.Errorf("giving up the lease of %s: %w", of.Room, err)
	}
	return nil
}

// Held returns the leases that hold, by their rooms.
func (l *Leases) Held() []*Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*Lease, 0, len(l.held))
	for _, h := range l.held {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *Lease) int { return strings.Compare(a.Room, b.Room) })
	return all
}

// SetDrain says whether the member with a name gives its rooms away and takes none. That holds until it is
// said otherwise, also when the member is started again, and the member knows within a second.
func (l *Leases) SetDrain(ctx context.Context, name string, drains bool) error {
	statement := "DELETE FROM cluster_drains WHERE name = ?"
	if drains {
		statement = "INSERT INTO cluster_drains (name) VALUES (?) ON CONFLICT DO NOTHING"
	}
	if _, err := l.db.ExecContext(ctx, statement, name); err != nil {
		return fmt.Errorf("draining %s: %w", name, err)
	}
	return nil
}

// Drains returns the names of the members that are to drain, in their order.
func (l *Leases) Drains(ctx context.Context) ([]string, error) {
	var names string
	err := l.db.QueryRowContext(ctx, "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM cluster_drains").Scan(&names)
	if err != nil {
		return nil, fmt.Errorf("reading who drains: %w", err)
	}
	return strings.Fields(names), nil
}

// Highest returns the highest number that any member has ever given for something, so that all use the same.
func (l *Leases) Highest(ctx context.Context, of string, number int) (highest int, err error) {
	err = l.db.QueryRowContext(ctx, `INSERT INTO cluster_numbers AS n (name, number) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET number = greatest(n.number, excluded.number) RETURNING number`, of, number).Scan(&highest)
	return highest, err
}

// AwaitTurn waits for a turn until ctx ends; see [Leases.Turn].
func (l *Leases) AwaitTurn(ctx context.Context, what string, every time.Duration) (until time.Time, err error) {
	for {
		if until, err = l.Turn(ctx, what, every); err == nil {
			return until, nil
		}
		wait := Every // the database does not answer
		if held, is := errors.AsType[*HeldError](err); is {
			wait = held.Left + time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// TurnFor is how long after asking for it a turn may be used.
const TurnFor = time.Second

// Turn gives a turn at something that the whole cluster may do only every so often, such as
// identifying to Discord. It returns until when the turn can be used, which is [TurnFor] after the
// call, or a [HeldError] that says how long to wait. Turns are used at least every apart.
func (l *Leases) Turn(ctx context.Context, what string, every time.Duration) (until time.Time, err error) {
	until = time.Now().Add(TurnFor)
	if _, err := l.take(ctx, "turn/"+what, TurnFor+every, true); err != nil {
		return time.Time{}, fmt.Errorf("taking a turn: %w", err)
	}
	return until, nil
}

// CheckFence has a transaction fail unless owner has the lease of the room with this fence, and lets nobody
// else take it before the transaction has ended. It takes no round trip of its own: the error, whose
// code is EF001, may be that of a later statement, or of the commit. A transaction that checks more
// than one room may do so in any order.
func CheckFence(ctx context.Context, tx *sql.Tx, room, owner string, fence int64) error {
	_, err := tx.ExecContext(ctx, "SELECT check_fence(?, ?, ?)", room, owner, fence)
	return err
}
