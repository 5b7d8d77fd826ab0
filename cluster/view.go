package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot/bus"
)

const (
	maxMembers = 64      // that a view knows: more daemons than share a database
	maxRooms   = 1 << 15 // in a beat, which fits a message of the bus
	maxName    = 256     // bytes of the name of a room or a build
)

// HeartbeatPattern is the pattern of the subjects under which members say how they are.
const HeartbeatPattern = "earshot.cluster.*.member"

// HeartbeatSubject returns the subject of a member.
func HeartbeatSubject(name string) string { return "earshot.cluster." + name + ".member" }

// A Heartbeat is what a member says of itself each second.
type Heartbeat struct {
	ID     string            `json:"id"`     // its name, a dot, and something that differs at each start
	Number uint64            `json:"number"` // grows
	Build  string            `json:"build,omitempty"`
	Age    int               `json:"age"`              // seconds since it began
	Load   float64           `json:"load"`             // 0 means idle, 1 that it can take no more
	Drains bool              `json:"drains,omitempty"` // it takes no rooms, and gives away what it has
	Late   bool              `json:"late,omitempty"`   // the database has not always answered it in time of late
	Senses map[string]int    `json:"senses,omitempty"` // how many of a room's senses and outlets are at this member
	Rooms  map[string]Tenure `json:"rooms,omitempty"`  // whose leases it has
}

// A Tenure is a member's lease of a room.
type Tenure struct {
	Fence   int64 `json:"fence"`
	Seconds int   `json:"seconds"` // since it took it
}

// Name returns the name of the member.
func (b Heartbeat) Name() string { name, _, _ := strings.Cut(b.ID, "."); return name }

// ParseHeartbeat reads the beat of a member from what came under a subject. Nobody else's is taken from
// there.
func ParseHeartbeat(subject string, data []byte) (b Heartbeat, err error) {
	if len(data) > bus.MaxData {
		return b, errors.New("a beat is too long")
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return b, errors.New("a beat is no JSON of ours") // whose errors repeat what was received
	}
	name := b.Name()
	switch {
	case CheckID(b.ID) != nil:
		return b, errors.New("a beat has no ID")
	case subject != HeartbeatSubject(name):
		return b, fmt.Errorf("a beat of %s came under the subject of somebody else", name)
	case b.Age < 0 || b.Load < 0 || b.Load > 1:
		return b, fmt.Errorf("the age of %s is negative, or its load not between 0 and 1", name)
	case len(b.Senses) > maxRooms || len(b.Rooms) > maxRooms || len(b.Build) > maxName:
		return b, fmt.Errorf("the beat of %s is too long", name)
	}
	for room, n := range b.Senses {
		err = cmp.Or(err, checkRoom(room, n >= 0))
	}
	for room, t := range b.Rooms {
		err = cmp.Or(err, checkRoom(room, t.Fence > 0 && t.Seconds >= 0))
	}
	return b, err
}

// checkRoom says whether something of a room cannot be.
func checkRoom(room string, can bool) error {
	if room == "" || len(room) > maxName || !can {
		return errors.New("a beat says something of a room that cannot be")
	}
	return nil
}

// A View is what a member knows of all members. The zero value knows none. It is not safe for concurrent
// use.
type View struct{ members map[string]peer }

type peer struct {
	beat Heartbeat
	at   time.Time
}

// Step takes in a beat, or the passing of time if it is nil. One that is not newer than the last of that
// member is ignored. It reports whether somebody came or went.
func (v *View) Step(now time.Time, beat *Heartbeat) (changed bool) {
	for id, s := range v.members {
		if now.Sub(s.at) >= TTL {
			delete(v.members, id)
			changed = true
		}
	}
	if beat == nil {
		return changed
	}
	last, known := v.members[beat.ID]
	if known && beat.Number <= last.beat.Number || !known && len(v.members) >= maxMembers {
		return changed
	}
	if v.members == nil {
		v.members = make(map[string]peer)
	}
	v.members[beat.ID] = peer{*beat, now}
	return changed || !known
}

// Present returns the last beats of the members that are not away, by their IDs.
func (v *View) Present() (all []Heartbeat) {
	for _, s := range v.members {
		all = append(all, s.beat)
	}
	slices.SortFunc(all, func(a, b Heartbeat) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
