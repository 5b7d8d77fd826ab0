package voice

import (
	"slices"
	"time"
)

// A Status is what people may want to know about a call.
type Status struct {
	Phase     string // "joining", "connecting", "securing", "in the call", "lost: …", "left"
	Channel   uint64 // where the main gateway says we are; 0 for nowhere
	Encrypted bool   // end to end
	Code      string // the voice privacy code
	People    []uint64
	Deaf      string // why nothing can be heard though somebody speaks; "" if it can

	Packets, Decrypted, Delivered int64         // received; of those opened; of those delivered
	Lost, Late, Refused           int64         // missing; too late; not decryptable
	Duplicates, Dropped, Unknown  int64         // received twice; dropped for lack of room; of an unknown speaker
	SentFrames                    int64         // that have left
	HeldFrames                    int64         // times 20 ms in which a frame was not allowed to leave
	Delay                         time.Duration // that the jitter buffer adds at the median, in steps of 10 ms
	RoundTrip                     time.Duration // of a heartbeat
	Resumed, Rejoined             int
}

// like reports whether two statuses differ at most in their numbers.
func (s Status) like(o Status) bool {
	return s.Phase == o.Phase && s.Channel == o.Channel && s.Encrypted == o.Encrypted && s.Code == o.Code &&
		s.Deaf == o.Deaf && slices.Equal(s.People, o.People)
}

// Status returns the status of the call.
func (c *Call) Status() Status {
	c.mu.Lock()
	s := Status{
		Phase: c.phase, Channel: c.ticketBuilder.channel, Deaf: c.deaf,
		HeldFrames: c.stats.held, SentFrames: c.schedule.sent,
		RoundTrip: c.stats.trip, Resumed: c.stats.resumed, Rejoined: c.stats.rejoined,
	}
	n, waited, m, l := c.past, c.stats.waited, c.live, c.link
	c.mu.Unlock() // the encryption may take its time to answer, and speech must not wait

	if m != nil {
		n.add(m.counts(&waited))
		s.People = m.people()
		if m.ready.Load() {
			d := m.dave.State()
			s.Encrypted, s.Code = d.Version > 0 && d.Ready, d.Code
			if d.Version > 0 && !d.Ready && len(s.People) > 0 && s.Phase == "in the call" {
				s.Phase = "securing"
			}
		}
	}
	if l != nil {
		if trip := l.roundTrip(); trip > 0 {
			s.RoundTrip = trip
		}
	}
	s.Packets, s.Decrypted, s.Delivered = n.packets, n.decrypted, n.delivered
	s.Lost, s.Late, s.Refused = n.lost, n.late, n.refused
	s.Duplicates, s.Dropped, s.Unknown = n.duplicates, n.dropped, n.unknown
	if waited != [steps]float64{} {
		s.Delay = quantile(&waited, 0.5)
	}
	return s
}
