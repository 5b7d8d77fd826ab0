package mls

import "bytes"

// Messages as framed by section 6. All of ours are a PublicMessage: the delivery service has to
// read them.

const (
	wirePublicMessage = 1
	contentProposal   = 2
	contentCommit     = 3
)

type senderKind uint8

const (
	senderMember   senderKind = 1
	senderExternal senderKind = 2
)

// A sender is Sender of section 6. The index is the leaf of a member, or the place of
// an external sender in its list.
type sender struct {
	kind  senderKind
	index uint32
}

// A framedContent is FramedContent of section 6, with one of a proposal and a commit.
type framedContent struct {
	group             []byte
	epoch             uint64
	sender            sender
	authenticatedData []byte
	proposal          *proposal
	commit            *commit

	raw []byte
}

func readFramedContent(r *reader) (c framedContent) {
	from := r.at
	c.group, c.epoch = r.opaque(), r.uint64()
	c.sender.kind = senderKind(r.uint8())
	if k := c.sender.kind; r.err == nil && k != senderMember && k != senderExternal {
		r.fail("6", "a sender of type %d", k)
	}
	c.sender.index = r.uint32()
	c.authenticatedData = r.opaque()
	switch kind := r.uint8(); kind {
	case contentProposal:
		c.proposal = readProposal(r)
	case contentCommit:
		c.commit = readCommit(r)
	default:
		r.fail("6", "content of type %d", kind)
	}
	c.raw = r.since(from)
	return c
}

// write sets raw from the other fields.
func (c *framedContent) write() {
	var w writer
	w.opaque(c.group)
	w.uint64(c.epoch)
	w.uint8(uint8(c.sender.kind))
	w.uint32(c.sender.index)
	w.opaque(c.authenticatedData)
	if c.proposal != nil {
		w.uint8(contentProposal)
		c.proposal.write(&w)
	} else {
		w.uint8(contentCommit)
		c.commit.write(&w)
	}
	c.raw = w
}

// A publicMessage is PublicMessage of section 6.2: the content and what authenticates
// it.
type publicMessage struct {
	framedContent
	signature       []byte
	confirmationTag []byte // of a commit
	membershipTag   []byte // of a member
}

// readPublicMessage reads one out of its MLSMessage.
func readPublicMessage(r *reader) *publicMessage {
	if version, format := r.uint16(), r.uint16(); r.err == nil && (version != protocolVersion || format != wirePublicMessage) {
		r.fail("6", "a message of version %d and wire format %d", version, format)
	}
	m := &publicMessage{framedContent: readFramedContent(r)}
	m.signature = r.opaque()
	if m.commit != nil {
		m.confirmationTag = r.sized(hashSize, "a confirmation tag")
	}
	if m.sender.kind == senderMember {
		m.membershipTag = r.sized(hashSize, "a membership tag")
	}
	return m
}

// Next returns the MLSMessage at the beginning of b, and the rest: in a list, nothing else marks
// its end. Only the form is checked.
func Next(b []byte) (message, rest []byte, err error) {
	if len(b) > maxMessage {
		return nil, nil, faultf("2", "a message of %d bytes", len(b))
	}
	r := &reader{whole: b}
	readPublicMessage(r)
	if r.err != nil {
		return nil, nil, r.err
	}
	return b[:r.at], b[r.at:], nil
}

// marshal is the MLSMessage.
func (m *publicMessage) marshal() []byte {
	var w writer
	w.uint16(protocolVersion)
	w.bytes(m.authenticatedContent())
	if m.sender.kind == senderMember {
		w.opaque(m.membershipTag)
	}
	return w
}

// authenticatedContent is AuthenticatedContent of section 6.
func (m *publicMessage) authenticatedContent() []byte {
	var w writer
	w.uint16(wirePublicMessage)
	w.bytes(m.raw)
	w.bytes(m.auth())
	return w
}

// auth is FramedContentAuthData of section 6.1.
func (m *publicMessage) auth() []byte {
	var w writer
	w.opaque(m.signature)
	if m.commit != nil {
		w.opaque(m.confirmationTag)
	}
	return w
}

// tbs is FramedContentTBS of section 6.1. The context counts if a member sends.
func (m *publicMessage) tbs(c *groupContext) []byte {
	var w writer
	w.uint16(protocolVersion)
	w.uint16(wirePublicMessage)
	w.bytes(m.raw)
	if m.sender.kind == senderMember {
		w.bytes(c.marshal())
	}
	return w
}

// membership is the membership_tag of section 6.2.
func (m *publicMessage) membership(c *groupContext, key secret) []byte {
	return mac(key, append(m.tbs(c), m.auth()...))
}

// authenticate checks that a message is for this group and epoch and comes from its stated sender
// (section 6.1, 6.2), but not its confirmation tag.
func (g *Group) authenticate(m *publicMessage) error {
	if !bytes.Equal(m.group, g.context.groupID) {
		return faultf("6", "a message for another group")
	}
	if m.epoch != g.context.epoch {
		return faultf("6", "a message for epoch %d in epoch %d", m.epoch, g.context.epoch)
	}
	if m.sender.kind == senderExternal {
		if m.commit != nil {
			return faultf("6.1", "a commit of an external sender")
		}
		senders := g.externalSenders
		if uint64(m.sender.index) >= uint64(len(senders)) {
			return faultf("6.1", "external sender %d of %d", m.sender.index, len(senders))
		}
		return verify(senders[m.sender.index].SignatureKey, "FramedContentTBS", m.tbs(nil), m.signature)
	}
	leaf := g.tree.leaf(leafIndex(m.sender.index))
	if leaf == nil {
		return faultf("6.1", "a message of leaf %d, where nobody is", m.sender.index)
	}
	if g.secrets == nil {
		return ErrCleared
	}
	if !sameMAC(m.membershipTag, m.membership(&g.context, g.secrets.membership)) {
		return faultf("6.2", "a wrong membership tag")
	}
	return verify(leaf.signatureKey, "FramedContentTBS", m.tbs(&g.context), m.signature)
}
