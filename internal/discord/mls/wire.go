package mls

import (
	"bytes"
	"encoding/binary"
)

// The presentation language of TLS as section 2.1 extends it: numbers are big-endian,
// vectors begin with their length in bytes, in one, two or four bytes.

// maxMessage bounds all external input. The welcome to a group of maxLeaves is half of it.
const maxMessage = 1 << 20

// maxList bounds the lists whose elements may be as short as a byte, so that the allocated memory
// stays in proportion to the input.
const maxList = 1 << 11

// A reader parses a message. After the first fault it returns zeros, and err describes the fault.
// Its results point into the message.
type reader struct {
	whole []byte
	at    int
	err   error
}

// read parses a copy of b with f, so that the caller may change b. Anything that f leaves over is
// a fault.
func read[T any](b []byte, f func(*reader) T) (T, error) {
	v, rest, err := readSome(b, f)
	if err == nil && len(rest) > 0 {
		err = faultf("2", "%d bytes too many", len(rest))
	}
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

func readSome[T any](b []byte, f func(*reader) T) (v T, rest []byte, err error) {
	if len(b) > maxMessage {
		return v, nil, faultf("2", "a message of %d bytes", len(b))
	}
	r := &reader{whole: bytes.Clone(b)}
	v = f(r)
	return v, r.whole[r.at:], r.err
}

func (r *reader) fail(section, format string, args ...any) {
	if r.err == nil {
		r.err = faultf(section, format, args...)
	}
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.whole) }

// since returns what was read from position from on.
func (r *reader) since(from int) []byte { return r.whole[from:r.at:r.at] }

func (r *reader) bytes(n int) []byte {
	if r.err == nil && n > len(r.whole)-r.at {
		r.fail("2", "it ends early")
	}
	if r.err != nil {
		return nil
	}
	r.at += n
	return r.since(r.at - n)
}

// number reads a number of n bytes.
func (r *reader) number(n int) (v uint64) {
	for _, b := range r.bytes(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (r *reader) uint8() uint8   { return uint8(r.number(1)) }
func (r *reader) uint16() uint16 { return uint16(r.number(2)) }
func (r *reader) uint32() uint32 { return uint32(r.number(4)) }
func (r *reader) uint64() uint64 { return r.number(8) }

// length reads the length of a vector (section 2.1.2). It must be as short as it can.
func (r *reader) length() int {
	first := r.uint8()
	size := 1 << (first >> 6)
	if size == 8 {
		r.fail("2.1.2", "a length of eight bytes")
		return 0
	}
	n := int(first&0x3f)<<(8*(size-1)) | int(r.number(size-1))
	if size == 2 && n < 1<<6 || size == 4 && n < 1<<14 {
		r.fail("2.1.2", "a length of %d in %d bytes", n, size)
	}
	return n
}

// opaque reads opaque<V>.
func (r *reader) opaque() []byte { return r.bytes(r.length()) }

// sized reads an opaque<V> of a fixed length.
func (r *reader) sized(n int, what string) []byte {
	b := r.opaque()
	if r.err == nil && len(b) != n {
		r.fail("5.1", "%s of %d bytes, not %d", what, len(b), n)
	}
	return b
}

// hashOrEmpty reads an opaque<V> that is a hash, or empty if there is none.
func (r *reader) hashOrEmpty(what string) []byte {
	if b := r.opaque(); len(b) == 0 || len(b) == hashSize {
		return b
	}
	r.fail("5.1", "%s of a length other than %d", what, hashSize)
	return nil
}

// Vector reads the opaque<V> at the beginning of b, and returns the rest.
func Vector(b []byte) (v, rest []byte, err error) {
	r := &reader{whole: b}
	v = r.opaque()
	return v, b[r.at:], r.err
}

// AppendVector appends v to dst as opaque<V>.
func AppendVector(dst, v []byte) []byte {
	w := writer(dst)
	w.opaque(v)
	return w
}

// present reads the first byte of an optional (section 2.1.1).
func (r *reader) present() bool {
	b := r.uint8()
	if b > 1 {
		r.fail("2.1.1", "an optional value that begins with %d", b)
	}
	return b == 1 && r.err == nil
}

// vector reads a vector of at most maxList elements.
func vector[T any](r *reader, element func(*reader) T) []T {
	in := &reader{whole: r.opaque()}
	in.err = r.err
	var list []T
	for in.more() {
		if len(list) == maxList {
			in.fail("2", "a list of more than %d", maxList)
			break
		}
		list = append(list, element(in))
	}
	r.err = in.err
	return list
}

// A writer builds a message.
type writer []byte

func (w *writer) uint8(v uint8)   { *w = append(*w, v) }
func (w *writer) uint16(v uint16) { *w = binary.BigEndian.AppendUint16(*w, v) }
func (w *writer) uint32(v uint32) { *w = binary.BigEndian.AppendUint32(*w, v) }
func (w *writer) uint64(v uint64) { *w = binary.BigEndian.AppendUint64(*w, v) }
func (w *writer) bytes(b []byte)  { *w = append(*w, b...) }

// length writes the length of a vector. Nothing of ours reaches 2^30 bytes.
func (w *writer) length(n int) {
	switch {
	case n < 1<<6:
		w.uint8(uint8(n))
	case n < 1<<14:
		w.uint16(1<<14 | uint16(n))
	default:
		w.uint32(2<<30 | uint32(n))
	}
}

func (w *writer) opaque(b []byte) {
	w.length(len(b))
	w.bytes(b)
}

// writeVector writes a vector of some elements.
func writeVector[T any](w *writer, elements []T, write func(*writer, T)) {
	var in writer
	for _, e := range elements {
		write(&in, e)
	}
	w.opaque(in)
}

// present writes the first byte of an optional, and returns what it says.
func (w *writer) present(yes bool) bool {
	if yes {
		w.uint8(1)
	} else {
		w.uint8(0)
	}
	return yes
}
