package discordtest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"earshot/internal/discord/mls"
)

// A service is what a delivery service needs of the voice gateway.
type service struct {
	json   func(to uint64, op int, d object)
	binary func(to uint64, op byte, body []byte)
	after  func(d time.Duration, f func()) // calls f with the same lock held
	rules  func() rules
	dice   func(n int) int
}

// Rules are what a delivery service is free to do.
type rules struct {
	batch   time.Duration   // how long it collects what it will propose
	compete bool            // waits for everybody's commit and draws lots
	overlap bool            // proposes more while something is not committed yet
	spoil   map[uint64]bool // whose next commit or welcome is damaged
}

// A delivery is the delivery service of one call's encryption (protocol.md, "Delivery
// Service"): it proposes as the external sender who is added and removed, lets one
// commit win, and brings everybody from one epoch to the next. It knows the epoch, and
// who is at which leaf; it has no keys but its own to sign with.
type delivery struct {
	service
	wait   time.Duration // of a transition for who is not ready
	group  []byte
	signer *mls.Signer

	version     int // that has been executed
	settling    bool
	upgrading   bool
	epoch       uint64
	established bool
	leaves      []uint64 // who is at each; 0 is a blank
	clients     map[uint64]*candidate
	queue       []change // to be proposed
	live        []*proposal
	rivals      []rival
	collecting  bool
	drawing     bool
	last        uint16
	pending     []*transition // the oldest first; executed in order
	generation  int           // of resets: timers of before are of no use
	resets      int
}

// A candidate is somebody in the call who can be in the group.
type candidate struct {
	keyPackage []byte // nil if there is none that has not been used
	ref        []byte
}

// A change is somebody to be added or removed.
type change struct {
	user   uint64
	remove bool
}

// A proposal has been told to some and is neither revoked nor committed.
type proposal struct {
	ref     []byte
	message []byte
	user    uint64
	remove  bool
	leaf    int
	key     []byte          // reference of the key package that it adds
	told    map[uint64]bool // who knows it
}

type rival struct {
	from uint64
	body []byte
}

// A transition waits for everybody to be ready.
type transition struct {
	id      uint16
	waiting map[uint64]bool
	overdue bool
	version int // -1: the one there is
	to      []uint64
}

func newDelivery(channel uint64, s service, wait time.Duration) *delivery {
	signer, err := mls.NewSigner(rand.Reader)
	if err != nil {
		panic(err)
	}
	return &delivery{
		service: s, wait: wait, signer: signer, version: 1,
		group:   binary.BigEndian.AppendUint64(nil, channel),
		clients: make(map[uint64]*candidate),
	}
}

// externalSender is the body of op 25.
func (d *delivery) externalSender() []byte {
	return mls.ExternalSender{SignatureKey: d.signer.Public(), Identity: []byte("voice gateway")}.Marshal()
}

// due reports whether a frame that is not encrypted is a fault.
func (d *delivery) due() bool { return d.version != 0 && !d.settling }

// connected takes somebody who has joined the call.
func (d *delivery) connected(user uint64) { d.clients[user] = new(candidate) }

// disconnected takes somebody who has left it: what was proposed for them is revoked,
// and they are removed.
func (d *delivery) disconnected(user uint64) {
	if d.clients[user] == nil {
		return
	}
	delete(d.clients, user)
	d.unqueue(user)
	d.revoke(user)
	d.excuse(user)
	switch {
	case len(d.clients) == 0:
		d.forget()
	case d.established && len(d.clients) == 1:
		d.reset()
	case d.leaf(user) >= 0 && !d.leaving(user):
		d.queue = append(d.queue, change{user, true})
		fallthrough
	default:
		d.drain()
	}
}

func (d *delivery) leaf(user uint64) int { return slices.Index(d.leaves, user) }

// unqueue takes back what was to be proposed of somebody.
func (d *delivery) unqueue(user uint64) {
	d.queue = slices.DeleteFunc(d.queue, func(c change) bool { return c.user == user && !c.remove })
}

// revoke takes back a proposal to add somebody, with everybody who knows it.
func (d *delivery) revoke(user uint64) {
	for i, p := range d.live {
		if p.user != user || p.remove {
			continue
		}
		d.live = slices.Delete(d.live, i, i+1)
		body := append([]byte{1}, vector(vector(p.ref))...)
		for _, to := range d.sorted() {
			if p.told[to] {
				d.binary(to, daveProposals, body)
			}
		}
		break
	}
}

// forget begins with no group.
func (d *delivery) forget() {
	d.epoch, d.established, d.leaves = 0, false, nil
	d.queue, d.live, d.rivals, d.pending = nil, nil, nil, nil
	d.collecting, d.drawing = false, false
	d.generation++
	for _, c := range d.clients {
		c.keyPackage = nil
	}
}

// reset has everybody begin with a group of their own.
func (d *delivery) reset() {
	d.forget()
	d.resets++
	for _, user := range d.sorted() {
		d.json(user, daveEpoch, object{"protocol_version": 1, "epoch": 1})
		d.json(user, davePrepare, object{"protocol_version": 1, "transition_id": 0})
	}
}

