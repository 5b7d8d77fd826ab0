package codec

import (
	"context"
	"math"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

const (
	// behind is how many batches wait for a busy helper: two seconds.
	behind = 100

	// mostPackets is how many packets a batch may have: two a speaker, for who
	// catches up.
	mostPackets = 2 * MaxSpeakers
)

// A hearing is the part of an [Opus] that decodes.
type hearing struct {
	some  chan struct{} // holds a token when there may be a batch to send
	lead  time.Duration
	frame audio.Frame // of the goroutine that takes sound

	mu     sync.Mutex
	runs   bool // there is a helper
	queue  [behind]batch
	first  int // the oldest
	kept   int
	counts Counts

	known map[uint32]*speakerState
	turn  int64 // rises with each packet
}

// A batch is what came at once. Its memory is used again.
type batch struct {
	came    time.Time
	packets []Packet
	data    []byte // of all packets
}

// A speakerState is what is known about one speaker.
type speakerState struct {
	last int64 // the turn in which it was heard

	// What was dropped is told by the next frame: how many since the last packet
	// that was sent, and how many before the one that begins at from.
	dropped, missing int
	from             time.Time
}

func (h *hearing) init(lead time.Duration) {
	h.lead = lead
	h.some = make(chan struct{}, 1)
	h.known = make(map[uint32]*speakerState)
}

// Decode hands over a batch, which it copies. It does not wait: what a busy helper
// has not taken is dropped at two seconds, the oldest first, and counted; the next
// frame of that speaker says how many are missing. Without a helper, everything is
// dropped after [OpusConfig.Lead]. The frames of a batch come at once.
func (h *hearing) Decode(packets []Packet) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b *batch
	for i, p := range packets {
		p = h.inspected(p)
		switch {
		case !h.runs && h.lead == 0 || i >= mostPackets:
			h.drop(p)
		case len(p.Data) > 0 || p.Lost > 0:
			if b == nil {
				b = h.next()
			}
			h.know(p.Speaker)
			b.add(p)
		}
	}
	h.wake()
}

// inspected counts p and returns it as it may be sent.
func (h *hearing) inspected(p Packet) Packet {
	p.Lost = max(0, min(p.Lost, MaxLost))
	h.counts.Lost += int64(p.Lost)
	if len(p.Data) == 0 {
		return p
	}
	h.counts.Packets++
	if len(p.Data) > MaxOpus || encrypted(p.Data) {
		h.counts.Refused++
		p.Data, p.At, p.Lost = nil, p.At.Add(audio.Time), min(p.Lost+1, MaxLost)
	}
	return p
}

// Forget gives up a speaker's decoder. No frame of it comes any more, but one that
// is being taken. What still waits of it is overwritten.
func (h *hearing) Forget(speaker uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.overwrite(speaker)
	if h.known[speaker] == nil {
		return
	}
	delete(h.known, speaker)
	if h.runs {
		h.next().add(Packet{Speaker: speaker})
		h.wake()
	}
}

// overwrite takes the packets of a speaker out of the batches that wait, and what they
// held out of memory. What is left of them gives the decoder up, which is no loss.
func (h *hearing) overwrite(speaker uint32) {
	for i := range h.kept {
		packets := h.queue[(h.first+i)%len(h.queue)].packets
		for j := range packets {
			if p := &packets[j]; p.Speaker == speaker {
				clear(p.Data)
				p.Data, p.Lost = nil, 0
			}
		}
	}
}

// next returns the batch after the newest, and drops the oldest if there is no
// room.
func (h *hearing) next() *batch {
	if h.kept == len(h.queue) {
		h.dropOldest()
	}
	b := &h.queue[(h.first+h.kept)%len(h.queue)]
	h.kept++
	b.came, b.packets, b.data = time.Now(), b.packets[:0], b.data[:0]
	return b
}

// pop takes the oldest batch, which is valid until the next one is added.
func (h *hearing) pop() *batch {
	b := &h.queue[h.first]
	h.first = (h.first + 1) % len(h.queue)
	h.kept--
	return b
}

