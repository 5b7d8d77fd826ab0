package salvage

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"iter"
	"maps"
	"os"
	"slices"

	"earshot/store/journal"
)

// A pageReader reads the pages of a database file without SQLite, in the state they would have
// after a checkpoint of the log beside the file. See sqlite.org/fileformat2.html.
type pageReader struct {
	file *os.File
	log  *os.File        // nil if there is none
	size int64           // of a page
	n    int64           // how many pages the file has
	in   map[int64]int64 // the pages in the log, by number, and their offsets
}

// defaultPageSize is the page size that this program uses, for a file whose header cannot be read.
const defaultPageSize = 4096

// openPages opens the file at path and its log.
func openPages(path string) (*pageReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pageReader{file: f, size: defaultPageSize, in: map[int64]int64{}}
	var head [18]byte
	if _, err := f.ReadAt(head[:], 0); err == nil && bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")) {
		p.resize(int64(binary.BigEndian.Uint16(head[16:])))
	}
	if p.log, err = os.Open(path + "-wal"); err == nil {
		p.overlay()
	}
	if info, err := f.Stat(); err == nil {
		p.n = (info.Size() + p.size - 1) / p.size
	}
	return p, nil
}

// resize adopts a page size from a header, if it is a possible size.
func (p *pageReader) resize(size int64) {
	if size == 1 {
		size = 65536
	}
	if size >= 512 && size&(size-1) == 0 {
		p.size = size
	}
}

// overlay finds the newest copy of each page in the log. Frames of the current log carry its salt;
// older ones do not.
func (p *pageReader) overlay() {
	var head [32]byte
	if _, err := p.log.ReadAt(head[:], 0); err != nil {
		return
	}
	if int64(binary.BigEndian.Uint32(head[8:])) != p.size {
		return
	}
	var frame [24]byte
	for at := int64(len(head)); ; at += int64(len(frame)) + p.size {
		if _, err := p.log.ReadAt(frame[:], at); err != nil {
			return
		}
		if page := int64(binary.BigEndian.Uint32(frame[:])); bytes.Equal(frame[8:16], head[16:24]) && page > 0 {
			p.in[page] = at + int64(len(frame))
		}
	}
}

func (p *pageReader) close() {
	p.file.Close()
	if p.log != nil {
		p.log.Close()
	}
}

// all yields the numbers of the pages in the file, then of those that are only in the log.
func (p *pageReader) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for n := int64(1); n <= p.n; n++ {
			if !yield(n) {
				return
			}
		}
		for _, n := range slices.Sorted(maps.Keys(p.in)) {
			if n > p.n && !yield(n) {
				return
			}
		}
	}
}

// page returns page n, counted from 1, or nil.
func (p *pageReader) page(n int64) []byte {
	from, at := p.file, (n-1)*p.size
	if in, ok := p.in[n]; ok {
		from, at = p.log, in
	}
	if at < 0 {
		return nil
	}
	buf := make([]byte, p.size)
	if got, err := from.ReadAt(buf, at); err != nil && (err != io.EOF || got == 0) {
		return nil // the missing rest of a truncated page stays zero
	}
	return buf
}

// leaf is the first byte of a page that holds rows of a table.
const leaf = 0x0d

// rows calls do with everything on page n that could be a row of the journal. The checksum shows
// which of these are rows.
func (p *pageReader) rows(n int64, do func(journal.Row) error) error {
	page := p.page(n)
	head := 0
	if n == 1 {
		head = 100
	}
	if len(page) < head+8 || page[head] != leaf {
		return nil
	}
	cells := int(binary.BigEndian.Uint16(page[head+3:]))
	for i := range min(cells, (len(page)-head-8)/2) {
		at := int(binary.BigEndian.Uint16(page[head+8+2*i:]))
		if r, ok := p.cell(page, at); ok && r.Intact() {
			if err := do(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell reads the cell at an offset of a leaf page.
func (p *pageReader) cell(page []byte, at int) (journal.Row, bool) {
	if at >= len(page) {
		return journal.Row{}, false
	}
	rest := page[at:]
	length, n := journal.Varint(rest)
	sequence, m := journal.Varint(rest[n:])
	if n == 0 || m == 0 || length < 1 || length > journal.MaxPayload+1024 {
		return journal.Row{}, false
	}
	record, ok := p.record(rest[n+m:], int(length))
	if !ok {
		return journal.Row{}, false
	}
	r := journal.Row{Sequence: sequence}
	return r, parse(&r, record)
}

// record assembles a record that begins in a cell and may continue in overflow pages.
func (p *pageReader) record(cell []byte, length int) ([]byte, bool) {
	here := p.local(length)
	if here > len(cell) {
		return nil, false
	}
	record := bytes.Clone(cell[:here])
	if here == length {
		return record, true
	}
	if here+4 > len(cell) {
		return nil, false
	}
	next := int64(binary.BigEndian.Uint32(cell[here:]))
	for len(record) < length {
		page := p.page(next)
		if page == nil {
			return nil, false
		}
		record = append(record, page[4:min(len(page), 4+length-len(record))]...)
		next = int64(binary.BigEndian.Uint32(page))
	}
	return record, true
}

// local returns how many bytes of a record of that length lie in the leaf.
func (p *pageReader) local(length int) int {
	usable := int(p.size)
	most := usable - 35
	if length <= most {
		return length
	}
	least := (usable-12)*32/255 - 23
	if n := least + (length-least)%(usable-4); n <= most {
		return n
	}
	return least
}

// The positions of payload and sum among the columns of the journal.
const (
	columnPayload = 7
	columnSum     = 8
)

// parse takes payload and sum from a record into r, and reports whether it has them.
func parse(r *journal.Row, record []byte) bool {
	head, n := journal.Varint(record)
	if n == 0 || head < int64(n) || head > int64(len(record)) {
		return false
	}
	types, values := record[n:head], record[head:]
	for column := 0; len(types) > 0; column++ {
		kind, n := journal.Varint(types)
		width := valueSize(kind)
		if n == 0 || width < 0 || width > int64(len(values)) {
			return false
		}
		switch column {
		case columnPayload:
			r.Payload = values[:width]
		case columnSum:
			r.Sum = number(kind, values[:width])
			return true
		}
		types, values = types[n:], values[width:]
	}
	return false
}

// valueSize returns how many bytes a value of that type takes, -1 if there is no such type.
func valueSize(kind int64) int64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind < 0 || kind == 10 || kind == 11:
		return -1
	}
	return []int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind]
}

// number reads an integer of that type.
func number(kind int64, value []byte) (n int64) {
	if kind == 9 {
		return 1
	}
	for i, b := range value {
		if i == 0 {
			n = int64(int8(b))
			continue
		}
		n = n<<8 | int64(b)
	}
	return n
}

// copyPages copies the rows that can be found by examining each page by itself.
func (c *rowCopier) copyPages(ctx context.Context, path string) error {
	p, err := openPages(path)
	if err != nil {
		return err
	}
	defer p.close()
	for n := range p.all() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.rows(n, func(r journal.Row) error { return c.copyRow(ctx, r) }); err != nil {
			return err
		}
	}
	return nil
}
