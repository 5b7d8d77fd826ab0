package mls

import (
	"bytes"
	"io"
	"maps"
	"slices"
)

// A commit is Commit of section 12.4.
type commit struct {
	proposals []proposalOrRef
	path      *updatePath // nil if there is none
}

// A proposalOrRef is a proposal by value or by reference.
type proposalOrRef struct {
	proposal *proposal // nil if there is a reference
	ref      []byte
}

func readCommit(r *reader) *commit {
	c := &commit{proposals: vector(r, func(r *reader) (p proposalOrRef) {
		switch kind := r.uint8(); kind {
		case 1:
			p.proposal = readProposal(r)
		case 2:
			p.ref = r.sized(hashSize, "a reference")
		default:
			r.fail("12.4", "a proposal or reference of type %d", kind)
		}
		return p
	})}
	if r.present() {
		c.path = readUpdatePath(r)
	}
	return c
}

func (c *commit) write(w *writer) {
	writeVector(w, c.proposals, func(w *writer, p proposalOrRef) {
		if p.proposal != nil {
			w.uint8(1)
			p.proposal.write(w)
		} else {
			w.uint8(2)
			w.opaque(p.ref)
		}
	})
	if w.present(c.path != nil) {
		c.path.write(w)
	}
}

// pathRequired is section 12.4: only a commit that only adds may lack a path.
func pathRequired(list []*Proposal) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(p *Proposal) bool { return p.Add == nil })
}

// Commit makes a commit of proposals, in this order, and the group of the next epoch, which the
// caller is in if everybody follows this commit (section 12.4.1). It always has a path, so that
// the keys of the committer are fresh. The welcome is nil if nobody is added; it carries the tree.
// The commit is an MLSMessage, the welcome a bare Welcome. A nil reader means crypto/rand's.
func (g *Group) Commit(rand io.Reader, proposals []*Proposal) (message, welcome []byte, next *Group, err error) {
	if g.secrets == nil {
		return nil, nil, nil, ErrCleared
	}
	tree, added, err := g.applyProposals(proposals, g.own)
	if err != nil {
		return nil, nil, nil, err
	}
	fresh, err := tree.refresh(rand, g.own, g.signer, g.context.groupID)
	if err != nil {
		return nil, nil, nil, err
	}
	defer fresh.clear()
	context := g.context
	context.epoch++
	context.treeHash = tree.hash()
	c := new(commit)
	for _, p := range proposals {
		c.proposals = append(c.proposals, proposalOrRef{ref: p.Ref})
	}
	if c.path, err = fresh.seal(tree, added, context.marshal()); err != nil {
		return nil, nil, nil, err
	}

	m := &publicMessage{framedContent: framedContent{
		group: g.context.groupID, epoch: g.context.epoch, sender: sender{senderMember, uint32(g.own)}, commit: c,
	}}
	m.framedContent.write()
	if m.signature, err = g.signer.sign("FramedContentTBS", m.tbs(&g.context)); err != nil {
		return nil, nil, nil, err
	}
	next, joiner := g.advance(m, tree, context, fresh.keys, fresh.commit)
	defer joiner.clear()
	m.confirmationTag = next.confirmationTag
	m.membershipTag = m.membership(&g.context, g.secrets.membership)
	if len(added) > 0 {
		if welcome, err = next.welcome(joiner, fresh, proposals, added); err != nil {
			next.Clear()
			return nil, nil, nil, err
		}
	}
	return m.marshal(), welcome, next, nil
}

// Apply follows another member's commit, which must contain only references to known proposals
// (section 12.4.2). It returns [ErrRemoved] if that removes the caller.
func (g *Group) Apply(message []byte, known []*Proposal) (next *Group, err error) {
	return g.apply(message, func(p proposalOrRef) (*Proposal, error) {
		if p.proposal != nil {
			return nil, faultf("12.4", "a commit with a proposal of its own")
		}
		return lookUp(known, p.ref)
	})
}

func lookUp(known []*Proposal, ref []byte) (*Proposal, error) {
	for _, k := range known {
		if bytes.Equal(k.Ref, ref) {
			return k, nil
		}
	}
	return nil, faultf("12.4", "a commit of a proposal that is not known")
}

func (g *Group) apply(message []byte, resolve func(proposalOrRef) (*Proposal, error)) (next *Group, err error) {
	m, err := read(message, readPublicMessage)
	if err != nil {
		return nil, err
	}
	if m.commit == nil {
		return nil, faultf("12.4", "no commit")
	}
	if err := g.authenticate(m); err != nil {
		return nil, err
	}
	committer := leafIndex(m.sender.index)
	if committer == g.own {
		return nil, faultf("12.4.2", "a commit of our own")
	}
	var list []*Proposal
	for _, p := range m.commit.proposals {
		known, err := resolve(p)
		if err != nil {
			return nil, err
		}
		list = append(list, known)
	}
	tree, added, err := g.applyProposals(list, committer)
	if err != nil {
		return nil, err
	}
	path := m.commit.path
	if path == nil && pathRequired(list) {
		return nil, faultf("12.4", "a commit without a path that needs one")
	}
	if path != nil {
		if err := path.merge(tree, committer, g.context.groupID, g.context.extensions); err != nil {
			return nil, err
		}
	}
	if removes(list, g.own) {
		return nil, ErrRemoved
	}
	context := g.context
	context.epoch++
	context.treeHash = tree.hash()
	var derived privateKeys
	commitSecret := make(secret, hashSize)
	if path != nil {
		if derived, commitSecret, err = path.open(tree, committer, g.own, g.privateKeys, added, context.marshal()); err != nil {
			return nil, err
		}
	}
	defer commitSecret.clear()
	next, joiner := g.advance(m, tree, context, derived, commitSecret)
	joiner.clear()
	if !sameMAC(m.confirmationTag, next.confirmationTag) {
		next.Clear()
		return nil, faultf("6.1", "a wrong confirmation tag")
	}
	return next, nil
}

// advance returns the group after a commit: the transcript, the key schedule and the private keys
// that stay or become useful (section 12.4.1, 12.4.2). The context is the provisional one.
func (g *Group) advance(m *publicMessage, tree ratchetTree, context groupContext, derived privateKeys, commitSecret secret) (next *Group, joiner secret) {
	context.confirmedTranscriptHash = confirmedTranscriptHash(g.interim, m)
	next = &Group{
		signer: g.signer, own: g.own,
		context: context, externalSenders: g.externalSenders,
		tree: tree, privateKeys: make(privateKeys),
	}
	maps.Copy(next.privateKeys, derived)
	for x, s := range g.privateKeys {
		kept := int(x) < len(tree) && bytes.Equal(tree[x].encryptionKey(), g.tree[x].encryptionKey())
		if kept && next.privateKeys[x] == nil {
			next.privateKeys[x] = slices.Clone(s) // each group clears its own
		}
	}
	joiner = joinerSecret(g.secrets.init, commitSecret, context.marshal())
	member := memberSecret(joiner)
	defer member.clear()
	next.enter(member)
	return next, joiner
}

// enter adds the secrets of the epoch to a group whose context is final.
func (g *Group) enter(member secret) {
	epoch := epochSecret(member, g.context.marshal())
	defer epoch.clear()
	g.secrets = deriveEpochSecrets(epoch)
	g.confirmationTag = mac(g.secrets.confirmation, g.context.confirmedTranscriptHash)
	g.interim = interimTranscriptHash(g.context.confirmedTranscriptHash, g.confirmationTag)
}
