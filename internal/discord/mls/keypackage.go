package mls

import (
	"bytes"
	"io"
	"math"
	"slices"
)

// maxKeyPackage bounds a key package, of which many may be proposed at a time.
const maxKeyPackage = 1 << 13

// A keyPackage is KeyPackage of section 10, as others see it.
type keyPackage struct {
	initKey    []byte
	leaf       *leafNode
	extensions []extension
	signature  []byte

	signed []byte // KeyPackageTBS
	raw    []byte
}

func readKeyPackage(r *reader) *keyPackage {
	from := r.at
	if version, suite := r.uint16(), r.uint16(); r.err == nil && (version != protocolVersion || suite != cipherSuite) {
		r.fail("10.1", "a key package of version %d and cipher suite %d", version, suite)
	}
	k := &keyPackage{initKey: r.opaque(), leaf: readLeafNode(r), extensions: readExtensions(r)}
	k.signed = r.since(from)
	k.signature = r.opaque()
	k.raw = r.since(from)
	return k
}

// validate is section 10.1, in a group whose extensions are need.
func (k *keyPackage) validate(need []extension) error {
	if k.leaf.source != sourceKeyPackage {
		return faultf("10.1", "a key package with a leaf node from source %d", k.leaf.source)
	}
	if err := k.leaf.validate(nil, 0, need); err != nil {
		return err
	}
	if len(k.raw) > maxKeyPackage {
		return faultf("10", "a key package of %d bytes", len(k.raw))
	}
	for _, e := range k.extensions {
		if !k.leaf.capabilities.understands(e.kind) {
			return faultf("10", "a key package whose member does not understand its extension %d", e.kind)
		}
	}
	if err := checkPoint(k.initKey); err != nil {
		return err
	}
	if bytes.Equal(k.initKey, k.leaf.encryptionKey) {
		return faultf("10.1", "a key package with one key for two things")
	}
	return verify(k.leaf.signatureKey, "KeyPackageTBS", k.signed, k.signature)
}

// A KeyPackage is an invitation to be added to a group, with the private keys for a [Join]
// (section 10). It can be used for one join.
type KeyPackage struct {
	signer *Signer
	public *keyPackage
	init   secret // nil after a join
	leaf   secret // of the leaf node's encryption key
}

// NewKeyPackage makes a key package with identity as its credential, valid at all times.
func NewKeyPackage(rand io.Reader, s *Signer, identity []byte) (*KeyPackage, error) {
	if len(identity) > maxIdentity {
		return nil, faultf("5.3", "an identity of %d bytes", len(identity))
	}
	init, initKey, err := newKeyPair(rand)
	if err != nil {
		return nil, err
	}
	leaf, leafKey, err := newKeyPair(rand)
	if err != nil {
		return nil, err
	}
	public := &keyPackage{initKey: initKey, leaf: &leafNode{
		encryptionKey: leafKey,
		signatureKey:  s.Public(),
		identity:      bytes.Clone(identity),
		capabilities:  own,
		source:        sourceKeyPackage,
		notAfter:      math.MaxUint64,
	}}
	if err := public.leaf.sign(s, nil, 0); err != nil {
		return nil, err
	}
	if err := public.sign(s); err != nil {
		return nil, err
	}
	return &KeyPackage{signer: s, public: public, init: init, leaf: leaf}, nil
}

func (k *keyPackage) sign(s *Signer) (err error) {
	var w writer
	w.uint16(protocolVersion)
	w.uint16(cipherSuite)
	w.opaque(k.initKey)
	w.bytes(k.leaf.raw)
	writeExtensions(&w, k.extensions)
	k.signed = slices.Clip(w)
	if k.signature, err = s.sign("KeyPackageTBS", k.signed); err != nil {
		return err
	}
	w.opaque(k.signature)
	k.raw = w
	return nil
}

// Marshal returns its published form: a bare KeyPackage, not an MLSMessage.
func (k *KeyPackage) Marshal() []byte { return bytes.Clone(k.public.raw) }

// Ref returns the reference by which a welcome names it, of 32 bytes (section 5.2).
func (k *KeyPackage) Ref() []byte { return makeKeyPackageRef(k.public.raw) }

// Clear overwrites its private keys. It cannot be used for [Join] or [New] any more; existing
// groups are not affected.
func (k *KeyPackage) Clear() {
	k.init.clear()
	k.leaf.clear()
	k.init, k.leaf = nil, nil
}
