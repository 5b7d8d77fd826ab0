package mls

import (
	"bytes"
	"slices"
)

// Extension types, and the one type of credential (section 17.3, 17.5).
const (
	extensionRatchetTree          = 2
	extensionRequiredCapabilities = 3
	extensionExternalSenders      = 5
	lastDefaultExtension          = 5 // those up to here are understood without being listed

	lastDefaultProposal = 7

	credentialBasic = 1
)

// maxIdentity bounds the identity of a credential. Discord's have eight bytes.
const maxIdentity = 1 << 10

// maxLeafNode bounds a leaf node; a group stores one for each member. Those of Discord's clients
// have 300 bytes.
const maxLeafNode = 1 << 12

// maxExtensions bounds a list of extensions.
const maxExtensions = 64

// An extension is Extension of section 7.2.
type extension struct {
	kind uint16
	data []byte
}

// readExtensions reads a list in which no type comes twice (section 13.4).
func readExtensions(r *reader) []extension {
	list := vector(r, func(r *reader) extension { return extension{r.uint16(), r.opaque()} })
	if len(list) > maxExtensions {
		r.fail("13.4", "%d extensions", len(list))
		return nil
	}
	for i, e := range list {
		if slices.ContainsFunc(list[:i], func(o extension) bool { return o.kind == e.kind }) {
			r.fail("13.4", "extension %d twice", e.kind)
		}
	}
	return list
}

func writeExtensions(w *writer, list []extension) {
	writeVector(w, list, func(w *writer, e extension) {
		w.uint16(e.kind)
		w.opaque(e.data)
	})
}

// find returns the data of an extension.
func find(list []extension, kind uint16) ([]byte, bool) {
	for _, e := range list {
		if e.kind == kind {
			return e.data, true
		}
	}
	return nil, false
}

// readCredential reads a Credential of section 5.3, which has to be basic, and
// returns its identity.
func readCredential(r *reader) []byte {
	if kind := r.uint16(); r.err == nil && kind != credentialBasic {
		r.fail("5.3", "a credential of type %d", kind)
	}
	identity := r.opaque()
	if len(identity) > maxIdentity {
		r.fail("5.3", "an identity of %d bytes", len(identity))
	}
	return identity
}

func writeCredential(w *writer, identity []byte) {
	w.uint16(credentialBasic)
	w.opaque(identity)
}

// capabilities is Capabilities of section 7.2.
type capabilities struct {
	versions, cipherSuites, extensions, proposals, credentials []uint16
}

// own lists what this package supports.
var own = capabilities{
	versions:     []uint16{protocolVersion},
	cipherSuites: []uint16{cipherSuite},
	credentials:  []uint16{credentialBasic},
}

func readCapabilities(r *reader) (c capabilities) {
	for _, list := range c.lists() {
		*list = vector(r, (*reader).uint16)
	}
	return c
}

func (c *capabilities) write(w *writer) {
	for _, list := range c.lists() {
		writeVector(w, *list, (*writer).uint16)
	}
}

func (c *capabilities) lists() []*[]uint16 {
	return []*[]uint16{&c.versions, &c.cipherSuites, &c.extensions, &c.proposals, &c.credentials}
}

// A leafSource is LeafNodeSource of section 7.2.
type leafSource uint8

const (
	sourceKeyPackage leafSource = 1
	sourceUpdate     leafSource = 2
	sourceCommit     leafSource = 3
)

// A leafNode is LeafNode of section 7.2. It does not change.
type leafNode struct {
	encryptionKey []byte
	signatureKey  []byte
	identity      []byte
	capabilities  capabilities
	source        leafSource
	notBefore     uint64 // of the source keyPackage; nobody checks them here
	notAfter      uint64
	parentHash    []byte // of the source commit
	extensions    []extension
	signature     []byte

	signed []byte // as far as extensions, on the wire
	raw    []byte // all of it
}

func readLeafNode(r *reader) *leafNode {
	from := r.at
	l := &leafNode{
		encryptionKey: r.opaque(),
		signatureKey:  r.opaque(),
		identity:      readCredential(r),
		capabilities:  readCapabilities(r),
		source:        leafSource(r.uint8()),
	}
	switch l.source {
	case sourceKeyPackage:
		l.notBefore, l.notAfter = r.uint64(), r.uint64()
	case sourceUpdate:
	case sourceCommit:
		l.parentHash = r.hashOrEmpty("a parent hash")
	default:
		r.fail("7.2", "a leaf node from source %d", l.source)
	}
	l.extensions = readExtensions(r)
	l.signed = r.since(from)
	l.signature = r.opaque()
	l.raw = r.since(from)
	return l
}

