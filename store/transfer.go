package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"iter"

	"earshot"
	"earshot/store/transfer"
)

// The parts of an export; see package [transfer].
type (
	ExportHeader    = transfer.Header
	ExportCompanion = transfer.Companion
	ErrImport       = transfer.Error
	Import          = transfer.Result
)

// WriteExport writes an export of some events; see [transfer.Write].
func WriteExport(w io.Writer, h ExportHeader, events iter.Seq2[earshot.Event, error], beside ...ExportCompanion) (int, error) {
	return transfer.Write(w, h, events, beside...)
}

// Import adds the events of an export: all of them or, if anything is wrong with it, none. An event
// whose ID the journal already has stays as it is, even if it is deleted. In an empty journal the
// events keep their sequences; in any other they follow the existing events, in their order. An
// event that was made from an event that is deleted here is kept as [earshot.Tombstone].
//
// The file is read twice: first to check all of it, and then in a single step, for which the disk
// needs twice the space. Memory use does not grow with the file. If dry is set, the step is rolled
// back at its end. An error about a line is an [*ErrImport].
func (s *Store) Import(ctx context.Context, from io.ReadSeeker, dry bool) (Import, error) {
	seen, err := transfer.Examine(ctx, from)
	if err != nil {
		return seen, err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return Import{}, err
	}
	var done Import
	rehearsed := errors.New("it was only tried")
	err = s.write.do(context.WithoutCancel(ctx), func(_ context.Context, tx *sql.Tx) (_ bool, err error) {
		defer s.editor.Forget() // which has not added them
		if done, err = transfer.Import(ctx, tx, s.editor, from); err != nil {
			return false, err
		}
		if dry {
			return false, rehearsed
		}
		return done.Added > 0, nil
	})
	if err != nil && !errors.Is(err, rehearsed) {
		return Import{}, err
	}
	return done, nil
}
