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
	"pgregory.net/rapid"

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

// A party is a member of a mixed group, ours or a peer.
type party interface {
	leaf() uint32
	hear(proposal []byte)
	commit() (commit, welcome []byte)
	follow(commit []byte)
	join(welcome []byte)
	authenticator() []byte
}

// A local is a party of ours.
type local struct {
	r     *rapid.T
	key   *mls.KeyPackage
	group *mls.Group
	known []*mls.Proposal
}

func (l *local) leaf() uint32          { return l.group.Own().Leaf }
func (l *local) authenticator() []byte { return l.group.EpochAuthenticator() }

func (l *local) hear(proposal []byte) {
	p, err := l.group.Proposal(proposal)
	if err != nil {
		l.r.Fatal(err)
	}
	l.known = append(l.known, p)
}

func (l *local) commit() (commit, welcome []byte) {
	commit, welcome, next, err := l.group.Commit(nil, l.known)
	if err != nil {
		l.r.Fatal(err)
	}
	l.group, l.known = next, nil
	return commit, welcome
}

func (l *local) follow(commit []byte) {
	next, err := l.group.Apply(commit, l.known)
	if err != nil {
		l.r.Fatal(err)
	}
	l.group, l.known = next, nil
}

func (l *local) join(welcome []byte) {
	part, err := mls.WelcomeFor(welcome, l.key.Ref())
	if err == nil {
		l.group, err = mls.Join(part, l.key)
	}
	if err != nil {
		l.r.Fatal(err)
	}
}

// A foreigner is a party that is a peer.
type foreigner struct {
	*peer
	r *rapid.T
}

func (f foreigner) try(err error) {
	if err != nil {
		f.r.Fatalf("the peer: %v", err)
	}
}

func (f foreigner) leaf() uint32 {
	l, err := f.client.OwnLeafIndex(context.Background(), channel)
	f.try(err)
	return l
}

func (f foreigner) authenticator() []byte {
	a, err := f.client.EpochAuthenticator(context.Background(), channel)
	f.try(err)
	return a
}

func (f foreigner) hear(proposal []byte) {
	f.try(f.client.ProcessPublicMessage(context.Background(), channel, proposal))
}

func (f foreigner) commit() (commit, welcome []byte) {
	commit, welcome, err := f.client.CommitPendingProposalsWithOptions(context.Background(), channel,
		peermls.CommitPendingProposalsOptions{GroupInfoOptions: []group.InfoOption{group.WithExternalPub(false)}})
	f.try(err)
	return commit, bare(welcome)
}

func (f foreigner) follow(commit []byte) {
	f.try(f.client.ProcessCommit(context.Background(), channel, commit))
}

func (f foreigner) join(welcome []byte) {
	_, err := f.client.JoinGroup(context.Background(), welcome)
	f.try(err)
}

// Whatever is added and removed in a group of both, by whomever, all agree.
func TestMixedHistories(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		service := newSigner(t)
		founder := &local{r: r, key: newKeyPackage(t, 1)}
		var err error
		founder.group, err = mls.New(nil, founder.key, channel, mls.ExternalSender{SignatureKey: service.Public(), Identity: identity(0)})
		if err != nil {
			r.Fatal(err)
		}
		there, epoch, user := []party{founder}, uint64(0), uint64(1)
		for range rapid.IntRange(1, 4).Draw(r, "commits") {
			var proposals [][]byte
			committer := rapid.IntRange(0, len(there)-1).Draw(r, "committer")
			var stay, joining []party
			for i, p := range there {
				if i == committer || rapid.IntRange(0, 2).Draw(r, "leaves") > 0 {
					stay = append(stay, p)
					continue
				}
				m, _, err := mls.ProposeRemove(service, channel, epoch, p.leaf())
				if err != nil {
					r.Fatal(err)
				}
				proposals = append(proposals, m)
			}
			for range rapid.IntRange(0, min(4, 8-len(stay))).Draw(r, "joins") {
				user++
				var p party
				var k []byte
				if rapid.Bool().Draw(r, "ours") {
					l := &local{r: r, key: newKeyPackage(t, user)}
					p, k = l, l.key.Marshal()
				} else {
					f := foreigner{newPeer(t, user), r}
					p, k = f, f.keyPackage
				}
				m, _, err := mls.ProposeAdd(service, channel, epoch, k)
				if err != nil {
					r.Fatal(err)
				}
				proposals, joining = append(proposals, m), append(joining, p)
			}
			if len(proposals) == 0 {
				continue
			}
			for _, p := range stay {
				for _, m := range proposals {
					p.hear(m)
				}
			}
			commit, welcome := there[committer].commit()
			for _, p := range stay {
				if p != there[committer] {
					p.follow(commit)
				}
			}
			for _, p := range joining {
				p.join(welcome)
			}
			there = append(stay, joining...)
			epoch++
			for _, p := range there {
				if !bytes.Equal(p.authenticator(), there[0].authenticator()) {
					r.Fatal("a member has another epoch authenticator")
				}
			}
		}
	})
}
