package mls_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	peermls "github.com/thomas-vilte/mls-go"
	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"

	"earshot/internal/discord/mls"
)

// A peer is a member whose MLS is somebody else's.
type peer struct {
	t          *testing.T
	client     *peermls.Client
	keyPackage []byte
}

func newPeer(t *testing.T, user uint64) *peer {
	t.Helper()
	c, err := peermls.NewClient(identity(user), ciphersuite.MLS128DHKEMP256,
		peermls.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.FreshKeyPackageBytes(t.Context(), keypackages.InfiniteLifetime())
	if err != nil {
		t.Fatal(err)
	}
	return &peer{t, c, k}
}

func (p *peer) check(g *mls.Group) {
	p.t.Helper()
	theirs, err := p.client.EpochAuthenticator(context.Background(), channel)
	if err != nil {
		p.t.Fatal(err)
	}
	if !bytes.Equal(theirs, g.EpochAuthenticator()) {
		p.t.Fatal("the peer has another epoch authenticator")
	}
	secret, err := p.client.Export(context.Background(), channel, "Discord Secure Frames v0", identity(7), 16)
	if err != nil {
		p.t.Fatal(err)
	}
	ours, err := g.Export("Discord Secure Frames v0", identity(7), 16)
	if err != nil {
		p.t.Fatal(err)
	}
	if !bytes.Equal(secret, ours) {
		p.t.Fatal("the peer exports another secret")
	}
}

// A peer joins our group, follows our commits, commits itself, is followed, and has
// us join its own.
func TestPeer(t *testing.T) {
	w := newWorld(t, 10)
	g := w.views[10]
	p := newPeer(t, 20)

	propose := func(g *mls.Group, k []byte) []byte {
		t.Helper()
		m, _, err := mls.ProposeAdd(w.service, channel, g.Epoch(), k)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	proposals := func(g *mls.Group, messages ...[]byte) []*mls.Proposal {
		t.Helper()
		return change{messages: messages}.read(t, g)
	}

	// We add the peer.
	m, _, err := mls.ReadKeyPackage(p.keyPackage)
	if err != nil || !bytes.Equal(m.Identity, identity(20)) {
		t.Fatalf("the peer's key package: %v, %v", m, err)
	}
	_, welcome, g, err := g.Commit(nil, proposals(g, propose(g, p.keyPackage)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.JoinGroup(t.Context(), welcome); err != nil {
		t.Fatal(err)
	}
	p.check(g)

	// We add ourselves a second time; the peer follows.
	k := newKeyPackage(t, 11)
	add := propose(g, k.Marshal())
	if err := p.client.ProcessPublicMessage(t.Context(), channel, add); err != nil {
		t.Fatal(err)
	}
	commit, welcome, g, err := g.Commit(nil, proposals(g, add))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ProcessCommit(t.Context(), channel, commit); err != nil {
		t.Fatal(err)
	}
	h, err := mls.Join(welcome, k)
	if err != nil {
		t.Fatal(err)
	}
	p.check(g)
	p.check(h)

	// The peer removes one of us and adds another; the one that is left follows, the
	// new one joins.
	k = newKeyPackage(t, 12)
	add = propose(g, k.Marshal())
	remove, _, err := mls.ProposeRemove(w.service, channel, g.Epoch(), h.Own().Leaf)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range [][]byte{remove, add} {
		if err := p.client.ProcessPublicMessage(t.Context(), channel, m); err != nil {
			t.Fatal(err)
		}
	}
	commit, welcome, err = p.client.CommitPendingProposalsWithOptions(t.Context(), channel,
		peermls.CommitPendingProposalsOptions{GroupInfoOptions: []group.InfoOption{group.WithExternalPub(false)}})
	if err != nil {
		t.Fatal(err)
	}
	known := proposals(g, remove, add)
	if g, err = g.Apply(commit, known); err != nil {
		t.Fatal(err)
	}
	p.check(g)
	if _, err := h.Apply(commit, known); err != mls.ErrRemoved {
		t.Errorf("who is removed applies it: %v", err)
	}
	if h, err = mls.Join(bare(welcome), k); err != nil {
		t.Fatal(err)
	}
	p.check(h)

	// Without proposals.
	commit, _, h2, err := h.Commit(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ProcessCommit(t.Context(), channel, commit); err != nil {
		t.Fatal(err)
	}
	if g, err = g.Apply(commit, nil); err != nil {
		t.Fatal(err)
	}
	p.check(g)
	p.check(h2)
}

// bare is a welcome out of its MLSMessage, if it is in one.
func bare(welcome []byte) []byte { return bytes.TrimPrefix(welcome, []byte{0, 1, 0, 3}) }

// A group that the peer has founded is one for us too.
func TestPeerFounds(t *testing.T) {
	w := newWorld(t, 10)
	p := newPeer(t, 20)
	if _, err := p.client.CreateGroupWithExternalSender(t.Context(), channel, p.keyPackage, w.sender.Marshal()); err != nil {
		t.Fatal(err)
	}
	k := newKeyPackage(t, 10)
	add, _, err := mls.ProposeAdd(w.service, channel, 0, k.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ProcessPublicMessage(t.Context(), channel, add); err != nil {
		t.Fatal(err)
	}
	_, welcome, err := p.client.CommitPendingProposals(t.Context(), channel)
	if err != nil {
		t.Fatal(err)
	}
	g, err := mls.Join(bare(welcome), k)
	if err != nil {
		t.Fatal(err)
	}
	p.check(g)
	if e := g.ExternalSenders(); len(e) != 1 || !e[0].Equal(w.sender) {
		t.Error("its external sender is another")
	}
}
