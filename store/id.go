package store

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
)

// NewIDs returns a source of rising IDs that is safe for concurrent use.
func NewIDs() func() earshot.EventID { return newIDs(time.Now) }

// newIDs returns a function that makes ULIDs, each greater than the one before, even when the clock
// is set back.
func newIDs(now func() time.Time) func() earshot.EventID {
	var (
		mu      sync.Mutex
		last    uint64
		entropy = ulid.Monotonic(rand.Reader, 0)
	)
	return func() earshot.EventID {
		mu.Lock()
		defer mu.Unlock()
		last = max(last, ulid.Timestamp(now()))
		id, err := ulid.New(last, entropy)
		for err != nil { // the random part overflowed within this millisecond
			last++
			id, err = ulid.New(last, entropy)
		}
		return earshot.EventID(id.String())
	}
}
