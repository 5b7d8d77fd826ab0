package hearing

import (
	"maps"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"earshot"
	"earshot/internal/lockorder"
	"earshot/participants"
)

const (
	// maxSilence is how long somebody known only by voice counts as present after their last words:
	// people at one table are sometimes silent for that long.
	maxSilence = 5 * time.Minute

	// maxPresent is how many voices may be present: more than fit into a room. Beyond that, a
	// newcomer is answered, but is not in the roster.
	maxPresent = 64

	// The rate at which people known only by voice may come: a table of guests at once, and then as
	// often as people drop in. A television has more voices than that. A newcomer beyond the rate
	// is answered, and added to the roster when they are heard again and the rate allows it.
	guestBurst    = 8
	guestInterval = 5 * time.Minute
)

// A Presence says whose voices are here, and when each was last heard. It is safe for concurrent
// use. Use [NewPresence].
type Presence struct {
	mu      lockorder.Mutex[lockorder.Leaf]
	last    map[earshot.ParticipantID]time.Time
	unnamed *rate.Limiter // limits newcomers who have no name
}

// NewPresence returns a presence in which nobody is here.
func NewPresence() *Presence {
	return &Presence{last: make(map[earshot.ParticipantID]time.Time), unnamed: rate.NewLimiter(rate.Every(guestInterval), guestBurst)}
}

// Note notes that a voice was heard, and reports whether its speaker has just come.
func (n *Presence) Note(who participants.Participant, at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	was, is := n.last[who.Reader()]
	if !is && (len(n.last) >= maxPresent || who.Nameless() && !n.unnamed.AllowN(at, 1)) {
		return false
	}
	if at.After(was) {
		n.last[who.Reader()] = at
	}
	return !is
}

// Empty reports whether nobody is here.
func (n *Presence) Empty() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.last) == 0
}

// Alone reports whether of all who are here only one has been heard, and it is who.
func (n *Presence) Alone(who earshot.ParticipantID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, is := n.last[who]
	return is && len(n.last) == 1
}

// NextExpiry returns when the first person has been silent for too long; the zero time if nobody is
// here.
func (n *Presence) NextExpiry() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return earliest(n.last, func(at time.Time) time.Time { return at.Add(maxSilence) })
}

// Expire returns those who have been silent for too long, and forgets them.
func (n *Presence) Expire(now time.Time) (gone []earshot.ParticipantID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, who := range slices.Sorted(maps.Keys(n.last)) {
		if now.Sub(n.last[who]) >= maxSilence {
			delete(n.last, who)
			gone = append(gone, who)
		}
	}
	return gone
}

// Forget removes people.
func (n *Presence) Forget(people []earshot.ParticipantID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range people {
		delete(n.last, id)
	}
}
