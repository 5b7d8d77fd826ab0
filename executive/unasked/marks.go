package unasked

import (
	"slices"
	"time"

	"earshot"
)

// A mark records that something happened at a time, and who may know that.
type mark struct {
	at         time.Time
	of         earshot.EventID // what it is about; may be empty
	visibility earshot.Visibility
}

// marks are several marks, the oldest first. A decision about something counts only those marks
// that everybody who may see that thing may know. Otherwise private events would show in what the
// agent does in public, and in its reasons.
type marks []mark

// maxMarks bounds the marks: an hour's budget in public needs fewer. Beyond that the oldest is
// dropped, a private one if there is any.
const maxMarks = 64

func (m *marks) note(one mark) {
	*m = append(*m, one)
	if len(*m) > maxMarks {
		i := slices.IndexFunc(*m, func(had mark) bool { return had.visibility.Scope == earshot.Private })
		*m = slices.Delete(*m, max(i, 0), max(i, 0)+1)
	}
}

// times returns the times of the marks that count for something of visibility v.
func (m marks) times(v earshot.Visibility) (all []time.Time) {
	for _, one := range m {
		if one.visibility.Reaches(v) {
			all = append(all, one.at)
		}
	}
	return all
}

// last returns the time of the last mark that counts; the zero Time if there is none.
func (m marks) last(v earshot.Visibility) (at time.Time) {
	if all := m.times(v); len(all) > 0 {
		at = all[len(all)-1]
	}
	return at
}

// has reports whether a mark that counts is about an event.
func (m marks) has(of earshot.EventID, v earshot.Visibility) bool {
	return slices.ContainsFunc(m, func(one mark) bool { return one.of == of && one.visibility.Reaches(v) })
}
