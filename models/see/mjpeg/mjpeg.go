// Package mjpeg extracts the pictures from a stream of JPEG, such as cameras send over HTTP as
// multipart/x-mixed-replace: one picture after another, with something between them.
//
// Each picture marks its own beginning and end (ITU-T T.81, annex B), so what comes between them
// does not matter: the boundaries and headers that cameras send are wrong in many ways. No picture
// is decoded here; its size is in its header, and one beyond the limits is refused before memory
// is allocated for it.
//
// When the reader of the pictures is slow, the stream waits.
package mjpeg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var (
	// ErrTooLarge says that a picture is beyond the limits.
	ErrTooLarge = errors.New("the picture is too large")

	// ErrNone says that a stream has no pictures, or no more pictures.
	ErrNone = errors.New("the data is not a picture")

	errDamaged = errors.New("the picture is damaged")
)

// A Picture is one unchanged JPEG, with the size in its header, in pixels.
type Picture struct {
	Width, Height int
	JPEG          []byte // valid until the next one is read
}

// Limits bound what is accepted.
type Limits struct {
	Bytes int // of a picture
	Waste int // bytes that belong to no whole picture, in sequence
	Side  int // of a picture, in pixels
}

// A Reader reads a stream. It is used by one goroutine at a time.
type Reader struct {
	r      *bufio.Reader
	limits Limits
	buf    []byte // the picture so far
	size   [2]int // which its header gives
	wasted int    // bytes since the last whole picture
}

// NewReader returns a reader of a stream.
func NewReader(r io.Reader, limits Limits) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), limits: limits}
}

// The markers that are looked at.
const (
	mark  = 0xff // begins each
	begin = 0xd8
	end   = 0xd9
	scan  = 0xda
)

// Next returns the next complete picture. It skips damaged ones; if nothing else comes, the error
// is [ErrNone]. At the end of the stream it returns io.EOF, or io.ErrUnexpectedEOF within a
// picture.
func (r *Reader) Next() (Picture, error) {
	m, err := r.seek()
	for err == nil {
		m, err = r.picture(m)
		switch {
		case err == nil:
			r.wasted = 0
			return Picture{r.size[0], r.size[1], r.buf}, nil
		case errors.Is(err, errDamaged):
			if err = r.waste(len(r.buf)); err == nil && m != begin {
				m, err = r.seek()
			}
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF
		}
	}
	return Picture{}, err
}

// waste counts bytes that belong to no picture.
func (r *Reader) waste(n int) error {
	if r.wasted += n; r.wasted > r.limits.Waste {
		return ErrNone
	}
	return nil
}

// seek skips everything until a picture begins, and returns that marker.
func (r *Reader) seek() (byte, error) {
	for {
		skipped, err := r.r.ReadSlice(mark)
		if wasted := r.waste(len(skipped)); wasted != nil {
			return 0, wasted
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return 0, err
		}
		next, err := r.r.Peek(2)
		if err != nil {
			return 0, io.EOF
		}
		if next[0] == begin && next[1] == mark { // a header follows
			r.r.Discard(1)
			return begin, nil
		}
	}
}

// picture reads what follows the marker m of the beginning. It returns the marker at which it gave
// up.
func (r *Reader) picture(m byte) (byte, error) {
	r.buf, r.size = append(r.buf[:0], mark, m), [2]int{}
	m, err := r.marker()
	for ; err == nil; m, err = r.follow(m) {
		switch {
		case m == end && r.size[0] == 0:
			return m, errDamaged
		case m == end:
			return m, nil
		case m == begin:
			return m, errDamaged
		}
	}
	return m, err
}

// follow reads what belongs to the marker m, and then the next marker.
func (r *Reader) follow(m byte) (byte, error) {
	if m >= 0xd0 && m <= 0xd7 || m == 0x01 { // that stand alone
		return r.marker()
	}
	if err := r.segment(m); err != nil {
		return 0, err
	}
	if m != scan {
		return r.marker()
	}
	return r.scanned()
}

// marker reads a marker.
func (r *Reader) marker() (byte, error) {
	b, err := r.take()
	if err == nil && b != mark {
		return 0, errDamaged
	}
	for err == nil && b == mark { // of which there may be many
		b, err = r.take()
	}
	if err == nil && b == 0 {
		err = errDamaged
	}
	return b, err
}

// take reads a byte into the picture.
func (r *Reader) take() (byte, error) {
	b, err := r.r.ReadByte()
	if err != nil {
		return 0, err
	}
	return b, r.add(b)
}

func (r *Reader) add(b ...byte) error {
	if len(r.buf)+len(b) > r.limits.Bytes {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limits.Bytes)
	}
	r.buf = append(r.buf, b...)
	return nil
}

// segment reads a segment with a length, and checks a frame header.
func (r *Reader) segment(m byte) error {
	head, err := r.r.Peek(2)
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(head))
	if n < 2 {
		return errDamaged
	}
	body, err := r.r.Peek(n) // at most 64 KiB
	if err != nil && len(body) < n {
		return io.ErrUnexpectedEOF
	}
	if err := r.add(body...); err != nil {
		return err
	}
	r.r.Discard(n)
	if frame(m) {
		return r.frame(r.buf[len(r.buf)-n:])
	}
	return nil
}

// frame reports whether m begins the header of a frame, of any process.
func frame(m byte) bool {
	return m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc
}

// frame reads the header of a frame.
func (r *Reader) frame(b []byte) error {
	if len(b) < 8 || r.size[0] != 0 {
		return errDamaged
	}
	height, width := int(binary.BigEndian.Uint16(b[3:])), int(binary.BigEndian.Uint16(b[5:]))
	switch {
	case width == 0 || height == 0:
		return errDamaged
	case width > r.limits.Side || height > r.limits.Side:
		return fmt.Errorf("%w: %d by %d pixels; at most %d by %[4]d", ErrTooLarge, width, height, r.limits.Side)
	}
	r.size = [2]int{width, height}
	return nil
}

// scanned reads the data of a scan, and the marker that ends it.
func (r *Reader) scanned() (byte, error) {
	for {
		part, err := r.r.ReadSlice(mark)
		if err2 := r.add(part...); err2 != nil {
			return 0, err2
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return 0, err
		}
		m, err := r.take()
		for err == nil && m == mark {
			m, err = r.take()
		}
		if err != nil || m != 0 && (m < 0xd0 || m > 0xd7) { // a byte of the data, or a restart
			return m, err
		}
	}
}
