package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/calls"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/peers"
	"earshot/internal/discord/voice"
	"earshot/internal/field"
	"earshot/internal/testkit"
)

// A party is somebody in a call.
type party interface {
	id() uint64
	join(channel uint64)
	leave()
	play(tag byte) // tagged frames, until stop
	stop()
	state() state
	forget() // drops what was heard
}

// A state is what a party knows.
type state struct {
	in    bool   // whether it is in a call
	code  string // thirty digits
	heard map[uint64]peers.Heard
}

// A side is one of the implementations that meet in a call.
type side byte

const (
	ours   side = 'o' // a call by itself
	whole  side = 's' // a call of a session, with a main gateway
	node   side = 'n' // discord.js, @discordjs/voice and davey
	daveGo side = 'g' // a third implementation, with known defects
)

// A house is a Discord with people who come and go.
type house struct {
	*discordtest.Server
	t       testing.TB
	channel uint64
	parties []party
}

// gather logs in a party for each letter of sides.
func gather(t testing.TB, cfg discordtest.Config, sides string) *house {
	t.Helper()
	h := &house{Server: discordtest.New(t, cfg), t: t}
	h.channel = h.Channel("voice").ID
	h.parties = make([]party, len(sides))
	var logins sync.WaitGroup
	for i, s := range sides {
		user := h.Bot(fmt.Sprintf("%c%d", s, i))
		switch side(s) {
		case ours:
			h.parties[i] = newOurs(h, user)
		case whole:
			h.parties[i] = newWhole(h, user)
		case daveGo:
			h.parties[i] = newGoPeer(h, user)
		case node:
			testkit.Need(t, "discord")
			logins.Go(func() { h.parties[i] = newNode(h, user) }) // each login takes a second
		}
	}
	testkit.Finish(t, 5*testkit.Patience, "the sessions", logins.Wait)
	for _, p := range h.parties {
		if p == nil {
			t.FailNow()
		}
	}
	return h
}

// A nodeParty adapts discord.js to a party.
type nodeParty struct {
	*peers.Peer
	t testing.TB
}

func newNode(h *house, user discordtest.User) party {
	p, err := peers.Run(h.t.Context(), peers.Config{Base: h.Base(), CAFile: h.CAFile(), Token: user.Token, Guild: h.Guild().ID})
	if err != nil {
		h.t.Error(err)
		return nil
	}
	h.t.Cleanup(func() {
		p.Close()
		if h.t.Failed() {
			h.t.Logf("peer %d said:\n%s", p.User, p.Output())
		}
	})
	return nodeParty{p, h.t}
}

func (n nodeParty) id() uint64     { return n.User }
func (n nodeParty) join(ch uint64) { n.Join(ch) }
func (n nodeParty) leave()         { n.Leave() }
func (n nodeParty) play(tag byte)  { n.Play(tag) }
func (n nodeParty) stop()          { n.Stop() }
func (n nodeParty) forget()        { n.Forget() }

func (n nodeParty) state() state {
	r, err := n.Report()
	if err != nil {
		n.t.Error(err)
		return state{}
	}
	s := state{in: r.Status == "ready", code: digits(r.Code), heard: make(map[uint64]peers.Heard)}
	for user, h := range r.Heard {
		var id uint64
		fmt.Sscan(user, &id)
		s.heard[id] = h
	}
	return s
}

// digits removes everything but the digits of a code.
func digits(code string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, code)
}

// An ourParty is our own call, with what its decoder would be given.
type ourParty struct {
	h    *house
	user discordtest.User
	run  func(ctx context.Context, cfg voice.Config, use func(*voice.Call)) error

	mu    sync.Mutex
	call  *voice.Call
	end   func() // leaves the call, and waits
	ended error
	quiet func() // stops playing, and waits
	heard map[uint64]peers.Heard
	at    map[uint64]time.Time // time of each user's last packet
	lost  map[uint64]int
	ends  map[uint64]int
	leaks []string // frames that must not reach a decoder
}

