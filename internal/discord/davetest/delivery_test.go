package davetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/discord/mls"
)

const channel = 927310423890473011

// A stage is a delivery service, the people it serves, and a clock. Messages are on their way until
// somebody takes them.
type stage struct {
	t      rapid.TB
	d      *Service
	rules  Rules
	now    time.Duration
	timers []alarm
	people map[uint64]*person
}

type alarm struct {
	at time.Duration
	f  func()
}

// A person is a member made with package mls, as simple as possible.
type person struct {
	user   uint64
	in     []told
	out    []func()
	signer *mls.Signer
	sender mls.ExternalSender

	key      *mls.KeyPackage
	group    *mls.Group // the newest group
	joined   bool       // whether the group has had others in it
	known    []*mls.Proposal
	commit   []byte // our own commit; next is the group that it leads to
	next     *mls.Group
	prepared map[uint16]*mls.Group
	executed *mls.Group
	invalid  int
}

// A told is a message on its way; messages are the proposals in it.
type told struct {
	op       int
	d        map[string]any
	body     []byte
	messages [][]byte
}

func newStage(t rapid.TB, free Rules) *stage {
	s := &stage{t: t, rules: free, people: make(map[uint64]*person)}
	s.d = New(channel, Gateway{
		JSON: func(to uint64, op int, d map[string]any) {
			if p := s.people[to]; p != nil {
				p.in = append(p.in, told{op: op, d: d})
			}
		},
		Binary: func(to uint64, op byte, body []byte) {
			if p := s.people[to]; p != nil {
				p.in = append(p.in, told{op: int(op), body: bytes.Clone(body), messages: s.split(op, body)})
			}
		},
		After: func(d time.Duration, f func()) { s.timers = append(s.timers, alarm{s.now + d, f}) },
		Rules: func() Rules { return s.rules },
		Dice:  func(n int) int { return n - 1 },
	}, 2*time.Second)
	return s
}

// split finds the proposals in an op 27.
func (s *stage) split(op byte, body []byte) (messages [][]byte) {
	if op != OpProposals || body[0] != 0 {
		return nil
	}
	rest := unvector(body[1:])
	for len(rest) > 0 {
		i := slices.IndexFunc(s.d.live, func(p *proposal) bool { return bytes.HasPrefix(rest, p.message) })
		if i < 0 {
			s.t.Fatalf("op 27 holds something that is not proposed: %x", rest)
		}
		messages = append(messages, s.d.live[i].message)
		rest = rest[len(s.d.live[i].message):]
	}
	return messages
}

// unvector returns what follows the length at the beginning of b.
func unvector(b []byte) []byte {
	switch b[0] >> 6 {
	case 0:
		return b[1:][:b[0]]
	case 1:
		return b[2:][:binary.BigEndian.Uint16(b)&0x3fff]
	}
	return b[4:][:binary.BigEndian.Uint32(b)&0x3fffffff]
}

