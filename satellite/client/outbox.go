package client

import (
	"slices"
	"time"

	"earshot/internal/audio"
)

// mostKept is how much sound is kept while there is no session: the longest utterance.
const mostKept = 30 * time.Second

// An outbox holds the packets that are to be sent, and those that were and may not have arrived. They
// are sent again in the next session, with the same times, by which the hub knows those that it has.
// It is for one goroutine.
type outbox struct {
	packets []outPacket // the oldest first
	sent    int         // of them, in this session
	asked   int         // of them, before the hub last asked
	dropped int         // since the outbox was made
}

type outPacket struct {
	at   time.Time
	data []byte
}

// add adds a packet. The oldest is dropped if it is too much.
func (o *outbox) add(at time.Time, data []byte) {
	if len(o.packets) >= int(mostKept/audio.Time) {
		o.dropped += o.remove(1)
	}
	o.packets = append(o.packets, outPacket{at, data})
}

// remove removes the first n packets, and returns how many of them were never sent.
func (o *outbox) remove(n int) (unsent int) {
	unsent = max(0, n-o.sent)
	o.packets = slices.Delete(o.packets, 0, n)
	o.sent, o.asked = max(0, o.sent-n), max(0, o.asked-n)
	return unsent
}

// next returns the packet that is to be sent next, and whether there is one. It is sent when
// o.sent is raised.
func (o *outbox) next() ([]byte, bool) {
	if o.sent == len(o.packets) {
		return nil, false
	}
	return o.packets[o.sent].data, true
}

// confirm notes that the hub has asked for the time: it is there, so what was sent before it asked
// the time before has arrived.
func (o *outbox) confirm() {
	o.remove(o.asked)
	o.asked = o.sent
}

// rewind begins a session: what may not have arrived is sent again, unless it is too old to be heard.
func (o *outbox) rewind(now time.Time) {
	o.sent, o.asked = 0, 0
	old := slices.IndexFunc(o.packets, func(p outPacket) bool { return now.Sub(p.at) <= mostKept })
	if old < 0 {
		old = len(o.packets)
	}
	o.dropped += o.remove(old)
}
