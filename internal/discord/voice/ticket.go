package voice

import "time"

// pairing is how far apart the two halves of a ticket come at most: a token that is
// older when we turn out to be in another channel is of the channel before.
const pairing = time.Second

// A ticket is what a voice server lets us in with.
type ticket struct {
	channel                  uint64
	session, token, endpoint string
}

// A ticketBuilder makes tickets of what the main gateway says about us, which comes in two
// halves and in any order. It has no clock.
type ticketBuilder struct {
	channel uint64 // 0: we are nowhere, or nobody has said
	session string
	token   string // "": none, or used up
	address string
	served  time.Time // when the token came

	promised bool // another server is to come
	asked    bool // and nothing has come since: that we are nowhere is old news
	gone     bool // we were in a channel and are in none

	serial int // of the ticket; grows with each
}

// ask forgets the token, since another is asked for.
func (d *ticketBuilder) ask() { d.token, d.asked, d.gone, d.promised = "", true, false, false }

// state takes where we are, and server where the voice server is. They report whether
// anything has changed.
func (d *ticketBuilder) state(now time.Time, channel uint64, session string) bool {
	if channel == 0 {
		if d.asked || d.channel == 0 {
			return false
		}
		d.channel, d.token, d.gone = 0, "", true
		return true
	}
	d.asked, d.gone = false, false
	if channel == d.channel && session == d.session {
		return false
	}
	first := d.channel == 0
	d.channel, d.session = channel, session
	if !first && now.Sub(d.served) >= pairing {
		d.token = "" // another comes
	}
	if d.token != "" {
		d.serial++
	}
	return true
}

func (d *ticketBuilder) server(now time.Time, token, endpoint string) bool {
	if endpoint == "" || token == "" { // the server is gone; we are told of the next
		d.token, d.promised = "", true
		return true
	}
	d.promised = false
	if token == d.token && endpoint == d.address {
		return false
	}
	d.token, d.address, d.served = token, endpoint, now
	if d.channel != 0 {
		d.asked = false
		d.serial++
	}
	return true
}

// ticket returns the newest, and false if it is not complete.
func (d *ticketBuilder) ticket() (ticket, bool) {
	if d.channel == 0 || d.token == "" {
		return ticket{}, false
	}
	return ticket{d.channel, d.session, d.token, d.address}, true
}
