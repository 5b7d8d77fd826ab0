package dave

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	theirs "github.com/thomas-vilte/dave-go/frame"
	"github.com/thomas-vilte/dave-go/mediakeys"
	"pgregory.net/rapid"
)

var begin = time.Unix(1000, 0)

// TestPeerFrames exchanges frames with another implementation, over four generations and with parts
// that are not encrypted.
func TestPeerFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Byte(), keySize, keySize).Draw(t, "base")
		keys, err := mediakeys.NewKeyRatchet(base)
		if err != nil {
			t.Fatal(err)
		}
		nonce := rapid.Uint32Range(0, 4<<generationShift-1).Draw(t, "nonce")
		key, err := keys.GetKey(nonce >> generationShift)
		if err != nil {
			t.Fatal(err)
		}
		media := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "media")
		var ranges []theirs.Range
		for at := 0; at < len(media) && rapid.Bool().Draw(t, "more"); {
			from := rapid.IntRange(at, len(media)-1).Draw(t, "from")
			to := rapid.IntRange(from+1, len(media)).Draw(t, "to")
			ranges = append(ranges, theirs.Range{Offset: from, Length: to - from})
			at = to + 1
		}
		sealed, err := theirs.Encrypt(theirs.EncryptParams{Plaintext: media, Key: key, TruncatedNonce: nonce, UnencryptedRanges: ranges})
		if err != nil {
			t.Fatal(err)
		}
		ours := newReceiver(base, begin)
		got, ok := openWith(ours, sealed, begin.Add(100*time.Hour))
		if !ok || !bytes.Equal(got, media) {
			t.Fatalf("%x is opened as %x, %v", media, got, ok)
		}
		if _, ok := openWith(ours, sealed, begin.Add(100*time.Hour)); ok {
			t.Fatal("a nonce is used twice")
		}

		sender := newSender(base)
		sender.nonce = uint64(nonce)
		sealed = sender.seal(nil, media)
		if key, err = keys.GetKey(uint32(sender.nonce >> generationShift)); err != nil {
			t.Fatal(err)
		}
		got, _, err = theirs.Decrypt(theirs.DecryptParams{Key: key, Ciphertext: sealed})
		if err != nil || !bytes.Equal(got, media) {
			t.Fatalf("%x is opened by the other as %x: %v", media, got, err)
		}
	})
}

func openWith(r *receiver, b []byte, now time.Time) ([]byte, bool) {
	var s scratch
	f, ok := parse(b, &s)
	if !ok {
		return nil, false
	}
	plain, ok := r.open(&s, &f, now)
	if !ok {
		return nil, false
	}
	return f.join(nil, plain), true
}

