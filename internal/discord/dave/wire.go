package dave

import (
	"fmt"

	"earshot/internal/discord/mls"
)

// refSize is the length of a reference to a proposal: SHA-256.
const refSize = 32

// references reads the list in a revocation. Each entry is a vector, as in the protocol and its
// reference implementation; other implementations omit the lengths, which cannot be confused with
// it.
func references(list []byte) ([][]byte, error) {
	var refs [][]byte
	for rest := list; len(rest) > 0; {
		ref, behind, err := mls.Vector(rest)
		if err != nil || len(ref) != refSize {
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