// join lets somebody come into the call.
func (s *stage) join(user uint64) {
	signer, err := mls.NewSigner(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	sender, err := mls.ParseExternalSender(s.d.ExternalSender())
	if err != nil {
		s.t.Fatal(err)
	}
	p := &person{user: user, signer: signer, sender: sender, prepared: make(map[uint16]*mls.Group)}
	s.people[user] = p
	s.d.Connect(user)
	s.begin(p)
}

func (s *stage) leave(user uint64) {
	delete(s.people, user)
	s.d.Disconnect(user)
}

// say queues an answer of a person; f runs when it arrives.
func (s *stage) say(p *person, f func()) { p.out = append(p.out, f) }

// begin lets a person begin with a group of its own.
func (s *stage) begin(p *person) {
	var err error
	if p.key, err = mls.NewKeyPackage(nil, p.signer, binary.BigEndian.AppendUint64(nil, p.user)); err != nil {
		s.t.Fatal(err)
	}
	if p.group, err = mls.New(nil, p.key, binary.BigEndian.AppendUint64(nil, channel), p.sender); err != nil {
		s.t.Fatal(err)
	}
	p.joined, p.known, p.commit, p.next, p.executed = false, nil, nil, nil, nil
	clear(p.prepared)
	key := p.key.Marshal()
	s.say(p, func() {
		if err := s.d.TakeKeyPackage(p.user, key); err != nil {
			s.t.Fatalf("the key package of %d: %v", p.user, err)
		}
	})
}

// hear lets a person take the oldest message on its way to it.
func (s *stage) hear(p *person) {
	m := p.in[0]
	p.in = p.in[1:]
	switch m.op {
	case OpEpoch:
		if m.d["epoch"] == 1 {
			s.begin(p)
		}
	case OpPrepare:
		if id, numbered := m.d["transition_id"].(uint16); numbered {
			s.say(p, func() { s.d.TakeReady(p.user, id) })
		}
	case OpExecute:
		if g := p.prepared[m.d["transition_id"].(uint16)]; g != nil {
			p.executed = g
		}
	case OpProposals:
		s.proposals(p, m)
	case OpAnnounceCommit:
		s.commit(p, m.body)
	case OpWelcome:
		g, err := mls.Join(m.body[2:], p.key)
		s.follow(p, m.body, g, err)
	default:
		s.t.Fatalf("op %d of a delivery service", m.op)
	}
}

func (s *stage) proposals(p *person, m told) {
	if m.body[0] == 1 {
		ref := unvector(unvector(m.body[1:]))
		p.known = slices.DeleteFunc(p.known, func(k *mls.Proposal) bool { return bytes.Equal(k.Ref, ref) })
	}
	for _, message := range m.messages {
		k, err := p.group.Proposal(message)
		if err != nil {
			continue // belongs to an epoch that it has left, after op 31
		}
		p.known = append(p.known, k)
	}
	if len(p.known) == 0 {
		return
	}
	commit, welcome, next, err := p.group.Commit(nil, p.known)
	if err != nil {
		s.t.Fatalf("%d cannot commit %d proposals: %v", p.user, len(p.known), err)
	}
	p.commit, p.next = commit, next
	body := slices.Concat(commit, welcome)
	s.say(p, func() { _ = s.d.TakeCommit(p.user, body) })
}

func (s *stage) commit(p *person, body []byte) {
	switch {
	case p.commit != nil && bytes.Equal(body[2:], p.commit):
		s.follow(p, body, p.next, nil)
	case !p.joined:
		s.follow(p, body, nil, fmt.Errorf("a commit of a group that %d is not in", p.user))
	default:
		g, err := p.group.Apply(body[2:], p.known)
		s.follow(p, body, g, err)
	}
}

// follow lets a person go to the next epoch, or flag what should lead there.
func (s *stage) follow(p *person, body []byte, g *mls.Group, err error) {
	id := binary.BigEndian.Uint16(body)
	if err != nil {
		p.invalid++
		s.say(p, func() { s.d.TakeInvalid(p.user) })
		s.begin(p)
		return
	}
	p.group, p.joined, p.known, p.commit, p.next = g, true, nil, nil, nil
	if id == 0 {
		p.executed = g
		return
	}
	p.prepared[id] = g
	s.say(p, func() { s.d.TakeReady(p.user, id) })
}

// step lets something happen, if there is anything: a message or an answer arrives.
func (s *stage) step(which int) bool {
	var busy []func()
	for _, user := range s.users() {
		p := s.people[user]
		if len(p.in) > 0 {
			busy = append(busy, func() { s.hear(p) })
		}
		if len(p.out) > 0 {
			busy = append(busy, func() {
				f := p.out[0]
				p.out = p.out[1:]
				f()
			})
		}
	}
	if len(busy) == 0 {
		return false
	}
	busy[which%len(busy)]()
	return true
}

func (s *stage) users() (users []uint64) {
	for user := range s.people {
		users = append(users, user)
	}
	slices.Sort(users)
	return users
}

// pass lets time pass.
func (s *stage) pass(d time.Duration) {
	s.now += d
	for i := 0; i < len(s.timers); i++ {
		if alarm := s.timers[i]; alarm.at <= s.now {
			s.timers = slices.Delete(s.timers, i, i+1)
			alarm.f()
			i = -1
		}
	}
}

// settle lets everything happen that is pending.
func (s *stage) settle() {
	for i := 0; ; i++ {
		if i > 10000 {
			s.t.Fatal("it does not come to rest")
		}
		if s.step(i) {
			continue
		}
		if len(s.timers) == 0 {
			return
		}
		s.pass(s.timers[0].at - s.now)
	}
}

// agree fails unless all people are in one group, and nobody else is.
func (s *stage) agree() {
	s.t.Helper()
	users := s.users()
	if len(users) < 2 {
		if len(users) == 1 && (s.d.established || s.people[users[0]].joined) {
			s.t.Errorf("%d is alone and in a group that others have been in", users[0])
		}
		return
	}
	members := slices.DeleteFunc(slices.Clone(s.d.leaves), func(u uint64) bool { return u == 0 })
	slices.Sort(members)
	if !s.d.established || !slices.Equal(members, users) {
		s.t.Fatalf("the service has %v in its group (established: %t), there are %v", members, s.d.established, users)
	}
	if len(s.d.live)+len(s.d.queue)+len(s.d.pending) > 0 {
		s.t.Errorf("still to be done: %d, %d, %d", len(s.d.live), len(s.d.queue), len(s.d.pending))
	}
	want := s.people[users[0]].group.EpochAuthenticator()
	for _, user := range users {
		p := s.people[user]
		switch {
		case !bytes.Equal(p.group.EpochAuthenticator(), want):
			s.t.Errorf("%d is in another group than %d", user, users[0])
		case p.executed != p.group:
			s.t.Errorf("%d has not executed the last transition", user)
		case p.group.Epoch() != s.d.epoch:
			s.t.Errorf("%d is at epoch %d, the service at %d", user, p.group.Epoch(), s.d.epoch)
		}
	}
}

// TestDelivery lets people come and go in any order, with messages that cross each other, and
// checks that in the end they are in one group.
func TestDelivery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStage(t, Rules{
			Batch:   time.Duration(rapid.SampledFrom([]int{0, 0, 300}).Draw(t, "batch")) * time.Millisecond,
			Compete: rapid.Bool().Draw(t, "compete"),
			Overlap: rapid.Bool().Draw(t, "overlap"),
			Spoil:   make(map[uint64]bool),
		})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			user := rapid.Uint64Range(1, 6).Draw(t, "user")
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0, 1:
				if s.people[user] == nil {
					s.join(user)
				}
			case 2:
				if s.people[user] != nil {
					s.leave(user)
				}
			case 3:
				if s.people[user] != nil {
					s.rules.Spoil[user] = true
				}
			case 4:
				s.pass(300 * time.Millisecond)
			default:
				s.step(int(user))
			}
		}
		clear(s.rules.Spoil)
		s.settle()
		s.agree()
	})
}

