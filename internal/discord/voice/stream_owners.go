package voice

import (
	"bytes"
	"slices"
	"time"
)

const (
	unknowns  = 16              // streams without a known owner
	holds     = kept            // packets that are held of each
	patience  = 2 * time.Second // how long they are held
	strangers = 128             // users whose keys are tried on a frame
	mostHere  = 1 << 14         // users; a stage may have ten thousand listeners
	mostOwned = 1 << 14         // streams with a known owner
)

// streamOwners knows who owns the streams of a call. Speaking events name the owner, early, late,
// or never; without one, the user whose key opens a frame counts as the owner. A key proves
// nothing against a speaking event: every member can derive the keys of all others. It has no
// clock.
type streamOwners struct {
	self   uint64           // our own streams are not listed
	owners map[uint32]owner // by SSRC
	here   []uint64         // the users in the call, ascending
	order  []uint64         // the same, those without a stream first; made when needed
	held   []*unknown
	lost   int64 // packets that were dropped because their owner was unknown
}

// An owner is the owner of a stream.
type owner struct {
	user uint64
	said bool // by the gateway; otherwise by a key
}

// An unknown stream waits for its owner.
type unknown struct {
	ssrc    uint32
	packets []heldPacket
}

type heldPacket struct {
	came time.Time
	packet
}

func newBinding(self uint64) *streamOwners {
	return &streamOwners{self: self, owners: make(map[uint32]owner)}
}

// arrived and left record who is in the call. A user who left owns nothing any more.
func (b *streamOwners) arrived(users ...uint64) {
	for _, u := range users {
		if at, found := slices.BinarySearch(b.here, u); !found && u != 0 && u != b.self && len(b.here) < mostHere {
			b.here = slices.Insert(b.here, at, u)
		}
	}
	b.order = b.order[:0]
}

func (b *streamOwners) left(user uint64) {
	if at, found := slices.BinarySearch(b.here, user); found {
		b.here = slices.Delete(b.here, at, at+1)
	}
	for ssrc, o := range b.owners {
		if o.user == user {
			delete(b.owners, ssrc)
		}
	}
	b.order = b.order[:0]
}

// owner returns the owner of a stream: user 0 if unknown.
func (b *streamOwners) owner(ssrc uint32) owner { return b.owners[ssrc] }

// bind records the owner of a stream, and returns the held packets.
func (b *streamOwners) bind(ssrc uint32, o owner) []heldPacket {
	if b.owners[ssrc].user == 0 && len(b.owners) == mostOwned {
		for other := range b.owners { // no real call has as many; keys can identify them again
			delete(b.owners, other)
			break
		}
	}
	b.owners[ssrc] = o
	b.order = b.order[:0]
	for i, s := range b.held {
		if s.ssrc == ssrc {
			b.held = slices.Delete(b.held, i, i+1)
			return s.packets
		}
	}
	return nil
}

// candidates returns the users whose keys are worth trying on a stream, most likely first.
func (b *streamOwners) candidates() []uint64 {
	if len(b.order) > 0 || len(b.here) == 0 {
		return b.order
	}
	owns := make(map[uint64]bool, len(b.owners))
	for _, o := range b.owners {
		owns[o.user] = true
	}
	for _, with := range []bool{false, true} {
		for _, u := range b.here {
			if owns[u] == with && len(b.order) < strangers {
				b.order = append(b.order, u)
			}
		}
	}
	return b.order
}

// hold keeps a packet until its owner is known. If there is no room, it drops the oldest packet of
// the stream, or the stream that has waited longest.
func (b *streamOwners) hold(now time.Time, p packet) {
	at := slices.IndexFunc(b.held, func(s *unknown) bool { return s.ssrc == p.ssrc })
	if at < 0 {
		if len(b.held) == unknowns {
			b.drop(0, len(b.held[0].packets))
		}
		at, b.held = len(b.held), append(b.held, &unknown{ssrc: p.ssrc})
	}
	s := b.held[at]
	if len(s.packets) == holds {
		b.drop(at, 1)
	}
	p.payload = bytes.Clone(p.payload)
	s.packets = append(s.packets, heldPacket{now, p})
}

// expire drops what has been held for too long.
func (b *streamOwners) expire(now time.Time) {
	for i := len(b.held) - 1; i >= 0; i-- {
		old := 0
		for _, p := range b.held[i].packets {
			if now.Sub(p.came) < patience {
				break
			}
			old++
		}
		b.drop(i, old)
	}
}

// drop drops the first n packets of a held stream, and the stream with its last.
func (b *streamOwners) drop(i, n int) {
	s := b.held[i]
	b.lost += int64(n)
	if n == len(s.packets) {
		b.held = slices.Delete(b.held, i, i+1)
		return
	}
	s.packets = slices.Delete(s.packets, 0, n)
}
