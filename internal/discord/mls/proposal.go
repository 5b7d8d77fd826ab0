package mls

import (
	"bytes"
	"slices"
)

const (
	proposalAdd    = 1
	proposalRemove = 3
)

// A proposal is Proposal of section 12.1: an Add if add is set, else a Remove. There
// are no others here.
type proposal struct {
	add    *keyPackage
	remove leafIndex
}

func readProposal(r *reader) *proposal {
	switch kind := r.uint16(); kind {
	case proposalAdd:
		return &proposal{add: readKeyPackage(r)}
	case proposalRemove:
		return &proposal{remove: leafIndex(r.uint32())}
	default:
		r.fail("12.1", "a proposal of type %d", kind)
		return &proposal{}
	}
}

func (p *proposal) write(w *writer) {
	if p.add != nil {
		w.uint16(proposalAdd)
		w.bytes(p.add.raw)
		return
	}
	w.uint16(proposalRemove)
	w.uint32(uint32(p.remove))
}

// A Proposal is a valid change that an external sender of this group has proposed, and that can be
// committed: its signature, group and epoch are right, and so is the key package that it adds
// (section 12.1). It does not change.
type Proposal struct {
	Ref    []byte  // by which a commit names it, 32 bytes
	Add    *Member // whom it adds, without a leaf; nil if it removes
	Remove uint32  // the leaf that it removes

	proposal *proposal
	group    []byte
	epoch    uint64
}

// Proposal reads an MLSMessage with a proposal.
func (g *Group) Proposal(message []byte) (*Proposal, error) {
	m, err := read(message, readPublicMessage)
	if err != nil {
		return nil, err
	}
	if m.sender.kind != senderExternal {
		return nil, faultf("12.1.8", "a proposal of a sender of type %d", m.sender.kind)
	}
	return g.accept(m)
}

// accept checks a message with a proposal, whoever sent it.
func (g *Group) accept(m *publicMessage) (*Proposal, error) {
	if m.proposal == nil {
		return nil, faultf("12.1", "no proposal")
	}
	if err := g.authenticate(m); err != nil {
		return nil, err
	}
	return g.consider(m.proposal, makeProposalRef(m.authenticatedContent()))
}

// consider checks a proposal by itself (section 12.1.1, 12.1.3).
func (g *Group) consider(p *proposal, ref []byte) (*Proposal, error) {
	known := &Proposal{Ref: ref, proposal: p, group: g.context.groupID, epoch: g.context.epoch}
	if p.add == nil {
		if g.tree.leaf(p.remove) == nil {
			return nil, faultf("12.1.3", "the removal of leaf %d, where nobody is", p.remove)
		}
		known.Remove = uint32(p.remove)
		return known, nil
	}
	if err := p.add.validate(g.context.extensions); err != nil {
		return nil, err
	}
	m := p.add.leaf.member(0)
	known.Add = &m
	return known, nil
}

// applyProposals validates a list of proposals (section 12.2) and applies it to a
// copy of the tree (section 12.3). It returns the leaves of those who were added, in
// the order of the proposals.
func (g *Group) applyProposals(list []*Proposal, committer leafIndex) (tree ratchetTree, added []leafIndex, err error) {
	tree = slices.Clone(g.tree)
	for _, p := range list {
		if p.proposal == nil || p.epoch != g.context.epoch || !bytes.Equal(p.group, g.context.groupID) {
			return nil, nil, faultf("12.1", "a proposal of another epoch")
		}
		if p.Add != nil {
			continue
		}
		switch l := p.proposal.remove; {
		case l == committer:
			return nil, nil, faultf("12.2", "a commit that removes its sender")
		case tree.leaf(l) == nil:
			return nil, nil, faultf("12.2", "leaf %d is removed twice", l)
		default:
			tree.remove(l)
		}
	}
	for _, p := range list {
		if p.Add == nil {
			continue
		}
		l, err := tree.add(p.proposal.add.leaf)
		if err != nil {
			return nil, nil, err
		}
		added = append(added, l)
	}
	return tree, added, tree.validateUnique()
}

// removes reports whether a list of proposals removes a leaf.
func removes(list []*Proposal, l leafIndex) bool {
	return slices.ContainsFunc(list, func(p *Proposal) bool { return p.Add == nil && p.proposal.remove == l })
}
