package store

import (
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
)

// NewIDs returns a source of rising IDs that is safe for concurrent use.
func NewIDs() func() earshot.EventID {
	var mu sync.Mutex
	entropy := ulid.DefaultEntropy()
	return func() earshot.EventID {
		mu.Lock()
		defer mu.Unlock()
		return earshot.EventID(ulid.MustNew(ulid.Timestamp(time.Now()), entropy).String())
	}
}
