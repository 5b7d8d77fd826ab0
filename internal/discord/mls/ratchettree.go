package mls

import (
	"bytes"
	"slices"
)

// maxLeaves bounds a tree. A voice channel has far fewer seats.
const maxLeaves = 1 << 10

// A parentNode is ParentNode of section 7.1. It does not change.
type parentNode struct {
	encryptionKey  []byte
	parentHash     []byte
	unmergedLeaves []leafIndex // in ascending order
}

func readParentNode(r *reader) *parentNode {
	return &parentNode{
		encryptionKey:  r.opaque(),
		parentHash:     r.hashOrEmpty("a parent hash"),
		unmergedLeaves: vector(r, func(r *reader) leafIndex { return leafIndex(r.uint32()) }),
	}
}

func (p *parentNode) write(w *writer) {
	w.opaque(p.encryptionKey)
	w.opaque(p.parentHash)
	writeLeaves(w, p.unmergedLeaves)
}

func writeLeaves(w *writer, leaves []leafIndex) {
	writeVector(w, leaves, func(w *writer, l leafIndex) { w.uint32(uint32(l)) })
}

// A node of the tree is a leaf, a parent, or blank.
type node struct {
	leaf   *leafNode
	parent *parentNode
}

func (n node) blank() bool { return n.leaf == nil && n.parent == nil }

func (n node) encryptionKey() []byte {
	switch {
	case n.leaf != nil:
		return n.leaf.encryptionKey
	case n.parent != nil:
		return n.parent.encryptionKey
	}
	return nil
}

func (n node) parentHash() []byte {
	switch {
	case n.leaf != nil && n.leaf.source == sourceCommit:
		return n.leaf.parentHash
	case n.parent != nil:
		return n.parent.parentHash
	}
	return nil
}

// A ratchetTree is the public part of a group's tree (section 4.1, 7): always full, as an array of
// nodes, whose length is a power of two minus one. The contents of nodes are shared between trees
// and never changed.
type ratchetTree []node

func (t ratchetTree) leaves() int     { return (len(t) + 1) / 2 }
func (t ratchetTree) root() nodeIndex { return rootOf(t.leaves()) }

// leaf returns a leaf, or nil if it is blank or beyond the tree.
func (t ratchetTree) leaf(l leafIndex) *leafNode {
	if uint64(l) >= uint64(t.leaves()) { // an int may have 32 bits
		return nil
	}
	return t[l.node()].leaf
}

// occupied yields the leaves that are not blank.
func (t ratchetTree) occupied(yield func(leafIndex, *leafNode) bool) {
	for x := 0; x < len(t); x += 2 {
		if leaf := t[x].leaf; leaf != nil && !yield(nodeIndex(x).leaf(), leaf) {
			return
		}
	}
}

// readRatchetTree reads the ratchet_tree extension (section 12.4.3.3): the nodes up
// to the last that is not blank.
func readRatchetTree(r *reader) ratchetTree {
	t := ratchetTree(vector(r, func(r *reader) (n node) {
		if !r.present() {
			return n
		}
		switch kind := r.uint8(); kind { // NodeType of section 7.8
		case 1:
			n.leaf = readLeafNode(r)
		case 2:
			n.parent = readParentNode(r)
		default:
			r.fail("7.8", "a node of type %d", kind)
		}
		return n
	}))
	switch {
	case r.err != nil:
		return nil
	case len(t) == 0 || t[len(t)-1].blank():
		r.fail("12.4.3.3", "a tree that ends in a blank node")
		return nil
	case len(t) > 2*maxLeaves-1:
		r.fail("12.4.3.3", "a tree of %d nodes", len(t))
		return nil
	}
	for x, n := range t {
		if isLeaf := nodeIndex(x).isLeaf(); n.leaf != nil && !isLeaf || n.parent != nil && isLeaf {
			r.fail("12.4.3.3", "a node of the wrong type at %d", x)
			return nil
		}
	}
	size := 1
	for size < len(t) {
		size = 2*size + 1
	}
	return append(t, make(ratchetTree, size-len(t))...)
}

func (t ratchetTree) write(w *writer) {
	last := len(t)
	for t[last-1].blank() {
		last--
	}
	writeVector(w, t[:last], func(w *writer, n node) {
		switch w.present(!n.blank()); {
		case n.leaf != nil:
			w.uint8(1)
			w.bytes(n.leaf.raw)
		case n.parent != nil:
			w.uint8(2)
			n.parent.write(w)
		}
	})
}

