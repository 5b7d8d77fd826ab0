package mls

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"io"
)

// The cipher suite MLS_128_DHKEMP256_AES128GCM_SHA256_P256 (section 5.1): its hash,
// its key derivation, its encryption to a public key and its signatures, each with
// the label that says what it is for.

const (
	protocolVersion = 1 // mls10
	cipherSuite     = 2

	hashSize  = 32 // Nh of the key derivation, and the length of a MAC
	pointSize = 65 // of an uncompressed public key
	tagSize   = 16 // of the AEAD
)

// A secret is overwritten when it is no longer needed. We cannot reach the copies that the
// standard library makes while it computes.
type secret []byte

func (s secret) clear() { clear(s) }

func hash(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// refHash is RefHash of section 5.2.
func refHash(label string, value []byte) []byte {
	var w writer
	w.opaque([]byte(label))
	w.opaque(value)
	return hash(w)
}

func makeKeyPackageRef(keyPackage []byte) []byte {
	return refHash("MLS 1.0 KeyPackage Reference", keyPackage)
}

func makeProposalRef(authenticatedContent []byte) []byte {
	return refHash("MLS 1.0 Proposal Reference", authenticatedContent)
}

// labelled is the common part of SignContent (section 5.1.2) and EncryptContext (section 5.1.3).
func labelled(label string, content []byte) []byte {
	w := make(writer, 0, 16+len(label)+len(content))
	w.opaque([]byte("MLS 1.0 " + label))
	w.opaque(content)
	return w
}

// extract is KDF.Extract of section 8.
func extract(salt, ikm []byte) secret {
	s, err := hkdf.Extract(sha256.New, ikm, salt)
	if err != nil {
		panic("mls: " + err.Error()) // only if FIPS 140 forbids SHA-256
	}
	return s
}

// expandWithLabel is ExpandWithLabel of section 8, for up to 255 hashes.
func expandWithLabel(s secret, label string, context []byte, length int) secret {
	w := make(writer, 0, 24+len(label)+len(context))
	w.uint16(uint16(length))
	w.opaque([]byte("MLS 1.0 " + label))
	w.opaque(context)
	out, err := hkdf.Expand(sha256.New, s, string(w), length)
	if err != nil {
		panic("mls: " + err.Error()) // the callers use valid lengths
	}
	return out
}

// ExpandWithLabel is ExpandWithLabel of section 8, for up to 255 hashes.
func ExpandWithLabel(secret []byte, label string, context []byte, length int) []byte {
	return expandWithLabel(secret, label, context, length)
}

// deriveSecret is DeriveSecret of section 8.
func deriveSecret(s secret, label string) secret {
	return expandWithLabel(s, label, nil, hashSize)
}

func mac(key secret, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil)
}

// sameMAC compares in constant time.
func sameMAC(a, b []byte) bool { return hmac.Equal(a, b) }

// Encryption to a public key: HPKE of RFC 9180 in base mode (section 5.1.3). A
// private key is kept as its bytes, since those can be overwritten.

func kem() hpke.KEM { return hpke.DHKEM(ecdh.P256()) }

// deriveKeyPair is KEM.DeriveKeyPair.
func deriveKeyPair(ikm secret) (private secret, public []byte, err error) {
	k, err := kem().DeriveKeyPair(ikm)
	if err != nil {
		return nil, nil, err
	}
	private, err = k.Bytes()
	return private, k.PublicKey().Bytes(), err
}

// newKeyPair derives a key pair from fresh random bytes.
func newKeyPair(r io.Reader) (private secret, public []byte, err error) {
	ikm, err := random(r)
	if err != nil {
		return nil, nil, err
	}
	defer ikm.clear()
	return deriveKeyPair(ikm)
}

// random returns a fresh secret. A nil reader means crypto/rand's.
func random(r io.Reader) (secret, error) {
	if r == nil {
		r = rand.Reader
	}
	s := make(secret, hashSize)
	_, err := io.ReadFull(r, s)
	return s, err
}

