package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
	"slices"
)

// A places is which events of a segment something holds for: one bit each, the first
// event of the segment first. Bits behind the end are zero.
type places []uint64

// put adds a place.
func (p *places) put(n int) {
	if more := n/64 + 1 - len(*p); more > 0 {
		*p = append(*p, make(places, more)...)
	}
	(*p)[n/64] |= 1 << (n % 64)
}

// drop takes a place away.
func (p places) drop(n int) {
	if n/64 < len(p) {
		p[n/64] &^= 1 << (n % 64)
	}
}

// none reports whether there is no place.
func (p places) none() bool { return !slices.ContainsFunc(p, func(w uint64) bool { return w != 0 }) }

// count returns how many places there are.
func (p places) count() (n int) {
	for _, w := range p {
		n += bits.OnesCount64(w)
	}
	return n
}

// and keeps what is in q too.
func (p places) and(q places) places {
	p = p[:min(len(p), len(q))]
	for i := range p {
		p[i] &= q[i]
	}
	return p
}

// except keeps what is not in q, unless it is in r.
func (p places) except(q, r places) places {
	for i := range min(len(p), len(q)) {
		but := q[i]
		if i < len(r) {
			but &^= r[i]
		}
		p[i] &^= but
	}
	return p
}

// down returns the places, the last first.
func (p places) down() (all []int) {
	for i, w := range slices.Backward(p) {
		for w != 0 {
			bit := 63 - bits.LeadingZeros64(w)
			all = append(all, i*64+bit)
			w &^= 1 << bit
		}
	}
	return all
}

// shift adds what is in q, so many places further on.
func (p *places) shift(q places, by int) {
	for i, w := range q {
		for ; w != 0; w &= w - 1 {
			p.put(by + i*64 + bits.TrailingZeros64(w))
		}
	}
}

// encode writes places as the distances between them or, where that is shorter, as bits.
func (p places) encode(to []byte) []byte {
	begin := len(to)
	to = append(to, 0) // distances
	last, count := -1, 0
	for i, w := range p {
		for ; w != 0; w &= w - 1 {
			n := i*64 + bits.TrailingZeros64(w)
			to = binary.AppendUvarint(to, uint64(n-last))
			last, count = n, count+1
		}
	}
	end := last/64 + 1
	if len(to)-begin-1 <= 8*end {
		return to
	}
	to = append(to[:begin], 1) // bits
	for _, w := range p[:end] {
		to = binary.LittleEndian.AppendUint64(to, w)
	}
	return to
}

// errSegment says that a segment is not as it was written.
var errSegment = errors.New("the index of words is not as it was written")

// decodePlaces reads what encode wrote, into the memory of to if it has any.
func decodePlaces(to places, from []byte) (p places, err error) {
	if len(from) == 0 || len(from) > 1+largeSegment/8 {
		return nil, errSegment
	}
	kind, from := from[0], from[1:]
	if p = to[:0]; p == nil {
		p = make(places, 0, largeSegment/64)
	}
	if kind == 1 {
		if len(from)%8 != 0 {
			return nil, errSegment
		}
		for ; len(from) > 0; from = from[8:] {
			p = append(p, binary.LittleEndian.Uint64(from))
		}
		return p, nil
	}
	last := -1
	for len(from) > 0 {
		d, n := uint64(from[0]), 1 // as most are
		if d > 0x7f {
			d, n = binary.Uvarint(from)
		}
		if n <= 0 || d == 0 || d > largeSegment || last+int(d) >= largeSegment {
			return nil, errSegment
		}
		last, from = last+int(d), from[n:]
		for len(p) <= last/64 {
			p = append(p, 0)
		}
		p[last/64] |= 1 << (last % 64)
	}
	return p, nil
}

// An entry is a term and the places that have it.
type entry struct {
	term   string
	places []byte // as encode wrote them
}

// pack writes entries, sorted by their terms, with a checksum.
func pack(entries []entry) []byte {
	data := make([]byte, 4, 1024)
	before := ""
	for _, e := range entries {
		same := 0
		for same < min(len(before), len(e.term)) && before[same] == e.term[same] {
			same++
		}
		data = binary.AppendUvarint(data, uint64(same))
		data = binary.AppendUvarint(data, uint64(len(e.term)-same))
		data = append(data, e.term[same:]...)
		data = binary.AppendUvarint(data, uint64(len(e.places)))
		data = append(data, e.places...)
		before = e.term
	}
	binary.LittleEndian.PutUint32(data, crc32.Checksum(data[4:], castagnoli))
	return data
}

// unpacked yields the entries that pack wrote. The bytes of a term are good until the next.
func unpacked(data []byte, yield func(term, places []byte) bool) error {
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != crc32.Checksum(data[4:], castagnoli) {
		return errSegment
	}
	data = data[4:]
	number := func() int {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > uint64(len(data)-n) && v > maxTermBytes {
			data = nil
			return -1
		}
		data = data[n:]
		return int(v)
	}
	var term []byte
	for len(data) > 0 {
		same, more := number(), number()
		if same < 0 || more < 0 || same > len(term) || more > len(data) {
			return errSegment
		}
		term = append(term[:same], data[:more]...)
		data = data[more:]
		n := number()
		if n < 0 || n > len(data) {
			return errSegment
		}
		if !yield(term, data[:n]) {
			return nil
		}
		data = data[n:]
	}
	return nil
}

// placesOf returns the places of a term in a row, none if it is not there, in the memory
// of to if it has any.
func placesOf(to places, data []byte, wanted string) (p places, err error) {
	if data == nil {
		return nil, nil
	}
	var wrong error
	err = unpacked(data, func(term, encoded []byte) bool {
		switch c := bytes.Compare(term, []byte(wanted)); {
		case c > 0:
			return false
		case c == 0:
			p, wrong = decodePlaces(to, encoded)
			return false
		}
		return true
	})
	return p, errors.Join(err, wrong)
}

// maxTermBytes is more than any term has: a room or a name among them.
const maxTermBytes = 1 << 16
