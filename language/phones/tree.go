package phones

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"strings"
	"sync"
)

//go:generate go run earshot/tools/phones -o english.gz

//go:embed english.gz
var english []byte

// Letters are those that have sounds.
const Letters = "'abcdefghijklmnopqrstuvwxyz"

// edge stands for what is before and after a word.
const edge = '-'

// order is which of the letters around a letter decide what that sounds like, the most telling first.
// Places to the right are positive.
var order = [...]int{1, -1, 2, -2, 3, -3, 4, -4, 5, 6, -5, -6, 7, 8, 9, -7, -8}

// Depth is how many letters around a letter decide.
const Depth = len(order)

// Around returns the letter that decides at a depth what letter i of a word sounds like.
func Around(word string, i, depth int) byte {
	if i += order[depth]; i < 0 || i >= len(word) {
		return edge
	}
	return word[i]
}

// A tree says what the letters of words sound like. It is a dictionary and rules at once, as an
// IGTree is (Daelemans and van den Bosch, "Language-independent data-oriented grapheme-to-phoneme
// conversion", 1996). Each letter has a node: what it sounds like in most words, and a branch for each
// next letter around it with which it sounds otherwise in some.
type tree struct {
	sounds []string // several phones, one or none
	roots  [][]byte // of the letters
}

// shipped is read when it is first needed, since it takes some milliseconds and 0.7 MB.
var shipped = sync.OnceValue(func() *tree {
	z, err := gzip.NewReader(bytes.NewReader(english))
	if err != nil {
		panic("phones: english.gz is not what tools/phones writes: " + err.Error())
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic("phones: english.gz is not what tools/phones writes: " + err.Error())
	}
	var list []byte
	list, b = cut(b)
	t := &tree{sounds: strings.Split(string(list), " ")}
	for len(t.roots) < len(Letters) {
		list, b = cut(b)
		t.roots = append(t.roots, list)
	}
	return t
})

// cut returns the first part of b, whose length stands before it, and the rest.
func cut(b []byte) (part, rest []byte) {
	size, n := binary.Uvarint(b)
	return b[n : n+int(size)], b[n+int(size):]
}

// sound returns what letter i of a word of [Letters] sounds like.
func (t *tree) sound(word string, i int) string {
	n := t.roots[strings.IndexByte(Letters, word[i])]
	for depth := range Depth {
		b := branch(n, Around(word, i, depth))
		if b == nil {
			break
		}
		n = b
	}
	return t.sounds[n[0]]
}

// branch returns the branch of a node for a letter, or nil. A node is the number of its sound, how
// many branches it has, and for each its letter, its length and itself.
func branch(n []byte, letter byte) []byte {
	rest := n[2:]
	for range n[1] {
		of := rest[0]
		var b []byte
		if b, rest = cut(rest[1:]); of == letter {
			return b
		}
	}
	return nil
}
