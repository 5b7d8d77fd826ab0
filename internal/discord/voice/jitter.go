package voice

import "time"

const (
	frame   = 20 * time.Millisecond
	rate    = 48000                      // of RTP timestamps for Opus (RFC 7587 §4.1)
	samples = rate * int64(frame) / 1e9  // of a frame
	kept    = 100                        // packets of a speaker that wait at most: two seconds
	places  = 128                        // kept, and some that tell a duplicate from a late one
	quiet   = 200 * time.Millisecond     // without a packet, somebody has stopped speaking
	hushes  = 3                          // of five frames of silence; two may be lost
	astray  = 100                        // packets backwards that count as late, not as a stream that began anew
	leap    = 3000                       // packets forwards that count as lost, not as a new stream (RFC 3550 §A.1)
	turn    = 2 * time.Second            // deviation of a stream's time before it counts as new
	era     = 5 * time.Second            // after which a quicker transit time is forgotten
	drift   = 200 * time.Millisecond     // of a sender's clock within one stretch of speech
	shelf   = 2 * time.Second / frame    // most frames of silence for one gap
	least   = 20 * time.Millisecond      // the shortest wait for a missing packet
	longest = 120 * time.Millisecond     // the longest
	covers  = 0.97                       // share of packets that come within that time
	forget  = 1 - 1.0/64                 // decay of the measurements, per packet
	steps   = int(longest / (frame / 2)) // of the histogram of delays
)

// A jitter buffer puts the packets of one stream in order, and says which are missing. It has no
// clock: time is an argument, and it is stepped every 20 ms.
//
// It serves a machine, so packets in order are delivered at the next step: playing them out evenly
// would only be slower, and the due time of each packet gives the same information. It waits only
// for a packet that is missing while later ones are there: at most as long as nearly all packets
// have lately been late, from 20 to 120 ms. Then the packet counts as lost, and is late if it
// comes.
type jitter struct {
	ring [places]place
	live bool  // the stream has begun
	next int64 // the sequence number to hand over next, counted on beyond 16 bits
	high int64 // the highest so far
	when int64 // its timestamp, counted on beyond 32 bits

	fits   bool   // oddSeq is set
	oddSeq uint16 // that would continue a strange packet

	came    time.Time // when the last packet came
	quick   [2]time.Time
	since   time.Time // when quick[0] began
	anchor  bool      // quick is set
	delays  [steps]float64
	waited  [steps]float64 // between arrival and delivery
	patient time.Duration  // computed from delays

	speaking bool
	hushed   int       // frames of silence in a row
	expect   int64     // the timestamp that continues what was delivered
	zero     time.Time // when timestamp 0 of this stretch was due
	ended    time.Time // when the last stretch of speech ended

	lost, late, duplicates, dropped int64
}

// A place is where a packet waits.
type place struct {
	seq  int64
	full bool
	when int64
	due  time.Time // when it would have come without any delay
	came time.Time
	opus []byte
}

// put adds a packet that came now. It copies the frame. One that does not fit is dropped; if the
// next one continues it, the stream began anew.
func (j *jitter) put(now time.Time, seq uint16, stamp uint32, opus []byte) {
	busy := j.speaking || j.live && j.high >= j.next // a packet is expected
	step := int64(int16(seq - uint16(j.high)))
	switch {
	case !j.live:
		j.begin(seq, stamp)
	case step <= -astray && !busy, step >= leap && !busy:
		j.begin(seq, stamp)
	case step <= -astray, step > kept && busy:
		if !j.fits || seq != j.oddSeq {
			j.fits, j.oddSeq = true, seq+1
			j.late++
			return
		}
		j.begin(seq, stamp)
	}
	j.fits = false
	n := j.high + int64(int16(seq-uint16(j.high)))
	when := j.when + int64(int32(stamp-uint32(j.when)))

	p := &j.ring[n%places]
	switch {
	case j.seen(seq):
		return // it is there already
	case n < j.next:
		if busy && j.anchor {
			j.due(now, when) // the late ones determine the patience
		}
		j.late++ // later ones have been delivered
		return
	}
	for n-j.next >= kept {
		j.drop()
	}
	if !busy {
		j.anchor = false // a pause tells nothing about the network
	}
	due := j.due(now, when)
	*p = place{seq: n, full: true, when: when, due: due, came: now, opus: append(p.opus[:0], opus...)}
	j.came = now
	if n > j.high {
		j.high, j.when = n, when
	}
}

// seen reports whether a packet has come before, as far as is remembered, and counts it if so.
func (j *jitter) seen(seq uint16) bool {
	n := j.high + int64(int16(seq-uint16(j.high)))
	if p := &j.ring[n%places]; !j.live || p.seq != n || !p.full && n >= j.next {
		return false
	}
	j.duplicates++
	return true
}

// begin makes a packet the first of its stream.
func (j *jitter) begin(seq uint16, stamp uint32) {
	for i := range j.ring {
		if j.ring[i].full {
			j.dropped++
		}
		j.ring[i].full, j.ring[i].seq = false, 0
	}
	j.live, j.anchor = true, false
	j.next = 1<<32 + int64(seq)
	j.high, j.when = j.next-1, 1<<40+int64(stamp)
}

