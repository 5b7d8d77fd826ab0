package davetest

import "time"

// number returns the number of the next transition. 0 means that it is executed at once.
func (d *Service) number() uint16 {
	if d.last++; d.last == 0 {
		d.last = 1
	}
	return d.last
}

// await executes a transition when everybody is ready, or after a timeout.
func (d *Service) await(next *transition) {
	d.pending = append(d.pending, next)
	d.later(d.wait, func() {
		next.overdue = true
		d.advance()
	})
	d.advance()
}

// TakeReady handles op 23.
func (d *Service) TakeReady(user uint64, id uint16) {
	for _, next := range d.pending {
		if next.id == id {
			delete(next.waiting, user)
		}
	}
	d.advance()
}

// excuse no longer waits for a member.
func (d *Service) excuse(user uint64) {
	for _, next := range d.pending {
		delete(next.waiting, user)
	}
	d.advance()
}

// advance executes the transitions that are ready, in order.
func (d *Service) advance() {
	for len(d.pending) > 0 && (d.pending[0].overdue || len(d.pending[0].waiting) == 0) {
		next := d.pending[0]
		d.pending = d.pending[1:]
		for _, user := range next.to {
			if d.clients[user] != nil {
				d.gateway.JSON(user, OpExecute, map[string]any{"transition_id": next.id})
			}
		}
		switch {
		case next.version == 0:
			d.version = 0
			d.forget()
		case next.version > 0 && d.version == 0:
			d.version, d.settling = next.version, true
			d.gateway.After(settle, func() { d.settling = false })
		}
	}
}

// settle is how long unencrypted frames may still be on their way after a call has become
// encrypted.
const settle = 250 * time.Millisecond

// Downgrade ends the encryption of a call, and [Service.Upgrade] starts it (protocol.md, "Initial
// Transitory Phase").
func (d *Service) Downgrade() {
	next := &transition{id: d.number(), waiting: make(map[uint64]bool), to: d.sorted()}
	for _, user := range next.to {
		next.waiting[user] = true
		d.gateway.JSON(user, OpPrepare, map[string]any{"protocol_version": 0, "transition_id": next.id})
	}
	d.await(next)
}

// Upgrade starts the encryption of a call.
func (d *Service) Upgrade() {
	d.forget()
	if len(d.clients) == 1 {
		d.version = 1
		d.Reset()
		return
	}
	d.upgrading = true
	for _, user := range d.sorted() {
		d.gateway.JSON(user, OpEpoch, map[string]any{"protocol_version": 1, "epoch": 1})
	}
}
