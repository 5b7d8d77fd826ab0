// Package index finds events by their words, by an index of SQLite's FTS5 in the file of the
// journal. What a reader may not see affects neither what it finds nor how long that takes.
package index

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"

	"earshot"
	"earshot/internal/search"
	"earshot/store/journal"
)

// An Index is the index of the words that were written, noted, heard and seen. It is one FTS5 table
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
// traces in the file are; see [Index.Sweep].
type Index struct {
	Partition int64 // sequences under one tag; zero means the default
	Server    bool  // it is in PostgreSQL; see tsvector.go

	unmerged int // terms that were added since parts of the index were last merged
	work     int // work so far, in terms that were added or made stale
}

const (
	// MaxTerms is how many terms an event has in the index at most, under all its tags together: a
	// text of 64 KiB in a natural language has 3,000 to 6,000. If a text has more, only the first
	// ones are found. Twice as many would take 30 ms of the commit.
	MaxTerms = 8192

	// textWork is how many bytes of a text cost as much work as a term, even if they yield none,
	// since they are read and written to the journal.
	textWork = 16

	// maxTags is how many of the people who may see a private text can find it.
	maxTags = 512

	// defaultPartition is how many sequences share a tag: those of some 200,000 texts. It bounds
	// the cost of searching for the commonest word, or for the beginning of many words, in a
	// journal of any size. A word that occurs nowhere is looked up once in each partition.
	defaultPartition = 1 << 19

	// Each step adds a part to the index, and a search has to look into each part. So mergePages
	// pages are merged whenever mergeTerms terms have been added, where each part counts as at
	// least a certain number. That takes a few milliseconds, in a separate transaction after the
	// one of the messages. A step that adds very many terms, such as the one that rebuilds the
	// index, merges pages meanwhile.
	mergeTerms  = 4096
	mergePages  = 64
	partTerms   = 256
	maxUnmerged = 16 * mergeTerms

	// maxSwept is how many stale terms are removed in one step, which takes some milliseconds.
	maxSwept = 64

	// maxStale is how many stale terms of one event are compared with its new text. If there are
	// more, the new text is indexed once they have been removed.
	maxStale = 2 * MaxTerms
)

// settings of the table: removed content is overwritten, and parts are merged only when we say so,
// a few pages at a time. Left alone, FTS5 would one day merge all of them at once.
var settings = map[string]int{"secure-delete": 1, "automerge": 0, "crisismerge": 1999, "usermerge": 4}

func (*Index) Name() string { return "messages" }
func (*Index) Version() int { return 9 }

func (x *Index) Create(ctx context.Context, tx *sql.Tx) error {
	// The first and last sequence of the texts of each day, to search by time.
	const days = `CREATE TABLE days (day INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT`
	if x.Server {
		return journal.Exec(ctx, tx, vectorTables, days)
	}
	err := journal.Exec(ctx, tx,
		`CREATE VIRTUAL TABLE terms USING fts5(words, content='', columnsize=0, detail=none, tokenize='ascii')`,
		`CREATE TABLE stale (sequence INTEGER PRIMARY KEY, terms TEXT NOT NULL, again INTEGER NOT NULL DEFAULT 0) STRICT`, days)
	for name, value := range settings {
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO terms (terms, rank) VALUES (?, ?)", name, value)
		}
	}
	return err
}

func (*Index) Reset(ctx context.Context, tx *sql.Tx) error {
	return journal.Exec(ctx, tx, `DROP TABLE IF EXISTS terms`, `DROP TABLE IF EXISTS days`, `DROP TABLE IF EXISTS stale`)
}

func (x *Index) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) (err error) {
	if w, is := e.Body.(earshot.Attribution); is {
		return journal.StatementError(x.attribute(ctx, tx, e, w))
	}
	terms := x.terms(e, e.Author)
	x.work += len(search.TextOf(e)) / textWork
	if len(terms) == 0 {
		return nil
	}
	if err := x.put(ctx, tx, e.Sequence, terms); err != nil {
		return journal.StatementError(err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO days VALUES (?1, ?2, ?2) ON CONFLICT (day) DO UPDATE SET first = min(days.first, excluded.first), last = max(days.last, excluded.last)",
		dayOf(e.At), e.Sequence)
	return journal.StatementError(err)
}

// put adds the terms of an event. Those that are stale are in the index already.
func (x *Index) put(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	if x.Server {
		x.work += len(terms)
		return addToVector(ctx, tx, sequence, terms)
	}
	left, _, err := x.stale(ctx, tx, sequence)
	switch {
	case err != nil:
		return err
	case len(left) > maxStale: // somebody edits a long text again and again
		_, err := tx.ExecContext(ctx, "UPDATE stale SET again = 1 WHERE sequence = ?", sequence)
		return err
	case len(left) > 0:
		if err := x.setStale(ctx, tx, sequence, without(left, terms)); err != nil {
			return err
		}
	}
	return x.insert(ctx, tx, sequence, without(terms, left))
}

// Work returns the work so far, in terms that were added or made stale.
func (x *Index) Work() int { return x.work }

// BeginStep notes that a step begins, whose events share one part of the index.
func (x *Index) BeginStep() {
	if !x.Server { // which has no parts
		x.unmerged += partTerms
	}
}

func (x *Index) insert(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	if len(terms) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO terms (rowid, words) VALUES (?, ?)", sequence, strings.Join(terms, " ")); err != nil {
		return err
	}
	x.work += len(terms)
	if x.unmerged += len(terms); x.unmerged < maxUnmerged {
		return nil
	}
	return x.Merge(ctx, tx)
}