// add puts a leaf into the leftmost blank place, and extends the tree if there is none (section
// 7.7, 12.1.1).
func (t *ratchetTree) add(leaf *leafNode) (leafIndex, error) {
	free := t.leaves()
	for x := 0; x < len(*t); x += 2 {
		if (*t)[x].blank() {
			free = x / 2
			break
		}
	}
	if free == t.leaves() {
		if free == maxLeaves {
			return 0, faultf("7.7", "a group of more than %d members", maxLeaves)
		}
		*t = append(*t, make(ratchetTree, len(*t)+1)...)
	}
	l := leafIndex(free)
	(*t)[l.node()] = node{leaf: leaf}
	for _, x := range directPath(l.node(), t.leaves()) {
		if p := (*t)[x].parent; p != nil {
			at, _ := slices.BinarySearch(p.unmergedLeaves, l)
			(*t)[x].parent = &parentNode{p.encryptionKey, p.parentHash,
				slices.Insert(slices.Clone(p.unmergedLeaves), at, l)}
		}
	}
	return l, nil
}

// remove blanks a leaf and the nodes above it, and truncates the tree (section 7.7, 12.1.3).
func (t *ratchetTree) remove(l leafIndex) {
	(*t)[l.node()] = node{}
	t.blankPath(l)
	for len(*t) > 1 {
		half := len(*t) / 2
		if slices.ContainsFunc((*t)[half+1:], func(n node) bool { return n.leaf != nil }) {
			return
		}
		*t = (*t)[:half:half]
	}
}

// blankPath blanks all nodes above a leaf.
func (t ratchetTree) blankPath(l leafIndex) {
	for _, x := range directPath(l.node(), t.leaves()) {
		t[x] = node{}
	}
}

// resolution returns the nodes that together cover the members below x (section 4.1.1).
func (t ratchetTree) resolution(x nodeIndex) []nodeIndex {
	return t.resolve(nil, x)
}

func (t ratchetTree) resolve(list []nodeIndex, x nodeIndex) []nodeIndex {
	switch n := t[x]; {
	case n.leaf != nil:
		return append(list, x)
	case n.parent != nil:
		list = append(list, x)
		for _, l := range n.parent.unmergedLeaves {
			list = append(list, l.node())
		}
		return list
	case x.isLeaf():
		return list
	}
	return t.resolve(t.resolve(list, x.left()), x.right())
}

// filteredDirectPath returns the nodes above a leaf whose other child has members, each with that
// child (section 4.1.2).
func (t ratchetTree) filteredDirectPath(l leafIndex) (path, copath []nodeIndex) {
	below := l.node()
	for _, x := range directPath(below, t.leaves()) {
		if other := below.sibling(); len(t.resolution(other)) > 0 {
			path, copath = append(path, x), append(copath, other)
		}
		below = x
	}
	return path, copath
}

// hash returns the tree hash of the whole tree (section 7.8).
func (t ratchetTree) hash() []byte { return t.hashWithout(t.root(), nil) }

// hashWithout returns the tree hash of the subtree under x without some leaves, given in ascending
// order: with nil the tree hash (section 7.8), with the unmerged leaves of a parent the
// original_sibling_tree_hash (section 7.9).
func (t ratchetTree) hashWithout(x nodeIndex, without []leafIndex) []byte {
	var w writer
	if x.isLeaf() {
		_, gone := slices.BinarySearch(without, x.leaf())
		w.uint8(1)
		w.uint32(uint32(x.leaf()))
		if w.present(t[x].leaf != nil && !gone) {
			w.bytes(t[x].leaf.raw)
		}
		return hash(w)
	}
	w.uint8(2)
	if p := t[x].parent; w.present(p != nil) {
		w.opaque(p.encryptionKey)
		w.opaque(p.parentHash)
		writeLeaves(&w, difference(p.unmergedLeaves, without))
	}
	w.opaque(t.hashWithout(x.left(), without))
	w.opaque(t.hashWithout(x.right(), without))
	return hash(w)
}

// difference returns the leaves in a that are not in b. Both are in ascending order.
func difference(a, b []leafIndex) []leafIndex {
	if len(b) == 0 {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(l leafIndex) bool {
		_, in := slices.BinarySearch(b, l)
		return in
	})
}

