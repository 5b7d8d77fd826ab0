package mls

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// These tests send hostile messages: from outsiders who send what they like, and from insiders who
// sign what they like.

var hostileGroup = []byte("a group")

func identityOf(user uint64) []byte { return binary.BigEndian.AppendUint64(nil, user) }

// A cast is a group of five members, by leaf, the first of whom is the villain, with the service
// that proposes.
type cast struct {
	service *Signer
	members []*Group
	spare   *KeyPackage // belongs to nobody yet
}

func newCast(t testing.TB) *cast {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := new(cast)
	rand := rand.NewChaCha8([32]byte{1}) // deterministic, so that a fuzzed input means the same in each process
	keyPackage := func(user uint64) *KeyPackage {
		s, err := NewSigner(rand)
		ok(err)
		k, err := NewKeyPackage(rand, s, identityOf(user))
		ok(err)
		return k
	}
	var err error
	c.service, err = NewSigner(rand)
	ok(err)
	c.spare = keyPackage(9)
	g, err := New(rand, keyPackage(0), hostileGroup, ExternalSender{c.service.Public(), identityOf(100)})
	ok(err)
	var list []*Proposal
	var joining []*KeyPackage
	for user := range uint64(4) {
		k := keyPackage(user + 1)
		m, _, err := ProposeAdd(c.service, hostileGroup, 0, k.Marshal())
		ok(err)
		p, err := g.Proposal(m)
		ok(err)
		list, joining = append(list, p), append(joining, k)
	}
	_, w, g, err := g.Commit(rand, list)
	ok(err)
	c.members = []*Group{g}
	for _, k := range joining {
		g, err := Join(w, k)
		ok(err)
		c.members = append(c.members, g)
	}
	// Each commits once, so that the tree has complete parents.
	for i := range c.members {
		commit, _, next, err := c.members[i].Commit(rand, nil)
		ok(err)
		for j := range c.members {
			if j == i {
				c.members[j] = next
				continue
			}
			c.members[j], err = c.members[j].Apply(commit, nil)
			ok(err)
		}
	}
	return c
}

func (c *cast) villain() *Group { return c.members[0] }
func (c *cast) victim() *Group  { return c.members[1] }

