package dave

import (
	"encoding/binary"
	"fmt"
)

// vector reads a vector whose length has one, two or four bytes (RFC 9420 §2.1.2), and returns the
// rest.
func vector(b []byte) (v, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	size := 1 << (b[0] >> 6)
	if size > 4 || len(b) < size {
		return nil, nil, false
	}
	var head [4]byte
	copy(head[4-size:], b[:size])
	head[4-size] &= 0x3f
	n := uint64(binary.BigEndian.Uint32(head[:]))
	least := [...]uint64{1: 0, 2: 1 << 6, 4: 1 << 14}[size]
	if n < least || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	return b[size:][:n], b[size+int(n):], true
}

// refSize is the length of a reference to a proposal: SHA-256.
const refSize = 32

// references reads the list in a revocation. Each entry is a vector, as in the protocol and its
// reference implementation; other implementations omit the lengths, which cannot be confused with
// it.
func references(list []byte) ([][]byte, error) {
	var refs [][]byte
	for rest := list; len(rest) > 0; {
		ref, behind, ok := vector(rest)
		if !ok || len(ref) != refSize {
			refs = nil
			break
		}
		refs, rest = append(refs, ref), behind
	}
	if refs != nil || len(list) == 0 {
		return refs, nil
	}
	if len(list)%refSize != 0 {
		return nil, fmt.Errorf("dave: %d bytes are not references", len(list))
	}
	for ; len(list) > 0; list = list[refSize:] {
		refs = append(refs, list[:refSize])
	}
	return refs, nil
}
