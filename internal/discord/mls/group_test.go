package mls_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"earshot/internal/discord/mls"
)

var channel = []byte{0, 0, 0, 0, 0, 0, 48, 57}

// A world is an external sender, and the members of one group, each with its own view of it.
type world struct {
	t       testing.TB
	service *mls.Signer
	sender  mls.ExternalSender
	views   map[uint64]*mls.Group // by user
}

// newWorld returns a world with one member.
func newWorld(t testing.TB, founder uint64) *world {
	t.Helper()
	w := &world{t: t, service: newSigner(t), views: make(map[uint64]*mls.Group)}
	w.sender = mls.ExternalSender{SignatureKey: w.service.Public(), Identity: identity(1)}
	g, err := mls.New(nil, newKeyPackage(t, founder), channel, w.sender)
	if err != nil {
		t.Fatal(err)
	}
	w.views[founder] = g
	return w
}

func newSigner(t testing.TB) *mls.Signer {
	t.Helper()
	s, err := mls.NewSigner(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newKeyPackage(t testing.TB, user uint64) *mls.KeyPackage {
	t.Helper()
	k, err := mls.NewKeyPackage(nil, newSigner(t), identity(user))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func identity(user uint64) []byte { return binary.BigEndian.AppendUint64(nil, user) }

func (w *world) epoch() uint64 {
	for _, g := range w.views {
		return g.Epoch()
	}
	return 0
}

// A change is a set of proposals that the external sender makes at once.
type change struct {
	messages [][]byte
	joining  map[uint64]*mls.KeyPackage
	leaving  []uint64
}

func (w *world) propose(add, remove []uint64) change {
	w.t.Helper()
	c := change{joining: make(map[uint64]*mls.KeyPackage), leaving: remove}
	for _, user := range remove {
		m, _, err := mls.ProposeRemove(w.service, channel, w.epoch(), w.views[user].Own().Leaf)
		if err != nil {
			w.t.Fatal(err)
		}
		c.messages = append(c.messages, m)
	}
	for _, user := range add {
		k := newKeyPackage(w.t, user)
		m, _, err := mls.ProposeAdd(w.service, channel, w.epoch(), k.Marshal())
		if err != nil {
			w.t.Fatal(err)
		}
		c.messages, c.joining[user] = append(c.messages, m), k
	}
	return c
}

// read returns the proposals of a change as a member reads them.
func (c change) read(t testing.TB, g *mls.Group) []*mls.Proposal {
	t.Helper()
	var list []*mls.Proposal
	for _, m := range c.messages {
		p, err := g.Proposal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// commit lets one member commit a change, and all others follow. It returns the views of those who
// left.
func (w *world) commit(committer uint64, c change) map[uint64]*mls.Group {
	w.t.Helper()
	g := w.views[committer]
	commit, welcome, next, err := g.Commit(nil, c.read(w.t, g))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.follow(committer, c, commit, welcome, next)
}

func (w *world) follow(committer uint64, c change, commit, welcome []byte, next *mls.Group) map[uint64]*mls.Group {
	w.t.Helper()
	gone := make(map[uint64]*mls.Group)
	after := map[uint64]*mls.Group{committer: next}
	for user, g := range w.views {
		if user == committer {
			continue
		}
		g2, err := g.Apply(commit, c.read(w.t, g))
		if slices.Contains(c.leaving, user) {
			if !errors.Is(err, mls.ErrRemoved) {
				w.t.Fatalf("user %d, removed, applies it: %v", user, err)
			}
			gone[user] = g
			continue
		}
		if err != nil {
			w.t.Fatalf("user %d applies it: %v", user, err)
		}
		after[user] = g2
	}
	for user, k := range c.joining {
		part, err := mls.WelcomeFor(welcome, k.Ref())
		if err != nil {
			w.t.Fatal(err)
		}
		if after[user], err = mls.Join(part, k); err != nil {
			w.t.Fatalf("user %d joins: %v", user, err)
		}
	}
	for _, g := range w.views {
		if !slices.Contains(slices.Collect(values(gone)), g) {
			g.Clear()
		}
	}
	w.views = after
	w.agree()
	return gone
}

func values(m map[uint64]*mls.Group) func(func(*mls.Group) bool) {
	return func(yield func(*mls.Group) bool) {
		for _, g := range m {
			if !yield(g) {
				return
			}
		}
	}
}

// agree checks that all members see the same group, with exactly them in it.
func (w *world) agree() {
	w.t.Helper()
	var first *mls.Group
	var secret []byte
	for user, g := range w.views {
		if got := binary.BigEndian.Uint64(g.Own().Identity); got != user {
			w.t.Fatalf("user %d sees itself as %d", user, got)
		}
		s, err := g.Export("Discord Secure Frames v0", []byte{1, 2, 3}, 16)
		if err != nil {
			w.t.Fatal(err)
		}
		if first == nil {
			first, secret = g, s
			var users []uint64
			for _, m := range g.Members() {
				users = append(users, binary.BigEndian.Uint64(m.Identity))
			}
			slices.Sort(users)
			var want []uint64
			for u := range w.views {
				want = append(want, u)
			}
			slices.Sort(want)
			if !slices.Equal(users, want) {
				w.t.Fatalf("the members are %d, not %d", users, want)
			}
			continue
		}
		if !bytes.Equal(s, secret) || !bytes.Equal(g.EpochAuthenticator(), first.EpochAuthenticator()) {
			w.t.Fatalf("user %d has other secrets", user)
		}
		if g.Epoch() != first.Epoch() || !bytes.Equal(g.ID(), channel) ||
			!slices.EqualFunc(g.Members(), first.Members(), sameMember) {
			w.t.Fatalf("user %d sees another group", user)
		}
		if e := g.ExternalSenders(); len(e) != 1 || !e[0].Equal(w.sender) {
			w.t.Fatalf("user %d sees other external senders", user)
		}
		if e := g.Extensions(); !slices.Equal(e, []uint16{5}) {
			w.t.Fatalf("user %d sees extensions %d", user, e)
		}
	}
}

func sameMember(a, b mls.Member) bool {
	return a.Leaf == b.Leaf && bytes.Equal(a.Identity, b.Identity) && bytes.Equal(a.SignatureKey, b.SignatureKey)
}

func TestGroup(t *testing.T) {
	w := newWorld(t, 10)
	w.agree()
	w.commit(10, w.propose([]uint64{11}, nil))
	w.commit(11, w.propose([]uint64{12, 13}, nil))
	w.commit(12, w.propose([]uint64{14}, []uint64{10}))
	w.commit(14, w.propose(nil, nil))
	w.commit(13, w.propose(nil, []uint64{11, 12, 14}))
	w.commit(13, w.propose([]uint64{10, 11, 12}, nil))
	if got := w.epoch(); got != 6 {
		t.Errorf("epoch %d after six commits", got)
	}
}

// TestNext: a list of messages has no lengths in it; Next tells where each one ends.
func TestNext(t *testing.T) {
	w := newWorld(t, 1)
	c := w.propose([]uint64{2, 3}, []uint64{1})
	list := bytes.Join(c.messages, nil)
	for _, want := range c.messages {
		message, rest, err := mls.Next(list)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(message, want) {
			t.Errorf("a message of %d bytes, want %d", len(message), len(want))
		}
		list = rest
	}
	if _, _, err := mls.Next(list); err == nil {
		t.Error("there is a message behind the last")
	}
}