// remove and add return proposals made by the service.
func (c *cast) remove(t testing.TB, leaf uint32) []byte {
	t.Helper()
	m, _, err := ProposeRemove(c.service, hostileGroup, c.victim().Epoch(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (c *cast) add(t testing.TB, k *KeyPackage) []byte {
	t.Helper()
	m, _, err := ProposeAdd(c.service, hostileGroup, c.victim().Epoch(), k.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (c *cast) read(t testing.TB, messages ...[]byte) []*Proposal {
	t.Helper()
	var list []*Proposal
	for _, m := range messages {
		p, err := c.victim().Proposal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// refused fails t unless err is an Error of that section.
func refused(t *testing.T, err error, section string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Section != section {
		t.Errorf("refused with %v, want an error of section %s", err, section)
	}
}

func TestHostileProposals(t *testing.T) {
	c := newCast(t)
	g := c.victim()
	// sent frames and signs a proposal as the service would.
	sent := func(p *proposal, tamper func(*publicMessage)) []byte {
		m := &publicMessage{framedContent: framedContent{
			group: hostileGroup, epoch: g.Epoch(), sender: sender{senderExternal, 0}, proposal: p,
		}}
		s := c.service
		if tamper != nil {
			tamper(m)
		}
		m.framedContent.write()
		m.signature = must[[]byte](t)(s.sign("FramedContentTBS", m.tbs(nil)))
		return m.marshal()
	}
	// forged returns a key package with something wrong in it, signed again where that helps.
	forged := func(tamper func(k *keyPackage, l *leafNode)) *proposal {
		s := c.spare.signer
		k, l := *c.spare.public, *c.spare.public.leaf
		k.leaf = &l
		tamper(&k, &l)
		if err := l.sign(s, hostileGroup, 5); err != nil {
			t.Fatal(err)
		}
		if err := k.sign(s); err != nil {
			t.Fatal(err)
		}
		return &proposal{add: &k}
	}
	remove := &proposal{remove: 2}
	for _, tt := range []struct {
		name    string
		message []byte
		section string
	}{
		{"a leaf where nobody is", sent(&proposal{remove: 6}, nil), "12.1.3"},
		{"a leaf beyond what a place can be", sent(&proposal{remove: 1 << 31}, nil), "12.1.3"},
		{"a leaf beyond the tree", sent(&proposal{remove: 1<<32 - 1}, nil), "12.1.3"},
		{"another group", sent(remove, func(m *publicMessage) { m.group = []byte("x") }), "6"},
		{"the epoch before", sent(remove, func(m *publicMessage) { m.epoch-- }), "6"},
		{"the epoch after", sent(remove, func(m *publicMessage) { m.epoch++ }), "6"},
		{"another external sender", sent(remove, func(m *publicMessage) { m.sender.index = 1 }), "6.1"},
		{"the last external sender", sent(remove, func(m *publicMessage) { m.sender.index = 1<<32 - 1 }), "6.1"},
		{"a key package with a leaf of a commit", sent(forged(func(_ *keyPackage, l *leafNode) { l.source = sourceCommit }), nil), "10.1"},
		{"one key for two things", sent(forged(func(k *keyPackage, l *leafNode) { k.initKey = l.encryptionKey }), nil), "10.1"},
		{"an init key off the curve", sent(forged(func(k *keyPackage, l *leafNode) { k.initKey = make([]byte, pointSize) }), nil), "5.1.1"},
		{"an encryption key off the curve", sent(forged(func(k *keyPackage, l *leafNode) { l.encryptionKey = make([]byte, pointSize) }), nil), "5.1.1"},
		{"no key at all", sent(forged(func(k *keyPackage, l *leafNode) { l.encryptionKey = nil }), nil), "5.1.1"},
		{"the signature key of another", sent(forged(func(_ *keyPackage, l *leafNode) { l.signatureKey = g.signer.public }), nil), "5.1.2"},
		{"no version", sent(forged(func(_ *keyPackage, l *leafNode) { l.capabilities.versions = nil }), nil), "7.2"},
		{"no cipher suite", sent(forged(func(_ *keyPackage, l *leafNode) { l.capabilities.cipherSuites = []uint16{1} }), nil), "7.2"},
		{"no credentials", sent(forged(func(_ *keyPackage, l *leafNode) { l.capabilities.credentials = []uint16{2} }), nil), "7.3"},
		{"an extension it does not know", sent(forged(func(_ *keyPackage, l *leafNode) { l.extensions = []extension{{kind: 77}} }), nil), "7.3"},
		{"an extension it does not know, outside", sent(forged(func(k *keyPackage, _ *leafNode) { k.extensions = []extension{{kind: 77}} }), nil), "10"},
		{"an extension twice", sent(forged(func(k *keyPackage, _ *leafNode) { k.extensions = []extension{{kind: 1}, {kind: 1}} }), nil), "13.4"},
		{"an identity without end", sent(forged(func(_ *keyPackage, l *leafNode) { l.identity = make([]byte, maxIdentity+1) }), nil), "5.3"},
		{"a leaf without end", sent(forged(func(_ *keyPackage, l *leafNode) { l.extensions = []extension{{kind: 1, data: make([]byte, 1<<19)}} }), nil), "7.2"},
		{"a key package without end", sent(forged(func(k *keyPackage, _ *leafNode) { k.extensions = []extension{{kind: 1, data: make([]byte, 1<<19)}} }), nil), "10"},
		{"a commit", must3(t)(g.Commit(nil, nil)), "12.1.8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := g.Proposal(tt.message)
			refused(t, err, tt.section)
		})
	}
	if _, err := g.Proposal(sent(remove, nil)); err != nil {
		t.Errorf("what is right: %v", err)
	}
}

func must3(t *testing.T) func([]byte, []byte, *Group, error) []byte {
	return func(b, _ []byte, _ *Group, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// A plan is what a villain does differently when it commits.
type plan struct {
	refs    [][]byte                                   // names these in addition to the applied ones
	leaf    func(*leafNode)                            // changes its leaf before it is signed
	signer  *Signer                                    // signs that leaf, instead of its own signer
	secrets func(*freshPath)                           // changes the path secrets before they are encrypted
	path    func(*freshPath, *updatePath) bool         // changes the path; false removes it
	final   func(*publicMessage, *Group)               // changes the message, before the membership tag
	tree    func(ratchetTree, []*Proposal) ratchetTree // makes the tree, instead of the proposals
}

// forge is a villain's version of [Group.Commit].
func (g *Group) forge(t *testing.T, list []*Proposal, p plan) []byte {
	t.Helper()
	var tree ratchetTree
	var added []leafIndex
	if p.tree != nil {
		tree = p.tree(slices.Clone(g.tree), list)
	} else {
		var err error
		if tree, added, err = g.applyProposals(list, g.own); err != nil {
			t.Fatal(err)
		}
	}
	fresh := must[*freshPath](t)(tree.refresh(nil, g.own, g.signer, g.context.groupID))
	if p.leaf != nil {
		leaf := *fresh.leaf
		p.leaf(&leaf)
		signer := g.signer
		if p.signer != nil {
			signer = p.signer
		}
		if err := leaf.sign(signer, g.context.groupID, g.own); err != nil {
			t.Fatal(err)
		}
		fresh.leaf = &leaf
		tree[g.own.node()] = node{leaf: &leaf}
	}
	context := g.context
	context.epoch++
	context.treeHash = tree.hash()
	c := new(commit)
	refs := p.refs
	for _, k := range list {
		refs = append(refs, k.Ref)
	}
	for _, r := range refs {
		c.proposals = append(c.proposals, proposalOrRef{ref: r})
	}
	if p.secrets != nil {
		p.secrets(fresh)
	}
	c.path = must[*updatePath](t)(fresh.seal(tree, added, context.marshal()))
	if p.path != nil && !p.path(fresh, c.path) {
		c.path = nil
	}
	m := &publicMessage{framedContent: framedContent{
		group: g.context.groupID, epoch: g.context.epoch, sender: sender{senderMember, uint32(g.own)}, commit: c,
	}}
	m.framedContent.write()
	m.signature = must[[]byte](t)(g.signer.sign("FramedContentTBS", m.tbs(&g.context)))
	next, _ := g.advance(m, tree, context, fresh.keys, fresh.commit)
	m.confirmationTag = next.confirmationTag
	if p.final != nil {
		p.final(m, g)
	}
	m.membershipTag = m.membership(&g.context, g.secrets.membership)
	return m.marshal()
}

func TestHostileCommits(t *testing.T) {
	c := newCast(t)
	again := func(m *publicMessage, g *Group) { // signs the changed message
		m.framedContent.write()
		m.signature, _ = g.signer.sign("FramedContentTBS", m.tbs(&g.context))
	}
	remove2, remove0, remove1, add := c.remove(t, 2), c.remove(t, 0), c.remove(t, 1), c.add(t, c.spare)
	public := func(private secret) []byte {
		_, key, _ := deriveKeyPair(private)
		return key
	}
	asIs := func(t ratchetTree, _ []*Proposal) ratchetTree { return t }
	for _, tt := range []struct {
		name      string
		proposals [][]byte
		plan      plan
		section   string
	}{
		{"nothing and no path", nil, plan{path: func(*freshPath, *updatePath) bool { return false }}, "12.4"},
		{"a removal and no path", [][]byte{remove2}, plan{path: func(*freshPath, *updatePath) bool { return false }}, "12.4"},
		{"its own removal", [][]byte{remove0}, plan{tree: asIs}, "12.2"},
		{"a removal twice", [][]byte{remove2, remove2}, plan{tree: asIs}, "12.2"},
		{"an addition twice", [][]byte{add, add}, plan{tree: asIs}, "7.3"},
		{"a proposal of nobody", nil, plan{refs: [][]byte{make([]byte, 32)}}, "12.4"},
		{"a reference too short", nil, plan{refs: [][]byte{make([]byte, 31)}}, "5.1"},
		{"a leaf of another source", nil, plan{leaf: func(l *leafNode) { l.source = sourceUpdate }}, "12.4.2"},
		{"its old key", nil, plan{leaf: func(l *leafNode) { l.encryptionKey = c.villain().tree[0].encryptionKey() }}, "12.4.2"},
		{"the victim's key", nil, plan{leaf: func(l *leafNode) { l.encryptionKey = c.victim().tree[2].encryptionKey() }}, "12.4.2"},
		{"a leaf without end", nil, plan{leaf: func(l *leafNode) { l.extensions = []extension{{kind: 1, data: make([]byte, 1<<19)}} }}, "7.2"},
		{"another identity", nil, plan{leaf: func(l *leafNode) { l.identity = identityOf(9) }}, "5.3.1"},
		{"the identity of the victim", nil, plan{leaf: func(l *leafNode) { l.identity = identityOf(1) }}, "5.3.1"},
		{"another signature key", nil, plan{leaf: func(l *leafNode) { l.signatureKey = c.spare.signer.public }, signer: c.spare.signer}, "7.3"},
		{"a wrong parent hash", nil, plan{leaf: func(l *leafNode) { l.parentHash = make([]byte, hashSize) }}, "7.9.2"},
		{"no parent hash", nil, plan{leaf: func(l *leafNode) { l.parentHash = nil }}, "7.9.2"},
		{"a path too short", nil, plan{path: func(_ *freshPath, p *updatePath) bool { p.nodes = p.nodes[1:]; return true }}, "7.6"},
		{"a path too long", nil, plan{path: func(_ *freshPath, p *updatePath) bool { p.nodes = append(p.nodes, p.nodes[0]); return true }}, "7.6"},
		{"an empty path", nil, plan{path: func(_ *freshPath, p *updatePath) bool { p.nodes = nil; return true }}, "7.6"},
		{"too few ciphertexts", nil, plan{path: func(_ *freshPath, p *updatePath) bool { p.nodes[1].encryptedPathSecret = nil; return true }}, "7.6"},
		{"too many ciphertexts", nil, plan{path: func(_ *freshPath, p *updatePath) bool {
			n := &p.nodes[2]
			n.encryptedPathSecret = append(n.encryptedPathSecret, n.encryptedPathSecret[0])
			return true
		}}, "7.6"},
		{"a path secret that does not give the key", nil, plan{secrets: func(f *freshPath) { f.pathSecrets[0] = make(secret, hashSize) }}, "7.5"},
		{"a path secret too short", nil, plan{secrets: func(f *freshPath) { f.pathSecrets[0] = secret{1} }}, "7.5"},
		{"no path secret", nil, plan{secrets: func(f *freshPath) { f.pathSecrets[0] = nil }}, "7.5"},
		{"another's ciphertext", nil, plan{path: func(_ *freshPath, p *updatePath) bool {
			p.nodes[0].encryptedPathSecret[0] = p.nodes[1].encryptedPathSecret[0]
			return true
		}}, "5.1.3"},
		{"an encapsulated key off the curve", nil, plan{path: func(_ *freshPath, p *updatePath) bool {
			p.nodes[0].encryptedPathSecret[0].kemOutput = make([]byte, pointSize)
			return true
		}}, "5.1.3"},
		{"a key off the curve", nil, plan{path: func(_ *freshPath, p *updatePath) bool {
			p.nodes[0].encryptionKey = make([]byte, pointSize)
			return true
		}}, "5.1.1"},
		{"an old key on the path", nil, plan{path: func(_ *freshPath, p *updatePath) bool {
			p.nodes[0].encryptionKey = c.victim().tree[1].encryptionKey()
			return true
		}}, "12.4.2"},
		{"a key on the path that its secret does not give", nil, plan{path: func(_ *freshPath, p *updatePath) bool {
			p.nodes[2].encryptionKey = public(make(secret, 32))
			return true
		}}, "7.9.2"},
		{"a wrong confirmation tag", nil, plan{final: func(m *publicMessage, _ *Group) { m.confirmationTag = make([]byte, hashSize) }}, "6.1"},
		{"a wrong signature", nil, plan{final: func(m *publicMessage, _ *Group) { m.signature = m.path().signature }}, "5.1.2"},
		{"another's name", nil, plan{final: func(m *publicMessage, g *Group) { m.sender.index = 2; again(m, g) }}, "5.1.2"},
		{"a name of nobody", nil, plan{final: func(m *publicMessage, g *Group) { m.sender.index = 6; again(m, g) }}, "6.1"},
		{"a name beyond the tree", nil, plan{final: func(m *publicMessage, g *Group) { m.sender.index = 1<<32 - 1; again(m, g) }}, "6.1"},
		{"an outsider", nil, plan{final: func(m *publicMessage, g *Group) { m.sender = sender{senderExternal, 0}; again(m, g) }}, "6.1"},
		{"another epoch", nil, plan{final: func(m *publicMessage, g *Group) { m.epoch++; again(m, g) }}, "6"},
		{"another group", nil, plan{final: func(m *publicMessage, g *Group) { m.group = nil; again(m, g) }}, "6"},
		{"a proposal of its own", nil, plan{final: func(m *publicMessage, g *Group) {
			m.commit.proposals = []proposalOrRef{{proposal: &proposal{remove: 2}}}
			again(m, g)
		}}, "12.4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := c.read(t, tt.proposals...)
			before := c.victim().EpochAuthenticator()
			_, err := c.victim().Apply(c.villain().forge(t, known, tt.plan), known)
			refused(t, err, tt.section)
			if !bytes.Equal(before, c.victim().EpochAuthenticator()) {
				t.Error("the victim's group has changed")
			}
		})
	}

	all := c.read(t, remove2, add)
	if _, err := c.victim().Apply(c.villain().forge(t, all, plan{}), all); err != nil {
		t.Errorf("what is right: %v", err)
	}
	own := c.read(t, remove1)
	if _, err := c.victim().Apply(c.villain().forge(t, own, plan{}), own); err != ErrRemoved {
		t.Errorf("our own removal: %v", err)
	}
	if _, err := c.villain().Apply(c.villain().forge(t, nil, plan{}), nil); err == nil {
		t.Error("a commit of one's own is applied")
	}
	if _, _, _, err := c.villain().Commit(nil, []*Proposal{{}}); err == nil {
		t.Error("a proposal of nobody is committed")
	}
}

// path returns the leaf of a commit's path.
func (m *publicMessage) path() *leafNode { return m.commit.path.leaf }

// TestHostileWelcomes: welcomes lead to a tree that an insider has made up.
func TestHostileWelcomes(t *testing.T) {
	parent := func(t ratchetTree, x nodeIndex, change func(*parentNode)) {
		p := *t[x].parent
		p.unmergedLeaves = slices.Clone(p.unmergedLeaves)
		change(&p)
		t[x] = node{parent: &p}
	}
	for _, tt := range []struct {
		name    string
		tree    func(ratchetTree)   // changes the tree; its hash is then right again
		info    func(*Group, *cast) // changes the rest
		path    secret              // for the node in common with the villain
		section string
	}{
		{name: "nothing wrong"},
		{name: "a path secret that does not give the key", path: make(secret, hashSize), section: "7.5"},
		{name: "a path secret too short", path: secret{1}, section: "5.1"},
		{name: "another tree hash", info: func(g *Group, _ *cast) { g.context.treeHash = make([]byte, hashSize) }, section: "12.4.3.1"},
		{name: "signed by nobody", info: func(g *Group, _ *cast) { g.own = 7 }, section: "12.4.3.1"},
		{name: "signed by nobody in the tree", info: func(g *Group, _ *cast) { g.own = 1<<32 - 1 }, section: "12.4.3.1"},
		{name: "signed for another", info: func(g *Group, _ *cast) { g.own = 3 }, section: "5.1.2"},
		{name: "a wrong confirmation tag", info: func(g *Group, _ *cast) { g.confirmationTag = make([]byte, hashSize) }, section: "12.4.3.1"},
		{name: "a group of another extension", info: func(g *Group, _ *cast) {
			g.context.extensions = append(slices.Clone(g.context.extensions), extension{kind: 0xff01})
		}, section: "7.3"},
		{name: "external senders in disorder", info: func(g *Group, _ *cast) {
			g.context.extensions = []extension{{extensionExternalSenders, []byte{5}}}
		}, section: "2"},
		{name: "required capabilities that all have", info: func(g *Group, _ *cast) {
			g.context.extensions = []extension{{extensionRequiredCapabilities, []byte{2, 0, 5, 2, 0, 3, 2, 0, 1}}}
		}},
		{name: "required credentials that nobody has", info: func(g *Group, _ *cast) {
			g.context.extensions = []extension{{extensionRequiredCapabilities, []byte{0, 0, 2, 0, 2}}}
		}, section: "11.1"},
		{name: "required capabilities that nobody has", info: func(g *Group, _ *cast) {
			g.context.extensions = []extension{{extensionRequiredCapabilities, []byte{0, 2, 0, 9, 0}}}
		}, section: "11.1"},
		{name: "without us", tree: func(t ratchetTree) {
			t[10] = node{}
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = nil })
		}, section: "12.4.3.1"},
		{name: "a member twice", tree: func(t ratchetTree) { t[12] = t[10] }, section: "7.3"},
		{name: "a member in the wrong place", tree: func(t ratchetTree) { t[12] = t[2] }, section: "5.1.2"},
		{name: "a member with another name", tree: func(t ratchetTree) {
			l := *t[4].leaf
			l.raw = bytes.Replace(l.raw, identityOf(2), identityOf(3), 1)
			t[4] = node{leaf: &l}
		}, section: "5.1.2"},
		{name: "an unmerged leaf of nobody", tree: func(t ratchetTree) {
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = []leafIndex{7} })
		}, section: "12.4.3.1"},
		{name: "an unmerged leaf beyond the tree", tree: func(t ratchetTree) {
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = []leafIndex{1<<32 - 1} })
		}, section: "12.4.3.1"},
		{name: "an unmerged leaf of another branch", tree: func(t ratchetTree) {
			parent(t, 1, func(p *parentNode) { p.unmergedLeaves = []leafIndex{2} })
		}, section: "12.4.3.1"},
		{name: "an unmerged leaf twice", tree: func(t ratchetTree) {
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = []leafIndex{5, 5} })
		}, section: "7.1"},
		{name: "unmerged leaves in disorder", tree: func(t ratchetTree) {
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = []leafIndex{5, 1} })
		}, section: "7.1"},
		{name: "a leaf that is unmerged above and not below", tree: func(t ratchetTree) {
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = []leafIndex{1} })
		}, section: "12.4.3.1"},
		{name: "a leaf that is merged without having been", tree: func(t ratchetTree) {
			parent(t, 7, func(p *parentNode) { p.unmergedLeaves = nil })
		}, section: "7.9.2"},
		{name: "a parent with another key", tree: func(t ratchetTree) {
			parent(t, 3, func(p *parentNode) { _, p.encryptionKey, _ = newKeyPair(nil) })
		}, section: "7.9.2"},
		{name: "a parent with a key off the curve", tree: func(t ratchetTree) {
			parent(t, 3, func(p *parentNode) { p.encryptionKey = make([]byte, pointSize) })
		}, section: "5.1.1"},
		{name: "a parent with the key of a leaf", tree: func(t ratchetTree) {
			parent(t, 3, func(p *parentNode) { p.encryptionKey = t[0].leaf.encryptionKey })
		}, section: "7.3"},
		{name: "a parent with another parent hash", tree: func(t ratchetTree) {
			parent(t, 3, func(p *parentNode) { p.parentHash = make([]byte, hashSize) })
		}, section: "7.9.2"},
		{name: "a parent that vouches for itself", tree: func(t ratchetTree) {
			parent(t, 3, func(p *parentNode) { p.parentHash = t.parentHashOf(3, 1) })
		}, section: "7.9.2"},
		{name: "a parent where none was", tree: func(t ratchetTree) {
			_, key, _ := newKeyPair(nil)
			t[13] = node{parent: &parentNode{encryptionKey: key}}
		}, section: "7.9.2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCast(t)
			message := c.add(t, c.spare)
			list := []*Proposal{must[*Proposal](t)(c.villain().Proposal(message))}
			tree, _, err := c.villain().applyProposals(list, 0) // as by a commit without a path
			if err != nil {
				t.Fatal(err)
			}
			next := *c.villain()
			g := &next
			g.context.epoch++
			g.tree = tree
			if tt.tree != nil {
				tt.tree(tree)
			}
			g.tree = reread(t, g.tree)
			g.context.treeHash = g.tree.hash()
			signing := *g
			if tt.info != nil {
				tt.info(&signing, c)
			}
			joiner := make(secret, hashSize)
			tag := signing.confirmationTag
			signing.enter(memberSecret(joiner))
			if bytes.Equal(tag, make([]byte, hashSize)) {
				signing.confirmationTag = tag
			}
			fresh := new(freshPath)
			if tt.path != nil {
				fresh = &freshPath{path: []nodeIndex{7}, pathSecrets: []secret{tt.path}}
			}
			w := must[[]byte](t)((&signing).welcome(joiner, fresh, list, []leafIndex{5}))
			joined, err := Join(w, c.spare)
			if tt.section == "" {
				if err != nil || len(joined.Members()) != 6 {
					t.Errorf("what is right: %v", err)
				}
				return
			}
			refused(t, err, tt.section)
			if c.spare.init == nil {
				t.Error("the key package is used up by a welcome that failed")
			}
		})
	}
}