// tbs is LeafNodeTBS. The group and the index count unless the leaf is one of a key
// package.
func (l *leafNode) tbs(group []byte, index leafIndex) []byte {
	if l.source == sourceKeyPackage {
		return l.signed
	}
	w := writer(slices.Clip(l.signed))
	w.opaque(group)
	w.uint32(uint32(index))
	return w
}

// sign completes a leaf node whose other fields are set.
func (l *leafNode) sign(s *Signer, group []byte, index leafIndex) (err error) {
	var w writer
	w.opaque(l.encryptionKey)
	w.opaque(l.signatureKey)
	writeCredential(&w, l.identity)
	l.capabilities.write(&w)
	w.uint8(uint8(l.source))
	switch l.source {
	case sourceKeyPackage:
		w.uint64(l.notBefore)
		w.uint64(l.notAfter)
	case sourceCommit:
		w.opaque(l.parentHash)
	}
	writeExtensions(&w, l.extensions)
	l.signed = slices.Clip(w)
	if l.signature, err = s.sign("LeafNodeTBS", l.tbs(group, index)); err != nil {
		return err
	}
	w.opaque(l.signature)
	l.raw = w
	return nil
}

// validate is section 7.3, as far as it concerns one leaf alone: the credential has been read,
// members do not check lifetimes (DAVE), and the tree checks uniqueness.
func (l *leafNode) validate(group []byte, index leafIndex, need []extension) error {
	if len(l.raw) > maxLeafNode {
		return faultf("7.2", "a leaf node of %d bytes", len(l.raw))
	}
	if err := checkPoint(l.encryptionKey); err != nil {
		return err
	}
	if err := verify(l.signatureKey, "LeafNodeTBS", l.tbs(group, index), l.signature); err != nil {
		return err
	}
	return l.supports(need)
}

// supports checks that the member supports what it uses itself and what the group needs, whose
// extensions are need.
func (l *leafNode) supports(need []extension) error {
	c := &l.capabilities
	switch {
	case !slices.Contains(c.versions, protocolVersion):
		return faultf("7.2", "a leaf node without version %d", protocolVersion)
	case !slices.Contains(c.cipherSuites, cipherSuite):
		return faultf("7.2", "a leaf node without cipher suite %d", cipherSuite)
	case !slices.Contains(c.credentials, credentialBasic):
		return faultf("7.3", "a leaf node without basic credentials")
	}
	for _, e := range slices.Concat(l.extensions, need) {
		if !c.understands(e.kind) {
			return faultf("7.3", "a leaf node without extension %d", e.kind)
		}
	}
	data, ok := find(need, extensionRequiredCapabilities)
	if !ok {
		return nil
	}
	required, err := read(data, func(r *reader) (c capabilities) { // section 11.1
		c.extensions = vector(r, (*reader).uint16)
		c.proposals = vector(r, (*reader).uint16)
		c.credentials = vector(r, (*reader).uint16)
		return c
	})
	if err != nil {
		return err
	}
	for _, e := range required.extensions {
		if !c.understands(e) {
			return faultf("11.1", "a leaf node without the required extension %d", e)
		}
	}
	required.proposals = slices.DeleteFunc(required.proposals, func(p uint16) bool { return p <= lastDefaultProposal })
	if !includes(c.proposals, required.proposals) || !includes(c.credentials, required.credentials) {
		return faultf("11.1", "a leaf node without a required capability")
	}
	return nil
}

func (c *capabilities) understands(kind uint16) bool {
	return kind >= 1 && kind <= lastDefaultExtension || slices.Contains(c.extensions, kind)
}

// includes reports whether has lists everything in wants.
func includes(has, wants []uint16) bool {
	return !slices.ContainsFunc(wants, func(v uint16) bool { return !slices.Contains(has, v) })
}

func (l *leafNode) same(o *leafNode) bool { return bytes.Equal(l.raw, o.raw) }

func (l *leafNode) member(index leafIndex) Member {
	return Member{uint32(index), bytes.Clone(l.identity), bytes.Clone(l.signatureKey)}
}
