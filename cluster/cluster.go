// Package cluster has several daemons serve one earshot: each room has one owner at a time. It holds
// a lease of the room in the database that they share, and nothing else decides: there is no leader,
// and no vote. A [Member] tells the others each second how it is, all of them work out by [Place] who
// should have which room, and each takes what is its own and free. Where they disagree for a moment,
// the lease goes to one of them.
//
// A lease has a fencing number, its fence, which grows whenever the room changes hands. [CheckFence]
// puts it into the transaction of an append, so that what an earlier owner still had in hand is refused.
// An outlet should let nothing out that has an earlier number than it has seen.
//
// Only the database's clock says when a lease ends that was not renewed. A member measures how long
// it may rely on one by its own monotonic clock, beginning before it asked, and stops [Margin]
// earlier. So clocks may differ by any amount, and be set; only their speed must be the same within a
// tenth, and the database's clock must not jump forward while a member is away.
// docs/decisions/cluster.md says why, and what happens when something is cut off.
package cluster

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

const (
	// TTL is how long a lease holds that is not renewed, and after how long without a beat a member
	// is away: three renewals may be lost, and a room has a new owner within four seconds.
	TTL = 3 * time.Second

	// Every is how often leases are renewed and members say how they are.
	Every = time.Second

	// Margin is how much earlier than the database an owner takes its lease for ended. In that time
	// it must have fallen silent, for which an outlet needs 0.1 s; the rest is for a busy machine.
	Margin = 500 * time.Millisecond
)

// A HeldError says that somebody else holds a lease.
type HeldError struct {
	Room, Owner string
	Left        time.Duration // until it ends if it is not renewed; not negative
}

// Error implements error.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is held by %s for another %v", e.Room, e.Owner, e.Left.Round(time.Millisecond))
}

// idPattern is what the ID of a member may look like, and the name before the dot, which is a word of
// a subject and is shown to people.
var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}\.[a-z0-9]{1,32}$`)

// NewID returns an ID for a member that starts now, which is what leases belong to. A name has 1 to 32
// small letters, digits and hyphens.
func NewID(name string) string { return name + "." + strings.ToLower(rand.Text()) }

// CheckID says what is wrong with the ID of a member.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return errors.New("the name of a daemon has 1 to 32 small letters, digits and hyphens, such as attic")
	}
	return nil
}
