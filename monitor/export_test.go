package monitor

// What the tests of the pure model look into.
type (
	Snapshot = snapshot
	House    = house
)
