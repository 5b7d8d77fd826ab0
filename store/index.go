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

// messages is the index of the words of what was written, noted, heard, and seen: one table of
// FTS5, which for each term has the sequences of the events that have it.
//
// A term is a word behind a tag that stands for an audience: everybody in a room, or one member
// of what is private there. A text is in the index under the tags of those who may see it, and
// a reader asks for terms under their own. So neither what is found nor how long that takes
// depends on what others say among themselves, as it does with a table that has the audience in
// a column: there, a word that others have said takes longer than one that nobody has. What is
// found is looked at again in the journal, which decides.
//
// The text itself is not in the index, nor where in it a word stands. To take a text out of it
// each of its terms is looked for, which takes long for a long text. So the step that erases
// an event leaves its terms in the table stale, and they are taken out in short steps before
// the traces in the file are; see [Store.purge].
type messages struct {
	partition int64 // sequences under one tag; zero means the usual
	owed      int   // terms that have come since parts of the index were joined
	done      int   // work so far, in terms that were put in or left behind
}

const (
	// mostTerms is how many terms an event has in the index at most, under all its tags: a
	// text of 64 KiB in a natural language has 3,000 to 6,000. Of what has more the first
	// are found. Twice as many take 30 ms of the commit.
	mostTerms = 8192

	// textWork is how many bytes of a text are as much work as a term, even if they have none:
	// they are read, and written to the journal.
	textWork = 16

	// mostTags is how many of those who may see a private text find it.
	mostTags = 512

	// usualPartition is how many sequences share a tag: those of some 200,000 texts. It bounds
	// what the commonest word and the beginning of many words cost in a journal of any size;
	// what is found nowhere is looked for once in each.
	usualPartition = 1 << 19

	// Each step adds a part to the index, and a search looks into each. So some pages of them
	// are joined each time that so many terms have come, as which a part counts at least: it
	// takes some milliseconds, in a transaction of its own behind that of the messages. Where a
	// step adds very many, as the one that makes the index anew, it is done on the way.
	joinTerms = 4096
	joinPages = 64
	partTerms = 256
	mostOwed  = 16 * joinTerms

	// sweptTerms is how many stale terms are taken out in one step: it takes some milliseconds.
	sweptTerms = 64

	// mostStale is how many stale terms of one event are compared with what it says now. Where
	// there are more, that is put into the index when they are gone.
	mostStale = 2 * mostTerms
)

// The settings of the table: what is taken out is overwritten, and parts are joined only when
// we say so, a few pages at a time: left alone, it would join all of them at once one day.
var settings = map[string]int{"secure-delete": 1, "automerge": 0, "crisismerge": 1999, "usermerge": 4}

func (*messages) Name() string { return "messages" }
func (*messages) Version() int { return 9 }

