package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"earshot"
)

// messages is the index of the words of what was written, noted, heard, and seen.
//
// The journal is cut into segments by sequence. For each, the table words has which of
// its events have each word, as sets of bits, so that those that have all words of a
// query, in a room, and that may be seen, are found by some operations on a few
// kilobytes. However common the words are, and however little may be seen, a question
// costs one look for each word and segment. The newest segment is not made yet: its
// texts are looked through one by one.
//
// A full-text index such as FTS5 knows neither who asks nor in which order the answers
// are wanted: where a word is in half of a million texts and few of them may be seen, it
// goes through all of them, and words that are common each but never together take it
// 100 ms.
type messages struct {
	sizes [2]int64 // sequences in a small and in a large segment; zero means the usual
}

// small is how many sequences are in a segment at first.
func (m messages) small() int64 { return cmp.Or(m.sizes[0], smallSegment) }

// large is how many are in one that small ones were joined into, a multiple of small.
func (m messages) large() int64 { return cmp.Or(m.sizes[1], largeSegment) }

const (
	// A new segment is made every so many events. To look through as many texts takes
	// 2 ms, and to make a segment of them as long.
	smallSegment = 512

	// So many events are in the segments into which small ones are joined. A million
	// texts and what is decided about them are some 100.
	largeSegment = 16_384

	// So many bytes of entries are in a row, more or less: they lie on one page.
	rowBytes = 900
)

func (messages) Name() string { return "messages" }
func (messages) Version() int { return 7 }

func (messages) Create(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx,
		`CREATE TABLE messages (sequence INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT`,
		`CREATE TABLE segments (first INTEGER PRIMARY KEY, size INTEGER NOT NULL) STRICT`,
		// Not WITHOUT ROWID: the data would stand in the inner pages too, of which there
		// would be fifty times as many, and the end of longer data on pages of their own.
		`CREATE TABLE words (
			segment INTEGER NOT NULL,
			term    BLOB    NOT NULL, -- the first in the row
			data    BLOB    NOT NULL, -- see segment.go
			PRIMARY KEY (segment, term)
		) STRICT`)
}

