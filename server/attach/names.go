package attach

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"earshot"
	"earshot/server/wire"
)

const (
	// known is how many people a terminal knows by name. The one met longest ago is forgotten, and
	// learned again with their next event.
	known = 4096

	// nameBytes is the longest accepted name: no real one is longer.
	nameBytes = 256
)

// Names holds what a terminal keeps from one connection to the next: the names that the daemon gave for its
// participants, and the receipt of what was shown. The zero value knows nobody. It may be used from many
// goroutines.
type Names struct {
	mu     sync.Mutex
	called map[earshot.ParticipantID]string
	met    []earshot.ParticipantID // the keys of called, in the order in which they were met
	kept   atomic.Pointer[wire.Keep]
}

// Name returns the name of id.
func (n *Names) Name(id earshot.ParticipantID) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch name := n.called[id]; {
	case name != "":
		return name
	case id == "":
		return "somebody"
	}
	return "unknown"
}

// Learn records names. A new name for a participant replaces the old one.
func (n *Names) Learn(called map[earshot.ParticipantID]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.called == nil {
		n.called = make(map[earshot.ParticipantID]string)
	}
	for _, id := range slices.Sorted(maps.Keys(called)) {
		if name := called[id]; id != "" && name != "" && len(id) <= nameBytes && len(name) <= nameBytes {
			n.learn(id, name)
		}
	}
}

// learn records one name. The caller holds the lock.
func (n *Names) learn(id earshot.ParticipantID, name string) {
	if _, ok := n.called[id]; !ok {
		if len(n.met) >= known {
			delete(n.called, n.met[0])
			n.met = slices.Delete(n.met, 0, 1)
		}
		n.met = append(n.met, id)
	}
	n.called[id] = name
}