// dropOldest drops the oldest batch.
func (h *hearing) dropOldest() {
	for _, p := range h.pop().packets {
		h.drop(p)
	}
}

func (b *batch) add(p Packet) {
	from := len(b.data)
	b.data = append(b.data, p.Data...)
	p.Data = b.data[from:]
	b.packets = append(b.packets, p)
}

// drop counts p as dropped.
func (h *hearing) drop(p Packet) {
	missing := p.Lost
	if len(p.Data) > 0 {
		h.counts.Dropped++
		missing++
	}
	if l := h.known[p.Speaker]; l != nil {
		l.dropped += missing
	}
}

// know keeps in mind that a speaker is heard, and forgets the one that was not for
// the longest time if they are too many; so does the helper.
func (h *hearing) know(speaker uint32) {
	l := h.known[speaker]
	if l == nil {
		if len(h.known) >= MaxSpeakers {
			delete(h.known, h.quietest())
		}
		l = new(speakerState)
		h.known[speaker] = l
	}
	h.turn++
	l.last = h.turn
}

func (h *hearing) quietest() (speaker uint32) {
	least := int64(math.MaxInt64)
	for s, l := range h.known {
		if l.last < least {
			speaker, least = s, l.last
		}
	}
	return speaker
}

func (h *hearing) wake() {
	select {
	case h.some <- struct{}{}:
	default:
	}
}

// begin says that there is a helper, end that there is none. It has no decoders
// yet.
func (h *hearing) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = true
	for h.kept > 0 && time.Since(h.queue[h.first].came) > h.lead {
		h.dropOldest()
	}
}

func (h *hearing) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = false
	for h.kept > 0 {
		h.dropOldest()
	}
}

// send sends the batches until ctx ends or the helper does.
func (h *hearing) send(ctx context.Context, link helper.Link) {
	var message []byte
	for {
		message = h.oldest(message[:0])
		for rest := message; len(rest) > 0; {
			var part []byte
			part, rest = split(rest)
			if link.SendSound(0, part) != nil {
				return
			}
		}
		if len(message) > 0 {
			continue
		}
		select {
		case <-h.some:
		case <-ctx.Done():
			return
		}
	}
}

// oldest appends the oldest batch to b, as it is sent.
func (h *hearing) oldest(b []byte) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == 0 {
		return b
	}
	for _, p := range h.pop().packets {
		if l := h.known[p.Speaker]; l != nil && l.dropped > 0 {
			l.missing, l.dropped = l.missing+l.dropped, 0
			l.from = p.At.Add(-time.Duration(p.Lost) * audio.Time)
		}
		b = AppendPacket(b, &p)
	}
	return b
}

// split splits b, which are packets, into what fits into a message and the rest.
func split(b []byte) (message, rest []byte) {
	n := 0
	EachPacket(b, func(p Packet) error {
		if n+packetHead+len(p.Data) > helper.MaxSound {
			return errFull
		}
		n += packetHead + len(p.Data)
		return nil
	})
	return b[:n], b[n:]
}

// take hands on the frames of a message.
func (h *hearing) take(b []byte, heard func(uint32, *audio.Frame)) error {
	return eachFrame(b, &h.frame, func(speaker uint32, damaged int) {
		if h.admit(speaker, damaged) {
			heard(speaker, &h.frame)
		}
	})
}

// admit completes the frame, and reports whether its speaker is known.
func (h *hearing) admit(speaker uint32, damaged int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts.Damaged += int64(damaged)
	l := h.known[speaker]
	if l == nil {
		return false
	}
	f := &h.frame
	f.Own, f.EchoRatio, f.Beside, f.Lost = false, 0, false, 0 // a call has none of these
	if l.missing > 0 && !f.At.Before(l.from) {
		f.Lost, l.missing = uint16(min(l.missing, math.MaxUint16)), 0
	}
	return true
}

func (h *hearing) counted() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts
}
