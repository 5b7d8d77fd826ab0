package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"iter"

	"earshot"
)

// An export is text: an [ExportHeader] on the first line, one event on each further line in the
// order of the journal, then the files kept beside the journal if they were asked for, and an
// [ExportTrailer] on the last line. Each line is JSON. The same journal makes the same bytes.

// formatName is what the first line of an export begins with.
const formatName = "earshot export 1"

// An ExportHeader says what an export is.
type ExportHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`          // of the journal that it was made from
	Only    string `json:"only,omitempty"`   // which events were chosen, in words; empty means all
	Events  int    `json:"events,omitempty"` // how many events, if known
	Last    int64  `json:"last,omitempty"`   // the highest sequence, if known
}

// An ExportTrailer ends an export, so that a truncated one is not taken for a whole one.
type ExportTrailer struct {
	End    string `json:"end"` // the format again
	Events int    `json:"events"`
	Sum    string `json:"sha256"` // of every byte before this line
}

// An ExportCompanion is a file of another package that is kept in the directory of the journal.
type ExportCompanion struct {
	Name    string          `json:"beside"`
	Content json.RawMessage `json:"content"`
}

// WriteExport writes an export of some events, one at a time. l.Only says which they are, and is
// empty for all. It returns how many there were.
func WriteExport(w io.Writer, l ExportHeader, events iter.Seq2[earshot.Event, error], beside ...ExportCompanion) (int, error) {
	out := &checksumWriter{Writer: bufio.NewWriterSize(w, 1<<16), sum: sha256.New()}
	l.Format, l.Version = formatName, schemaVersion
	if err := out.line(l); err != nil {
		return 0, err
	}
	n := 0
	for e, err := range events {
		if err != nil {
			return n, err
		}
		if err := out.line(e); err != nil {
			return n, err
		}
		n++
	}
	for _, b := range beside {
		if err := out.line(b); err != nil {
			return n, err
		}
	}
	if err := out.line(ExportTrailer{formatName, n, hex.EncodeToString(out.sum.Sum(nil))}); err != nil {
		return n, err
	}
	return n, out.Flush()
}

// A checksumWriter computes the checksum of what was written.
type checksumWriter struct {
	*bufio.Writer
	sum hash.Hash
}

func (s *checksumWriter) line(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	s.sum.Write(line)
	_, err = s.Write(line)
	return err
}

// Totals says how much there is in a journal at one moment.
type Totals struct {
	Events int   // erased ones too
	Erased int   // how many of them are erased
	Last   int64 // the highest sequence
}

// Totals counts the events. In a large journal that takes a moment.
func (a *Archive) Totals(ctx context.Context) (c Totals, err error) {
	err = a.db().QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE kind = ?), coalesce(max(sequence), 0) FROM journal INDEXED BY journal_kind",
		earshot.KindErased).Scan(&c.Events, &c.Erased, &c.Last)
	if err != nil {
		return c, a.failed(ctx, err)
	}
	return c, nil
}

// Totals counts the events; see [Archive.Totals].
func (s *Store) Totals(ctx context.Context) (Totals, error) { return s.archive.Totals(ctx) }

// Wrote reports whether somebody is the author of any of the events.
func (a *Archive) Wrote(ctx context.Context, who earshot.ParticipantID, ids []earshot.EventID) (wrote bool, err error) {
	err = a.db().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM journal WHERE author = ? AND id IN (SELECT value FROM json_each(?)))", who, asJSON(ids)).Scan(&wrote)
	if err != nil {
		return false, a.failed(ctx, err)
	}
	return wrote, nil
}

// All yields every event of every room up to a sequence, as [Archive.Export] does, so that a reader
// beside a running daemon comes to an end.
func (a *Archive) All(ctx context.Context, last int64) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		for e, err := range a.Export(ctx) {
			if err == nil && e.Sequence > last || !yield(e, err) {
				return
			}
		}
	}
}

// faults reports what is wrong with a header, if anything.
func (l ExportHeader) faults() error {
	switch {
	case l.Format != formatName:
		return fmt.Errorf("it is not an export of earshot, or a newer earshot made it: its first line does not begin with {\"format\":%q", formatName)
	case l.Version > schemaVersion:
		return fmt.Errorf("it was made by a newer earshot (version %d; this one knows up to %d): import it with that one", l.Version, schemaVersion)
	case l.Version < 1:
		return fmt.Errorf("its version is %d, which never existed", l.Version)
	}
	return nil
}
