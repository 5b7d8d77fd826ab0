package mls

import (
	"bytes"
	"io"
	"slices"
)

// An updatePath is UpdatePath of section 7.6: new keys from a leaf to the root.
type updatePath struct {
	leaf  *leafNode
	nodes []updatePathNode
}

type updatePathNode struct {
	encryptionKey       []byte
	encryptedPathSecret []hpkeCiphertext
}

func readUpdatePath(r *reader) *updatePath {
	return &updatePath{readLeafNode(r), vector(r, func(r *reader) updatePathNode {
		return updatePathNode{r.opaque(), vector(r, readHPKECiphertext)}
	})}
}

func (p *updatePath) write(w *writer) {
	w.bytes(p.leaf.raw)
	writeVector(w, p.nodes, func(w *writer, n updatePathNode) {
		w.opaque(n.encryptionKey)
		writeVector(w, n.encryptedPathSecret, (*writer).ciphertext)
	})
}

// privateKeys are the private keys of a member: of its leaf, and of nodes above it.
type privateKeys map[nodeIndex]secret

func (k privateKeys) clear() {
	for _, s := range k {
		s.clear()
	}
	clear(k)
}

// deriveNodeKey derives the key pair of a node from its path secret (section 7.4).
func deriveNodeKey(pathSecret secret) (private secret, public []byte, err error) {
	node := deriveSecret(pathSecret, "node")
	defer node.clear()
	return deriveKeyPair(node)
}

func nextPathSecret(s secret) secret { return deriveSecret(s, "path") }

// setPath puts new public keys along the filtered direct path of a leaf, and returns
// the parent hash that the leaf must have (section 7.5).
func (t ratchetTree) setPath(l leafIndex, path, copath []nodeIndex, keys [][]byte) (parentHash []byte) {
	t.blankPath(l)
	for i, x := range slices.Backward(path) {
		t[x] = node{parent: &parentNode{encryptionKey: keys[i], parentHash: parentHash}}
		parentHash = t.parentHashOf(x, copath[i])
	}
	return parentHash
}

// A freshPath is an update path under construction, by its sender.
type freshPath struct {
	leaf        *leafNode
	path        []nodeIndex // the filtered direct path
	copath      []nodeIndex
	pathSecrets []secret // by path
	public      [][]byte // by path
	keys        privateKeys
	commit      secret // commit_secret
}

// refresh updates the direct path of a member in its tree (section 7.5).
func (t ratchetTree) refresh(rand io.Reader, l leafIndex, s *Signer, group []byte) (*freshPath, error) {
	f := &freshPath{keys: make(privateKeys)}
	f.path, f.copath = t.filteredDirectPath(l)
	private, public, err := newKeyPair(rand)
	if err != nil {
		return nil, err
	}
	f.keys[l.node()] = private
	next, err := random(rand)
	if err != nil {
		return nil, err
	}
	for _, x := range f.path {
		private, public, err := deriveNodeKey(next)
		if err != nil {
			return nil, err
		}
		f.pathSecrets = append(f.pathSecrets, next)
		f.keys[x] = private
		f.public = append(f.public, public)
		next = nextPathSecret(next)
	}
	f.commit = next

	old := t[l.node()].leaf
	f.leaf = &leafNode{
		encryptionKey: public,
		signatureKey:  old.signatureKey,
		identity:      old.identity,
		capabilities:  old.capabilities,
		source:        sourceCommit,
		parentHash:    t.setPath(l, f.path, f.copath, f.public),
		extensions:    old.extensions,
	}
	if err := f.leaf.sign(s, group, l); err != nil {
		return nil, err
	}
	t[l.node()] = node{leaf: f.leaf}
	return f, nil
}

// clear overwrites the path secrets; the private keys are the group's.
func (f *freshPath) clear() {
	for _, s := range f.pathSecrets {
		s.clear()
	}
	f.commit.clear()
}

// recipients returns the nodes to which the path secret above a copath child is encrypted: its
// resolution without the members added by the same commit (section 7.5).
func (t ratchetTree) recipients(copathChild nodeIndex, added []leafIndex) []nodeIndex {
	return slices.DeleteFunc(t.resolution(copathChild), func(x nodeIndex) bool {
		return x.isLeaf() && slices.Contains(added, x.leaf())
	})
}

