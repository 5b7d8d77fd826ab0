//go:build !lockorder

package lockorder

import "sync"

// Checks reports whether the order is checked.
const Checks = false

// A Mutex is a mutual exclusion lock with a place in the order. The zero value is unlocked.
type Mutex[R Ranked] struct{ sync.Mutex }
