package voice

import "time"

// pairing is how far apart the two halves of a ticket may come: a token that is older when our
// channel changes belongs to the previous channel.
const pairing = time.Second

// A ticket is what a voice server requires to let us in.
type ticket struct {
	channel                  uint64
	session, token, endpoint string
}

// A ticketBuilder makes tickets of the main gateway's messages about us, which come in two halves
// and in any order. It has no clock.
type ticketBuilder struct {
	channel uint64 // 0: none, or unknown
	session string
	token   string // "": none, or used
	address string
	served  time.Time // when the token came

	promised bool // another server was announced
	asked    bool // and nothing has come since, so a missing channel is old news
	gone     bool // we were in a channel and are in none now

	serial int // of the ticket; grows with each
}

// ask drops the token, since another is requested.
func (d *ticketBuilder) ask() { d.token, d.asked, d.gone, d.promised = "", true, false, false }

// state records our channel, and server the voice server. They report whether anything has
// changed.
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
		d.token = "" // another will come
	}
	if d.token != "" {
		d.serial++
	}
	return true
}

func (d *ticketBuilder) server(now time.Time, token, endpoint string) bool {
	if endpoint == "" || token == "" { // the server is gone; the next will be announced
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

// ticket returns the newest ticket, and false if it is not complete.
func (d *ticketBuilder) ticket() (ticket, bool) {
	if d.channel == 0 || d.token == "" {
		return ticket{}, false
	}
	return ticket{d.channel, d.session, d.token, d.address}, true
}
