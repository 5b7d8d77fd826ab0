package mls

// What a delivery service does, which is not a member (RFC 9750, section 4): it proposes as the
// external sender, orders commits, and hands each new member its part of a welcome.

// ProposeAdd returns an MLSMessage that proposes to add a published key package, and
// its reference. The sender is the first in the group's list.
func ProposeAdd(s *Signer, group []byte, epoch uint64, keyPackage []byte) (message, ref []byte, err error) {
	k, err := read(keyPackage, readKeyPackage)
	if err != nil {
		return nil, nil, err
	}
	return propose(s, group, epoch, &proposal{add: k})
}

// ProposeRemove returns an MLSMessage that proposes to remove a leaf, and its
// reference. The sender is the first in the group's list.
func ProposeRemove(s *Signer, group []byte, epoch uint64, leaf uint32) (message, ref []byte, err error) {
	return propose(s, group, epoch, &proposal{remove: leafIndex(leaf)})
}

func propose(s *Signer, group []byte, epoch uint64, p *proposal) (message, ref []byte, err error) {
	m := &publicMessage{framedContent: framedContent{
		group: group, epoch: epoch, sender: sender{senderExternal, 0}, proposal: p,
	}}
	m.framedContent.write()
	if m.signature, err = s.sign("FramedContentTBS", m.tbs(nil)); err != nil {
		return nil, nil, err
	}
	return m.marshal(), makeProposalRef(m.authenticatedContent()), nil
}

// A Handshake is what a non-member can read in a commit.
type Handshake struct {
	Group  []byte
	Epoch  uint64
	Sender uint32   // a leaf
	Refs   [][]byte // of its proposals, in order
	Inline bool     // it has proposals by value
}

// Inspect reads a commit, an MLSMessage at the beginning of b, and returns the rest. It verifies
// only the form: only members can verify more.
func Inspect(b []byte) (h Handshake, rest []byte, err error) {
	m, rest, err := readSome(b, readPublicMessage)
	if err != nil {
		return h, nil, err
	}
	if m.commit == nil || m.sender.kind != senderMember {
		return h, nil, faultf("12.4", "no commit of a member")
	}
	h = Handshake{Group: m.group, Epoch: m.epoch, Sender: m.sender.index}
	for _, p := range m.commit.proposals {
		if p.proposal != nil {
			h.Inline = true
		} else {
			h.Refs = append(h.Refs, p.ref)
		}
	}
	return h, rest, nil
}

// ReadKeyPackage checks a published key package, with its signatures, and returns the member it
// would add and its reference.
func ReadKeyPackage(b []byte) (m Member, ref []byte, err error) {
	k, err := read(b, readKeyPackage)
	if err != nil {
		return m, nil, err
	}
	if err := k.validate(nil); err != nil {
		return m, nil, err
	}
	return k.leaf.member(0), makeKeyPackageRef(k.raw), nil
}

// WelcomeFor returns the part of a welcome that is for one key package, by its
// reference.
func WelcomeFor(message, ref []byte) ([]byte, error) {
	w, err := read(message, readWelcome)
	if err != nil {
		return nil, err
	}
	if w, err = w.only(ref); err != nil {
		return nil, err
	}
	return w.marshal(), nil
}
