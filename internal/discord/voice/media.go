package voice

import (
	"crypto/rand"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot/internal/discord/dave"
)

const (
	streams   = 256              // of one connection
	forgotten = 30 * time.Second // after its last packet, a stream is forgotten
	keepAlive = 5 * time.Second  // datagrams that keep the path through a router open
)

// media is the sound of one session with a voice server: a socket, keys, and the speakers. It
// outlives the websocket, since a session can be resumed.
type media struct {
	self uint64
	dave *dave.Session

	ssrc  uint32   // ours
	conn  net.Conn // nil before discovery
	seal  *sealer  // for the goroutine that sends
	ready atomic.Bool

	loops sync.WaitGroup

	mu      sync.Mutex
	bind    *streamOwners
	streams []*stream
	count   counts
	clear   []byte // of a frame that has been opened
	found   []byte // the same, when trying keys for an unknown owner
	over    bool   // it has been finished
}

// A stream is what one speaker sends.
type stream struct {
	ssrc uint32
	user uint64
	jitter
}

// counts says what has happened to packets.
type counts struct {
	packets, decrypted, delivered, lost, late, duplicates, dropped, refused, unknown int64

	blank  int64 // packets that say nothing about keys: padding, duplicates, and plain silence
	silent int64 // of those decrypted, silence
}

func (c *counts) add(o counts) {
	c.packets += o.packets
	c.decrypted += o.decrypted
	c.delivered += o.delivered
	c.lost += o.lost
	c.late += o.late
	c.duplicates += o.duplicates
	c.dropped += o.dropped
	c.refused += o.refused
	c.unknown += o.unknown
	c.blank += o.blank
	c.silent += o.silent
}

func newMedia(self, channel uint64) *media {
	return &media{self: self, dave: dave.New(rand.Reader, self, channel), bind: newBinding(self)}
}

// begin takes the transport's key, and listens.
func (m *media) begin(mode string, key []byte) error {
	aead, err := newCipher(mode, key)
	if err != nil {
		return err
	}
	m.seal = newSealer(aead)
	m.ready.Store(true)
	m.loops.Go(func() { m.receive(newOpener(aead)) })
	return nil
}

// close ends it, and waits for its goroutine.
func (m *media) close() {
	m.ready.Store(false)
	if m.conn != nil {
		m.conn.Close()
	}
	m.loops.Wait()
	m.dave.Close()
}

// receive handles packets until the socket is closed.
func (m *media) receive(o *opener) {
	b := make([]byte, 2048) // no datagram of Discord's is longer
	for {
		n, err := m.conn.Read(b)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as that nobody listens there for the moment
			time.Sleep(frame)
			continue
		}
		if p, err := o.open(b[:n]); err == nil {
			m.take(time.Now(), p)
		} else if !errors.Is(err, errOther) {
			m.mu.Lock()
			m.count.packets++
			m.count.refused++
			m.mu.Unlock()
		}
	}
}

// take handles a packet.
func (m *media) take(now time.Time, p packet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count.packets++
	if len(p.payload) == 0 {
		m.count.blank++
		return // padding alone, by which a server measures the path
	}
	if plain(p) {
		m.count.blank++
	}
	of := m.bind.owner(p.ssrc)
	if of.user != 0 {
		if s := m.stream(of.user, p.ssrc); s != nil && s.seen(p.seq) {
			if !plain(p) {
				m.count.blank++
			}
			return // which would count as a forgery
		}
		if m.open(now, now, of.user, p) {
			return
		}
	}
	if of.said { // another's key that opens it proves nothing against that
		m.count.refused++
		return
	}
	who, opus, ok := m.dave.Whose(m.found[:0], m.bind.candidates(), p.payload, now)
	switch {
	case ok:
		m.found = opus[:0]
		m.bound(now, p.ssrc, owner{user: who})
		m.count.decrypted++
		m.put(now, who, p, opus)
	case of.user == 0:
		m.bind.hold(now, p)
	default:
		m.count.refused++
	}
}

// plain reports whether a packet is silence that is accepted unencrypted: servers make it, and
// some clients do not encrypt it.
func plain(p packet) bool { return string(p.payload) == string(silence) }