func newOurs(h *house, user discordtest.User) *ourParty {
	p := &ourParty{h: h, user: user}
	line := h.Line(user, func(channel uint64, session string) {
		if c := p.current(); c != nil {
			c.State(channel, session)
		}
	}, func(token, endpoint string) {
		if c := p.current(); c != nil {
			c.Server(token, endpoint)
		}
	})
	p.run = func(ctx context.Context, cfg voice.Config, use func(*voice.Call)) error {
		cfg.Line, cfg.HTTP, cfg.Place.Self = line, h.HTTP(), user.ID
		c := voice.New(cfg)
		use(c)
		return c.Run(ctx)
	}
	p.watch()
	return p
}

// newWhole returns a party that has a session, too.
func newWhole(h *house, user discordtest.User) *ourParty {
	s := gateway.New(gateway.Config{
		Token: field.Secret(user.Token), Base: h.Base(), HTTP: h.HTTP(),
		Intents: discordgo.IntentsGuilds | discordgo.IntentsGuildVoiceStates,
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	h.t.Cleanup(func() {
		cancel()
		if err := testkit.Receive(h.t, testkit.Patience, "the end of the session", done); err != nil {
			h.t.Errorf("the session ended: %v", err)
		}
	})
	p := &ourParty{h: h, user: user, run: func(ctx context.Context, cfg voice.Config, use func(*voice.Call)) error {
		return calls.RunCall(ctx, s, cfg, use)
	}}
	p.watch()
	return p
}

// watch makes the test fail at its end if anything has leaked.
func (p *ourParty) watch() {
	p.forget()
	h, user := p.h, p.user
	h.t.Cleanup(func() {
		p.stop()
		p.leave()
		for _, leak := range p.leaks {
			h.t.Errorf("%s would have decoded %s", user.Name, leak)
		}
		for _, plain := range h.Plain(user.ID) {
			h.t.Errorf("%s sent %x in plain at %v", user.Name, plain.Frame, plain.At)
		}
	})
}

func (p *ourParty) current() *voice.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

func (p *ourParty) id() uint64 { return p.user.ID }

func (p *ourParty) join(channel uint64) {
	cfg := voice.Config{Place: voice.Place{Guild: p.h.Guild().ID, Channel: channel}, Heard: p.hear}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.h.t.Context()))
	done, begun := make(chan struct{}), make(chan struct{})
	p.mu.Lock()
	p.ended = nil
	p.end = func() {
		cancel()
		testkit.Receive(p.h.t, testkit.Patience, "the end of the call", done)
	}
	p.mu.Unlock()
	go func() {
		defer close(done)
		err := p.run(ctx, cfg, func(c *voice.Call) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.call = c
			close(begun)
		})
		p.mu.Lock()
		defer p.mu.Unlock()
		p.call, p.ended = nil, err
	}()
	select {
	case <-begun:
	case <-done:
		p.h.t.Errorf("%s is in no call: %v", p.user.Name, p.ended)
	case <-time.After(testkit.Patience):
		p.h.t.Fatalf("waited in vain: the call of %s", p.user.Name)
	}
}

func (p *ourParty) leave() {
	p.mu.Lock()
	end := p.end
	p.end = nil
	p.mu.Unlock()
	if end != nil {
		end()
	}
}

// hear stands in the place of a decoder.
func (p *ourParty) hear(batch []voice.Packet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, packet := range batch {
		p.lost[packet.User] += packet.Lost
		if packet.Ends {
			p.ends[packet.User]++
		}
		if len(packet.Opus) == 0 {
			continue
		}
		h := p.heard[packet.User]
		was := h.Other
		h.Count(packet.Opus)
		if h.Other > was || packet.User == 0 {
			p.leaks = append(p.leaks, fmt.Sprintf("%x of %d", packet.Opus, packet.User))
		}
		p.heard[packet.User] = h
		p.at[packet.User] = packet.At
	}
}

