package voice

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"testing"
)

var key = bytes.Repeat([]byte{9}, keyLen)

// forwarded returns a packet as Discord's server forwards it: with an extension of so many words,
// with sources and padding.
func forwarded(t testing.TB, mode string, counter uint32, sources, words, padding int, payload []byte) []byte {
	a, err := newCipher(mode, key)
	if err != nil {
		t.Fatal(err)
	}
	b := []byte{2<<6 | byte(sources), 0x80 | opusType, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9}
	b = append(b, make([]byte, 4*sources)...)
	var body []byte
	if words >= 0 {
		b[0] |= bitExtension
		b = append(b, 0xBE, 0xDE)
		b = binary.BigEndian.AppendUint16(b, uint16(words))
		body = bytes.Repeat([]byte{0xEE}, 4*words)
	}
	body = append(body, payload...)
	if padding > 0 {
		b[0] |= bitPadding
		body = append(body, make([]byte, padding-1)...)
		body = append(body, byte(padding))
	}
	nonce := make([]byte, a.NonceSize())
	binary.LittleEndian.PutUint32(nonce, counter) // the byte order is up to the sender
	return append(a.Seal(b, nonce, body, b), nonce[:tailLen]...)
}

func TestOpen(t *testing.T) {
	for _, mode := range modes {
		a, err := newCipher(mode, key)
		if err != nil {
			t.Fatal(err)
		}
		o := newOpener(a)
		for _, tt := range []struct{ sources, words, padding int }{
			{0, -1, 0}, {0, 0, 0}, {0, 2, 0}, {0, 2, 5}, {15, 2, 255}, {3, -1, 1}, {0, 20, 3},
		} {
			want := []byte("a frame of Opus")
			got, err := o.open(forwarded(t, mode, 0xCAFE, tt.sources, tt.words, tt.padding, want))
			if err != nil || !bytes.Equal(got.payload, want) || got.seq != 7 || got.time != 8 || got.ssrc != 9 {
				t.Errorf("%s, %+v: %+v, %v", mode, tt, got, err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	a, _ := newCipher(modeGCM, key)
	o := newOpener(a)
	good := forwarded(t, modeGCM, 1, 1, 2, 4, []byte("sound"))
	for i := range good { // one bit in each byte
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if p, err := o.open(bad); err == nil {
			t.Errorf("byte %d is not authenticated: %+v", i, p)
		}
	}
	for n := range good {
		if _, err := o.open(good[:n]); err == nil {
			t.Errorf("%d bytes were opened", n)
		}
	}
	rtcp := bytes.Clone(good)
	rtcp[1] = 0xC9
	if _, err := o.open(rtcp); !errors.Is(err, errOther) {
		t.Errorf("a report of a receiver: %v", err)
	}
	// These are authentic, but nonsense.
	none := forwarded(t, modeGCM, 2, 0, -1, 0, nil)
	if p, err := o.open(none); err != nil || len(p.payload) != 0 {
		t.Errorf("an empty packet: %+v, %v", p, err)
	}
	for _, body := range [][]byte{{}, {0}, {3, 3}} {
		b := []byte{2<<6 | bitPadding, opusType, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}
		nonce := make([]byte, a.NonceSize())
		b = append(a.Seal(b, nonce, body, b), nonce[:4]...)
		if p, err := o.open(b); !errors.Is(err, errOther) {
			t.Errorf("padding %v: %+v, %v", body, p, err)
		}
	}
}

func TestSeal(t *testing.T) {
	for _, mode := range modes {
		a, _ := newCipher(mode, key)
		s, o := newSealer(a), newOpener(a)
		nonces := map[string]bool{}
		for n := range 100 {
			b, err := s.seal(nil, packet{5, uint16(n), uint32(n * 960), []byte{byte(n)}})
			if err != nil {
				t.Fatal(err)
			}
			if nonce := string(b[len(b)-4:]); nonces[nonce] {
				t.Fatalf("nonce %x twice", nonce)
			} else {
				nonces[nonce] = true
			}
			if p, err := o.open(b); err != nil || p.ssrc != 5 || p.seq != uint16(n) || p.time != uint32(n*960) || p.payload[0] != byte(n) {
				t.Fatalf("%s: packet %d: %+v, %v", mode, n, p, err)
			}
		}
		s.used = math.MaxUint32
		if _, err := s.seal(nil, packet{}); !errors.Is(err, errSpent) {
			t.Errorf("the nonces begin anew: %v", err)
		}
	}
}

func TestTransportAllocatesNothing(t *testing.T) {
	for _, mode := range modes {
		a, _ := newCipher(mode, key)
		s, o := newSealer(a), newOpener(a)
		b := forwarded(t, mode, 1, 0, 2, 4, make([]byte, 160))
		if n := testing.AllocsPerRun(100, func() { o.open(b) }); n != 0 {
			t.Errorf("%s: opening allocates %v times", mode, n)
		}
		out, payload := make([]byte, 0, 512), make([]byte, 160)
		if n := testing.AllocsPerRun(100, func() { s.seal(out, packet{1, 2, 3, payload}) }); n != 0 {
			t.Errorf("%s: sealing allocates %v times", mode, n)
		}
	}
}

func TestPick(t *testing.T) {
	for _, tt := range []struct {
		offered []string
		want    string
	}{
		{[]string{modeXChaCha, modeGCM}, modeGCM},
		{[]string{"xsalsa20_poly1305", modeXChaCha}, modeXChaCha},
		{[]string{"xsalsa20_poly1305"}, ""},
		{nil, ""},
	} {
		if got := pick(tt.offered); got != tt.want {
			t.Errorf("of %v picked %q", tt.offered, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	a, _ := newCipher(modeGCM, key)
	f.Add(forwarded(f, modeGCM, 1, 1, 2, 4, []byte("sound")), false)
	f.Add([]byte{0x90, 0x78, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0xBE, 0xDE, 0xFF, 0xFF}, true)
	f.Fuzz(func(t *testing.T, b []byte, authentic bool) {
		o := newOpener(a)
		if authentic && len(b) > headLen { // as a hostile server could make it
			head := headLen + 4*int(b[0]&15)
			if b[0]&bitExtension != 0 {
				head += 4
			}
			if head > len(b) {
				return
			}
			b = append(a.Seal(bytes.Clone(b[:head]), make([]byte, a.NonceSize()), b[head:], b[:head]), 0, 0, 0, 0)
		}
		if p, err := o.open(b); err == nil && len(p.payload) > len(b) {
			t.Errorf("%d bytes of %d", len(p.payload), len(b))
		}
	})
}

func answered(ssrc uint32, ip string, port uint16) []byte {
	b := askAddress(ssrc)
	b[1] = 2
	copy(b[8:72], ip)
	binary.BigEndian.PutUint16(b[72:], port)
	return b
}

func TestReadAddress(t *testing.T) {
	for _, ip := range []string{"203.0.113.80", "2001:db8::1"} {
		got, err := readAddress(answered(7, ip, 50001), 7)
		if want := netip.AddrPortFrom(netip.MustParseAddr(ip), 50001); err != nil || got != want {
			t.Errorf("%v, %v", got, err)
		}
	}
	for name, b := range map[string][]byte{
		"of another": answered(8, "203.0.113.80", 1),
		"no address": answered(7, "localhost", 1),
		"short":      answered(7, "203.0.113.80", 1)[:70],
		"a question": askAddress(7),
		"empty":      nil,
	} {
		if a, err := readAddress(b, 7); err == nil {
			t.Errorf("%s: %v", name, a)
		}
	}
}

func FuzzReadAddress(f *testing.F) {
	f.Add(answered(7, "203.0.113.80", 50001))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := readAddress(b, 7); err == nil && !a.IsValid() {
			t.Error("no address and no error")
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	for _, mode := range modes {
		b.Run(mode, func(b *testing.B) {
			a, _ := newCipher(mode, key)
			o, p := newOpener(a), forwarded(b, mode, 1, 0, 2, 4, make([]byte, 172))
			b.ReportAllocs()
			for b.Loop() {
				o.open(p)
			}
		})
	}
}