// reread is a tree as another would read it.
func reread(t *testing.T, tree ratchetTree) ratchetTree {
	t.Helper()
	var w writer
	tree.write(&w)
	return must[ratchetTree](t)(read(w, readRatchetTree))
}

func TestHostileTrees(t *testing.T) {
	c := newCast(t)
	leaf := append([]byte{1, 1}, c.villain().tree[0].leaf.raw...)
	var w writer
	w.uint8(1)
	w.uint8(2)
	c.villain().tree[1].parent.write(&w)
	parent := []byte(w)
	vectorOf := func(parts ...[]byte) []byte {
		var w writer
		w.opaque(slices.Concat(parts...))
		return w
	}
	for _, tt := range []struct {
		name    string
		tree    []byte
		section string
	}{
		{"no nodes", vectorOf(), "12.4.3.3"},
		{"a blank node alone", vectorOf([]byte{0}), "12.4.3.3"},
		{"a blank node at the end", vectorOf(leaf, []byte{0}), "12.4.3.3"},
		{"a leaf where a parent belongs", vectorOf(leaf, leaf, leaf), "12.4.3.3"},
		{"a parent where a leaf belongs", vectorOf(parent), "12.4.3.3"},
		{"a node of another type", vectorOf([]byte{1, 3}), "7.8"},
		{"a node neither there nor not", vectorOf([]byte{2}), "2.1.1"},
		{"too many nodes", vectorOf(leaf, make([]byte, 2*maxLeaves-1), parent), "2"},
		{"a length that says more", append([]byte{0xbf, 0xff, 0xff, 0xff}, leaf...), "2"},
		{"a length in too many bytes", append([]byte{0x40, 1}, 0), "2.1.2"},
		{"a length in eight bytes", append([]byte{0xc0, 0, 0, 0, 0, 0, 0, 1}, 0), "2.1.2"},
		{"something behind it", append(vectorOf(leaf), 0), "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(tt.tree, readRatchetTree)
			refused(t, err, tt.section)
		})
	}
	if _, err := read(make([]byte, maxMessage+1), readRatchetTree); err == nil {
		t.Error("a message without end is read")
	}
}

