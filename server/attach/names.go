package attach

import (
	"maps"
	"slices"
	"sync"

	"earshot"
)

const (
	// known is how many people a terminal knows by name. Whoever was met
	// longest ago is forgotten, and met again with the next event of theirs.
	known = 4096

	// nameBytes is the longest name: more than any has.
	nameBytes = 256
)

// Names is what the daemon says that its participants are called. The zero
// value knows nobody. It may be used from many goroutines.
type Names struct {
	mu     sync.Mutex
	called map[earshot.ParticipantID]string
	met    []earshot.ParticipantID // whom called knows, in the order in which they were met
}

// Name returns what id is called.
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

// Learn takes in what some are called. Whoever has another name than before is
// called by it from now on.
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

// learn takes in one name. It is called with the lock.
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