// open decrypts a packet of a user that came at a time, and orders it.
func (m *media) open(now, came time.Time, user uint64, p packet) bool {
	opus, err := m.dave.Open(m.clear[:0], user, p.payload, now)
	if err != nil {
		return false
	}
	m.clear = opus[:0]
	m.count.decrypted++
	if plain(p) {
		m.count.silent++
	}
	m.put(came, user, p, opus)
	return true
}

// put puts a frame in the order of its stream.
func (m *media) put(now time.Time, user uint64, p packet, opus []byte) {
	s := m.stream(user, p.ssrc)
	if s == nil {
		if len(m.streams) == streams {
			m.count.dropped++
			return
		}
		s = &stream{ssrc: p.ssrc, user: user}
		m.streams = append(m.streams, s)
	}
	s.put(now, p.seq, p.time, opus)
}

// stream returns the stream of a user, nil if nothing has come from them.
func (m *media) stream(user uint64, ssrc uint32) *stream {
	for _, s := range m.streams {
		if s.ssrc == ssrc && s.user == user {
			return s
		}
	}
	return nil
}

// bound records the owner of a stream, and handles the packets that were held of it.
func (m *media) bound(now time.Time, ssrc uint32, o owner) {
	for _, h := range m.bind.bind(ssrc, o) {
		if !m.open(now, h.came, o.user, h.packet) {
			m.count.refused++
		}
	}
}

// speaking handles a speaking event: it names the user of a stream.
func (m *media) speaking(now time.Time, ssrc uint32, user uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bind.arrived(user)
	if o := (owner{user, true}); ssrc != 0 && user != 0 && user != m.self && m.bind.owner(ssrc) != o {
		m.bound(now, ssrc, o)
	}
}

func (m *media) arrived(users ...uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bind.arrived(users...)
}

func (m *media) left(user uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bind.left(user)
}

// A batch is what is delivered at once. It owns its bytes.
type batch struct {
	packets []Packet
	bytes   []byte
}

func (b *batch) reset() { b.packets, b.bytes = b.packets[:0], b.bytes[:0] }

// step adds what can be delivered now. It does not allocate once a batch has its size.
func (m *media) step(now time.Time, b *batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.bind.expire(now)
	keep := m.streams[:0]
	for _, s := range m.streams {
		for {
			p, ok := s.step(now)
			if !ok {
				break
			}
			m.add(b, s, p)
		}
		if now.Sub(s.came) < forgotten {
			keep = append(keep, s)
		} else {
			m.count.add(s.counts())
		}
	}
	clear(m.streams[len(keep):])
	m.streams = keep
}

// add adds a packet to a batch. Growing leaves the bytes of earlier packets where
// they are.
func (m *media) add(b *batch, s *stream, p Packet) {
	p.User, p.SSRC = s.user, s.ssrc
	if len(p.Opus) > 0 {
		m.count.delivered++
		from := len(b.bytes)
		b.bytes = append(b.bytes, p.Opus...)
		p.Opus = b.bytes[from:len(b.bytes):len(b.bytes)]
	}
	b.packets = append(b.packets, p)
}

// finish adds what still waits and the ends of all speakers. It is the last call.
func (m *media) finish(now time.Time, b *batch) {
	m.step(now.Add(longest), b) // no missing packet will come
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	for _, s := range m.streams {
		if s.jitter.speaking {
			s.jitter.speaking = false
			m.add(b, s, Packet{At: s.at(s.expect), Ends: true})
		}
	}
}

func (s *stream) counts() counts {
	return counts{lost: s.lost, late: s.late, duplicates: s.duplicates, dropped: s.dropped}
}

// counts returns the counts so far, and how long packets waited.
func (m *media) counts(waited *[steps]float64) counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.count
	c.unknown = m.bind.lost
	for _, s := range m.streams {
		c.add(s.counts())
		for i, n := range s.waited {
			waited[i] += n
		}
	}
	return c
}

// people returns the other users in the call.
func (m *media) people() []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.bind.here)
}
