package stream

import (
	"bytes"
	"testing"
)

// FuzzParse: whatever comes, parsing ends, and what was understood is what would be sent.
func FuzzParse(f *testing.F) {
	for _, m := range []message{{kindData, 1, 2, []byte("x")}, {kindAlive, 1 << 63, 0, nil}, {kindClose, 0, 0, nil}} {
		f.Add(m.encode())
	}
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := parse(b)
		if ok && (!bytes.Equal(m.encode(), b) || m.kind >= kinds || len(m.data) > mostData) {
			t.Errorf("%q is understood as %+v", b, m)
		}
	})
}
