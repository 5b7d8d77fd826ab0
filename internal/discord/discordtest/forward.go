package discordtest

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"time"

	"earshot/internal/discord/discordtest/wire"
)

// A transport is the path of one member's packets.
type transport struct {
	wire.Cipher
	ssrc       uint32
	discovered netip.AddrPort // the address that discovery has returned
	announced  bool           // it has said that it speaks
	early      []voicePacket
	count      Traffic
}

// Traffic counts the packets of a member.
type Traffic struct {
	In, Out int // received from it, and sent to it

	Refused     int // not decryptable, or not a voice packet
	Reused      int // with a used nonce
	Unannounced int // before its first op 5; the last 50 are forwarded when that comes
	Lost        int // packets to it that were randomly lost
	Late        int // packets to it that are delayed
}

// A Forwarded packet is one that a member has sent and the server has forwarded. Its frame is what
// the server could read of it: nothing, if it is encrypted end to end.
type Forwarded struct {
	At        time.Time
	User      uint64
	Timestamp uint32
	Frame     []byte

	// Due says that encryption was required: the call had a version other than 0, and no transition
	// from or to 0 was under way.
	Due bool
}

var (
	silence = []byte{0xf8, 0xff, 0xfe}
	marker  = []byte{0xfa, 0xfa} // ends every frame that is encrypted end to end
)

// Encrypted reports whether it looks encrypted end to end.
func (f Forwarded) Encrypted() bool { return bytes.HasSuffix(f.Frame, marker) }

// Silent reports whether it is the frame of silence that is never encrypted.
func (f Forwarded) Silent() bool { return bytes.Equal(f.Frame, silence) }

// kept is how many forwarded packets are kept: twenty minutes of one speaker.
const kept = 1 << 16

// forward forwards packets until the socket is closed.
func (c *call) forward() {
	buf := make([]byte, 2048)
	for {
		n, from, err := c.udp.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		c.mu.Lock()
		if !c.closed {
			c.datagram(buf[:n], from)
		}
		c.mu.Unlock()
	}
}

func (c *call) datagram(p []byte, from netip.AddrPort) {
	switch {
	case len(p) == 74 && binary.BigEndian.Uint16(p) == 1 && binary.BigEndian.Uint16(p[2:]) == 70:
		c.discover(p, from)
	case len(p) == 8: // a keep-alive is echoed
		if c.at(from) != nil {
			_, _ = c.udp.WriteToUDPAddrPort(p, from)
		}
	case len(p) >= 12 && p[0]>>6 == 2 && p[1]&0x7f == 0x78: // version 2; the voice's payload type
		c.voice(p, from)
	case len(p) >= 12 && p[0]>>6 == 2 && p[1] >= 200 && p[1] <= 207: // RTCP is not forwarded
	default:
		if m := c.at(from); m != nil {
			m.count.Refused++
		}
	}
}

func (c *call) at(addr netip.AddrPort) *member {
	for _, m := range c.members {
		if m.discovered == addr {
			return m
		}
	}
	return nil
}

func (c *call) bySSRC(ssrc uint32) *member {
	for _, m := range c.members {
		if m.ssrc == ssrc {
			return m
		}
	}
	return nil
}

// discover tells a client its external address.
func (c *call) discover(p []byte, from netip.AddrPort) {
	m := c.bySSRC(binary.BigEndian.Uint32(p[4:]))
	if m == nil || m.account.take(dropDiscovery) {
		return
	}
	m.discovered = from
	answer := make([]byte, 74)
	binary.BigEndian.PutUint16(answer, 2)
	binary.BigEndian.PutUint16(answer[2:], 70)
	binary.BigEndian.PutUint32(answer[4:], m.ssrc)
	copy(answer[8:72], from.Addr().String())
	binary.BigEndian.PutUint16(answer[72:], from.Port())
	_, _ = c.udp.WriteToUDPAddrPort(answer, from)
}

// voice opens a packet and seals it for everybody else.
func (c *call) voice(p []byte, from netip.AddrPort) {
	m := c.bySSRC(binary.BigEndian.Uint32(p[8:]))
	if m == nil || !m.selected || m.discovered != from {
		return // from nobody, or not from the discovered address
	}
	frame, err := m.Open(p)
	switch {
	case err != nil:
		m.count.Refused++
		return
	case m.Reuses(p):
		m.count.Reused++
		return
	}
	packet := voicePacket{[12]byte(p[:12]), bytes.Clone(frame)}
	if !m.announced {
		m.count.Unannounced++
		if m.early = append(m.early, packet); len(m.early) > 50 {
			m.early = m.early[1:]
		}
		return
	}
	c.passOn(m, packet)
}

// A voicePacket is a packet without its transport encryption.
type voicePacket struct {
	header [12]byte
	frame  []byte
}

// passOn keeps a packet and sends it to everybody else.
func (c *call) passOn(m *member, p voicePacket) {
	if m.account.suppressed || m.account.silenced {
		return // in the audience of a stage, or by a moderator
	}
	m.count.In++
	c.remember(Forwarded{
		At: time.Now(), User: m.account.user.ID, Timestamp: binary.BigEndian.Uint32(p.header[4:]),
		Frame: p.frame, Due: c.delivery.Due(),
	})
	for _, o := range c.sorted() {
		if o != m && o.selected && o.discovered.IsValid() && !o.account.deaf && !o.account.deafened {
			c.pass(o, p)
		}
	}
}

func (s *Server) remember(f Forwarded) {
	if s.faults.wire = append(s.faults.wire, f); len(s.faults.wire) > kept {
		s.faults.wire = s.faults.wire[1:]
	}
}

// pass sends a frame to one member, subject to the simulated faults.
func (c *call) pass(o *member, p voicePacket) {
	if c.roll(c.faults.loss) {
		o.count.Lost++
		return
	}
	packet := o.Seal(p.header, p.frame, true, c.roll(c.faults.pad))
	send := func() {
		if c.members[o.account.user.ID] == o {
			o.count.Out++
			_, _ = c.udp.WriteToUDPAddrPort(packet, o.discovered)
		}
	}
	if c.roll(c.faults.reorder) {
		o.count.Late++
		c.after(25*time.Millisecond, func() { // after the packet that comes in 20 ms
			o.count.Late--
			send()
		})
	} else {
		send()
	}
	if c.roll(c.faults.duplicate) {
		send()
	}
}

func (s *Server) roll(p float64) bool { return p > 0 && s.dice.Float64() < p }
