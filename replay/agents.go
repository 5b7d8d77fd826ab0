package replay

import (
	"slices"
	"sync"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// An agentDirectory holds the agents that there are at the moment.
type agentDirectory struct {
	mu   sync.RWMutex
	set  []agents.Record // as the configuration has them
	all  []agents.Record // the oldest first
	gone []string        // what those were called that have ended
}

// recordOf returns an agent as an event says it is.
func recordOf(a earshot.Agent) agents.Record {
	r := agents.Record{ID: a.ID, Path: a.Path, User: a.User, Kind: a.PathKind, Role: a.Role, Configured: a.Configured}
	if a.Profile != nil {
		r.Profile = *a.Profile
	}
	return r
}

// take takes in that something changed about an agent, and returns it. What the
// configuration says of one holds.
func (b *agentDirectory) take(a earshot.Agent) (is agents.Record, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	is = recordOf(a)
	if is.Kind.Below() {
		return is, false
	}
	same := func(r agents.Record) bool { return r.ID == a.ID }
	i := slices.IndexFunc(b.all, same)
	if k := slices.IndexFunc(b.set, same); k >= 0 {
		is.Profile = b.set[k].Profile
	}
	switch {
	case a.Act == earshot.Ended && i >= 0:
		b.gone = append(b.gone, b.all[i].Name)
		b.all = slices.Delete(b.all, i, i+1)
	case a.Act == earshot.Ended:
	case i >= 0:
		b.all[i] = is
	default:
		b.all = append(b.all, is)
	}
	return is, i >= 0
}

// in returns those who have a seat in a room, the main one first, then that of the house.
func (b *agentDirectory) in(id earshot.RoomID) (sit []agents.Record) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	main := slices.IndexFunc(b.all, func(r agents.Record) bool { return r.Main && r.SitsIn(id) })
	if main < 0 {
		main = slices.IndexFunc(b.all, func(r agents.Record) bool { return r.ID == participants.Agent })
	}
	if main >= 0 {
		sit = append(sit, b.all[main])
	}
	for i, r := range b.all {
		if i != main && (r.SitsIn(id) || r.ID == participants.Agent && len(r.Rooms) == 0) {
			sit = append(sit, r)
		}
	}
	return sit
}

func (b *agentDirectory) former() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.gone
}

func (b *agentDirectory) participants() (all []participants.Participant) {
	for _, r := range b.all {
		all = append(all, described(r))
	}
	return all
}

func described(r agents.Record) participants.Participant {
	return participants.Participant{ID: r.ID, Name: r.Name, Username: r.Username, Type: participants.Internal, Description: r.Description}
}
