package davetest

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"earshot/internal/discord/mls"
)

// The opcodes of the voice gateway that concern the encryption.
const (
	OpPrepare        = 21
	OpExecute        = 22
	OpReady          = 23
	OpEpoch          = 24
	OpExternalSender = 25
	OpKeyPackage     = 26
	OpProposals      = 27
	OpCommitWelcome  = 28
	OpAnnounceCommit = 29
	OpWelcome        = 30
	OpInvalid        = 31
)

// A Gateway is what a service needs of the voice gateway.
type Gateway struct {
	JSON   func(to uint64, op int, d map[string]any)
	Binary func(to uint64, op byte, body []byte)
	After  func(d time.Duration, f func()) // calls f with the same lock held
	Rules  func() Rules
	Dice   func(n int) int
}

// Rules are the freedoms of a service.
type Rules struct {
	Batch   time.Duration   // how long it collects changes before it proposes them
	Compete bool            // waits for everybody's commit and draws lots
	Overlap bool            // proposes more while something is not committed yet
	Spoil   map[uint64]bool // users whose next commit or welcome is damaged
}

// A Service is the delivery service of one call's encryption: as the external sender, it proposes
// additions and removals, lets one commit win, and moves everybody from one epoch to the next. It
// knows the epoch, and who is at which leaf.
type Service struct {
	gateway Gateway
	wait    time.Duration // how long a transition waits for members who are not ready
	group   []byte
	signer  *mls.Signer

	version     int // the executed one
	settling    bool
	upgrading   bool
	epoch       uint64
	established bool
	leaves      []uint64 // the user at each; 0 is a blank
	clients     map[uint64]*candidate
	queue       []change // not proposed yet
	live        []*proposal
	rivals      []rival
	collecting  bool
	drawing     bool
	last        uint16
	pending     []*transition // the oldest first; executed in order
	generation  int           // of resets: earlier timers are ignored
	resets      int
}

// A candidate is a user in the call who can be in the group.
type candidate struct {
	keyPackage []byte // nil if there is no unused one
	ref        []byte
}

// A change is a user to be added or removed.
type change struct {
	user   uint64
	remove bool
}

// A proposal was sent to some members and is neither revoked nor committed.
type proposal struct {
	ref     []byte
	message []byte
	user    uint64
	remove  bool
	leaf    int
	key     []byte          // reference of the key package that it adds
	told    map[uint64]bool // users who know it
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
	version int // -1: unchanged
	to      []uint64
}

// New returns the service of the call in a channel, which is encrypted. Wait is how long a transition
// waits for members who are not ready.
func New(channel uint64, g Gateway, wait time.Duration) *Service {
	signer, err := mls.NewSigner(rand.Reader)
	if err != nil {
		panic(err)
	}
	return &Service{
		gateway: g, wait: wait, signer: signer, version: 1,
		group:   binary.BigEndian.AppendUint64(nil, channel),
		clients: make(map[uint64]*candidate),
	}
}

// Plain begins without encryption, as in a stage channel.
func (d *Service) Plain() { d.version = 0 }

// Version returns the executed version of the protocol; 0 is no encryption.
func (d *Service) Version() int { return d.version }

// A Group is what the service knows of a call's encryption.
type Group struct {
	Version     int // the executed one; 0 is no encryption
	Established bool
	Members     []uint64 // in the order of their leaves
	Pending     int      // transitions that are not executed
	Resets      int
}

// Group returns the group.
func (d *Service) Group() Group {
	return Group{
		Version: d.version, Established: d.established, Resets: d.resets, Pending: len(d.pending),
		Members: slices.DeleteFunc(slices.Clone(d.leaves), func(user uint64) bool { return user == 0 }),
	}
}

// ExternalSender is the body of op 25.
func (d *Service) ExternalSender() []byte {
	return mls.ExternalSender{SignatureKey: d.signer.Public(), Identity: []byte("voice gateway")}.Marshal()
}

// Due reports whether an unencrypted frame is a fault.
func (d *Service) Due() bool { return d.version != 0 && !d.settling }

// Connect handles a user who has joined the call.
func (d *Service) Connect(user uint64) { d.clients[user] = new(candidate) }

