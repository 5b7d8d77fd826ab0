package mls

import (
	"errors"
	"io"
)

var errUnbuilt = errors.New("not built yet")

// A Signer is a signature key pair of a member or an external sender (§5.1):
// ECDSA over P-256. It is used from any goroutine.
type Signer struct{ _ int }

// NewSigner makes one. The reader is crypto/rand's unless a test says otherwise.
func NewSigner(rand io.Reader) (*Signer, error) { return nil, errUnbuilt }

// Public returns the public key, as an uncompressed point of 65 bytes.
func (s *Signer) Public() []byte { return nil }

// A KeyPackage is an invitation to be added to a group, with the private keys by
// which a [Join] is possible (§10). It may be joined with once.
type KeyPackage struct{ _ int }

// NewKeyPackage makes one whose credential is identity, valid at all times.
func NewKeyPackage(rand io.Reader, s *Signer, identity []byte) (*KeyPackage, error) {
	return nil, errUnbuilt
}

// Marshal returns what is published of it: a bare KeyPackage, not an MLSMessage.
func (k *KeyPackage) Marshal() []byte { return nil }

// Clear forgets its private keys.
func (k *KeyPackage) Clear() {}

// An ExternalSender is who may propose without being a member (§12.1.8.1).
type ExternalSender struct {
	SignatureKey []byte // an uncompressed point
	Identity     []byte // of a basic credential
}

// ParseExternalSender reads one and nothing behind it.
func ParseExternalSender(b []byte) (ExternalSender, error) { return ExternalSender{}, errUnbuilt }

// Marshal is its wire form.
func (e ExternalSender) Marshal() []byte { return nil }

// A Member is a leaf of the tree that is not blank.
type Member struct {
	Leaf         uint32
	Identity     []byte
	SignatureKey []byte
}

// A Group is a member's view of an epoch.
type Group struct{ _ int }

// New creates a group of one member, at epoch 0 (§11).
func New(rand io.Reader, k *KeyPackage, id []byte, e ExternalSender) (*Group, error) {
	return nil, errUnbuilt
}

// Join enters the group that a Welcome leads to, whose tree it must carry
// (§12.4.3.1). What the group is like, such as who its external sender is, is for
// the caller to judge.
func Join(welcome []byte, k *KeyPackage) (*Group, error) { return nil, errUnbuilt }

// ID returns the group's identifier.
func (g *Group) ID() []byte { return nil }

// Epoch returns the number of commits so far.
func (g *Group) Epoch() uint64 { return 0 }

// Own returns the leaf of whose view it is.
func (g *Group) Own() Member { return Member{} }

// Members returns everybody, in the order of their leaves.
func (g *Group) Members() []Member { return nil }

// ExternalSenders returns who may propose.
func (g *Group) ExternalSenders() []ExternalSender { return nil }

// A Proposal is a change that an external sender of this group has proposed, and
// that can be committed: its signature, group and epoch are right (§12.1).
type Proposal struct {
	Ref    []byte  // by which a commit names it, 32 bytes
	Add    *Member // whom it adds, without a leaf; nil if it removes
	Remove uint32  // the leaf that it removes
}

// Proposal reads an MLSMessage with a proposal.
func (g *Group) Proposal(message []byte) (*Proposal, error) { return nil, errUnbuilt }

// Commit makes a commit of proposals, in this order, and the group of the next
// epoch, in which the caller is if the commit is the one that everybody follows
// (§12.4). The welcome is nil if nobody is added; it carries the tree. The commit is
// an MLSMessage, the welcome a bare Welcome.
func (g *Group) Commit(rand io.Reader, proposals []*Proposal) (commit, welcome []byte, next *Group, err error) {
	return nil, nil, nil, errUnbuilt
}

// Apply follows another member's commit, all of whose proposals must be references
// to known ones. It returns [ErrRemoved] if that removes the caller.
func (g *Group) Apply(commit []byte, known []*Proposal) (next *Group, err error) {
	return nil, errUnbuilt
}

// ErrRemoved is that a commit has removed the one who applies it.
var ErrRemoved = errors.New("mls: removed from the group")

// Export derives a secret of length bytes (§8.5).
func (g *Group) Export(label string, context []byte, length int) ([]byte, error) {
	return nil, errUnbuilt
}

// EpochAuthenticator is the same for all members of an epoch, and for nobody else
// (§8.7). It is 32 bytes.
func (g *Group) EpochAuthenticator() []byte { return nil }

// Clear overwrites the secrets of the epoch. The group is of no use after it.
func (g *Group) Clear() {}
