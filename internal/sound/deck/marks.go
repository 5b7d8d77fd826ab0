package deck

// A queue holds samples, up to the length of its ring.
type queue struct {
	ring  []int16
	first int
	n     int
}

func (q *queue) clear() { q.first, q.n = 0, 0 }

// put adds pcm, or nothing if it does not fit.
func (q *queue) put(pcm []int16) bool {
	if len(pcm) > len(q.ring)-q.n {
		return false
	}
	at := (q.first + q.n) % len(q.ring)
	n := copy(q.ring[at:], pcm)
	copy(q.ring, pcm[n:])
	q.n += len(pcm)
	return true
}

// peek copies the oldest samples into pcm, and returns how many there were.
func (q *queue) peek(pcm []int16) int {
	pcm = pcm[:min(len(pcm), q.n)]
	n := copy(pcm, q.ring[q.first:])
	copy(pcm[n:], q.ring)
	return len(pcm)
}

// drop forgets the oldest n samples.
func (q *queue) drop(n int) {
	q.first = (q.first + n) % len(q.ring)
	q.n -= n
}

// A mark says that n samples of a speech, beginning with number from, were handed on as the
// samples beginning with at.
type mark struct {
	at, from int64
	n        int64
}

// maxMarks is how many pieces of a speech may be on their way through a device at once. A speech
// without interruptions is one piece.
const maxMarks = 32

// marks are the pieces that the device may not have played yet.
type marks struct {
	all [maxMarks]mark
	n   int
	pos int64 // samples played of the pieces that are gone
}

func (m *marks) clear() { m.n, m.pos = 0, 0 }

// add adds a piece. If there are too many, the oldest is removed, and counts as played once the
// next one begins to play.
func (m *marks) add(at, from int64, n int) {
	if n == 0 {
		return
	}
	if m.n > 0 {
		last := &m.all[m.n-1]
		if last.at+last.n == at && last.from+last.n == from {
			last.n += int64(n)
			return
		}
	}
	if m.n == maxMarks {
		copy(m.all[:], m.all[1:])
		m.n--
	}
	m.all[m.n] = mark{at, from, int64(n)}
	m.n++
}

// played returns how far the speech has come when the device has played everything before at.
func (m *marks) played(at int64) int64 {
	gone := 0
	for _, k := range m.all[:m.n] {
		if at <= k.at {
			break
		}
		n := min(k.n, at-k.at)
		m.pos = k.from + n
		if n == k.n {
			gone++
		}
	}
	m.n = copy(m.all[:], m.all[gone:m.n])
	return m.pos
}

// end returns the end of the last piece, or now if there is none.
func (m *marks) end(now int64) int64 {
	if m.n == 0 {
		return now
	}
	last := m.all[m.n-1]
	return last.at + last.n
}