// TestFrameCheck: which bytes are a protocol frame, by their tail after ten bytes of media.
func TestFrameCheck(t *testing.T) {
	const tag = "0102030405060708"
	for _, c := range []struct {
		name, tail string
		nonce      uint32
		ranges     []span
		no         bool
	}{
		{name: "Opus", tail: tag + "05" + "0c" + "fafa", nonce: 5},
		{name: "the greatest nonce", tail: tag + "ffffffff0f" + "10" + "fafa", nonce: 1<<32 - 1},
		{name: "a nonce with a zero in front", tail: tag + "8500" + "0d" + "fafa", nonce: 5},
		{name: "two ranges", tail: tag + "05" + "00010304" + "10" + "fafa", nonce: 5, ranges: []span{{0, 1}, {3, 4}}},
		{name: "ranges that touch", tail: tag + "05" + "00010103" + "10" + "fafa", nonce: 5, ranges: []span{{0, 1}, {1, 3}}},
		{name: "all is readable", tail: tag + "05" + "000a" + "0e" + "fafa", nonce: 5, ranges: []span{{0, 10}}},

		{name: "no marker", tail: tag + "05" + "0c" + "fafb", no: true},
		{name: "a size below the least", tail: tag + "05" + "0b" + "fafa", no: true},
		{name: "a size of nothing", tail: tag + "05" + "00" + "fafa", no: true},
		{name: "a size beyond the frame", tail: tag + "05" + "17" + "fafa", no: true},
		{name: "a nonce of 33 bits", tail: tag + "ffffffff1f" + "10" + "fafa", no: true},
		{name: "a nonce of six bytes", tail: tag + "808080808000" + "11" + "fafa", no: true},
		{name: "a nonce that does not end", tail: tag + "85" + "0c" + "fafa", no: true},
		{name: "half a range", tail: tag + "05" + "00" + "0d" + "fafa", no: true},
		{name: "ranges out of order", tail: tag + "05" + "03040001" + "10" + "fafa", no: true},
		{name: "ranges that overlap", tail: tag + "05" + "00030201" + "10" + "fafa", no: true},
		{name: "a range beyond the media", tail: tag + "05" + "0703" + "050a" + "10" + "fafa", no: true},
		{name: "a range of four gigabytes", tail: tag + "05" + "01ffffffff0f" + "12" + "fafa", no: true},
		{name: "a range that wraps", tail: tag + "05" + "ffffffff0f02" + "12" + "fafa", no: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tail, err := hex.DecodeString(c.tail)
			if err != nil {
				t.Fatal(err)
			}
			var s scratch
			f, ok := parse(append([]byte("0123456789"), tail...), &s)
			if ok == c.no {
				t.Fatalf("it is a frame: %v", ok)
			}
			if !ok {
				return
			}
			if string(f.media) != "0123456789" || hex.EncodeToString(f.tag) != tag || f.nonce != c.nonce || len(f.ranges) != len(c.ranges) {
				t.Fatalf("it is %+v", f)
			}
			for i, r := range f.ranges {
				if r != c.ranges[i] {
					t.Fatalf("its ranges are %v", f.ranges)
				}
			}
			if len(f.sealed)+len(f.aad) != len(f.media) {
				t.Fatalf("%d sealed and %d readable bytes of %d", len(f.sealed), len(f.aad), len(f.media))
			}
		})
	}
	if _, ok := parse(make([]byte, minSupplement-1), new(scratch)); ok {
		t.Error("eleven bytes are a frame")
	}
	long := append(bytes.Repeat([]byte("x"), maxFrame), "12345678\x05\x0c\xfa\xfa"...)
	if _, ok := parse(long, new(scratch)); ok {
		t.Error("a frame without bounds")
	}
}

// TestDamagedFrames: a frame with any bit changed, or cut short, is not opened.
func TestDamagedFrames(t *testing.T) {
	base := []byte("0123456789abcdef")
	sealed := newSender(base).seal(nil, []byte("some Opus"))
	for i := range len(sealed) * 8 {
		b := bytes.Clone(sealed)
		b[i/8] ^= 1 << (i % 8)
		if got, ok := openWith(newReceiver(base, begin), b, begin); ok {
			t.Errorf("with bit %d changed it is %q", i, got)
		}
	}
	for n := range sealed {
		if _, ok := openWith(newReceiver(base, begin), sealed[:n], begin); ok {
			t.Errorf("%d bytes of it are opened", n)
		}
	}
	if _, ok := openWith(newReceiver([]byte("0123456789abcdeg"), begin), sealed, begin); ok {
		t.Error("another key opens it")
	}
}

func FuzzFrame(f *testing.F) {
	base := []byte("0123456789abcdef")
	f.Add(newSender(base).seal(nil, []byte("some Opus")))
	f.Add([]byte("0123456789\x01\x02\x03\x04\x05\x06\x07\x08\x05\x00\x01\x03\x04\x10\xfa\xfa"))
	f.Add([]byte(silence))
	f.Add([]byte("\xfa\xfa"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s scratch
		p, ok := parse(b, &s)
		if ok && !bytes.Equal(p.join(nil, p.sealed), p.media) {
			t.Fatal("it cannot be put together again")
		}
		openWith(newReceiver(base, begin), b, begin)
	})
}
