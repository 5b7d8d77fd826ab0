package wire_test

import (
	"testing"

	"earshot/models/wire"
)

// FuzzSense decodes what a helper or the daemon could send.
func FuzzSense(f *testing.F) {
	f.Add([]byte{0, 2, 0, 0, 0, 0, 0, 0x3f})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0xc0, 0x7f})
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := wire.DecodeProbability(data)
		if err == nil && !(p.P >= 0 && p.P <= 1) {
			t.Errorf("%v is a probability", p.P)
		}
		q, err := wire.DecodeQuestion(data)
		if (err == nil) != (len(data) == 8) {
			t.Errorf("%d bytes: %v", len(data), err)
		}
		if err == nil && string(q.Append(nil)) != string(data) {
			t.Errorf("%v is encoded as %v", data, q.Append(nil))
		}
	})
}
