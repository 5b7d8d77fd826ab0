package peers

import (
	"bytes"
	"encoding/binary"
	"time"
)

// Words are in every tagged frame, and nowhere else. If they are found in network traffic,
// something was sent unencrypted.
const Words = "nobody may read this but those who are in the same call!"

const (
	celt = 0xfc // one frame of 20 ms, full band, mono (RFC 6716 §3.1)
	size = 6 + len(Words)
)

// Silence is the frame that Discord's clients end with, and never encrypt.
var Silence = []byte{0xf8, 0xff, 0xfe}

// Frame makes the nth frame of who has a tag.
func Frame(tag byte, n uint32) []byte {
	f := append(make([]byte, 0, size), celt, tag)
	f = binary.BigEndian.AppendUint32(f, n)
	return append(f, Words...)
}

// ReadFrame returns the tag of a frame, if it is a tagged one and complete.
func ReadFrame(f []byte) (tag byte, n uint32, ok bool) {
	if len(f) != size || f[0] != celt || string(f[6:]) != Words {
		return 0, 0, false
	}
	return f[1], binary.BigEndian.Uint32(f[2:]), true
}

// A Heard is what a peer has heard of one user.
type Heard struct {
	Silence int
	Tags    map[byte]int // whole tagged frames
	Last    int64        // the number of the last of them, or -1
	Other   int          // neither: damaged, or not decrypted
}

// Count adds a frame.
func (h *Heard) Count(frame []byte) {
	tag, n, ok := ReadFrame(frame)
	switch {
	case bytes.Equal(frame, Silence):
		h.Silence++
	case !ok:
		h.Other++
	default:
		if h.Tags == nil {
			h.Tags = make(map[byte]int)
		}
		h.Tags[tag]++
		h.Last = int64(n)
	}
}

// Packets returns packets of Opus as a peer plays them from a file.
func Packets(packets [][]byte) (file []byte) {
	for _, p := range packets {
		file = binary.BigEndian.AppendUint16(file, uint16(len(p)))
		file = append(file, p...)
	}
	return file
}

// A Packet is an Opus packet that a peer has heard, and its time.
type Packet struct {
	At   time.Time
	Opus []byte
}

// ReadRecord reads what a peer has recorded so far, with the times of this machine's clock. An
// incomplete last record is left out.
func ReadRecord(file []byte) (all []Packet) {
	for len(file) >= 10 {
		at, n := time.UnixMilli(int64(binary.BigEndian.Uint64(file))), int(binary.BigEndian.Uint16(file[8:]))
		if len(file) < 10+n {
			break
		}
		all = append(all, Packet{at, file[10 : 10+n]})
		file = file[10+n:]
	}
	return all
}
