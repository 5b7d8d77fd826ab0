package presence

import (
	"time"

	"earshot"
	"earshot/internal/lockorder"
	"earshot/participants"
)

// Arrivals count the sessions by which each person is in a room, and say when an arrival or
// departure is announced. The consequences of one are carried out while nobody else can come or go,
// so that the journal has them in their order. Arrivals are safe for concurrent use. The exported
// fields must be set.
type Arrivals struct {
	Room   earshot.RoomID
	People *participants.Registry
	Now    func() time.Time

	// Identity is held while somebody becomes somebody else.
	Identity lockorder.Mutex[lockorder.IdentityChange]

	mu        lockorder.Mutex[lockorder.Arrival] // held while somebody comes or goes, until that has been queued
	announcer participants.Announcer
}

// Note takes in that somebody comes or goes by a handle. If this makes them present or absent, it
// calls noted, and also announce if the change is announced at once; otherwise it may be announced
// later, at [Arrivals.Next]. Unknown people and scripts cannot be present.
func (a *Arrivals) Note(from earshot.Handle, who participants.Participant, p earshot.Presence, noted func(), announce func(earshot.Presence)) (later bool) {
	if who.ID == "" || participants.Unnamed(who.ID) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	session, changes := p.Session, a.People.Go
	if participants.VouchedFor(from) { // one connection carries everybody who comes through it
		session += "/" + from.ID
	}
	if p.Here {
		changes = a.People.Come
	}
	if !changes(a.Room, who.Reader(), session) { // by their own ID, since they may be merged with somebody else before the session ends
		return false
	}
	a.announcer.Same(who.ID, a.People.Identities(who.ID))
	noted()
	news, told := a.announcer.Change(a.Now(), who.ID, p)
	if told {
		announce(news.Presence)
	}
	return !told
}

// Next returns when somebody who came and went in quick succession may be announced; the zero time
// if there is nobody.
func (a *Arrivals) Next() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.announcer.Next()
}

// Settle announces those who came and went in quick succession and have settled since. It calls
// announce for each of them, until that fails.
func (a *Arrivals) Settle(announce func(participants.Announcement) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.announcer.Steady(a.Now()) {
		if announce(n) != nil {
			return
		}
	}
}
