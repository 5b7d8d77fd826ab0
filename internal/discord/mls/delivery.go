package mls

import "io"

// What a delivery service does, which is no member (RFC 9750 §4): it proposes as the
// external sender, orders commits, and hands each new member its part of a welcome.

// ProposeAdd returns an MLSMessage that proposes to add a published key package, and
// its reference.
func ProposeAdd(rand io.Reader, s *Signer, group []byte, epoch uint64, keyPackage []byte) (message, ref []byte, err error) {
	return nil, nil, errUnbuilt
}

// ProposeRemove returns an MLSMessage that proposes to remove a leaf, and its
// reference.
func ProposeRemove(rand io.Reader, s *Signer, group []byte, epoch uint64, leaf uint32) (message, ref []byte, err error) {
	return nil, nil, errUnbuilt
}

// A Handshake is what can be read in a commit by one who is no member.
type Handshake struct {
	Group  []byte
	Epoch  uint64
	Sender uint32   // a leaf
	Refs   [][]byte // of its proposals, in order
	Inline bool     // it has proposals that are no references
}

// Inspect reads a commit, an MLSMessage at the beginning of b, and returns what is
// behind it.
func Inspect(b []byte) (h Handshake, rest []byte, err error) { return h, nil, errUnbuilt }

// ReadKeyPackage checks a published key package, its signatures included, and
// returns whom it would add and its reference.
func ReadKeyPackage(b []byte) (m Member, ref []byte, err error) { return m, nil, errUnbuilt }

// WelcomeFor returns the part of a welcome that is for one key package.
func WelcomeFor(welcome, ref []byte) ([]byte, error) { return nil, errUnbuilt }
