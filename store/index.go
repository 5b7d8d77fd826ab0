package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/internal/search"
)

// messages is the index of the words that were written, noted, heard and seen. It is one FTS5 table
// that maps each term to the sequences of the events that contain it.
//
// A term is a tag followed by a word. The tag stands for an audience: everybody in a room, or one
// member of a private conversation there. A text is indexed under the tags of those who may see it,
// and a reader asks for terms under its own tags. So neither the results nor the time depend on
// what others say among themselves. They would if the table had the audience in a column: a word
// that others have said would then take longer than one that nobody has. What is found is checked
// again in the journal, which decides.
//
// The index holds neither the text itself nor the positions of its words. To remove a text, each of
// its terms must be looked up, which takes long if the text is long. So the step that erases an
// event leaves the event's terms stale in the table, and they are removed in short steps before the
// traces in the file are; see [Store.purge].
type messages struct {
	partition int64 // sequences under one tag; zero means the default
	owed      int   // terms that were added since parts of the index were last joined
	done      int   // work so far, in terms that were added or made stale
}

const (
	// mostTerms is how many terms an event has in the index at most, under all its tags together: a
	// text of 64 KiB in a natural language has 3,000 to 6,000. If a text has more, only the first
	// ones are found. Twice as many would take 30 ms of the commit.
	mostTerms = 8192

	// textWork is how many bytes of a text cost as much work as a term, even if they yield none,
	// since they are read and written to the journal.
	textWork = 16

	// mostTags is how many of the people who may see a private text can find it.
	mostTags = 512

	// usualPartition is how many sequences share a tag: those of some 200,000 texts. It bounds the
	// cost of searching for the commonest word, or for the beginning of many words, in a journal of
	// any size. A word that occurs nowhere is looked up once in each partition.
	usualPartition = 1 << 19

	// Each step adds a part to the index, and a search has to look into each part. So joinPages
	// pages are joined whenever joinTerms terms have been added, where each part counts as at least
	// a certain number. That takes a few milliseconds, in a separate transaction after the one of
	// the messages. A step that adds very many terms, such as the one that rebuilds the index,
	// joins pages meanwhile.
	joinTerms = 4096
	joinPages = 64
	partTerms = 256
	mostOwed  = 16 * joinTerms

	// sweptTerms is how many stale terms are removed in one step, which takes some milliseconds.
	sweptTerms = 64

	// mostStale is how many stale terms of one event are compared with its new text. If there are
	// more, the new text is indexed once they have been removed.
	mostStale = 2 * mostTerms
)

// settings of the table: removed content is overwritten, and parts are joined only when we say so,
// a few pages at a time. Left alone, FTS5 would one day join all of them at once.
var settings = map[string]int{"secure-delete": 1, "automerge": 0, "crisismerge": 1999, "usermerge": 4}

func (*messages) Name() string { return "messages" }
func (*messages) Version() int { return 9 }

func (*messages) Create(ctx context.Context, tx *sql.Tx) error {
	err := run(ctx, tx,
		`CREATE VIRTUAL TABLE terms USING fts5(words, content='', columnsize=0, detail=none, tokenize='ascii')`,
		// The first and last sequence of the texts of each day, to search by time.
		`CREATE TABLE days (day INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT`,
		`CREATE TABLE stale (sequence INTEGER PRIMARY KEY, terms TEXT NOT NULL, again INTEGER NOT NULL DEFAULT 0) STRICT`)
	for name, value := range settings {
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO terms (terms, rank) VALUES (?, ?)", name, value)
		}
	}
	return err
}

func (*messages) Reset(ctx context.Context, tx *sql.Tx) error {
	return run(ctx, tx, `DROP TABLE IF EXISTS terms`, `DROP TABLE IF EXISTS days`, `DROP TABLE IF EXISTS stale`)
}

func (m *messages) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	if w, is := e.Body.(earshot.Attribution); is {
		return odd(m.attribute(ctx, tx, e, w))
	}
	terms := m.terms(e, e.Author)
	m.done += len(search.TextOf(e)) / textWork
	if len(terms) == 0 {
		return nil
	}
	if err := m.put(ctx, tx, e.Sequence, terms); err != nil {
		return odd(err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO days VALUES (?1, ?2, ?2) ON CONFLICT (day) DO UPDATE SET first = min(first, ?2), last = max(last, ?2)",
		dayOf(e.At), e.Sequence)
	return odd(err)
}

// put adds the terms of an event. Those that are stale are in the index already.
func (m *messages) put(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	left, _, err := m.stale(ctx, tx, sequence)
	switch {
	case err != nil:
		return err
	case len(left) > mostStale: // somebody edits a long text again and again
		_, err := tx.ExecContext(ctx, "UPDATE stale SET again = 1 WHERE sequence = ?", sequence)
		return err
	case len(left) > 0:
		if err := m.leave(ctx, tx, sequence, without(left, terms)); err != nil {
			return err
		}
	}
	return m.insert(ctx, tx, sequence, without(terms, left))
}

// handled returns the work so far, in terms that were added or made stale.
func (m *messages) handled() int { return m.done }

