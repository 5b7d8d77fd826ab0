package model

import "earshot/api"

// Weighed returns how many bytes the transcript is said to have, and how many it has.
func Weighed(m *Model) (said, has int) {
	for _, e := range m.past.all {
		has += e.words()
	}
	return m.past.bytes, has
}

// What the tests of the pure model look into.
type (
	Snapshot = api.Snapshot
	House    = api.Status
)