// Disconnect handles a user who has left: their proposals are revoked, and they are removed.
func (d *Service) Disconnect(user uint64) {
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
		d.Reset()
	case d.leaf(user) >= 0 && !d.leaving(user):
		d.queue = append(d.queue, change{user, true})
		fallthrough
	default:
		d.drain()
	}
}

func (d *Service) leaf(user uint64) int { return slices.Index(d.leaves, user) }

// unqueue drops the queued changes of a user.
func (d *Service) unqueue(user uint64) {
	d.queue = slices.DeleteFunc(d.queue, func(c change) bool { return c.user == user && !c.remove })
}

// revoke revokes a proposal to add a user, for everybody who knows it.
func (d *Service) revoke(user uint64) {
	for i, p := range d.live {
		if p.user != user || p.remove {
			continue
		}
		d.live = slices.Delete(d.live, i, i+1)
		body := mls.AppendVector([]byte{1}, mls.AppendVector(nil, p.ref))
		for _, to := range d.sorted() {
			if p.told[to] {
				d.gateway.Binary(to, OpProposals, body)
			}
		}
		break
	}
}

// forget starts without a group.
func (d *Service) forget() {
	d.epoch, d.established, d.leaves = 0, false, nil
	d.queue, d.live, d.rivals, d.pending = nil, nil, nil, nil
	d.collecting, d.drawing = false, false
	d.generation++
	for _, c := range d.clients {
		c.keyPackage = nil
	}
}

// Reset has everybody start with a group of their own.
func (d *Service) Reset() {
	d.forget()
	d.resets++
	for _, user := range d.sorted() {
		d.gateway.JSON(user, OpEpoch, map[string]any{"protocol_version": 1, "epoch": 1})
		d.gateway.JSON(user, OpPrepare, map[string]any{"protocol_version": 1, "transition_id": 0})
	}
}

// sorted returns the clients, in the order of their numbers.
func (d *Service) sorted() []uint64 { return slices.Sorted(maps.Keys(d.clients)) }

// always is the lifetime that Discord asks for, and the leaf source before it.
var always = []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}

// TakeKeyPackage handles op 26. A new key package replaces an older one.
func (d *Service) TakeKeyPackage(user uint64, b []byte) error {
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

// leaving reports whether a user is to be removed already.
func (d *Service) leaving(user uint64) bool {
	return slices.Contains(d.queue, change{user, true}) ||
		slices.ContainsFunc(d.live, func(p *proposal) bool { return p.user == user && p.remove })
}

// TakeInvalid handles op 31: the member is removed, and added again when it has sent a new key
// package.
func (d *Service) TakeInvalid(user uint64) {
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

// drain proposes the queued changes, at once or after the batching time.
func (d *Service) drain() {
	batch := d.gateway.Rules().Batch
	switch {
	case d.established && !slices.ContainsFunc(d.leaves, d.committing):
		d.Reset() // nobody is left who could commit
	case len(d.queue) == 0 || d.collecting:
	case d.established && len(d.live) > 0 && !d.gateway.Rules().Overlap: // until these are committed
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

// later calls f after a delay, unless there has been a reset.
func (d *Service) later(wait time.Duration, f func()) {
	generation := d.generation
	d.gateway.After(wait, func() {
		if generation == d.generation {
			f()
		}
	})
}

// propose sends the proposals to everybody in the group who does not know them yet; if the group
// is not established, to everybody with a key package.
func (d *Service) propose() {
	slices.SortStableFunc(d.queue, func(a, b change) int { // removals first
		switch {
		case a.remove == b.remove:
			return 0
		case a.remove:
			return -1
		}
		return 1
	})
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
			d.gateway.Binary(user, OpProposals, mls.AppendVector([]byte{0}, messages))
		}
	}
}

// committing reports whether any client has a group in which it can commit.
func (d *Service) committing(user uint64) bool {
	c := d.clients[user]
	if !d.established {
		return c != nil && c.keyPackage != nil
	}
	return c != nil && d.leaf(user) >= 0 && !d.leaving(user)
}

// proposal makes the proposal for a change. There is none if the change is no longer needed.
func (d *Service) proposal(c change) (p *proposal, err error) {
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