// Every message, cut short at any byte, is an Error; with any byte changed it is
// refused, since everything in it is signed, authenticated or encrypted.
func TestDamagedMessages(t *testing.T) {
	c := newCast(t)
	add := c.add(t, c.spare)
	known := c.read(t, add)
	commit, w, _, err := c.villain().Commit(nil, known)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		message []byte
		take    func([]byte) error
		longer  bool // there may be something behind it
	}{
		{"proposal", add, func(b []byte) error { _, err := c.victim().Proposal(b); return err }, false},
		{"commit", commit, func(b []byte) error { _, err := c.victim().Apply(b, known); return err }, false},
		{"welcome", w, func(b []byte) error { _, err := Join(b, c.spare); return err }, false},
		{"key package", c.spare.Marshal(), func(b []byte) error { _, _, err := ReadKeyPackage(b); return err }, false},
		{"commit, inspected", commit, func(b []byte) error { _, _, err := Inspect(b); return err }, true},
		{"proposal, found", add, func(b []byte) error { _, _, err := Next(b); return err }, true},
		{"welcome, divided", w, func(b []byte) error { _, err := WelcomeFor(b, c.spare.Ref()); return err }, true},
		{"external sender", ExternalSender{c.service.Public(), identityOf(1)}.Marshal(),
			func(b []byte) error { _, err := ParseExternalSender(b); return err }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for n := range tt.message {
				err := tt.take(tt.message[:n])
				if _, ok := errors.AsType[*Error](err); !ok {
					t.Fatalf("cut at %d of %d bytes: %v", n, len(tt.message), err)
				}
			}
			if !tt.longer {
				if err := tt.take(append(slices.Clone(tt.message), 0)); err == nil {
					t.Error("taken with a byte too many")
				}
				for i := range tt.message {
					damaged := slices.Clone(tt.message)
					damaged[i] ^= 1 << (i % 8)
					if _, ok := errors.AsType[*Error](tt.take(damaged)); !ok {
						t.Fatalf("taken, with byte %d of %d changed", i, len(tt.message))
					}
				}
			}
			if err := tt.take(tt.message); err != nil {
				t.Errorf("what is right: %v", err)
			}
		})
	}
}

