package dave

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"time"

	"earshot/internal/discord/mls"
)

const (
	keySize = 16 // AES-128-GCM, the media ciphersuite of version 1
	tagSize = 8  // its tag is truncated

	// generationShift is the position of the generation in a nonce: a key seals 2^24 frames.
	generationShift = 24

	// fastest is a generous bound on the frames per second of one sender, with two videos beside
	// the voice. It limits the generation that can have been reached at the age of an epoch: a
	// nonce beyond it is a lie, and no keys are derived for it.
	fastest = 1000
)

// A ratchet derives the keys of one sender in one epoch, one generation after another, and cannot
// go back ("Sender Key Derivation"; RFC 9420 §9.1).
type ratchet struct {
	secret []byte // of generation next
	next   uint64
}

func newRatchet(base []byte) ratchet { return ratchet{secret: append([]byte(nil), base...)} }

// at returns the ratchet advanced to a generation that is not behind it. The receiver is
// unchanged.
func (r ratchet) at(generation uint64) ratchet {
	r.secret = append([]byte(nil), r.secret...)
	for r.next < generation {
		then := derive(r.secret, "secret", r.next, sha256.Size)
		clear(r.secret)
		r.secret = then
		r.next++
	}
	return r
}

// key returns the key of the next generation.
func (r ratchet) key() *shortGCM {
	key := derive(r.secret, "key", r.next, keySize)
	defer clear(key)
	return newShortGCM(key)
}

func (r *ratchet) clear() {
	clear(r.secret)
	r.secret = nil
}

// derive is DeriveTreeSecret (RFC 9420 §9): ExpandWithLabel (§8) with a generation as context,
// which has 32 bits there: 2^56 frames.
func derive(secret []byte, label string, generation uint64, length int) []byte {
	return mls.ExpandWithLabel(secret, label, binary.BigEndian.AppendUint32(nil, uint32(generation)), length)
}

// A shortGCM is AES-128-GCM with tags of eight bytes, which crypto/cipher does not
// offer. One goroutine uses it at a time.
type shortGCM struct {
	gcm   cipher.AEAD
	nonce [12]byte // here, so that it is not allocated for each frame
}

func newShortGCM(key []byte) *shortGCM {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only a wrong length is an error
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return &shortGCM{gcm: gcm}
}

// seal appends ciphertext and tag to dst.
func (c *shortGCM) seal(dst []byte, nonce uint32, plain, aad []byte) []byte {
	binary.LittleEndian.PutUint32(c.nonce[8:], nonce)
	dst = c.gcm.Seal(dst, c.nonce[:], plain, aad)
	return dst[:len(dst)-tagSize]
}

// open returns the plaintext, in memory of s. The cipher is a key stream, which removes what it
// has added: sealing the ciphertext gives the plaintext, and sealing that gives the whole tag, of
// which eight bytes have come with the frame.
func (c *shortGCM) open(s *scratch, nonce uint32, sealed, tag, aad []byte) ([]byte, bool) {
	binary.LittleEndian.PutUint32(c.nonce[8:], nonce)
	s.plain = c.gcm.Seal(s.plain[:0], c.nonce[:], sealed, nil)
	plain := s.plain[:len(sealed)]
	s.again = c.gcm.Seal(s.again[:0], c.nonce[:], plain, aad)
	if subtle.ConstantTimeCompare(s.again[len(sealed):][:tagSize], tag) != 1 {
		return nil, false
	}
	return plain, true
}

// A scratch is temporary memory for opening a frame.
type scratch struct {
	plain, again []byte
	sealed, aad  []byte
	ranges       []span
}

// A sender seals the agent's own frames in one epoch.
type sender struct {
	ratchet ratchet
	key     *shortGCM
	nonce   uint64 // of the last frame; its lowest 32 bits are sent
}

func newSender(base []byte) *sender {
	r := newRatchet(base)
	return &sender{ratchet: r, key: r.key()}
}