// NeedsMerge reports whether parts of the index should be merged.
func (x *Index) NeedsMerge() bool { return x.unmerged >= mergeTerms }

// Merge merges some pages of parts of the index.
func (x *Index) Merge(ctx context.Context, tx *sql.Tx) error {
	x.unmerged -= mergeTerms
	_, err := tx.ExecContext(ctx, "INSERT INTO terms (terms, rank) VALUES ('merge', ?)", mergePages)
	return journal.StatementError(err)
}

// stale returns the terms that an event's earlier text still has in the index, and whether its
// current text is not indexed.
func (*Index) stale(ctx context.Context, tx *sql.Tx, sequence int64) (terms []string, again bool, err error) {
	var text string
	err = tx.QueryRowContext(ctx, "SELECT terms, again FROM stale WHERE sequence = ?", sequence).Scan(&text, &again)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return strings.Fields(text), again, err
}

func (x *Index) setStale(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	x.work += len(terms)
	_, err := tx.ExecContext(ctx, "INSERT INTO stale (sequence, terms) VALUES (?, ?) ON CONFLICT (sequence) DO UPDATE SET terms = excluded.terms, again = 0",
		sequence, strings.Join(terms, " "))
	return err
}

// attribute adds the person who turned out to have made an utterance to the index entry of the
// utterance.
func (x *Index) attribute(ctx context.Context, tx *sql.Tx, e earshot.Event, w earshot.Attribution) error {
	of, is, err := utterance(ctx, tx, e, w)
	if err != nil || !is {
		return err
	}
	before, err := authors(ctx, tx, of, e.Sequence)
	if err != nil {
		return err
	}
	return x.put(ctx, tx, of.Sequence, without(x.terms(of, w.Author), x.terms(of, before...)))
}

// utterance returns the utterance that an attribution is about, and whether there is one.
func utterance(ctx context.Context, tx *sql.Tx, e earshot.Event, w earshot.Attribution) (earshot.Event, bool, error) {
	of, err := journal.Target(ctx, tx, e.Room, w.Of)
	if errors.Is(err, journal.ErrNoTarget) {
		return of, false, nil
	}
	return of, err == nil && of.Body.Kind() == earshot.KindUtterance, err
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
	found, err := journal.Collect(tx.QueryContext(ctx, "SELECT "+journal.Columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind = ? AND j.sequence < ? ORDER BY j.sequence",
		e.ID, earshot.KindWhose, before))
	for _, r := range found {
		later, wrong := r.Event()
		if w, is := later.Body.(earshot.Attribution); is && w.Of == e.ID {
			all = append(all, later)
		}
		err = errors.Join(err, wrong)
	}
	return all, err
}

// Remove makes the terms of an event stale, before the event is overwritten. If the event's text
// cannot be read, the index is rebuilt at the next start.
func (x *Index) Remove(ctx context.Context, tx *sql.Tx, sequence int64) error {
	e, err := journal.Find(ctx, tx, "j.sequence = ?", sequence)
	if errors.Is(err, journal.ErrAltered) || errors.Is(err, journal.ErrOther) {
		return journal.SetVersion(ctx, tx, x.Name(), 0)
	}
	if err != nil {
		return err
	}
	by, err := authors(ctx, tx, e, math.MaxInt64)
	if err != nil {
		return err
	}
	terms := x.terms(e, by...)
	if w, is := e.Body.(earshot.Attribution); is {
		of, is, err := utterance(ctx, tx, e, w)
		if err != nil || !is {
			return err
		}
		if by, err = authors(ctx, tx, of, math.MaxInt64); err != nil {
			return err
		}
		i := slices.Index(by[1:], w.Author) + 1 // attributed only once, so that any other terms stay
		terms = without(x.terms(of, by...), x.terms(of, slices.Delete(slices.Clone(by), i, i+1)...))
		sequence = of.Sequence
	}
	if len(terms) == 0 {
		return nil
	}
	if x.Server {
		return removeFromVector(ctx, tx, sequence, terms)
	}
	left, again, err := x.stale(ctx, tx, sequence)
	if err != nil {
		return journal.StatementError(err)
	}
	if !again {
		left = append(left, without(terms, left)...)
	}
	return journal.StatementError(x.setStale(ctx, tx, sequence, left))
}

// Sweep removes some stale terms, and reports whether there are more.
func (x *Index) Sweep(ctx context.Context, tx *sql.Tx) (more bool, err error) {
	for n := 0; n < maxSwept && err == nil; {
		var sequence int64
		err = tx.QueryRowContext(ctx, "SELECT min(sequence) FROM stale HAVING count(*) > 0").Scan(&sequence)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err == nil {
			n, err = x.sweepOne(ctx, tx, sequence, n)
		}
	}
	return true, journal.StatementError(err)
}

// sweepOne removes stale terms of one event, and returns n plus their number.
func (x *Index) sweepOne(ctx context.Context, tx *sql.Tx, sequence int64, n int) (int, error) {
	terms, again, err := x.stale(ctx, tx, sequence)
	if err != nil {
		return n, err
	}
	some := terms[:min(len(terms), maxSwept-n)]
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
	e, err := journal.Find(ctx, tx, "j.sequence = ?", sequence)
	if err != nil {
		return n, err
	}
	by, err := authors(ctx, tx, e, math.MaxInt64)
	if err != nil {
		return n, err
	}
	return n, x.insert(ctx, tx, sequence, x.terms(e, by...))
}