// What is allocated for a message stays in proportion to it, whatever lengths and
// counts it claims.
func TestBoundedMemory(t *testing.T) {
	c := newCast(t)
	lengths := [][]byte{{0xbf, 0xff, 0xff, 0xff}, {0x80, 0x0f, 0xff, 0x00}, {0x7f, 0xff}, {0x3f}}
	commit := must3(t)(c.villain().Commit(nil, nil))
	_, w, _, err := c.villain().Commit(nil, []*Proposal{must[*Proposal](t)(c.villain().Proposal(c.add(t, c.spare)))})
	if err != nil {
		t.Fatal(err)
	}
	heads := map[string][]byte{"commit": commit, "welcome": w, "key package": c.spare.Marshal(), "tree": nil}
	for name, head := range heads {
		for _, length := range lengths {
			for at := 0; at <= min(len(head), 600); at += 7 {
				for _, fill := range []byte{0, 1, 2, 0x21} {
					b := slices.Concat(head[:at], length, bytes.Repeat([]byte{fill}, 1<<12))
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					_, _ = read(b, readPublicMessage)
					_, _ = read(b, readWelcome)
					_, _ = read(b, readKeyPackage)
					_, _ = read(b, readRatchetTree)
					_, _ = read(b, readGroupInfo)
					runtime.ReadMemStats(&after)
					if used := after.TotalAlloc - before.TotalAlloc; used > 64*uint64(len(b)) {
						t.Fatalf("%s with %x at %d: %d bytes allocated for %d", name, length, at, used, len(b))
					}
				}
			}
		}
	}
}