func (*messages) Create(ctx context.Context, tx *sql.Tx) error {
	err := run(ctx, tx,
		`CREATE VIRTUAL TABLE terms USING fts5(words, content='', columnsize=0, detail=none, tokenize='ascii')`,
		// When there are texts of which days, to find the sequences of a time.
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
	return run(ctx, tx, `DROP TABLE IF EXISTS terms`, `DROP TABLE IF EXISTS days`, `DROP TABLE IF EXISTS stale`,
		`DROP TABLE IF EXISTS words`, `DROP TABLE IF EXISTS messages`, `DROP TABLE IF EXISTS segments`) // of earlier versions
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

// put adds terms to those of an event. Those that are stale are in the index already.
func (m *messages) put(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	left, _, err := m.stale(ctx, tx, sequence)
	switch {
	case err != nil:
		return err
	case len(left) > mostStale: // somebody changes a long text again and again
		_, err := tx.ExecContext(ctx, "UPDATE stale SET again = 1 WHERE sequence = ?", sequence)
		return err
	case len(left) > 0:
		if err := m.leave(ctx, tx, sequence, without(left, terms)); err != nil {
			return err
		}
	}
	return m.insert(ctx, tx, sequence, without(terms, left))
}

// handled returns how much work there was so far, in terms that were put in or left behind.
func (m *messages) handled() int { return m.done }

// begin notes that a step begins, whose events share a part of the index.
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

// owes reports whether parts of the index are to be joined.
func (m *messages) owes() bool { return m.owed >= joinTerms }

// join joins some pages of parts of the index.
func (m *messages) join(ctx context.Context, tx *sql.Tx) error {
	m.owed -= joinTerms
	_, err := tx.ExecContext(ctx, "INSERT INTO terms (terms, rank) VALUES ('merge', ?)", joinPages)
	return odd(err)
}

// stale returns the terms in the index of what an event has said before, and whether what it
// says now is not in the index.
func (*messages) stale(ctx context.Context, tx *sql.Tx, sequence int64) (terms []string, again bool, err error) {
	var text string
	err = tx.QueryRowContext(ctx, "SELECT terms, again FROM stale WHERE sequence = ?", sequence).Scan(&text, &again)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return strings.Fields(text), again, err
}

// leave notes which terms of an event are stale.
func (m *messages) leave(ctx context.Context, tx *sql.Tx, sequence int64, terms []string) error {
	m.done += len(terms)
	_, err := tx.ExecContext(ctx, "INSERT INTO stale (sequence, terms) VALUES (?, ?) ON CONFLICT (sequence) DO UPDATE SET terms = excluded.terms, again = 0",
		sequence, strings.Join(terms, " "))
	return err
}

// attribute adds to an utterance whose words it turned out to be.
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

// authors returns who has, or was said to have, said something, before a sequence.
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

// attributions returns the events before a sequence that say whose an utterance was.
func attributions(ctx context.Context, tx *sql.Tx, e earshot.Event, before int64) (all []earshot.Event, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+columns+" FROM derived d JOIN journal j ON j.id = d.event WHERE d.source = ? AND j.kind = ? AND j.sequence < ? ORDER BY j.sequence",
		e.ID, earshot.KindWhose, before)
	if err != nil {
		return nil, err
	}
	found, err := collect(rows)
	for _, r := range found {
		later, wrong := r.event()
		if w, is := later.Body.(earshot.Attribution); is && w.Of == e.ID {
			all = append(all, later)
		}
		err = errors.Join(err, wrong)
	}
	return all, err
}

// remove leaves the terms of an event behind as stale, before it is overwritten. If what it said
// cannot be read, the index is made anew at the next start.
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
		i := slices.Index(by[1:], w.Author) + 1 // said once: the others stay
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

// eventAt returns the event that has a sequence.
func eventAt(ctx context.Context, tx *sql.Tx, sequence int64) (e earshot.Event, err error) {
	var r row
	if err := r.scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM journal j WHERE j.sequence = ?", sequence)); err != nil {
		return e, err
	}
	return r.event()
}

// sweep takes out some terms that are stale, and reports whether there are more.
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

// sweepOne takes out stale terms of one event, and returns how many it were with those before.
func (m *messages) sweepOne(ctx context.Context, tx *sql.Tx, sequence int64, n int) (int, error) {
	terms, again, err := m.stale(ctx, tx, sequence)
	if err != nil {
		return n, err
	}
	some := terms[:min(len(terms), sweptTerms-n)]
	if len(some) > 0 {
		// The table counts its texts, and takes it for damage if more were taken out than were
		// put in; this one goes in pieces.
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

// without returns terms that are not among others.
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

// Behind a tag stands a word, or one of these, which no word begins with.
const (
	markAny     = "·"  // of each text
	markAuthor  = "·b" // and who has said it
	markLimited = "·l" // not every agent may see it
	markAgent   = "·a" // and one that may
)

// terms returns what an event is found by, under each tag of those who may see it.
func (m *messages) terms(e earshot.Event, authors ...earshot.ParticipantID) []string {
	text := search.TextOf(e)
	if text == "" {
		return nil
	}
	tags := m.tags(e)
	if len(tags) == 0 {
		return nil // nobody may
	}
	marks := []string{markAny}
	for _, id := range authors {
		marks = append(marks, markAuthor+digest(string(id)))
	}
	room := mostTerms/len(tags) - 4 // under each tag, whoever the author turns out to be
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

// tag returns the tag of everybody in a room or of one who may see what is private there, for
// the sequences around one.
func (m *messages) tag(sequence int64, room earshot.RoomID, member ...earshot.ParticipantID) string {
	names := []string{strconv.FormatInt(sequence/m.size(), 10), string(room)}
	for _, id := range member {
		names = append(names, string(id))
	}
	return digest(names...)
}

// size returns how many sequences share a tag.
func (m *messages) size() int64 { return cmp.Or(m.partition, usualPartition) }

// letters are those of a digest: terms are not told apart by case.
var letters = base32.HexEncoding.WithPadding(base32.NoPadding)

// digest returns eight letters that stand for some names. That two have the same costs time,
// and shows nobody what they may not see.
func digest(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return strings.ToLower(letters.EncodeToString(h.Sum(nil)[:5]))
}

// dayOf returns the number of the day on which something began.
func dayOf(at time.Time) int64 { return int64(math.Floor(float64(at.UnixMilli()) / 86_400_000)) }
