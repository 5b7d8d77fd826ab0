package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/store/edit"
	"earshot/store/journal"
)

// longestLine is how many bytes a line of an export may have: an event of the maximum size, and its
// sequence.
const longestLine = journal.MaxPayload + 1024

// An Error says which line of an export is refused, and why.
type Error struct {
	Line int // from 1
	Err  error
}

// Error names the line. It repeats little of the line, which may contain anything.
func (e *Error) Error() string {
	text := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(e.Err.Error(), "?"))
	const enough = 300 // bytes; some lines of a terminal
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "") + " ..."
	}
	return fmt.Sprintf("line %d: %s", e.Line, text)
}

func (e *Error) Unwrap() error { return e.Err }

// A Result is what was in an export, and what became of it.
type Result struct {
	Label  Header
	Events int // in the file
	Added  int // to the journal
	Known  int // events that the journal already has, unchanged
	Erased int // events added without content: deleted before the export, or made from something deleted here

	// Companions are the files of other packages in the export. Import does nothing with them.
	Companions []Companion
}

// Examine reads an export from beginning to end and returns what is in it, or an error about the
// first invalid line. It needs as much memory as the longest line.
func Examine(ctx context.Context, from io.Reader) (Result, error) {
	return readExport(ctx, from, func(earshot.Event) error { return nil })
}

// Import adds the events of an export to the journal, in one transaction. [Examine] has found
// nothing wrong with it. An event whose ID the journal already has stays as it is.
func Import(ctx context.Context, tx *sql.Tx, editor *edit.Editor, from io.Reader) (Result, error) {
	step := context.WithoutCancel(ctx) // SQLite would interrupt the whole transaction
	in := importer{editor: editor, tx: tx}
	var err error
	if in.before, err = journal.Last(step, tx); err != nil {
		return Result{}, err
	}
	in.last = in.before
	found, err := readExport(ctx, from, func(e earshot.Event) error { return in.add(step, e) })
	if err == nil {
		err = checkCircles(step, tx, in.before)
	}
	if err != nil {
		return Result{}, err
	}
	found.Added, found.Known, found.Erased = in.added, in.known, in.erased
	return found, nil
}

// An importer adds events of another journal.
type importer struct {
	editor               *edit.Editor
	tx                   *sql.Tx
	before               int64 // the last sequence before anything was added
	last                 int64
	added, known, erased int
}