// Clear overwrites every secret of a group and a key package.
func TestClearOverwrites(t *testing.T) {
	c := newCast(t)
	g, k := c.villain(), c.spare
	secrets := []secret{
		g.secrets.init, g.secrets.exporter, g.secrets.confirmation, g.secrets.membership, g.secrets.authenticator,
		k.init, k.leaf,
	}
	for _, s := range g.privateKeys {
		secrets = append(secrets, s)
	}
	if len(secrets) < 10 {
		t.Fatalf("only %d secrets", len(secrets))
	}
	g.Clear()
	k.Clear()
	for i, s := range secrets {
		if !bytes.Equal(s, make([]byte, len(s))) {
			t.Errorf("secret %d is not overwritten", i)
		}
	}
}

// Randomness that ends is an error, not a weak key.
func TestNoRandomness(t *testing.T) {
	c := newCast(t)
	for n := range 100 {
		short := io.LimitReader(bytes.NewReader(make([]byte, 100)), int64(n))
		s, err := NewSigner(short)
		if err != nil {
			continue
		}
		if _, err := NewKeyPackage(short, s, identityOf(1)); err == nil && n < 3*hashSize {
			t.Errorf("%d bytes are enough for three keys", n)
		}
	}
	if _, _, _, err := c.villain().Commit(strings.NewReader("too little"), nil); err == nil {
		t.Error("a commit is made of nothing")
	}
}
