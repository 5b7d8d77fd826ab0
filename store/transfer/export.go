// Package transfer writes and reads exports, which carry events from one journal to another.
//
// An export is text: a [Header] on the first line, one event on each further line in the order of
// the journal, then the files kept beside the journal if they were asked for, and a [Trailer] on
// the last line. Each line is JSON. The same journal makes the same bytes.
package transfer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"iter"

	"earshot"
	"earshot/store/journal"
)

// Format is what the first line of an export begins with.
const Format = "earshot export 1"

// A Header says what an export is.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`          // of the journal that it was made from
	Only    string `json:"only,omitempty"`   // which events were chosen, in words; empty means all
	Events  int    `json:"events,omitempty"` // how many events, if known
	Last    int64  `json:"last,omitempty"`   // the highest sequence, if known
}

// A Trailer ends an export, so that a truncated one is not taken for a whole one.
type Trailer struct {
	End    string `json:"end"` // the format again
	Events int    `json:"events"`
	Sum    string `json:"sha256"` // of every byte before this line
}

// A Companion is a file of another package that is kept in the directory of the journal.
type Companion struct {
	Name    string          `json:"beside"`
	Content json.RawMessage `json:"content"`
}

// Write writes an export of some events, one at a time. h.Only says which they are, and is
// empty for all. It returns how many there were.
func Write(w io.Writer, h Header, events iter.Seq2[earshot.Event, error], beside ...Companion) (int, error) {
	out := &checksumWriter{Writer: bufio.NewWriterSize(w, 1<<16), hash: sha256.New()}
	h.Format, h.Version = Format, journal.Version
	if err := out.line(h); err != nil {
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
	if err := out.line(Trailer{Format, n, hex.EncodeToString(out.hash.Sum(nil))}); err != nil {
		return n, err
	}
	return n, out.Flush()
}

// A checksumWriter computes the checksum of what was written.
type checksumWriter struct {
	*bufio.Writer
	hash hash.Hash
}

func (w *checksumWriter) line(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	w.hash.Write(line)
	_, err = w.Write(line)
	return err
}

// faults reports what is wrong with a header, if anything.
func (h Header) faults() error {
	switch {
	case h.Format != Format:
		return fmt.Errorf("it is not an export of earshot, or a newer earshot made it: its first line does not begin with {\"format\":%q", Format)
	case h.Version > journal.Version:
		return fmt.Errorf("it was made by a newer earshot (version %d; this one knows up to %d): import it with that one", h.Version, journal.Version)
	case h.Version < 1:
		return fmt.Errorf("its version is %d, which never existed", h.Version)
	}
	return nil
}
