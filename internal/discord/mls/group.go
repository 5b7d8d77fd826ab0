package mls

import (
	"bytes"
	"io"
)

// An ExternalSender may propose without being a member (section 12.1.8.1).
type ExternalSender struct {
	SignatureKey []byte // an uncompressed point
	Identity     []byte // of a basic credential
}

// ParseExternalSender reads one and nothing behind it.
func ParseExternalSender(b []byte) (ExternalSender, error) {
	e, err := read(b, readExternalSender)
	if err == nil {
		err = checkPoint(e.SignatureKey)
	}
	if err != nil {
		return ExternalSender{}, err
	}
	return e, nil
}

func readExternalSender(r *reader) (e ExternalSender) {
	e.SignatureKey = r.opaque()
	e.Identity = readCredential(r)
	return e
}

// Marshal returns its wire form.
func (e ExternalSender) Marshal() []byte {
	var w writer
	w.opaque(e.SignatureKey)
	writeCredential(&w, e.Identity)
	return w
}

// Equal reports whether both are the same.
func (e ExternalSender) Equal(o ExternalSender) bool {
	return bytes.Equal(e.SignatureKey, o.SignatureKey) && bytes.Equal(e.Identity, o.Identity)
}

func externalSendersOf(extensions []extension) ([]ExternalSender, error) {
	data, ok := find(extensions, extensionExternalSenders)
	if !ok {
		return nil, nil
	}
	return read(data, func(r *reader) []ExternalSender { return vector(r, readExternalSender) })
}

// A Member is a non-blank leaf of the tree.
type Member struct {
	Leaf         uint32
	Identity     []byte
	SignatureKey []byte
}

// A Group is a member's view of an epoch. It does not change except by [Group.Clear], and may be
// used from any goroutine as long as nobody clears it.
type Group struct {
	signer          *Signer
	own             leafIndex
	context         groupContext
	externalSenders []ExternalSender // of the context's extensions
	tree            ratchetTree
	privateKeys     privateKeys
	secrets         *epochSecrets // nil once cleared
	confirmationTag []byte
	interim         []byte // interim_transcript_hash
}

// New creates a group of one member, at epoch 0 (section 11). It uses the leaf of k and not its
// init key, so that a [Join] with k is still possible. A nil reader means crypto/rand's.
func New(rand io.Reader, k *KeyPackage, id []byte, e ExternalSender) (*Group, error) {
	if len(id) > maxGroupID {
		return nil, faultf("8.1", "a group identifier of %d bytes", len(id))
	}
	if k.leaf == nil {
		return nil, ErrCleared
	}
	if err := checkPoint(e.SignatureKey); err != nil {
		return nil, err
	}
	var senders writer
	senders.opaque(e.Marshal())
	g := &Group{
		signer: k.signer,
		context: groupContext{
			groupID:    bytes.Clone(id),
			extensions: []extension{{extensionExternalSenders, senders}},
		},
		externalSenders: []ExternalSender{{bytes.Clone(e.SignatureKey), bytes.Clone(e.Identity)}},
		tree:            ratchetTree{{leaf: k.public.leaf}},
		privateKeys:     privateKeys{0: bytes.Clone(k.leaf)},
	}
	g.context.treeHash = g.tree.hash()
	epoch, err := random(rand)
	if err != nil {
		return nil, err
	}
	defer epoch.clear()
	g.secrets = deriveEpochSecrets(epoch)
	g.confirmationTag = mac(g.secrets.confirmation, nil)
	g.interim = interimTranscriptHash(nil, g.confirmationTag)
	return g, nil
}

// ID returns the group's identifier.
func (g *Group) ID() []byte { return bytes.Clone(g.context.groupID) }

// Epoch returns the number of commits so far.
func (g *Group) Epoch() uint64 { return g.context.epoch }

// Own returns the leaf of the member whose view it is.
func (g *Group) Own() Member { return g.tree.leaf(g.own).member(g.own) }

// Members returns everybody, in the order of their leaves.
func (g *Group) Members() []Member {
	var list []Member
	for l, leaf := range g.tree.occupied {
		list = append(list, leaf.member(l))
	}
	return list
}

// ExternalSenders returns the external senders.
func (g *Group) ExternalSenders() []ExternalSender {
	var list []ExternalSender
	for _, e := range g.externalSenders {
		list = append(list, ExternalSender{bytes.Clone(e.SignatureKey), bytes.Clone(e.Identity)})
	}
	return list
}

// Extensions returns the types of the extensions of the group context: for a group made by [New],
// only 5, external_senders.
func (g *Group) Extensions() []uint16 {
	var list []uint16
	for _, e := range g.context.extensions {
		list = append(list, e.kind)
	}
	return list
}

// maxExport is the limit of the key derivation, 255 hashes.
const maxExport = 255 * hashSize

// Export derives a secret of length bytes (section 8.5).
func (g *Group) Export(label string, context []byte, length int) ([]byte, error) {
	if g.secrets == nil {
		return nil, ErrCleared
	}
	if length < 1 || length > maxExport {
		return nil, faultf("8.5", "an exported secret of %d bytes", length)
	}
	return g.secrets.export(label, context, length), nil
}

// EpochAuthenticator is the same for all members of an epoch, and for nobody else
// (section 8.7). It is 32 bytes, or nil after [Group.Clear].
func (g *Group) EpochAuthenticator() []byte {
	if g.secrets == nil {
		return nil
	}
	return bytes.Clone(g.secrets.authenticator)
}

// Clear overwrites the secrets of the epoch and the private keys of this view. Methods that need
// them return [ErrCleared] after it. It must not run in parallel with other methods.
func (g *Group) Clear() {
	if g.secrets != nil {
		g.secrets.clear()
		g.secrets = nil
	}
	g.privateKeys.clear()
}
