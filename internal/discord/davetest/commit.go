package davetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot/internal/discord/mls"
)

// TakeCommit handles op 28. The error says why it is ignored.
func (d *Service) TakeCommit(user uint64, body []byte) error {
	if _, _, err := d.check(user, body); err != nil {
		return err
	}
	if !d.gateway.Rules().Compete {
		d.win(rival{user, body})
		return nil
	}
	d.rivals = append(slices.DeleteFunc(d.rivals, func(r rival) bool { return r.from == user }), rival{user, bytes.Clone(body)})
	voters := slices.DeleteFunc(d.sorted(), func(u uint64) bool { return !d.committing(u) })
	switch {
	case len(d.rivals) >= len(voters):
		d.draw()
	case !d.drawing:
		d.drawing = true
		d.later(500*time.Millisecond, func() {
			if d.drawing {
				d.draw()
			}
		})
	}
	return nil
}

// draw lets one of the still valid commits win.
func (d *Service) draw() {
	d.drawing = false
	d.rivals = slices.DeleteFunc(d.rivals, func(r rival) bool {
		_, _, err := d.check(r.from, r.body)
		return err != nil
	})
	if len(d.rivals) > 0 {
		d.win(d.rivals[d.gateway.Dice(len(d.rivals))])
	}
}

// check returns what a commit commits, and its length in the body, or why it is not valid
// (protocol.md, "Voice Gateway Commit Validity").
func (d *Service) check(user uint64, body []byte) (committed []*proposal, welcome []byte, err error) {
	h, welcome, err := mls.Inspect(body)
	switch {
	case err != nil:
		return nil, nil, err
	case !d.committing(user):
		return nil, nil, errors.New("not from a member of the group")
	case !bytes.Equal(h.Group, d.group):
		return nil, nil, errors.New("for another group")
	case h.Epoch != d.epoch:
		return nil, nil, fmt.Errorf("for epoch %d, not %d", h.Epoch, d.epoch)
	case d.established && d.leaf(user) != int(h.Sender) || !d.established && h.Sender != 0:
		return nil, nil, fmt.Errorf("from leaf %d, which is another's", h.Sender)
	case h.Inline:
		return nil, nil, errors.New("with a proposal that is no reference")
	case len(h.Refs) == 0:
		return nil, nil, errors.New("of nothing")
	}
	adds := false
	for _, ref := range h.Refs {
		i := slices.IndexFunc(d.live, func(p *proposal) bool { return bytes.Equal(p.ref, ref) && p.told[user] })
		if i < 0 || slices.Contains(committed, d.live[i]) {
			return nil, nil, errors.New("of something that is not proposed")
		}
		committed = append(committed, d.live[i])
		adds = adds || !d.live[i].remove
	}
	for _, p := range d.live {
		if p.user != user && !slices.Contains(committed, p) {
			return nil, nil, errors.New("not of everything that is proposed")
		}
	}
	if adds != (len(welcome) > 0) {
		return nil, nil, errors.New("with a welcome too many, or too few")
	}
	return committed, welcome, nil
}

// win moves the group to the next epoch by a commit.
func (d *Service) win(r rival) {
	committed, welcome, err := d.check(r.from, r.body)
	if err != nil {
		return
	}
	commit := r.body[:len(r.body)-len(welcome)]
	if !d.established {
		d.leaves = []uint64{r.from}
		d.clients[r.from].keyPackage = nil // not needed: the group is its own
	}
	added := d.change(committed)
	initial := !d.established
	d.established, d.live, d.rivals, d.drawing = true, nil, nil, false
	d.epoch++

	next := &transition{waiting: make(map[uint64]bool), version: -1}
	if !initial || d.upgrading {
		next.id = d.number()
	}
	if d.upgrading {
		d.upgrading, next.version = false, 1
	}
	for _, user := range d.sorted() {
		if d.leaf(user) < 0 {
			continue
		}
		next.waiting[user] = true
		next.to = append(next.to, user)
		body := binary.BigEndian.AppendUint16(nil, next.id)
		key, isNew := added[user]
		if !isNew {
			d.gateway.Binary(user, OpAnnounceCommit, d.spoiled(user, append(body, commit...)))
			continue
		}
		part, err := mls.WelcomeFor(welcome, key)
		if err != nil {
			part = welcome // the client will report that it is invalid
		}
		d.gateway.Binary(user, OpWelcome, d.spoiled(user, append(body, part...)))
		d.clients[user].keyPackage = nil
	}
	if next.id != 0 {
		d.await(next)
	}
	d.drain()
}

// spoiled damages a message, if a test asked for it.
func (d *Service) spoiled(user uint64, body []byte) []byte {
	if spoil := d.gateway.Rules().Spoil; spoil[user] {
		delete(spoil, user)
		body[len(body)-3] ^= 0x55
	}
	return body
}

// change updates the leaves (RFC 9420 §7.7, §12.3): removals come first, then each addition takes
// the first free leaf.
func (d *Service) change(committed []*proposal) (added map[uint64][]byte) {
	for _, p := range committed {
		if p.remove {
			d.leaves[p.leaf] = 0
		}
	}
	added = make(map[uint64][]byte)
	for _, p := range committed {
		if p.remove {
			continue
		}
		added[p.user] = p.key
		if i := slices.Index(d.leaves, 0); i >= 0 {
			d.leaves[i] = p.user
		} else {
			d.leaves = append(d.leaves, p.user)
		}
	}
	return added
}
