package deck

import "slices"

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
	all []mark // of capacity maxMarks
	pos int64  // samples played of the pieces that are gone
}

func (m *marks) clear() { m.all, m.pos = m.all[:0], 0 }

// add adds a piece. If there are too many, the oldest is removed, and counts as played once the
// next one begins to play.
func (m *marks) add(at, from int64, n int) {
	if n == 0 {
		return
	}
	if len(m.all) > 0 {
		last := &m.all[len(m.all)-1]
		if last.at+last.n == at && last.from+last.n == from {
			last.n += int64(n)
			return
		}
	}
	if len(m.all) == maxMarks {
		m.all = slices.Delete(m.all, 0, 1)
	}
	m.all = append(m.all, mark{at, from, int64(n)})
}

// played returns how far the speech has come when the device has played everything before at.
func (m *marks) played(at int64) int64 {
	gone := 0
	for _, k := range m.all {
		if at <= k.at {
			break
		}
		n := min(k.n, at-k.at)
		m.pos = k.from + n
		if n == k.n {
			gone++
		}
	}
	m.all = slices.Delete(m.all, 0, gone)
	return m.pos
}

// end returns the end of the last piece, or now if there is none.
func (m *marks) end(now int64) int64 {
	if len(m.all) == 0 {
		return now
	}
	last := m.all[len(m.all)-1]
	return last.at + last.n
}