func (messages) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS words`, `DROP TABLE IF EXISTS messages`, `DROP TABLE IF EXISTS segments`)
}

func (m messages) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	if _, gone := e.Body.(earshot.Erased); gone {
		return odd(m.forget(ctx, tx, e.Sequence))
	}
	text := searchable(e)
	if text == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO messages (sequence, text) VALUES (?, ?)", e.Sequence, string(text)); err != nil {
		return odd(err)
	}
	end, err := m.made(ctx, tx)
	if err != nil {
		return odd(err)
	}
	if e.Sequence < end { // it was revised
		return odd(m.amend(ctx, tx, e, terms(text)))
	}
	return odd(m.extend(ctx, tx, end, e.Sequence))
}

// made returns the sequence behind the last segment.
func (messages) made(ctx context.Context, tx *sql.Tx) (end int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT coalesce((SELECT first + size FROM segments ORDER BY first DESC LIMIT 1), 0)").Scan(&end)
	return end, err
}

// extend makes segments of the texts from end on that cannot be in the same as the newest.
func (m messages) extend(ctx context.Context, tx *sql.Tx, end, newest int64) error {
	joined := false
	for {
		var oldest int64
		err := tx.QueryRowContext(ctx, "SELECT sequence FROM messages WHERE sequence >= ? ORDER BY sequence LIMIT 1", end).Scan(&oldest)
		if err != nil {
			return err
		}
		if oldest < end {
			return astray(oldest)
		}
		first := oldest - oldest%m.small()
		if newest < first+m.small() {
			break
		}
		if err := m.make(ctx, tx, first); err != nil {
			return err
		}
		end, joined = first+m.small(), true
	}
	if !joined {
		return nil
	}
	return m.join(ctx, tx, newest-newest%m.large())
}

// What is in a segment besides words begins with a byte that no word begins with.
const (
	inRoom  = "\x01r" // and the room
	private = "\x01p"
	member  = "\x01m" // and who may see a private one
	limited = "\x01l" // not every agent may see it
	agent   = "\x01a" // and an agent that may
)

// marks returns what an event is found by besides its words.
func marks(room earshot.RoomID, v earshot.Visibility) []string {
	all := []string{cut(inRoom + string(room))}
	if v.Scope == earshot.Private {
		all = append(append(all, private), prefixed(member, v.Members)...)
	}
	if v.Agents != nil {
		all = append(append(all, limited), prefixed(agent, v.Agents)...)
	}
	return all
}

// make makes a small segment of the texts in it.
func (m messages) make(ctx context.Context, tx *sql.Tx, first int64) error {
	rows, err := tx.QueryContext(ctx, `SELECT t.sequence, t.text, j.room, j.scope, j.agents,
			CASE j.scope WHEN 'private' THEN (SELECT json_group_array(member) FROM members m WHERE m.sequence = t.sequence) END
		FROM messages t CROSS JOIN journal j ON j.sequence = t.sequence WHERE t.sequence >= ? AND t.sequence < ? ORDER BY t.sequence`, first, first+m.small())
	if err != nil {
		return err
	}
	defer rows.Close()
	all := make(map[string]*places)
	for rows.Next() {
		var sequence int64
		var text earshot.Text
		var room earshot.RoomID
		var v earshot.Visibility
		var agents, members []byte
		if err := rows.Scan(&sequence, &text, &room, &v.Scope, &agents, &members); err != nil {
			return err
		}
		if sequence < first || sequence >= first+m.small() {
			return astray(sequence)
		}
		// A list that is not as we wrote it is as good as one in which nobody is: what is
		// found is looked at again.
		if v.Members = listed(members); agents != nil {
			v.Agents = append([]earshot.ParticipantID{}, listed(agents)...)
		}
		for _, term := range append(terms(text), marks(room, v)...) {
			p := all[term]
			if p == nil {
				p = new(places)
				all[term] = p
			}
			p.put(int(sequence - first))
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	return m.write(ctx, tx, first, m.small(), all)
}

// listed returns the participants in a list that asJSON wrote.
func listed(list []byte) (ids []earshot.ParticipantID) {
	var values []any
	if json.Unmarshal(list, &values) != nil {
		return nil
	}
	for _, v := range values {
		if id, ok := v.(string); ok {
			ids = append(ids, earshot.ParticipantID(id))
		}
	}
	return ids
}

// write writes a segment.
func (messages) write(ctx context.Context, tx *sql.Tx, first, size int64, all map[string]*places) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO segments (first, size) VALUES (?, ?)", first, size); err != nil {
		return err
	}
	sorted := make([]string, 0, len(all))
	for term := range all {
		sorted = append(sorted, term)
	}
	slices.Sort(sorted)
	var row []entry
	bytes := 0
	insert, err := tx.PrepareContext(ctx, "INSERT INTO words (segment, term, data) VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i, term := range sorted {
		e := entry{term, all[term].encode(nil)}
		row = append(row, e)
		if bytes += 4 + len(term) + len(e.places); bytes < rowBytes && i < len(sorted)-1 {
			continue
		}
		if _, err := insert.ExecContext(ctx, first, []byte(row[0].term), pack(row)); err != nil {
			return err
		}
		row, bytes = row[:0], 0
	}
	return nil
}

// join makes large segments of the small ones before a sequence.
func (m messages) join(ctx context.Context, tx *sql.Tx, before int64) error {
	for {
		var oldest int64
		err := tx.QueryRowContext(ctx, "SELECT first FROM segments WHERE size < ? AND first < ? ORDER BY first LIMIT 1", m.large(), before).Scan(&oldest)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		first := oldest - oldest%m.large()
		all, err := m.gather(ctx, tx, first)
		if err != nil {
			return err
		}
		for _, table := range []string{"DELETE FROM words WHERE segment >= ? AND segment < ?", "DELETE FROM segments WHERE first >= ? AND first < ?"} {
			if _, err := tx.ExecContext(ctx, table, first, first+m.large()); err != nil {
				return err
			}
		}
		if err := m.write(ctx, tx, first, m.large(), all); err != nil {
			return err
		}
	}
}

// gather reads the small segments that a large one is made of.
func (m messages) gather(ctx context.Context, tx *sql.Tx, first int64) (map[string]*places, error) {
	rows, err := tx.QueryContext(ctx, "SELECT segment, data FROM words WHERE segment >= ? AND segment < ?", first, first+m.large())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make(map[string]*places)
	var some places
	for rows.Next() {
		var segment int64
		var data sql.RawBytes
		if err := rows.Scan(&segment, &data); err != nil {
			return nil, err
		}
		var wrong error
		err := unpacked(data, func(term, encoded []byte) bool {
			if some, wrong = decodePlaces(some, encoded); wrong != nil {
				return false
			}
			p := all[string(term)]
			if p == nil {
				p = new(places)
				all[string(term)] = p
			}
			p.shift(some, int(segment-first))
			return true
		})
		if err := errors.Join(err, wrong); err != nil {
			return nil, err
		}
	}
	return all, rows.Err()
}

// forget takes a text out of the index.
func (m messages) forget(ctx context.Context, tx *sql.Tx, sequence int64) error {
	var text string
	err := tx.QueryRowContext(ctx, "SELECT text FROM messages WHERE sequence = ?", sequence).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := m.change(ctx, tx, sequence, terms(earshot.Text(text)), false); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM messages WHERE sequence = ?", sequence)
	return err
}

// amend adds a text to its segment. There is none if no text was in it before.
func (m messages) amend(ctx context.Context, tx *sql.Tx, e earshot.Event, terms []string) error {
	_, made, err := m.segment(ctx, tx, e.Sequence)
	if err != nil {
		return err
	}
	if !made {
		return m.make(ctx, tx, e.Sequence-e.Sequence%m.small())
	}
	terms = append(terms, marks(e.Room, e.Visibility)...)
	slices.Sort(terms)
	return m.change(ctx, tx, e.Sequence, slices.Compact(terms), true)
}

// segment returns where the segment begins in which a sequence is, if it is in one.
func (messages) segment(ctx context.Context, tx *sql.Tx, sequence int64) (first int64, made bool, err error) {
	var size int64
	err = tx.QueryRowContext(ctx, "SELECT first, size FROM segments WHERE first <= ? ORDER BY first DESC LIMIT 1", sequence).Scan(&first, &size)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return first, sequence < first+size, err
}

// change adds an event to some words of its segment, or takes it away from them. What
// no event has any more is not in the segment any more.
func (m messages) change(ctx context.Context, tx *sql.Tx, sequence int64, terms []string, add bool) error {
	first, made, err := m.segment(ctx, tx, sequence)
	if err != nil || !made {
		return err
	}
	for len(terms) > 0 {
		key, data, next, err := m.row(ctx, tx, first, terms[0])
		if err != nil {
			return err
		}
		n := len(terms) // how many of them belong to this row
		if next != nil {
			n = max(1, slices.IndexFunc(append(slices.Clip(terms), string(next)), func(t string) bool { return t >= string(next) }))
		}
		if err := m.alter(ctx, tx, first, key, data, int(sequence-first), terms[:n], add); err != nil {
			return err
		}
		terms = terms[n:]
	}
	return nil
}

// row returns the row of a segment in which a term is, if it is in any, and with which
// term the row behind it begins, nil if there is none.
func (messages) row(ctx context.Context, tx *sql.Tx, segment int64, term string) (key, data, next []byte, err error) {
	err = tx.QueryRowContext(ctx, `SELECT term, data FROM words WHERE segment = ?1 AND
		term = coalesce((SELECT max(term) FROM words WHERE segment = ?1 AND term <= ?2), (SELECT min(term) FROM words WHERE segment = ?1))`,
		segment, []byte(term)).Scan(&key, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil, nil
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT min(term) FROM words WHERE segment = ? AND term > ?", segment, key).Scan(&next)
	}
	return key, data, next, err
}

// alter writes a row of a segment anew, with or without an event in some of its words.
func (messages) alter(ctx context.Context, tx *sql.Tx, segment int64, key, data []byte, place int, terms []string, add bool) error {
	var entries []entry
	missing := make(map[string]bool)
	for _, t := range terms {
		missing[t] = true
	}
	put := func(term string, p places) {
		if add {
			p.put(place)
		} else {
			p.drop(place)
		}
		if !p.none() {
			entries = append(entries, entry{term, p.encode(nil)})
		}
	}
	if key != nil {
		var wrong error
		err := unpacked(data, func(term, encoded []byte) bool {
			if !missing[string(term)] {
				entries = append(entries, entry{string(term), slices.Clone(encoded)})
				return true
			}
			delete(missing, string(term))
			var p places
			if p, wrong = decodePlaces(nil, encoded); wrong == nil {
				put(string(term), p)
			}
			return wrong == nil
		})
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM words WHERE segment = ? AND term = ?", segment, key); err != nil {
			return err
		}
	}
	if add {
		for term := range missing {
			put(term, nil)
		}
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.term, b.term) })
	}
	if len(entries) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO words (segment, term, data) VALUES (?, ?, ?)", segment, []byte(entries[0].term), pack(entries))
	return err
}
