// Package lockorder has a mutex that knows its place in the order in which the locks of a room are
// taken, outermost first:
//
//  1. [ModeChange], while the mode of a room changes
//  2. [IdentityChange], while somebody becomes somebody else
//  3. [Arrival], while somebody comes or goes, until that is queued
//  4. [Parking], while the mind is parked, or while it is decided whether it may continue
//  5. [Description], while the estimate of who is here is written to the scene
//  6. [State], the state of a room that several goroutines use
//  7. [Leaf], the state of one component, which takes no other lock of a room
//
// A goroutine that holds a lock takes only locks that stand after it. Built with the tag lockorder, a
// [Mutex] panics where a goroutine breaks that, whether or not another one waits: make race does so
// in all tests. Without the tag it is a [sync.Mutex].
package lockorder

// Ranked is the place of a lock in the order.
type Ranked interface{ rank() int }

// The places, outermost first.
type (
	ModeChange     struct{}
	IdentityChange struct{}
	Arrival        struct{}
	Parking        struct{}
	Description    struct{}
	State          struct{}
	Leaf           struct{}
)

func (ModeChange) rank() int     { return 1 }
func (IdentityChange) rank() int { return 2 }
func (Arrival) rank() int        { return 3 }
func (Parking) rank() int        { return 4 }
func (Description) rank() int    { return 5 }
func (State) rank() int          { return 6 }
func (Leaf) rank() int           { return 7 }