// add adds one event, unless the journal has it.
func (i *importer) add(ctx context.Context, e earshot.Event) error {
	switch _, err := i.find(ctx, e); {
	case err == nil:
		i.known++
		return nil
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	sequence := e.Sequence
	if i.before > 0 { // the journal has other events already
		sequence = i.last + 1
		var err error
		if e, err = i.reconcile(ctx, e); err != nil {
			return err
		}
	}
	r, e, err := journal.Seal(e, sequence)
	if err != nil {
		return err
	}
	if err := journal.Insert(ctx, i.tx, r, e); err != nil {
		return err
	}
	i.last = sequence
	i.added++
	if _, gone := e.Body.(earshot.Tombstone); gone {
		i.erased++
	}
	return i.editor.Views.Apply(ctx, i.tx, e)
}

// find returns the event with the ID of e, or [sql.ErrNoRows]. An event that is deleted on one side
// only is still the same event: only its content is missing there.
func (i *importer) find(ctx context.Context, e earshot.Event) (earshot.Event, error) {
	if _, gone := e.Body.(earshot.Tombstone); !gone {
		return edit.Find(ctx, i.tx, e)
	}
	var room earshot.RoomID
	err := i.tx.QueryRowContext(ctx, "SELECT room FROM journal WHERE id = ?", e.ID).Scan(&room)
	if err == nil && room != e.Room {
		err = fmt.Errorf("keeping event %s: %w", e.ID, edit.ErrTaken)
	}
	return e, err
}

// reconcile reconciles e with the events that the journal had before. If an event from which e was
// made is erased, e is erased. An event that e revises or withdraws is revised or erased.
func (i *importer) reconcile(ctx context.Context, e earshot.Event) (earshot.Event, error) {
	gone, err := i.existed(ctx, e.Sources, "kind = 'erased'")
	if err != nil {
		return e, err
	}
	if gone {
		return edit.Erased(e), nil
	}
	var of earshot.EventID
	switch b := e.Body.(type) {
	case earshot.Revision:
		if b.Text == "" { // a later revision says what the message says
			return e, nil
		}
		of = b.Of
	case earshot.Withdrawal:
		of = b.Of
	default:
		return e, nil
	}
	there, err := i.existed(ctx, []earshot.EventID{of}, "kind <> 'erased'")
	if err != nil || !there {
		return e, err
	}
	return i.editor.Change(ctx, i.tx, e)
}

// existed reports whether any of the events that existed before the import meets a condition.
func (i *importer) existed(ctx context.Context, ids []earshot.EventID, condition string) (bool, error) {
	if len(ids) == 0 {
		return false, nil
	}
	return journal.Exists(ctx, i.tx, "SELECT 1 FROM journal WHERE "+condition+" AND sequence <= ? AND id IN (SELECT value FROM json_each(?))", i.before, journal.JSON(ids))
}

// readExport reads an export and calls take with each event.
func readExport(ctx context.Context, from io.Reader, take func(earshot.Event) error) (Result, error) {
	p := &exportReader{in: bufio.NewReaderSize(from, 1<<16), hash: sha256.New()}
	var found Result
	err := p.read(ctx, &found, take)
	if err != nil && ctx.Err() == nil {
		err = &Error{p.line, err}
	}
	return found, err
}

// An exportReader is an export that is being read.
type exportReader struct {
	in   *bufio.Reader
	hash hash.Hash // of the lines before the current one
	line int
	text []byte // the current line
	last int64  // the sequence of the previous event
}

func (p *exportReader) read(ctx context.Context, found *Result, take func(earshot.Event) error) error {
	if err := p.next(); err != nil {
		return err
	}
	if err := json.Unmarshal(p.text, &found.Label); err != nil {
		found.Label = Header{} // what is not JSON is not an export either
	}
	if err := found.Label.faults(); err != nil {
		return err
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.next(); err != nil {
			return err
		}
		switch {
		case bytes.HasPrefix(p.text, []byte(`{"id":`)) && len(found.Companions) == 0:
			e, err := p.parseEvent()
			if err != nil {
				return err
			}
			found.Events++
			if err := take(e); err != nil {
				return err
			}
		case bytes.HasPrefix(p.text, []byte(`{"beside":`)) && len(found.Companions) < 16:
			var b Companion
			if err := json.Unmarshal(p.text, &b); err != nil {
				return err
			}
			found.Companions = append(found.Companions, b)
		case bytes.HasPrefix(p.text, []byte(`{"end":`)):
			return p.end(*found)
		default:
			return errors.New("it is neither an event nor the end of an export")
		}
	}
}

// next reads a line without its end. If the file ends here, the error says what is missing.
func (p *exportReader) next() error {
	if p.line > 0 {
		p.hash.Write(p.text)
		p.hash.Write([]byte{'\n'})
	}
	p.line++
	p.text = p.text[:0]
	for {
		piece, err := p.in.ReadSlice('\n')
		p.text = append(p.text, piece...)
		switch {
		case len(p.text) > longestLine:
			return fmt.Errorf("it is longer than %d bytes, the limit for a line of an export", longestLine)
		case err == nil:
			p.text = p.text[:len(p.text)-1]
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the file ends here, before the end of the export: it was cut off")
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// parseEvent returns the event in the current line, if it can be kept.
func (p *exportReader) parseEvent() (earshot.Event, error) {
	var e earshot.Event
	if err := json.Unmarshal(p.text, &e); err != nil {
		return e, err
	}
	const most = 1 << 53 // some programs cannot read greater numbers exactly
	switch {
	case e.ID == "":
		return e, errors.New("the event has no ID")
	case e.Sequence <= p.last || e.Sequence > most:
		return e, fmt.Errorf("its sequence is %d, after %d: the lines are not in the order in which they were written", e.Sequence, p.last)
	case e.At.IsZero():
		return e, errors.New("the event has no time")
	}
	p.last = e.Sequence
	if gone, ok := e.Body.(earshot.Tombstone); ok {
		if !gone.Was.Durable() || len(gone.Was) > journal.MaxName || e.Room == "" || len(e.ID) > journal.MaxID || !utf8.ValidString(string(e.ID)) {
			return e, errors.New("it is not the remainder of an erased event")
		}
		return erasedAs(e, gone), nil
	}
	return e, cmp.Or(journal.CheckEvent(e), checkPlausible(e))
}

// checkPlausible says why no earshot can have written e; nil if one can. A room never accepts such
// an event, so it does not check the events on record again.
func checkPlausible(e earshot.Event) error {
	ids := []string{string(e.ID), string(e.Room), string(e.Author)}
	for _, id := range slices.Concat(e.Sources, referred(e.Body)) {
		ids = append(ids, string(id))
	}
	for _, id := range slices.Concat(e.To, e.Visibility.Members, e.Visibility.Agents) {
		ids = append(ids, string(id))
	}
	switch {
	case slices.ContainsFunc(ids, func(id string) bool { return len(id) > journal.MaxName || strings.ContainsFunc(id, unprintable) }):
		return fmt.Errorf("an ID in it is not printable text of at most %d bytes", journal.MaxName)
	case max(len(e.From.Provider), len(e.From.ID), len(e.Via)) > journal.MaxDescription:
		return errors.New("the name of its source is too long")
	}
	switch b := e.Body.(type) {
	case earshot.Thought:
		return errors.Join(journal.CheckLength("the question", len(b.Question), earshot.MaxText), journal.CheckLength("the thought", len(b.Text), earshot.MaxText))
	case earshot.Finding:
		return journal.CheckLength("the finding", len(b.Text), earshot.MaxText)
	case earshot.Notice:
		return journal.CheckLength("the notice", max(len(b.Key), len(b.Text), len(b.Cure)), earshot.MaxText)
	case earshot.Decision:
		return journal.CheckLength("a reason", len(strings.Join(b.Reasons, "")), earshot.MaxText)
	}
	return nil
}

func unprintable(c rune) bool { return !unicode.IsPrint(c) }

// referred returns the events that b refers to by answering, continuing or undoing them.
func referred(b earshot.Body) []earshot.EventID {
	switch b := b.(type) {
	case earshot.Message:
		return []earshot.EventID{b.ReplyTo, b.About}
	case earshot.Reply:
		return []earshot.EventID{b.About, b.Resumes, b.Superseded}
	case earshot.Thought:
		return []earshot.EventID{b.Of, b.About}
	case earshot.Finding:
		return append([]earshot.EventID{b.Thought, b.Answers}, b.Merges...)
	case earshot.Decision:
		return []earshot.EventID{b.About}
	case earshot.Reminder:
		return []earshot.EventID{b.Of}
	case earshot.Task:
		return []earshot.EventID{b.Of, b.Schedule, b.Question}
	case earshot.Step:
		return []earshot.EventID{b.Task, b.Of}
	case earshot.Schedule:
		return []earshot.EventID{b.Of, b.Task}
	case earshot.Edit:
		return []earshot.EventID{b.Undoes}
	}
	return nil
}

// references are the events that events of the journal j refer to by answering or continuing them,
// or from which they were made.
const references = `SELECT j.id AS event, j.sequence AS at, r.value AS other FROM journal j, json_each(json_extract(j.payload,
		'$.body.reply_to', '$.body.about', '$.body.of', '$.body.resumes', '$.body.thought', '$.body.undoes', '$.body.task', '$.body.question', '$.body.schedule')) r
	WHERE j.kind <> 'erased' AND r.value IS NOT NULL`

// mostAhead is how many events may refer to a later one: a few may have been kept late because a
// disk was full.
const mostAhead = 100

// checkCircles returns an error if an event after a sequence refers to itself through any chain of
// answers and sources. Each such circle contains a reference to a later event, and there are few of
// those.
func checkCircles(ctx context.Context, tx *sql.Tx, before int64) error {
	rows, err := tx.QueryContext(ctx, `SELECT a.event, b.id FROM (`+references+` AND j.sequence > ?1) a JOIN journal b ON b.id = a.other WHERE b.sequence >= a.at
		UNION SELECT d.event, d.source FROM journal j JOIN derived d ON d.event = j.id JOIN journal b ON b.id = d.source WHERE j.sequence > ?1 AND b.sequence >= j.sequence
		LIMIT ?2`, before, mostAhead+1)
	ahead, err := journal.List(rows, err, func(step *[2]string, rows *sql.Rows) error { return rows.Scan(&step[0], &step[1]) })
	if err != nil {
		return err
	}
	if len(ahead) > mostAhead {
		return fmt.Errorf("more than %d of its events refer to later events", mostAhead)
	}
	for _, step := range ahead {
		var round bool
		err := tx.QueryRowContext(ctx, `WITH RECURSIVE back (id) AS (SELECT ?1
			UNION SELECT n.other FROM back JOIN (`+references+`) n ON n.event = back.id
			UNION SELECT d.source FROM back JOIN derived d ON d.event = back.id)
			SELECT EXISTS (SELECT 1 FROM back WHERE id = ?2)`, step[1], step[0]).Scan(&round)
		if err != nil {
			return err
		}
		if round {
			return fmt.Errorf("event %q refers to itself through other events", step[0])
		}
	}
	return nil
}

// erasedAs returns what is left of an erased event, and nothing else.
func erasedAs(e earshot.Event, gone earshot.Tombstone) earshot.Event {
	left := edit.Erased(e)
	left.Sequence, left.Body = e.Sequence, gone
	return left
}

// end reports what is wrong with the last line, if anything.
func (p *exportReader) end(found Result) error {
	var t Trailer
	if err := json.Unmarshal(p.text, &t); err != nil {
		return err
	}
	switch {
	case t.End != Format:
		return errors.New("it is the end of another kind of file")
	case t.Events != found.Events:
		return fmt.Errorf("the export had %d events when it was written and has %d now: some are missing or were added", t.Events, found.Events)
	case t.Sum != hex.EncodeToString(p.hash.Sum(nil)):
		return errors.New("the export was changed after it was written: its checksum is different")
	}
	if _, err := p.in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the end of the export")
	}
	return nil
}