func (p *ourParty) play(tag byte) {
	c := p.current()
	if c == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.h.t.Context()))
	done := make(chan struct{})
	p.mu.Lock()
	p.quiet = func() {
		cancel()
		testkit.Receive(p.h.t, testkit.Patience, "the end of what is played", done)
	}
	p.mu.Unlock()
	go func() {
		defer close(done)
		for n := uint32(0); c.Say(ctx, peers.Frame(tag, n)) == nil; n++ {
		}
	}()
}

func (p *ourParty) stop() {
	p.mu.Lock()
	quiet := p.quiet
	p.quiet = nil
	p.mu.Unlock()
	if quiet != nil {
		quiet()
	}
}

func (p *ourParty) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = make(map[uint64]peers.Heard)
	p.at, p.lost, p.ends = make(map[uint64]time.Time), make(map[uint64]int), make(map[uint64]int)
}

func (p *ourParty) state() state {
	c := p.current()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := state{heard: make(map[uint64]peers.Heard)}
	for user, h := range p.heard {
		h.Tags = cloned(h.Tags)
		s.heard[user] = h
	}
	if c != nil {
		status := c.Status()
		s.in, s.code = status.Encrypted && status.Phase == "in the call", digits(status.Code)
	}
	return s
}

func cloned(m map[byte]int) map[byte]int {
	c := make(map[byte]int, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// why returns with what the call ended, if it has.
func (p *ourParty) why() (ended *voice.Ended) {
	p.mu.Lock()
	defer p.mu.Unlock()
	errors.As(p.ended, &ended)
	return ended
}

// within is how long a call may take to become secure on a busy machine. On an idle one it takes
// some 50 ms.
const within = time.Minute

// secure waits until exactly these parties are in the group and have the same code.
func (h *house) secure(parties ...party) {
	h.t.Helper()
	var states []state
	defer func() {
		if h.t.Failed() {
			h.t.Logf("the states were %+v, the delivery service's %+v", states, h.Group(h.channel))
		}
	}()
	testkit.Await(h.t, within, "all have the same code", func() bool {
		g := h.Group(h.channel)
		if len(g.Members) != len(parties) || g.Pending > 0 {
			return false
		}
		states = states[:0]
		for _, p := range parties {
			states = append(states, p.state())
		}
		return !slices.ContainsFunc(states, func(s state) bool { return !s.in || len(s.code) != 30 || s.code != states[0].code })
	})
}

// converse lets everybody speak at once, and waits until everybody has heard enough frames of
// everybody else, and under each name only that party's frames.
func (h *house) converse(enough int, parties ...party) {
	h.t.Helper()
	for _, p := range parties {
		p.forget()
		p.play(h.tag(p))
	}
	defer func() {
		for _, p := range parties {
			p.stop()
		}
	}()
	h.hears(enough, parties, parties)
}

// tag returns the tag of a party.
func (h *house) tag(p party) byte { return byte(0x40 + slices.Index(h.parties, p)) }

// hears waits until all listeners have heard all speakers.
func (h *house) hears(enough int, listeners, speakers []party) {
	h.t.Helper()
	var missing string
	defer func() {
		if h.t.Failed() {
			h.t.Log(missing)
		}
	}()
	testkit.Await(h.t, within, "everybody hears everybody", func() bool {
		for _, l := range listeners {
			s := l.state()
			for _, from := range speakers {
				heard := s.heard[from.id()]
				if from != l && heard.Tags[h.tag(from)] < enough {
					missing = fmt.Sprintf("%d has heard of %d only %+v", l.id(), from.id(), heard)
					return false
				}
				if n := len(heard.Tags); n > 1 {
					h.t.Fatalf("%d has heard several voices of %d: %v", l.id(), from.id(), heard.Tags)
				}
			}
		}
		return true
	})
}

// out makes the parties leave, and waits until nobody is in the call.
func (h *house) out(parties ...party) {
	h.t.Helper()
	for _, p := range parties {
		p.leave()
	}
	testkit.Await(h.t, within, "all have left", func() bool { return len(h.InCall(h.channel)) == 0 })
}
