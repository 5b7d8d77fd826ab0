package mls

// A groupContext is GroupContext of section 8.1.
type groupContext struct {
	groupID                 []byte
	epoch                   uint64
	treeHash                []byte
	confirmedTranscriptHash []byte
	extensions              []extension
}

// maxGroupID bounds the identifier of a group. Discord's have eight bytes.
const maxGroupID = 1 << 10

func readGroupContext(r *reader) (c groupContext) {
	if version, suite := r.uint16(), r.uint16(); r.err == nil && (version != protocolVersion || suite != cipherSuite) {
		r.fail("8.1", "a group of version %d and cipher suite %d", version, suite)
	}
	c.groupID, c.epoch = r.opaque(), r.uint64()
	if len(c.groupID) > maxGroupID {
		r.fail("8.1", "a group identifier of %d bytes", len(c.groupID))
	}
	c.treeHash = r.sized(hashSize, "a tree hash")
	c.confirmedTranscriptHash = r.hashOrEmpty("a transcript hash")
	c.extensions = readExtensions(r)
	return c
}

func (c *groupContext) marshal() []byte {
	var w writer
	w.uint16(protocolVersion)
	w.uint16(cipherSuite)
	w.opaque(c.groupID)
	w.uint64(c.epoch)
	w.opaque(c.treeHash)
	w.opaque(c.confirmedTranscriptHash)
	writeExtensions(&w, c.extensions)
	return w
}

// epochSecrets are the secrets of section 8 that are needed here.
type epochSecrets struct {
	init          secret
	exporter      secret
	confirmation  secret
	membership    secret
	authenticator secret
}

func (s *epochSecrets) clear() {
	for _, s := range []secret{s.init, s.exporter, s.confirmation, s.membership, s.authenticator} {
		s.clear()
	}
}

// joinerSecret is the first step of section 8: from the previous epoch to the secret for new
// members.
func joinerSecret(init, commitSecret secret, context []byte) secret {
	s := extract(init, commitSecret)
	defer s.clear()
	return expandWithLabel(s, "joiner", context, hashSize)
}

// memberSecret is the second step. There are no pre-shared keys, so psk_secret is
// all zeros.
func memberSecret(joiner secret) secret { return extract(joiner, make([]byte, hashSize)) }

func welcomeSecret(member secret) secret { return deriveSecret(member, "welcome") }

func epochSecret(member secret, context []byte) secret {
	return expandWithLabel(member, "epoch", context, hashSize)
}

func deriveEpochSecrets(epoch secret) *epochSecrets {
	return &epochSecrets{
		init:          deriveSecret(epoch, "init"),
		exporter:      deriveSecret(epoch, "exporter"),
		confirmation:  deriveSecret(epoch, "confirm"),
		membership:    deriveSecret(epoch, "membership"),
		authenticator: deriveSecret(epoch, "authentication"),
	}
}

// export is MLS-Exporter of section 8.5.
func (s *epochSecrets) export(label string, context []byte, length int) secret {
	derived := deriveSecret(s.exporter, label)
	defer derived.clear()
	return expandWithLabel(derived, "exported", hash(context), length)
}

// The transcript hashes (section 8.2): one over all commits up to their signature, and one that
// also covers the confirmation tag of the last.

func confirmedTranscriptHash(interim []byte, commit *publicMessage) []byte {
	var w writer
	w.uint16(wirePublicMessage)
	w.bytes(commit.raw)
	w.opaque(commit.signature)
	return hash(interim, w)
}

func interimTranscriptHash(confirmed, confirmationTag []byte) []byte {
	var w writer
	w.opaque(confirmationTag)
	return hash(confirmed, w)
}