// begin notes that a step begins, whose events share one part of the index.
func (m *messages) begin() { m.owed += partTerms }

// insert adds terms of an event to the index.
func (m *messages) insert(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	if len(terms) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO terms (rowid, words) VALUES (?, ?)", sequence, strings.Join(terms, " ")); err != nil {
		return err
	}
	m.done += len(terms)
	if m.owed += len(terms); m.owed < mostOwed {
		return nil
	}
	return m.join(ctx, tx)
}

// owes reports whether parts of the index should be joined.
func (m *messages) owes() bool { return m.owed >= joinTerms }

// join joins some pages of parts of the index.
func (m *messages) join(ctx context.Context, tx *sql.Tx) error {
	m.owed -= joinTerms
	_, err := tx.ExecContext(ctx, "INSERT INTO terms (terms, rank) VALUES ('merge', ?)", joinPages)
	return odd(err)
}

// stale returns the terms that an event's earlier text still has in the index, and whether its
// current text is not indexed.
func (*messages) stale(ctx context.Context, tx *sql.Tx, sequence int64) (terms []string, again bool, err error) {
	var text string
	err = tx.QueryRowContext(ctx, "SELECT terms, again FROM stale WHERE sequence = ?", sequence).Scan(&text, &again)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return strings.Fields(text), again, err
}

// leave marks terms of an event as stale.
func (m *messages) leave(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	m.done += len(terms)
	_, err := tx.ExecContext(ctx, "INSERT INTO stale (sequence, terms) VALUES (?, ?) ON CONFLICT (sequence) DO UPDATE SET terms = excluded.terms, again = 0",
		sequence, strings.Join(terms, " "))
	return err
}

// attribute adds the person who turned out to have made an utterance to the index entry of the
// utterance.
func (m *messages) attribute(ctx context.Context, tx *sql.Tx, e earshot.Event, w earshot.Attribution) error {
	of, err := target(ctx, tx, e.Room, w.Of)
	if errors.Is(err, errNothing) || err == nil && of.Body.Kind() != earshot.KindUtterance {
		return nil
	}
	if err != nil {
		return err
	}
	before, err := authors(ctx, tx, of, e.Sequence)
	if err != nil {
		return err
	}
	return m.put(ctx, tx, of.Sequence, without(m.terms(of, w.Author), m.terms(of, before...)))
}

// authors returns everybody to whom something was attributed before a sequence, beginning with its
// author.
func authors(ctx context.Context, tx *sql.Tx, e earshot.Event, before int64) ([]earshot.ParticipantID, error) {
	all := []earshot.ParticipantID{e.Author}
	if e.Body.Kind() != earshot.KindUtterance {
		return all, nil
	}
	revised, err := attributions(ctx, tx, e, before)
	for _, r := range revised {
		all = append(all, r.Body.(earshot.Attribution).Author)
	}
	return all, err
}

// attributions returns the events before a sequence that say who made an utterance.
func attributions(ctx context.Context, tx *sql.Tx, e earshot.Event, before int64) (all []earshot.Event, err error) {
	found, err := collect(tx.QueryContext(ctx, "SELECT "+columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind = ? AND j.sequence < ? ORDER BY j.sequence",
		e.ID, earshot.KindWhose, before))
	for _, r := range found {
		later, wrong := r.event()
		if w, is := later.Body.(earshot.Attribution); is && w.Of == e.ID {
			all = append(all, later)
		}
		err = errors.Join(err, wrong)
	}
	return all, err
}

// remove makes the terms of an event stale, before the event is overwritten. If the event's text
// cannot be read, the index is rebuilt at the next start.
func (m *messages) remove(ctx context.Context, tx *sql.Tx, sequence int64) error {
	e, err := eventAt(ctx, tx, sequence)
	if errors.Is(err, errAltered) || errors.Is(err, ErrOther) {
		return stamp(ctx, tx, m.Name(), 0)
	}
	if err != nil {
		return err
	}
	by, err := authors(ctx, tx, e, math.MaxInt64)
	if err != nil {
		return err
	}
	terms := m.terms(e, by...)
	if w, is := e.Body.(earshot.Attribution); is {
		of, err := target(ctx, tx, e.Room, w.Of)
		if errors.Is(err, errNothing) || err == nil && of.Body.Kind() != earshot.KindUtterance {
			return nil
		}
		if err != nil {
			return err
		}
		if by, err = authors(ctx, tx, of, math.MaxInt64); err != nil {
			return err
		}
		i := slices.Index(by[1:], w.Author) + 1 // attributed only once, so that any other terms stay
		terms = without(m.terms(of, by...), m.terms(of, slices.Delete(slices.Clone(by), i, i+1)...))
		sequence = of.Sequence
	}
	if len(terms) == 0 {
		return nil
	}
	left, again, err := m.stale(ctx, tx, sequence)
	if err != nil {
		return odd(err)
	}
	if !again {
		left = append(left, without(terms, left)...)
	}
	return odd(m.leave(ctx, tx, sequence, left))
}

// eventAt returns the event with a sequence.
func eventAt(ctx context.Context, tx *sql.Tx, sequence int64) (e earshot.Event, err error) {
	var r row
	if err := r.scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.sequence = ?", sequence)); err != nil {
		return e, err
	}
	return r.event()
}