// seal encrypts the path secrets to the group, for its provisional context.
func (f *freshPath) seal(t ratchetTree, added []leafIndex, context []byte) (*updatePath, error) {
	p := &updatePath{leaf: f.leaf}
	for i, child := range f.copath {
		n := updatePathNode{encryptionKey: f.public[i]}
		for _, x := range t.recipients(child, added) {
			c, err := encryptWithLabel(t[x].encryptionKey(), "UpdatePathNode", context, f.pathSecrets[i])
			if err != nil {
				return nil, err
			}
			n.encryptedPathSecret = append(n.encryptedPathSecret, c)
		}
		p.nodes = append(p.nodes, n)
	}
	return p, nil
}

// merge checks a path from another member and puts it into the tree (section 7.5, 12.4.2).
func (p *updatePath) merge(t ratchetTree, l leafIndex, group []byte, need []extension) error {
	if p.leaf.source != sourceCommit {
		return faultf("12.4.2", "a path with a leaf node from source %d", p.leaf.source)
	}
	if err := p.leaf.validate(group, l, need); err != nil {
		return err
	}
	// A member's identity stays as it was when the member was added: DAVE allows no commit to
	// change the credential or the signature key of its author, or a member could take the name of
	// somebody whom nobody has added.
	switch old := t.leaf(l); {
	case !bytes.Equal(p.leaf.identity, old.identity):
		return faultf("5.3.1", "a path with another identity")
	case !bytes.Equal(p.leaf.signatureKey, old.signatureKey):
		return faultf("7.3", "a path with another signature key")
	}
	path, copath := t.filteredDirectPath(l)
	if len(p.nodes) != len(path) {
		return faultf("7.6", "a path of %d nodes, not %d", len(p.nodes), len(path))
	}
	inTree := make(map[string]bool, len(t))
	for _, n := range t {
		inTree[string(n.encryptionKey())] = true
	}
	if inTree[string(p.leaf.encryptionKey)] {
		return faultf("12.4.2", "a path with an old key of a leaf")
	}
	keys := make([][]byte, len(path))
	for i, n := range p.nodes {
		if err := checkPoint(n.encryptionKey); err != nil {
			return err
		}
		if inTree[string(n.encryptionKey)] {
			return faultf("12.4.2", "a path with an old key")
		}
		keys[i] = n.encryptionKey
	}
	if want := t.setPath(l, path, copath, keys); !bytes.Equal(want, p.leaf.parentHash) {
		return faultf("7.9.2", "a path with a wrong parent hash")
	}
	t[l.node()] = node{leaf: p.leaf}
	return t.validateUnique()
}

// open decrypts the path secret for the member at own, after merge, and derives from it the
// private keys above, and commit_secret.
func (p *updatePath) open(t ratchetTree, l, own leafIndex, keys privateKeys, added []leafIndex, context []byte) (derived privateKeys, commitSecret secret, err error) {
	path, copath := t.filteredDirectPath(l)
	from := slices.IndexFunc(copath, func(x nodeIndex) bool { return x.over(own) })
	if from < 0 {
		return nil, nil, faultf("7.5", "a path that does not meet ours")
	}
	for i, child := range copath {
		if want := len(t.recipients(child, added)); len(p.nodes[i].encryptedPathSecret) != want {
			return nil, nil, faultf("7.6", "%d encrypted path secrets, not %d", len(p.nodes[i].encryptedPathSecret), want)
		}
	}
	recipients := t.recipients(copath[from], added)
	at := slices.IndexFunc(recipients, func(x nodeIndex) bool { return keys[x] != nil })
	if at < 0 {
		return nil, nil, ErrCleared
	}
	s, err := decryptWithLabel(keys[recipients[at]], "UpdatePathNode", context, p.nodes[from].encryptedPathSecret[at])
	if err != nil {
		return nil, nil, err
	}
	if len(s) != hashSize {
		s.clear()
		return nil, nil, faultf("7.5", "a path secret of %d bytes", len(s))
	}
	return t.derivePath(path[from:], s)
}

// derivePath derives private keys from the path secret of the first node of path,
// which is the upper end of a filtered direct path, and checks them against the tree.
// It overwrites the path secret.
func (t ratchetTree) derivePath(path []nodeIndex, s secret) (keys privateKeys, commitSecret secret, err error) {
	keys = make(privateKeys)
	for _, x := range path {
		private, public, err := deriveNodeKey(s)
		if err == nil && !bytes.Equal(public, t[x].encryptionKey()) {
			err = faultf("7.5", "a path secret that does not belong to node %d", x)
		}
		if err != nil {
			s.clear()
			private.clear()
			keys.clear()
			return nil, nil, err
		}
		keys[x] = private
		next := nextPathSecret(s)
		s.clear()
		s = next
	}
	return keys, s, nil
}
