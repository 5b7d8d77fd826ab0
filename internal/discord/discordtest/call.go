package discordtest

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"earshot/internal/discord/davetest"
)

// A call is the state of a voice channel: its members, the socket that forwards their packets, and
// their key agreement.
type call struct {
	*Server
	channel  *Channel
	region   *region
	udp      *net.UDPConn
	members  map[uint64]*member
	delivery *davetest.Service
}

// transitionWithin is how long a transition waits for members who are not ready.
const transitionWithin = 2 * time.Second

// callIn returns the call in a channel, and starts one if there is none.
func (s *Server) callIn(channel uint64) *call {
	if c := s.calls[channel]; c != nil {
		return c
	}
	return s.startCall(s.channel(channel), s.regions[0])
}

func (s *Server) startCall(channel *Channel, r *region) *call {
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err) // without loopback no test can go on
	}
	_ = udp.SetReadBuffer(1 << 20)
	c := &call{Server: s, channel: channel, region: r, udp: udp, members: make(map[uint64]*member)}
	c.delivery = davetest.New(channel.ID, davetest.Gateway{
		JSON: func(to uint64, op int, d map[string]any) {
			if m := c.members[to]; m != nil {
				m.json(op, d)
			}
		},
		Binary: func(to uint64, op byte, body []byte) {
			if m := c.members[to]; m != nil {
				m.binary(op, body)
			}
		},
		After: s.after,
		Rules: func() davetest.Rules { return s.faults.Rules },
		Dice:  s.dice.IntN,
	}, transitionWithin)
	if channel.Kind == StageChannel {
		c.delivery.Plain()
	}
	s.calls[channel.ID] = c
	if s.closed {
		udp.Close()
		return c
	}
	s.wg.Go(c.forward)
	return c
}

// end disconnects everybody from a call, which is over.
func (c *call) end() {
	for _, m := range c.sorted() {
		c.leave(m, 4014, "Disconnected.")
	}
	c.udp.Close()
	delete(c.calls, c.channel.ID)
}

// address is the address for packets.
func (c *call) address() netip.AddrPort {
	here := c.udp.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(here.Addr().Unmap(), here.Port())
}

func (c *call) encrypted() bool { return c.channel.Kind != StageChannel }

// sorted returns the members in a fixed order.
func (c *call) sorted() []*member {
	byUser := func(a, b *member) int { return cmp.Compare(a.account.user.ID, b.account.user.ID) }
	return slices.SortedFunc(maps.Values(c.members), byUser)
}

// leave removes a member from a call, and closes its connection if there is a code.
func (c *call) leave(m *member, code int, reason string) {
	user := m.account.user.ID
	if c.members[user] != m {
		return
	}
	if m.link != nil && code != 0 {
		m.link.Close(code, reason)
	}
	m.link = nil
	delete(c.members, user)
	if !m.selected {
		return
	}
	for _, o := range c.sorted() {
		if o.selected {
			o.json(voiceDisconnect, object{"user_id": id(user)})
		}
	}
	if c.encrypted() {
		c.delivery.Disconnect(user)
	}
}

// leaveCall removes a user from the call they are in, if any.
func (s *Server) leaveCall(a *account, code int, reason string) {
	if c := s.calls[a.voice]; c != nil {
		if m := c.members[a.user.ID]; m != nil {
			c.leave(m, code, reason)
		}
	}
}