// checkPoint returns an error unless key is an uncompressed point of the curve. Keys of any length
// are accepted when a message is read; code that uses or stores one checks it.
func checkPoint(key []byte) error {
	if _, err := ecdh.P256().NewPublicKey(key); err != nil {
		return faultf("5.1.1", "a public key that is no point of the curve")
	}
	return nil
}

// An hpkeCiphertext is HPKECiphertext of section 7.6.
type hpkeCiphertext struct{ kemOutput, ciphertext []byte }

func readHPKECiphertext(r *reader) hpkeCiphertext {
	c := hpkeCiphertext{r.sized(pointSize, "an encapsulated key"), r.opaque()}
	if r.err == nil && len(c.ciphertext) < tagSize {
		r.fail("7.6", "a ciphertext of %d bytes", len(c.ciphertext))
	}
	return c
}

func (w *writer) ciphertext(c hpkeCiphertext) {
	w.opaque(c.kemOutput)
	w.opaque(c.ciphertext)
}

// encryptWithLabel is EncryptWithLabel. Its ephemeral key is always crypto/rand's.
func encryptWithLabel(public []byte, label string, context, plaintext []byte) (c hpkeCiphertext, err error) {
	k, err := kem().NewPublicKey(public)
	if err != nil {
		return c, faultf("5.1.1", "a public key that is no point of the curve")
	}
	encapsulated, sender, err := hpke.NewSender(k, hpke.HKDFSHA256(), hpke.AES128GCM(), labelled(label, context))
	if err != nil {
		return c, err
	}
	sealed, err := sender.Seal(nil, plaintext)
	return hpkeCiphertext{encapsulated, sealed}, err
}

// decryptWithLabel is DecryptWithLabel.
func decryptWithLabel(private secret, label string, context []byte, c hpkeCiphertext) (secret, error) {
	k, err := kem().NewPrivateKey(private)
	if err != nil {
		return nil, ErrCleared // nobody but us makes private keys
	}
	recipient, err := hpke.NewRecipient(c.kemOutput, k, hpke.HKDFSHA256(), hpke.AES128GCM(), labelled(label, context))
	if err != nil {
		return nil, faultf("5.1.3", "an encapsulated key that is no point of the curve")
	}
	plain, err := recipient.Open(nil, c.ciphertext)
	if err != nil {
		return nil, faultf("5.1.3", "a ciphertext for %q that does not open", label)
	}
	return plain, nil
}

// A Signer is a signature key pair of a member or an external sender (section 5.1): ECDSA over
// P-256. It may be used from any goroutine.
type Signer struct {
	private *ecdsa.PrivateKey
	public  []byte
}

// NewSigner makes one. A nil reader means crypto/rand's.
func NewSigner(rand io.Reader) (*Signer, error) {
	private, _, err := newKeyPair(rand) // DeriveKeyPair gives a uniform scalar, good for any use
	if err != nil {
		return nil, err
	}
	defer private.clear()
	return signerOf(private)
}

func signerOf(private secret) (*Signer, error) {
	k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), private)
	if err != nil {
		return nil, err
	}
	public, err := k.PublicKey.Bytes()
	return &Signer{k, public}, err
}

// Public returns the public key, as an uncompressed point of 65 bytes.
func (s *Signer) Public() []byte { return append([]byte(nil), s.public...) }

// sign is SignWithLabel of section 5.1.2. Signatures are deterministic (RFC 6979), since a
// repeated nonce would reveal the key.
func (s *Signer) sign(label string, content []byte) ([]byte, error) {
	digest := sha256.Sum256(labelled(label, content))
	return s.private.Sign(nil, digest[:], crypto.SHA256)
}

// verify is VerifyWithLabel of section 5.1.2. A signature is strict DER. Both values of s are
// accepted: neither the RFC nor the other members require the lower one.
func verify(public []byte, label string, content, signature []byte) error {
	k, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		return faultf("5.1.1", "a signature key that is no point of the curve")
	}
	digest := sha256.Sum256(labelled(label, content))
	if !ecdsa.VerifyASN1(k, digest[:], signature) {
		return faultf("5.1.2", "a wrong signature of %s", label)
	}
	return nil
}
