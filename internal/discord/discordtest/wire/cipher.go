package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"

	"golang.org/x/crypto/chacha20poly1305"
)

// A Cipher is the encryption of one client's packets between it and the server.
type Cipher struct {
	Mode   string
	Key    [32]byte
	aead   cipher.AEAD
	Nonces map[uint32]bool // of the opened packets
	nonce  uint32          // of the last packet to the client
}

// The modes of the encryption between a client and the server.
const (
	ModeAES       = "aead_aes256_gcm_rtpsize"
	ModeXChaCha20 = "aead_xchacha20_poly1305_rtpsize"
)

// Choose makes a key for a mode.
func (c *Cipher) Choose(mode string) error {
	var key [32]byte
	rand.Read(key[:])
	return c.Use(mode, key)
}

// Use begins with a key.
func (c *Cipher) Use(mode string, key [32]byte) (err error) {
	c.Mode, c.Key, c.nonce = mode, key, 0
	clear(c.Nonces)
	switch mode {
	case ModeAES:
		block, err := aes.NewCipher(c.Key[:])
		if err != nil {
			return err
		}
		c.aead, err = cipher.NewGCM(block)
		return err
	case ModeXChaCha20:
		c.aead, err = chacha20poly1305.NewX(c.Key[:])
		return err
	}
	return errors.New("unknown mode")
}

// Reuses reports whether the nonce at the end of an opened packet has been used before, and records
// it.
func (c *Cipher) Reuses(p []byte) bool {
	nonce := binary.BigEndian.Uint32(p[len(p)-4:])
	used := c.Nonces[nonce]
	c.Nonces[nonce] = true
	return used
}

func (c *Cipher) nonceFor(counter []byte) []byte {
	return append(append(make([]byte, 0, c.aead.NonceSize()), counter...), make([]byte, c.aead.NonceSize()-4)...)
}

var errPacket = errors.New("no packet of this transport")

// Open decrypts a client's packet. Not encrypted are the header, the list of contributors, and the
// first four bytes of an extension.
func (c *Cipher) Open(p []byte) ([]byte, error) {
	clear := 12 + 4*int(p[0]&0x0f)
	if p[0]&0x10 != 0 {
		clear += 4
	}
	if c.aead == nil || len(p) < clear+c.aead.Overhead()+4 {
		return nil, errPacket
	}
	body, err := c.aead.Open(nil, c.nonceFor(p[len(p)-4:]), p[clear:len(p)-4], p[:clear])
	if err != nil {
		return nil, err
	}
	if p[0]&0x10 != 0 {
		words := int(binary.BigEndian.Uint16(p[clear-2:]))
		if len(body) < 4*words {
			return nil, errPacket
		}
		body = body[4*words:]
	}
	if p[0]&0x20 != 0 {
		if len(body) == 0 || int(body[len(body)-1]) > len(body) || body[len(body)-1] == 0 {
			return nil, errPacket
		}
		body = body[:len(body)-int(body[len(body)-1])]
	}
	return body, nil
}

// Seal makes a packet for a client, with the sender's header plus an extension of two words, as
// the real server adds it, and padding.
func (c *Cipher) Seal(header [12]byte, frame []byte, extension, padding bool) []byte {
	head := append(make([]byte, 0, 64+len(frame)), header[:]...)
	head[0] = 0x80
	var body []byte
	if extension {
		head[0] |= 0x10
		head = append(head, 0xbe, 0xde, 0, 2)
		body = append(body, 0x32, 1, 2, 3, 0x10, 0x55, 0, 0)
	}
	body = append(body, frame...)
	if padding {
		head[0] |= 0x20
		body = append(body, 0, 0, 0, 0, 5)
	}
	c.nonce++
	counter := binary.BigEndian.AppendUint32(nil, c.nonce)
	clear := len(head)
	return append(c.aead.Seal(head, c.nonceFor(counter), body, head[:clear]), counter...)
}
