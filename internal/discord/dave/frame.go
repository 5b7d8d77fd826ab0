package dave

import (
	"bytes"
	"math"
	"slices"
)

// A protocol frame ("Payload Format") is
//
//	media, its secret parts sealed | tag 8 | nonce | ranges | size 1 | FA FA
//
// where the nonce and the offset and length of each readable part are ULEB128, and the size covers
// everything after the media.

const (
	marker = "\xfa\xfa"

	// minSupplement is the tag, a nonce of one byte, the size and the marker.
	minSupplement = tagSize + 1 + 1 + len(marker)

	// maxSupplement is what sealing an Opus frame adds at the most.
	maxSupplement = minSupplement + 4

	// maxFrame bounds the frames that are handled. 20 ms of Opus are at most 1,276 bytes (RFC 6716
	// §3.2); frames of other media are longer.
	maxFrame = 1 << 16
)

// silence is an Opus frame that the forwarding server makes itself; it passes unencrypted
// ("Silence Packets").
const silence = "\xf8\xff\xfe"

// A span is a stretch of a frame.
type span struct{ offset, length int }

func (s span) end() int { return s.offset + s.length }

// A frame is a parsed protocol frame.
type frame struct {
	media  []byte // as received
	sealed []byte // its secret parts, joined
	aad    []byte // its readable parts, joined
	tag    []byte
	nonce  uint32
	ranges []span // the places of the readable parts
}

// parse parses b and reports whether it is a protocol frame ("Protocol Frame Check"). Its result
// points into b and s.
func parse(b []byte, s *scratch) (f frame, ok bool) {
	n := len(b)
	if n < minSupplement || n > maxFrame || !marked(b) {
		return f, false
	}
	size := int(b[n-len(marker)-1])
	if size < minSupplement || size > n {
		return f, false
	}
	f.media = b[:n-size]
	f.tag = b[n-size:][:tagSize]
	rest := b[n-size+tagSize : n-len(marker)-1]
	if f.nonce, rest, ok = uleb128(rest); !ok {
		return f, false
	}
	s.ranges = s.ranges[:0]
	for last := 0; len(rest) > 0; {
		var offset, length uint32
		if offset, rest, ok = uleb128(rest); !ok {
			return f, false
		}
		if length, rest, ok = uleb128(rest); !ok {
			return f, false
		}
		if offset > maxFrame || length > maxFrame { // before conversion to int, which may have 32 bits
			return f, false
		}
		r := span{int(offset), int(length)}
		if r.offset < last || r.end() > len(f.media) {
			return f, false
		}
		last = r.end()
		s.ranges = append(s.ranges, r)
	}
	f.ranges = s.ranges
	f.sealed = f.media
	if len(f.ranges) > 0 {
		s.sealed, s.aad = split(s.sealed[:0], s.aad[:0], f.media, f.ranges)
		f.sealed, f.aad = s.sealed, s.aad
	}
	return f, true
}

// marked reports whether b ends as a protocol frame does.
func marked(b []byte) bool { return bytes.HasSuffix(b, []byte(marker)) }

// split appends the stretches of media outside of ranges to secret, and those inside
// to open.
func split(secret, open, media []byte, ranges []span) ([]byte, []byte) {
	at := 0
	for _, r := range ranges {
		secret = append(secret, media[at:r.offset]...)
		open = append(open, media[r.offset:r.end()]...)
		at = r.end()
	}
	return append(secret, media[at:]...), open
}

// join appends media to dst, with plain in place of the sealed parts.
func (f *frame) join(dst, plain []byte) []byte {
	at := 0
	for _, r := range f.ranges {
		n := r.offset - at
		dst = append(dst, plain[:n]...)
		dst = append(dst, f.media[r.offset:r.end()]...)
		plain = plain[n:]
		at = r.end()
	}
	return append(dst, plain...)
}

// seal appends to dst an Opus frame as a protocol frame: all of it is secret.
func (s *sender) seal(dst, opus []byte) []byte {
	nonce := s.advance()
	dst = slices.Grow(dst, len(opus)+16+8) // the whole tag temporarily; then nonce, size and marker
	dst = s.key.seal(dst, nonce, opus, nil)
	before := len(dst)
	dst = appendULEB128(dst, nonce)
	size := tagSize + (len(dst) - before) + 1 + len(marker)
	dst = append(dst, byte(size))
	return append(dst, marker...)
}

// uleb128 reads a number of at most 32 bits from the beginning of b, and returns the rest. Leading
// zeros are accepted, up to five bytes.
func uleb128(b []byte) (n uint32, rest []byte, ok bool) {
	var v uint64
	for i := 0; i < len(b) && i < 5; i++ {
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return uint32(v), b[i+1:], v <= math.MaxUint32
		}
	}
	return 0, nil, false
}

func appendULEB128(b []byte, n uint32) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