// TestEpochs: to which epoch, and how many resets, each way of coming and going leads.
func TestEpochs(t *testing.T) {
	for name, tt := range map[string]struct {
		rules  Rules
		do     func(s *stage)
		epoch  uint64
		resets int
	}{
		"one": {do: func(s *stage) { s.join(1) }},
		"two": {epoch: 1, do: func(s *stage) { s.join(1); s.join(2) }},
		"three, one after another": {epoch: 2, do: func(s *stage) {
			s.join(1)
			s.join(2)
			s.settle()
			s.join(3)
		}},
		"four in a batch": {rules: Rules{Batch: time.Second}, epoch: 2, do: func(s *stage) {
			s.join(1)
			s.join(2)
			s.settle()
			s.join(3)
			s.join(4)
		}},
		"six that compete": {rules: Rules{Compete: true}, epoch: 1, do: func(s *stage) {
			for user := range uint64(6) {
				s.join(user + 1)
			}
		}},
		"left and back": {epoch: 4, do: func(s *stage) {
			s.join(1)
			s.join(2)
			s.settle()
			s.join(3)
			s.settle()
			s.leave(3)
			s.settle()
			s.join(3)
		}},
		"alone, and not": {resets: 1, epoch: 1, do: func(s *stage) {
			s.join(1)
			s.join(2)
			s.settle()
			s.leave(1)
			s.settle()
			s.join(3)
		}},
		"all gone": {do: func(s *stage) {
			s.join(1)
			s.join(2)
			s.settle()
			s.leave(1)
			s.leave(2)
		}, resets: 1},
		"a welcome that is damaged": {rules: Rules{Spoil: map[uint64]bool{3: true}}, epoch: 4, do: func(s *stage) {
			s.join(1)
			s.join(2)
			s.settle()
			s.join(3)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, tt.rules)
			tt.do(s)
			s.settle()
			s.agree()
			if s.d.epoch != tt.epoch || s.d.resets != tt.resets {
				t.Errorf("ended at epoch %d after %d resets, want %d after %d", s.d.epoch, s.d.resets, tt.epoch, tt.resets)
			}
		})
	}
}

