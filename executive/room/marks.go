package room

import (
	"slices"
	"time"

	"earshot"
)

// A mark is that something was so at a time, which those know who may see it.
type mark struct {
	at         time.Time
	of         earshot.EventID // what it is about, if that is anything
	visibility earshot.Visibility
}

// Marks are some, the oldest first. What is decided about something goes by those alone
// of which everybody may know who may see that: otherwise what happens in private would
// show in what the agent does before all, and in its reasons.
type marks []mark

// maxMarks bounds them: as many as an hour's budget of what all may know. Beyond it the
// oldest goes, of what is private if there is any.
const maxMarks = 64

// note adds one.
func (m *marks) note(one mark) {
	*m = append(*m, one)
	if len(*m) > maxMarks {
		i := slices.IndexFunc(*m, func(had mark) bool { return had.visibility.Scope == earshot.Private })
		*m = slices.Delete(*m, max(i, 0), max(i, 0)+1)
	}
}

// times returns when those were that count for something of visibility v.
func (m marks) times(v earshot.Visibility) (all []time.Time) {
	for _, one := range m {
		if one.visibility.Reaches(v) {
			all = append(all, one.at)
		}
	}
	return all
}

// last returns when the last of those was; the zero Time if there is none.
func (m marks) last(v earshot.Visibility) (at time.Time) {
	if all := m.times(v); len(all) > 0 {
		at = all[len(all)-1]
	}
	return at
}

// has reports whether one of those is about something.
func (m marks) has(of earshot.EventID, v earshot.Visibility) bool {
	return slices.ContainsFunc(m, func(one mark) bool { return one.of == of && one.visibility.Reaches(v) })
}