// advance returns the nonce of the next frame. The first is 1, as in all clients.
func (s *sender) advance() uint32 {
	s.nonce++
	if g := s.nonce >> generationShift; g != s.ratchet.next {
		old := s.ratchet
		s.ratchet = s.ratchet.at(g)
		s.key = s.ratchet.key()
		old.clear()
	}
	return uint32(s.nonce)
}

func (s *sender) clear() {
	s.ratchet.clear()
	s.key = nil
}

// A receiver opens the frames of one other member in one epoch, each once.
type receiver struct {
	since   time.Time    // when the epoch began here
	ratchet ratchet      // at the newest generation of which a frame was opened
	kept    []generation // that generation's key last
	seen    window
}

// A generation is a stored key: the newest, and for [Keep] earlier ones.
type generation struct {
	number uint64
	key    *shortGCM
	until  time.Time // zero for the newest
}

func newReceiver(base []byte, now time.Time) *receiver {
	r := newRatchet(base)
	return &receiver{since: now, ratchet: r, kept: []generation{{key: r.key()}}}
}

// open returns the plaintext of a frame, in memory of s, and whether this receiver's key opens it.
// Only a frame that it opens changes any state.
func (r *receiver) open(s *scratch, f *frame, now time.Time) ([]byte, bool) {
	r.expire(now)
	if len(r.kept) == 0 {
		return nil, false // it was cleared
	}
	number := unwrap(r.kept[0].number, f.nonce>>generationShift)
	nonce := number<<generationShift | uint64(f.nonce&(1<<generationShift-1))
	if !r.seen.fresh(nonce) {
		return nil, false
	}
	for _, g := range r.kept {
		if g.number == number {
			plain, ok := g.key.open(s, f.nonce, f.sealed, f.tag, f.aad)
			if ok {
				r.seen.take(nonce)
			}
			return plain, ok
		}
	}
	if number < r.ratchet.next || number > r.reachable(now) {
		return nil, false
	}
	ahead := r.ratchet.at(number)
	key := ahead.key()
	plain, ok := key.open(s, f.nonce, f.sealed, f.tag, f.aad)
	if !ok {
		ahead.clear()
		return nil, false
	}
	r.seen.take(nonce)
	r.kept[len(r.kept)-1].until = now.Add(Keep)
	r.kept = append(r.kept, generation{number: number, key: key})
	r.ratchet.clear()
	r.ratchet = ahead
	return plain, true
}

// reachable returns the newest generation that a sender can have reached.
func (r *receiver) reachable(now time.Time) uint64 {
	age := max(0, now.Sub(r.since)) + Keep
	return uint64(age/time.Second) * fastest >> generationShift
}

func (r *receiver) expire(now time.Time) {
	for len(r.kept) > 0 && !r.kept[0].until.IsZero() && !now.Before(r.kept[0].until) {
		r.kept[0] = generation{}
		r.kept = r.kept[1:]
	}
}

func (r *receiver) clear() {
	r.ratchet.clear()
	clear(r.kept)
	r.kept = nil
}

// unwrap returns the first generation from oldest on whose lowest eight bits are low: a nonce has
// only those.
func unwrap(oldest uint64, low uint32) uint64 {
	return oldest + uint64(uint8(uint64(low)-oldest))
}

// windowSize is how far a frame may be behind the newest: 40 s of speech, and 7 s where two videos
// use nonces too.
const windowSize = 2048

// A window records which of the last nonces were used.
type window struct {
	end  uint64 // the first nonce after the newest
	used [windowSize / 64]uint64
}

func (w *window) bit(n uint64) (*uint64, uint64) {
	n %= windowSize
	return &w.used[n/64], 1 << (n % 64)
}

// fresh reports whether n is known to be unused.
func (w *window) fresh(n uint64) bool {
	if n >= w.end {
		return true
	}
	word, bit := w.bit(n)
	return w.end-n <= windowSize && *word&bit == 0
}

// take marks n, which is fresh, as used.
func (w *window) take(n uint64) {
	if n >= w.end && n-w.end >= windowSize {
		clear(w.used[:])
		w.end = n + 1
	}
	for ; w.end <= n; w.end++ {
		word, bit := w.bit(w.end)
		*word &^= bit
	}
	word, bit := w.bit(n)
	*word |= bit
}
