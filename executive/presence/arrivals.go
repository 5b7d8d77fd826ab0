package presence

import (
	"time"

	"earshot"
	"earshot/internal/lockorder"
	"earshot/participants"
)

// Arrivals count by how many sessions somebody is in a room, and say when their arrival or departure
// is announced. It is safe for concurrent use. The exported fields must be set.
//
// What follows from an arrival is done while nobody else can come or go, so that the announcements
// are in the journal in the order in which people came and went.
type Arrivals struct {
	Room   earshot.RoomID
	People *participants.Registry
	Now    func() time.Time

	mu        lockorder.Mutex[lockorder.Arrival] // held while somebody comes or goes, until that is queued
	announcer participants.Announcer
}

// Note takes in that somebody comes or goes by a handle. If they are here, or gone, because of that,
// it calls noted, and then announce, if it is announced at once. It reports whether it may be
// announced later, at [Arrivals.Next]: not if somebody has come by a second terminal. Somebody
// unknown cannot be here, nor can scripts.
func (a *Arrivals) Note(from earshot.Handle, who participants.Participant, p earshot.Presence, noted func(), announce func(earshot.Presence)) (later bool) {
	if who.ID == "" || who.ID == participants.Generic {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.count(who.Reader(), from, p) {
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

// count counts a session of somebody, by their own ID, whether or not they are one person with
// somebody else when it ends. It reports whether they are here, or gone, because of that.
func (a *Arrivals) count(who earshot.ParticipantID, from earshot.Handle, p earshot.Presence) bool {
	if participants.VouchedFor(from) { // one connection carries everybody who comes by it
		p.Session += "/" + from.ID
	}
	if p.Here {
		return a.People.Come(a.Room, who, p.Session)
	}
	return a.People.Go(a.Room, who, p.Session)
}

// Next returns when somebody who came and went in quick succession may be announced; the zero time
// if nobody did.
func (a *Arrivals) Next() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.announcer.Next()
}

// Settle calls announce for each of those who have settled, until it fails.
func (a *Arrivals) Settle(announce func(participants.Announcement) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.announcer.Steady(a.Now()) {
		if announce(n) != nil {
			return
		}
	}
}
