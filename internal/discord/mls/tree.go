package mls

import "math/bits"

// The arithmetic of array-based trees (appendix C). A tree of n leaves, a power of two, has 2n-1
// nodes; leaf i is node 2i. The arithmetic does not depend on the contents of the nodes.

type (
	leafIndex uint32
	nodeIndex uint32
)

func (l leafIndex) node() nodeIndex { return nodeIndex(2 * l) }

func (x nodeIndex) isLeaf() bool    { return x&1 == 0 }
func (x nodeIndex) leaf() leafIndex { return leafIndex(x / 2) }

// level is the height of a node above the leaves.
func (x nodeIndex) level() int { return bits.TrailingZeros32(^uint32(x)) }

// left and right are the children of a node that is not a leaf.
func (x nodeIndex) left() nodeIndex  { return x ^ 1<<(x.level()-1) }
func (x nodeIndex) right() nodeIndex { return x ^ 3<<(x.level()-1) }

// parent is the node above one that is not the root.
func (x nodeIndex) parent() nodeIndex {
	k := x.level()
	return (x | 1<<k) &^ (1 << (k + 1))
}

// sibling is the other child of the parent.
func (x nodeIndex) sibling() nodeIndex {
	p := x.parent()
	if x < p {
		return p.right()
	}
	return p.left()
}

// first and after bound the leaves below a node: [first, after).
func (x nodeIndex) first() leafIndex { return leafIndex((x - (1<<x.level() - 1)) / 2) }
func (x nodeIndex) after() leafIndex { return x.first() + 1<<x.level() }

// over reports whether leaf l is below x, or is x.
func (x nodeIndex) over(l leafIndex) bool { return x.first() <= l && l < x.after() }

// rootOf is the root of a tree with a number of leaves.
func rootOf(leaves int) nodeIndex { return nodeIndex(leaves - 1) }

// directPath is the nodes above x, from its parent to the root.
func directPath(x nodeIndex, leaves int) []nodeIndex {
	var path []nodeIndex
	for root := rootOf(leaves); x != root; {
		x = x.parent()
		path = append(path, x)
	}
	return path
}

// commonAncestor is the lowest node above two different leaves.
func commonAncestor(a, b leafIndex) nodeIndex {
	x := a.node()
	for !x.over(b) {
		x = x.parent()
	}
	return x
}