// sweep removes some stale terms, and reports whether there are more.
func (m *messages) sweep(ctx context.Context, tx *sql.Tx) (more bool, err error) {
	for n := 0; n < sweptTerms && err == nil; {
		var sequence int64
		err = tx.QueryRowContext(ctx, "SELECT min(sequence) FROM stale HAVING count(*) > 0").Scan(&sequence)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err == nil {
			n, err = m.sweepOne(ctx, tx, sequence, n)
		}
	}
	return true, odd(err)
}

// sweepOne removes stale terms of one event, and returns n plus their number.
func (m *messages) sweepOne(ctx context.Context, tx *sql.Tx, sequence int64, n int) (int, error) {
	terms, again, err := m.stale(ctx, tx, sequence)
	if err != nil {
		return n, err
	}
	some := terms[:min(len(terms), sweptTerms-n)]
	if len(some) > 0 {
		// FTS5 counts its texts, and reports damage if more are removed than were added; this one
		// is removed in pieces.
		_, err = tx.ExecContext(ctx, "INSERT INTO terms (rowid, words) VALUES (?, '')", sequence)
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO terms (terms, rowid, words) VALUES ('delete', ?, ?)", sequence, strings.Join(some, " "))
		}
	}
	if err != nil {
		return n, err
	}
	n += 1 + len(some)
	if len(some) < len(terms) {
		_, err = tx.ExecContext(ctx, "UPDATE stale SET terms = ? WHERE sequence = ?", strings.Join(terms[len(some):], " "), sequence)
		return n, err
	}
	if _, err = tx.ExecContext(ctx, "DELETE FROM stale WHERE sequence = ?", sequence); err != nil || !again {
		return n, err
	}
	e, err := eventAt(ctx, tx, sequence)
	if err != nil {
		return n, err
	}
	by, err := authors(ctx, tx, e, math.MaxInt64)
	if err != nil {
		return n, err
	}
	return n, m.insert(ctx, tx, sequence, m.terms(e, by...))
}

// without returns the terms that are not among others.
func without(terms, others []string) []string {
	if len(others) == 0 {
		return terms
	}
	not := make(map[string]bool, len(others))
	for _, t := range others {
		not[t] = true
	}
	return slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return not[t] })
}

// A tag is followed by a word, or by one of these marks, with which no word begins.
const (
	markAny     = "·"  // every text
	markAuthor  = "·b" // and its author
	markLimited = "·l" // not every agent may see it
	markAgent   = "·a" // and an agent that may
)

// terms returns the terms of an event, under each tag of those who may see it.
func (m *messages) terms(e earshot.Event, authors ...earshot.ParticipantID) []string {
	text := search.TextOf(e)
	if text == "" {
		return nil
	}
	tags := m.tags(e)
	if len(tags) == 0 {
		return nil // nobody may see it
	}
	marks := []string{markAny}
	for _, id := range authors {
		marks = append(marks, markAuthor+digest(string(id)))
	}
	room := mostTerms/len(tags) - 4 // for each tag, leaving room for authors that are found out later
	if e.Visibility.Agents != nil {
		marks = append(marks, markLimited)
		agents := e.Visibility.Agents[:min(len(e.Visibility.Agents), room/2)]
		for _, id := range agents {
			marks = append(marks, markAgent+digest(string(id)))
		}
		room -= len(agents)
	}
	slices.Sort(marks)
	behind := append(slices.Compact(marks), search.Terms(string(text), room)...)
	all := make([]string, 0, len(tags)*len(behind))
	for _, tag := range tags {
		for _, term := range behind {
			all = append(all, tag+term)
		}
	}
	return all
}

// tags returns the tags of those who may see an event.
func (m *messages) tags(e earshot.Event) (all []string) {
	switch e.Visibility.Scope {
	case earshot.Public, earshot.System:
		return []string{m.tag(e.Sequence, e.Room)}
	case earshot.Private:
		for _, id := range e.Visibility.Members {
			all = append(all, m.tag(e.Sequence, e.Room, id))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), mostTags)]
}

// tag returns the tag of everybody in a room, or of one member of a private conversation there, for
// the partition of a sequence.
func (m *messages) tag(sequence int64, room earshot.RoomID, member ...earshot.ParticipantID) string {
	names := []string{strconv.FormatInt(sequence/m.size(), 10), string(room)}
	for _, id := range member {
		names = append(names, string(id))
	}
	return digest(names...)
}

// size returns how many sequences share a tag.
func (m *messages) size() int64 { return cmp.Or(m.partition, usualPartition) }

// letters are of one case, because the index does not distinguish terms by case.
var letters = base32.HexEncoding.WithPadding(base32.NoPadding)

// digest returns eight letters that stand for some names. A collision costs time, but does not show
// anybody what they may not see.
func digest(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return strings.ToLower(letters.EncodeToString(h.Sum(nil)[:5]))
}

// dayOf returns the number of the day on which something began.
func dayOf(at time.Time) int64 { return int64(math.Floor(float64(at.UnixMilli()) / 86_400_000)) }
