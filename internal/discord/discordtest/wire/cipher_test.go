package wire_test

import (
	"testing"

	"earshot/internal/discord/discordtest/wire"
)

// TestCipher: what one side seals the other opens, whatever surrounds the frame, and notices what
// was changed or sent again.
func TestCipher(t *testing.T) {
	for _, mode := range []string{wire.ModeAES, wire.ModeXChaCha20} {
		ours, theirs := new(wire.Cipher), wire.Cipher{Nonces: make(map[uint32]bool)}
		if err := ours.Choose(mode); err != nil {
			t.Fatal(err)
		}
		if err := theirs.Use(mode, ours.Key); err != nil {
			t.Fatal(err)
		}
		for _, extension := range []bool{false, true} {
			for _, padding := range []bool{false, true} {
				p := ours.Seal([12]byte{0x80, 0x78}, []byte("frame"), extension, padding)
				if frame, err := theirs.Open(p); err != nil || string(frame) != "frame" || theirs.Reuses(p) || !theirs.Reuses(p) {
					t.Errorf("%s, extension %v, padding %v: %q, %v", mode, extension, padding, frame, err)
				}
				p[len(p)-6] ^= 1
				if frame, err := theirs.Open(p); err == nil {
					t.Errorf("%s: a changed packet is %q", mode, frame)
				}
			}
		}
	}
	if err := new(wire.Cipher).Choose("plain"); err == nil {
		t.Error("an unknown mode is taken")
	}
}
