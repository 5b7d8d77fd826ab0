package wyoming

import (
	"bufio"
	"io"
)

// Event is a message, for the servers of tests.
type Event = event

// Decode decodes its data.
func (e event) Decode(v any) error { return e.decode(v) }

// AppendEvent appends a message to b.
var AppendEvent = appendEvent

// ReadEvent reads a message from r, and nothing behind it.
func ReadEvent(r io.Reader) (Event, error) {
	b, ok := r.(*bufio.Reader)
	if !ok {
		b = bufio.NewReaderSize(byteReader{r}, maxHeader)
	}
	return readEvent(b)
}

// A byteReader reads one byte at a time, so that a buffer never holds what follows a line.
type byteReader struct{ io.Reader }

func (r byteReader) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), 1)]) }