// sorted returns the clients, in the order of their numbers.
func (d *delivery) sorted() []uint64 {
	var users []uint64
	for user := range d.clients {
		users = append(users, user)
	}
	slices.Sort(users)
	return users
}

// always is the lifetime that Discord asks for, and the source of the leaf before it.
var always = []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}

// keyPackage takes op 26. A new one takes the place of an older one.
func (d *delivery) keyPackage(user uint64, b []byte) error {
	c := d.clients[user]
	if c == nil || d.version == 0 && !d.upgrading && !d.established {
		return nil
	}
	who, ref, err := mls.ReadKeyPackage(b)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(who.Identity, binary.BigEndian.AppendUint64(nil, user)):
		return errors.New("its identity is not the user")
	case !bytes.Contains(b, always):
		return errors.New("its lifetime is not everything")
	}
	c.keyPackage, c.ref = bytes.Clone(b), ref
	d.unqueue(user)
	d.revoke(user)
	if d.leaf(user) >= 0 && !d.leaving(user) {
		d.queue = append(d.queue, change{user, true})
	}
	d.queue = append(d.queue, change{user: user})
	d.drain()
	return nil
}

// leaving reports whether somebody is to be removed already.
func (d *delivery) leaving(user uint64) bool {
	return slices.Contains(d.queue, change{user, true}) ||
		slices.ContainsFunc(d.live, func(p *proposal) bool { return p.user == user && p.remove })
}

// invalid takes op 31: the member is removed, and added again when it has sent a new
// key package.
func (d *delivery) invalid(user uint64) {
	c := d.clients[user]
	if c == nil {
		return
	}
	c.keyPackage = nil
	d.unqueue(user)
	d.revoke(user)
	d.excuse(user)
	if d.leaf(user) >= 0 && !d.leaving(user) {
		d.queue = append(d.queue, change{user, true})
	}
	d.drain()
}

// drain proposes what is to be proposed, at once or when enough time has passed.
func (d *delivery) drain() {
	batch := d.rules().batch
	switch {
	case d.established && !slices.ContainsFunc(d.leaves, d.committing):
		d.reset() // nobody is left who could commit
	case len(d.queue) == 0 || d.collecting:
	case d.established && len(d.live) > 0 && !d.rules().overlap: // until these are committed
	case batch > 0:
		d.collecting = true
		d.later(batch, func() {
			d.collecting = false
			d.propose()
		})
	default:
		d.propose()
	}
}

// later calls f unless there has been a reset.
func (d *delivery) later(wait time.Duration, f func()) {
	generation := d.generation
	d.after(wait, func() {
		if generation == d.generation {
			f()
		}
	})
}

// propose tells everybody in the group what is proposed and they do not know yet; in a
// group that is not established that is everybody with a key package.
func (d *delivery) propose() {
	slices.SortStableFunc(d.queue, func(a, b change) int { return cmp.Compare(b2i(b.remove), b2i(a.remove)) })
	for _, c := range d.queue {
		p, err := d.proposal(c)
		if err != nil {
			panic(err) // the key package was checked
		}
		if p != nil {
			d.live = append(d.live, p)
		}
	}
	d.queue = nil
	for _, user := range d.sorted() {
		if !d.committing(user) {
			continue
		}
		var messages []byte
		for _, p := range d.live {
			if !p.told[user] && p.user != user {
				p.told[user] = true
				messages = append(messages, p.message...)
			}
		}
		if len(messages) > 0 {
			d.binary(user, daveProposals, append([]byte{0}, vector(messages)...))
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// committing reports whether somebody has a group in which they can commit.
func (d *delivery) committing(user uint64) bool {
	c := d.clients[user]
	if !d.established {
		return c != nil && c.keyPackage != nil
	}
	return c != nil && d.leaf(user) >= 0 && !d.leaving(user)
}

// proposal makes one of a change. There is none if nothing is to be changed any more.
func (d *delivery) proposal(c change) (p *proposal, err error) {
	p = &proposal{user: c.user, remove: c.remove, told: make(map[uint64]bool)}
	if c.remove {
		if p.leaf = d.leaf(c.user); p.leaf < 0 {
			return nil, nil
		}
		p.message, p.ref, err = mls.ProposeRemove(d.signer, d.group, d.epoch, uint32(p.leaf))
		return p, err
	}
	who := d.clients[c.user]
	if who == nil || who.keyPackage == nil {
		return nil, nil
	}
	p.key = who.ref
	p.message, p.ref, err = mls.ProposeAdd(d.signer, d.group, d.epoch, who.keyPackage)
	return p, err
}

// vector puts its length before a value (RFC 9420 §2.1.2).
func vector(b []byte) []byte {
	var head []byte
	switch n := len(b); {
	case n < 1<<6:
		head = []byte{byte(n)}
	case n < 1<<14:
		head = binary.BigEndian.AppendUint16(nil, 1<<14|uint16(n))
	default:
		head = binary.BigEndian.AppendUint32(nil, 2<<30|uint32(n))
	}
	return append(head, b...)
}