// within returns the leaves of an ascending list that are under x.
func within(list []leafIndex, x nodeIndex) []leafIndex {
	from, _ := slices.BinarySearch(list, x.first())
	to, _ := slices.BinarySearch(list, x.after())
	return list[from:to]
}

// parentHashOf returns the parent hash of the parent at p with a copath child (section 7.9).
func (t ratchetTree) parentHashOf(p, copathChild nodeIndex) []byte {
	n := t[p].parent
	var w writer
	w.opaque(n.encryptionKey)
	w.opaque(n.parentHash)
	w.opaque(t.hashWithout(copathChild, within(n.unmergedLeaves, copathChild)))
	return hash(w)
}

// validate checks a tree from somebody else, for a group and its extensions (section 12.4.3.1),
// except its tree hash.
func (t ratchetTree) validate(group []byte, need []extension) error {
	for l, leaf := range t.occupied {
		if err := leaf.validate(group, l, need); err != nil {
			return err
		}
	}
	for _, check := range []func() error{t.validateUnmerged, t.validateUnique, t.validateParentHashes} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// validateUnmerged checks the unmerged leaves: they must be under their node, not blank, in order,
// and unmerged in all nodes in between.
func (t ratchetTree) validateUnmerged() error {
	for x, n := range t {
		if n.parent == nil {
			continue
		}
		x := nodeIndex(x)
		if err := checkPoint(n.parent.encryptionKey); err != nil {
			return err
		}
		for i, l := range n.parent.unmergedLeaves {
			switch {
			case i > 0 && l <= n.parent.unmergedLeaves[i-1]:
				return faultf("7.1", "unmerged leaves out of order at node %d", x)
			case !x.over(l) || t.leaf(l) == nil:
				return faultf("12.4.3.1", "a wrong unmerged leaf at node %d", x)
			}
			for between := l.node().parent(); between != x; between = between.parent() {
				p := t[between].parent
				if p == nil {
					continue
				}
				if _, in := slices.BinarySearch(p.unmergedLeaves, l); !in {
					return faultf("12.4.3.1", "leaf %d is unmerged at node %d and not below it", l, x)
				}
			}
		}
	}
	return nil
}

// validateUnique checks that no key is used twice (section 7.3, 12.4.3.1).
func (t ratchetTree) validateUnique() error {
	encryption := make(map[string]bool, len(t))
	signature := make(map[string]bool, len(t)/2+1)
	twice := func(seen map[string]bool, key []byte) bool {
		was := seen[string(key)]
		seen[string(key)] = true
		return was
	}
	for x, n := range t {
		switch {
		case n.blank():
		case twice(encryption, n.encryptionKey()):
			return faultf("7.3", "the encryption key of node %d is also elsewhere", x)
		case n.leaf != nil && twice(signature, n.leaf.signatureKey):
			return faultf("7.3", "the signature key of node %d is also elsewhere", x)
		}
	}
	return nil
}

// validateParentHashes checks that exactly one descendant vouches for each parent
// (section 7.9.2).
func (t ratchetTree) validateParentHashes() error {
	for x, n := range t {
		if n.parent == nil {
			continue
		}
		p := nodeIndex(x)
		vouches := 0
		for _, child := range []nodeIndex{p.left(), p.right()} {
			if d, ok := t.merged(p, child); ok && bytes.Equal(t[d].parentHash(), t.parentHashOf(p, child.sibling())) {
				vouches++
			}
		}
		if vouches != 1 {
			return faultf("7.9.2", "a wrong parent hash below node %d", p)
		}
	}
	return nil
}

// merged returns the one node in the resolution of a child of p that is not an unmerged leaf of p.
// There is none unless the others are all the unmerged leaves under it.
func (t ratchetTree) merged(p, child nodeIndex) (d nodeIndex, ok bool) {
	unmerged := within(t[p].parent.unmergedLeaves, child)
	resolution := t.resolution(child)
	if len(resolution) != len(unmerged)+1 {
		return 0, false
	}
	found := 0
	for _, x := range resolution {
		if _, in := slices.BinarySearch(unmerged, x.leaf()); !x.isLeaf() || !in {
			d = x
			found++
		}
	}
	return d, found == 1
}
