package voice

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// The encryption modes for packets, by preference: hardware helps with the first, the second is
// the one that every server must offer.
const (
	modeGCM     = "aead_aes256_gcm_rtpsize"
	modeXChaCha = "aead_xchacha20_poly1305_rtpsize"
)

var modes = []string{modeGCM, modeXChaCha}

const (
	keyLen   = 32
	headLen  = 12 // an RTP header without its list of sources
	tailLen  = 4  // the counter after the ciphertext, which is the beginning of the nonce
	tagLen   = 16
	opusType = 0x78

	bitPadding   = 0x20
	bitExtension = 0x10
)

// pick returns the mode to use among those that a server offers, "" if there is none.
func pick(offered []string) string {
	for _, m := range modes {
		if slices.Contains(offered, m) {
			return m
		}
	}
	return ""
}

// newCipher returns the cipher of a mode.
func newCipher(mode string, key []byte) (cipher.AEAD, error) {
	switch mode {
	case modeGCM:
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	case modeXChaCha:
		return chacha20poly1305.NewX(key)
	}
	return nil, fmt.Errorf("voice: unknown encryption mode %q", mode)
}

var (
	errOther = errors.New("voice: not a packet of sound")
	errSpent = errors.New("voice: all nonces of the key are spent")
)

// A packet is an RTP packet, without the transport encryption.
type packet struct {
	ssrc    uint32
	seq     uint16
	time    uint32 // in samples at 48 kHz
	payload []byte
}

// An opener undoes the transport encryption. It is used by one goroutine and allocates nothing.
type opener struct {
	aead  cipher.AEAD
	nonce []byte
	clear []byte
}

func newOpener(a cipher.AEAD) *opener {
	return &opener{a, make([]byte, a.NonceSize()), make([]byte, 0, 2048)}
}

// open opens a packet; the payload is valid until the next one.
//
// In the modes called rtpsize, the header with its list of sources and the first four
// bytes of an extension are authenticated only; the rest of the extension, the sound
// and the padding are encrypted (RFC 3550 §5.1 and §5.3.1 for their layout).
func (o *opener) open(b []byte) (packet, error) {
	if len(b) < headLen || b[0]>>6 != 2 || b[1]&0x7f != opusType {
		return packet{}, errOther
	}
	p := packet{
		seq:  binary.BigEndian.Uint16(b[2:]),
		time: binary.BigEndian.Uint32(b[4:]),
		ssrc: binary.BigEndian.Uint32(b[8:]),
	}
	head, extension := headLen+4*int(b[0]&15), 0
	if b[0]&bitExtension != 0 {
		head += 4
		if len(b) < head {
			return packet{}, errOther
		}
		extension = 4 * int(binary.BigEndian.Uint16(b[head-2:]))
	}
	tail := len(b) - tailLen
	if tail < head+tagLen {
		return packet{}, errOther
	}
	copy(o.nonce, b[tail:]) // the rest of it is zero
	clear, err := o.aead.Open(o.clear[:0], o.nonce, b[head:tail], b[:head])
	if err != nil {
		return packet{}, err
	}
	o.clear = clear[:0]
	if len(clear) < extension {
		return packet{}, errOther
	}
	clear = clear[extension:]
	if b[0]&bitPadding != 0 {
		if len(clear) == 0 {
			return packet{}, errOther
		}
		padding := int(clear[len(clear)-1])
		if padding == 0 || padding > len(clear) {
			return packet{}, errOther
		}
		clear = clear[:len(clear)-padding]
	}
	p.payload = clear
	return p, nil
}

// A sealer encrypts for the transport. It is used by one goroutine, and its key by no other
// sealer: no nonce is used twice.
type sealer struct {
	aead  cipher.AEAD
	nonce []byte
	used  uint32
}

func newSealer(a cipher.AEAD) *sealer { return &sealer{aead: a, nonce: make([]byte, a.NonceSize())} }

// seal appends a packet to dst.
func (s *sealer) seal(dst []byte, p packet) ([]byte, error) {
	if s.used+1 == 0 {
		return dst, errSpent
	}
	s.used++
	binary.BigEndian.PutUint32(s.nonce, s.used)
	head := len(dst)
	dst = append(dst, 2<<6, opusType)
	dst = binary.BigEndian.AppendUint16(dst, p.seq)
	dst = binary.BigEndian.AppendUint32(dst, p.time)
	dst = binary.BigEndian.AppendUint32(dst, p.ssrc)
	dst = s.aead.Seal(dst, s.nonce, p.payload, dst[head:])
	return append(dst, s.nonce[:tailLen]...), nil
}