// TestVersions: encryption of a call ends, and begins again.
func TestVersions(t *testing.T) {
	s := newStage(t, Rules{})
	s.join(1)
	s.join(2)
	s.settle()
	s.d.Downgrade()
	if !s.d.Due() {
		t.Error("nobody was ready, and nothing need be encrypted")
	}
	s.settle()
	if s.d.Due() || s.d.established {
		t.Error("still encrypted")
	}
	s.join(3)
	s.settle()
	s.d.Upgrade()
	for s.step(0) {
	}
	if s.d.version != 1 || s.d.Due() {
		t.Error("what was on its way must pass for a moment")
	}
	s.settle()
	if s.agree(); !s.d.Due() {
		t.Error("not encrypted again")
	}
	s.d.Downgrade()
	s.settle()
	s.leave(1)
	s.leave(2)
	s.d.Upgrade()
	s.settle()
	if s.agree(); !s.d.Due() {
		t.Error("who is alone has nothing to be ready for")
	}
}

// TestTransitionWaits: a transition is executed when all are ready, or after two seconds.
func TestTransitionWaits(t *testing.T) {
	s := newStage(t, Rules{})
	s.join(1)
	s.join(2)
	s.settle()
	s.join(3)
	for s.step(0) {
		// User 2 is slow: its answers do not arrive.
		s.people[2].out = slices.DeleteFunc(s.people[2].out, func(func()) bool { return s.d.epoch == 2 })
	}
	before := s.people[1].executed
	s.pass(1999 * time.Millisecond)
	for s.step(0) {
	}
	if s.people[1].executed != before {
		t.Fatal("executed before all were ready")
	}
	s.pass(time.Millisecond)
	s.settle()
	if s.people[1].executed == before || s.people[2].executed != s.people[2].group {
		t.Error("not executed after two seconds")
	}
}

// TestCommitsRefused: which commits Discord does not pass on.
func TestCommitsRefused(t *testing.T) {
	s := newStage(t, Rules{})
	s.join(1)
	s.join(2)
	s.settle()
	p := s.people[1]
	if err := s.d.TakeCommit(1, []byte("nonsense")); err == nil {
		t.Error("passed on what is no commit")
	}
	s.join(3)
	s.people[3].out[0]() // its key package
	k, err := p.group.Proposal(p.in[0].messages[0])
	if err != nil {
		t.Fatal(err)
	}
	commit, welcome, _, err := p.group.Commit(nil, []*mls.Proposal{k})
	if err != nil {
		t.Fatal(err)
	}
	empty, _, _, err := p.group.Commit(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"no welcome": commit, "nothing": empty, "half": commit[:40]} {
		if err := s.d.TakeCommit(1, body); err == nil {
			t.Errorf("%s: passed on", name)
		}
	}
	if err := s.d.TakeCommit(2, slices.Concat(commit, welcome)); err == nil {
		t.Error("passed on another's commit")
	}
	if err := s.d.TakeCommit(1, slices.Concat(commit, welcome)); err != nil {
		t.Errorf("did not pass on what is right: %v", err)
	}
	if err := s.d.TakeCommit(1, slices.Concat(commit, welcome)); err == nil {
		t.Error("passed it on twice")
	}
	if err := s.d.TakeKeyPackage(2, p.key.Marshal()); err == nil {
		t.Error("took another's key package")
	}
}
