package voice

import "testing"

// TestResumedHearsEverythingNew: a resumed connection repeats what we had heard, which is
// recognised. Nothing that comes later is taken for that, however long it lasts, although numbers
// have only 16 bits.
func TestResumedHearsEverythingNew(t *testing.T) {
	for _, from := range []int64{-1, 0, 10, 65530} {
		l := newLink(Place{}, ticket{}, nil, from, true)
		for seq := max(0, from-20); from >= 0 && seq <= from; seq++ {
			if !l.repeated(int(uint16(seq))) {
				t.Errorf("from %d: %d is taken again", from, seq)
			}
		}
		for n := range int64(3 << 16) {
			if seq := uint16(from + 1 + n); l.repeated(int(seq)) {
				t.Fatalf("from %d: message %d, number %d, is passed over", from, n, seq)
			}
		}
	}
	l := newLink(Place{}, ticket{}, nil, -1, false)
	for range 2 {
		if l.repeated(7) {
			t.Error("a connection that is new has nothing said again")
		}
	}
}