// drop drops the oldest place.
func (j *jitter) drop() {
	if p := &j.ring[j.next%places]; p.full && p.seq == j.next {
		p.full = false
		j.dropped++
	} else {
		j.lost++
	}
	j.next++
}

// due returns when a packet that comes now would have come over the network at its recent best,
// and updates that.
func (j *jitter) due(now time.Time, when int64) time.Time {
	zero := now.Add(-span(when))
	if j.anchor {
		if d := zero.Sub(j.best()); d > turn || d < -turn {
			j.anchor = false
		}
	}
	switch {
	case !j.anchor:
		j.anchor, j.quick, j.since = true, [2]time.Time{zero, zero}, now
	case now.Sub(j.since) >= era:
		j.quick, j.since = [2]time.Time{zero, j.quick[0]}, now
	case zero.Before(j.quick[0]):
		j.quick[0] = zero
	}
	j.learn(zero.Sub(j.best()))
	return j.best().Add(span(when))
}

func (j *jitter) best() time.Time {
	if j.quick[1].Before(j.quick[0]) {
		return j.quick[1]
	}
	return j.quick[0]
}

// learn sets how long a missing packet is waited for.
func (j *jitter) learn(delay time.Duration) {
	count(&j.delays, delay)
	j.patient = max(least, min(longest, quantile(&j.delays, covers)))
}

// count adds a delay to a histogram that forgets.
func count(h *[steps]float64, delay time.Duration) {
	for i := range h {
		h[i] *= forget
	}
	h[min(steps-1, max(0, int(delay/(frame/2))))] += 1 - forget
}

// quantile returns the delay below which a part of those counted are, up to a step.
func quantile(h *[steps]float64, part float64) time.Duration {
	all, sum := 0.0, 0.0
	for _, n := range h {
		all += n
	}
	for i, n := range h {
		if sum += n; sum >= part*all {
			return time.Duration(i+1) * frame / 2
		}
	}
	return longest
}

// step returns the next packet that can be handed over now, and false if there is
// none; it is called until there is none. The frame is valid until the next put.
func (j *jitter) step(now time.Time) (p Packet, ok bool) {
	for j.live && j.next <= j.high {
		head := j.next
		for !j.has(head) { // this ends: high has come and was not delivered
			head++
		}
		s := &j.ring[head%places]
		if head > j.next && now.Sub(s.due) < j.patient {
			return Packet{}, false
		}
		j.lost += head - j.next
		j.next = head + 1
		s.full = false
		count(&j.waited, now.Sub(s.came))
		if p, ok := j.hand(s); ok {
			return p, true
		}
	}
	if j.speaking && now.Sub(j.came) >= quiet {
		j.speaking = false
		j.ended = j.at(j.expect)
		return Packet{At: j.ended, Ends: true}, true
	}
	return Packet{}, false
}

func (j *jitter) has(seq int64) bool {
	p := &j.ring[seq%places]
	return p.full && p.seq == seq
}

// at returns when a timestamp of this stretch of speech is due.
func (j *jitter) at(when int64) time.Time { return j.zero.Add(span(when)) }

// hand makes a packet of a place, or returns nil for silence before anybody speaks.
func (j *jitter) hand(s *place) (Packet, bool) {
	silent := string(s.opus) == string(silence)
	if !j.speaking && silent {
		return Packet{}, false
	}
	p := Packet{Opus: s.opus}
	gap := s.when - j.expect
	off := s.due.Sub(j.at(s.when))
	switch {
	case !j.speaking:
		j.hushed = 0
		j.start(s)
	case gap < 0, off > drift, off < -drift:
		j.start(s) // the sender's clock is not what it was
	default:
		p.Lost = int(min(int64(shelf), (gap+samples/2)/samples))
	}
	j.speaking = true
	p.At = j.at(s.when)
	j.expect = s.when + length(s.opus)
	if j.hushed++; !silent {
		j.hushed = 0
	}
	if j.hushed == hushes {
		j.speaking = false
		p.Ends = true
		j.ended = j.at(j.expect)
	}
	return p, true
}

// start begins a stretch of speech, which never reaches back into the one before.
func (j *jitter) start(s *place) {
	due := s.due
	if j.speaking {
		j.ended = j.at(j.expect)
	}
	if due.Before(j.ended) && j.ended.Sub(due) < turn {
		due = j.ended
	}
	j.zero = due.Add(-span(s.when))
}

// span is the time of a number of samples.
func span(n int64) time.Duration { return time.Duration(n) * 1e6 / (rate / 1000) }

// length returns how many samples an Opus packet is (RFC 6716 §3.1 and §3.2).
func length(opus []byte) int64 {
	if len(opus) == 0 {
		return samples
	}
	var one int64
	switch config := opus[0] >> 3; {
	case config < 12:
		one = [...]int64{480, 960, 1920, 2880}[config&3]
	case config < 16:
		one = [...]int64{480, 960}[config&1]
	default:
		one = [...]int64{120, 240, 480, 960}[config&3]
	}
	count := int64(1)
	switch opus[0] & 3 {
	case 1, 2:
		count = 2
	case 3:
		if len(opus) < 2 {
			return samples
		}
		count = int64(opus[1] & 0x3f)
	}
	if n := one * count; n > 0 && n <= 6*samples {
		return n
	}
	return samples
}
