package gateway_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/peers"
	"earshot/internal/testkit"
)

var proof = os.Getenv("EARSHOT_PROOF") != ""

// second is the number of frames in a second.
const second = 50

// TestCallWithDiscordJS: a whole session has a call with unmodified discord.js, in both directions,
// whichever is there first.
func TestCallWithDiscordJS(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "sn")
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		first, then := h.parties[order[0]], h.parties[order[1]]
		first.join(h.channel)
		testkit.Await(t, within, "the first is there", func() bool { return len(h.InCall(h.channel)) == 1 })
		then.join(h.channel)
		h.secure(first, then)
		h.converse(second, first, then)
		h.out(h.parties...)
	}
}

// TestOrdersOfJoining: mixed parties come one after the other in many orders, and leave one by one.
// The letters stand for implementations: o is ours, n discord.js, and g a third one, whose welcome
// nobody else accepts, so that it is never the only one that could write one.
func TestOrdersOfJoining(t *testing.T) {
	t.Parallel()
	for sides, orders := range map[string][][]int{
		"oon":  {{2, 0, 1}, {0, 2, 1}},
		"onng": {{1, 3, 0, 2}, {0, 1, 3, 2}},
	} {
		if proof {
			orders = permutations(len(sides))
		}
		t.Run(sides, func(t *testing.T) {
			t.Parallel()
			h := gather(t, discordtest.Config{}, sides)
			for _, order := range orders {
				if side(sides[order[0]]) == daveGo {
					continue
				}
				h.comeAndGo(order)
			}
		})
	}
}

// TestEight: a call of eight, with all implementations.
func TestEight(t *testing.T) {
	if !proof {
		t.Skip("four processes more: in make proof")
	}
	t.Parallel()
	h := gather(t, discordtest.Config{}, "onognoon")
	h.comeAndGo([]int{0, 1, 2, 3, 4, 5, 6, 7})
	h.comeAndGo([]int{7, 0, 6, 1, 5, 2, 4, 3})
}

func (h *house) comeAndGo(order []int) {
	h.t.Helper()
	var in []party
	for _, i := range order {
		h.parties[i].join(h.channel)
		in = append(in, h.parties[i])
		testkit.Await(h.t, within, "somebody has come", func() bool { return len(h.InCall(h.channel)) == len(in) })
		if len(in) > 1 {
			h.secure(in...)
		}
	}
	h.converse(second/2, in...)
	for len(in) > 2 {
		in[0].leave()
		in = in[1:]
		if slices.ContainsFunc(in, func(p party) bool { _, ok := p.(*goPeer); return !ok }) {
			h.secure(in...)
		}
	}
	h.converse(second/2, in...)
	h.out(h.parties...)
}

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}

// TestBadNetwork: packets are lost, padded, shuffled and repeated in both directions.
func TestBadNetwork(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{Seed: 7}, "on")
	h.Loss(0.1)
	h.Pad(0.2)
	h.Reorder(0.05)
	h.Duplicate(0.1)
	h.all()
	h.converse(2*second, h.parties...)
	us := h.parties[0].(*ourParty)
	status := us.current().Status()
	if status.Lost == 0 || status.Duplicates == 0 {
		t.Errorf("nothing was lost or repeated: %+v", status)
	}
	if status.Refused > 0 {
		t.Errorf("%d packets were not to be opened", status.Refused)
	}
	if share := float64(status.Lost) / float64(status.Lost+status.Delivered); share > 0.3 {
		t.Errorf("%.0f %% is lost, of what a tenth should be", 100*share)
	}
}

// all lets everybody join at once, and waits until the call is secure.
func (h *house) all() {
	h.t.Helper()
	for _, p := range h.parties {
		p.join(h.channel)
	}
	h.secure(h.parties...)
}

// TestUnusualGateway: the gateway does things that it may do, but seldom does.
func TestUnusualGateway(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(h *house)
	}{
		{"who speaks is told late", func(h *house) { h.LateSpeaking(time.Second) }},
		{"op 25 before op 4", func(h *house) { h.EarlyExternalSender(true) }},
		{"changes in batches", func(h *house) { h.Batch(300 * time.Millisecond) }},
		{"competing commits", func(h *house) { h.Compete(true) }},
		{"proposals while a commit is due", func(h *house) { h.Overlap(true) }},
		{"the other mode", func(h *house) { h.Modes(discordtest.ModeXChaCha20) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sides := "oon"
			if tt.name == "op 25 before op 4" || tt.name == "the other mode" {
				sides = "ooo" // discord.js does not do that, or needs a library that is missing
			}
			h := gather(t, discordtest.Config{}, sides)
			tt.make(h)
			h.all()
			h.converse(second/2, h.parties...)
		})
	}
}

// TestNobodySaysWhoSpeaks: the key that opens a stream tells to whom the stream belongs.
func TestNobodySaysWhoSpeaks(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "on")
	h.LateSpeaking(-1)
	h.all()
	us, other := h.parties[0], h.parties[1]
	other.play(h.tag(other))
	h.hears(second, []party{us}, h.parties)
	other.stop()
}

// TestLeaveAndRejoin: each in turn leaves a call of three, and comes back.
func TestLeaveAndRejoin(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "ono")
	h.all()
	codes := map[string]bool{h.parties[0].state().code: true}
	for i, p := range h.parties {
		rest := slices.Delete(slices.Clone(h.parties), i, i+1)
		p.leave()
		h.secure(rest...)
		p.join(h.channel)
		h.secure(h.parties...)
		code := p.state().code
		if codes[code] {
			t.Errorf("the code %s is one of an epoch before", code)
		}
		codes[code] = true
	}
	h.converse(second/2, h.parties...)
}

// TestAlone: somebody who remains alone begins with a group of their own, into which others come.
func TestAlone(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "on")
	h.all()
	for range 2 {
		h.parties[1].leave()
		testkit.Await(t, within, "we are alone", func() bool { return len(h.InCall(h.channel)) == 1 })
		h.parties[1].join(h.channel)
		h.secure(h.parties...)
	}
	h.parties[0].leave()
	testkit.Await(t, within, "discord.js is alone", func() bool { return len(h.InCall(h.channel)) == 1 })
	h.parties[0].join(h.channel)
	h.secure(h.parties...)
	h.converse(second/2, h.parties...)
}

// TestConnectionLost: whatever closes our connection, both sides then hear each other again.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "on")
	h.all()
	us, other := h.parties[0].(*ourParty), h.parties[1]
	elsewhere := h.Channel("other").ID
	for _, tt := range []struct { // after three losses in half a minute nothing is resumed
		name string
		do   func()
		ways func(before, after statusOf) bool
	}{
		{"4015 is resumed", func() { h.Kick(us.id(), 4015) }, func(b, a statusOf) bool { return a.resumed > b.resumed }},
		{"a cut is resumed", func() { h.DropVoice(us.id()) }, func(b, a statusOf) bool { return a.resumed > b.resumed }},
		{"a cut that cannot be resumed", func() { h.RefuseResume(us.id(), 1); h.DropVoice(us.id()) }, func(b, a statusOf) bool { return a.rejoined > b.rejoined }},
		{"4006 begins anew", func() { h.Kick(us.id(), 4006) }, func(b, a statusOf) bool { return a.rejoined > b.rejoined }},
		{"moved away and back", func() {
			h.Move(us.id(), elsewhere)
			testkit.Await(t, within, "we are elsewhere", func() bool { return slices.Contains(h.InCall(elsewhere), us.id()) })
			h.Move(us.id(), h.channel)
		}, func(b, a statusOf) bool { return true }},
		{"another region", func() {
			if err := h.Region(h.channel); err != nil {
				t.Fatal(err)
			}
		}, func(b, a statusOf) bool { return true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := numbers(us)
			tt.do()
			testkit.Await(t, within, "our connection is another", func() bool { return tt.ways(before, numbers(us)) })
			h.secure(h.parties...)
			h.converse(second/2, us, other)
		})
	}
}

type statusOf struct{ resumed, rejoined int }

func numbers(p *ourParty) statusOf {
	c := p.current()
	if c == nil {
		return statusOf{}
	}
	s := c.Status()
	return statusOf{s.Resumed, s.Rejoined}
}

// TestOtherLosesItsConnection: this time it is discord.js that has to come back.
func TestOtherLosesItsConnection(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "on")
	h.all()
	for _, code := range []int{4006, 4015} {
		h.Kick(h.parties[1].id(), code)
		h.secure(h.parties...)
		h.converse(second/2, h.parties...)
	}
}

// TestKicked: somebody who is thrown out stays out, and says so.
func TestKicked(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "on")
	h.all()
	us := h.parties[0].(*ourParty)
	h.Disconnect(us.id())
	testkit.Await(t, within, "the call has ended", func() bool { return us.why() != nil })
	if why := us.why(); why.Why == "" {
		t.Errorf("ended with %+v, which tells a person nothing", why)
	}
	testkit.Await(t, within, "discord.js is alone", func() bool { return slices.Equal(h.InCall(h.channel), []uint64{h.parties[1].id()}) })
}

// TestBadCommit: a commit or welcome that cannot be followed is reported, and the call becomes
// secure again.
func TestBadCommit(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "ono")
	h.parties[0].join(h.channel)
	h.parties[1].join(h.channel)
	h.secure(h.parties[:2]...)
	for _, p := range h.parties[:2] {
		h.Spoil(p.id())
		h.parties[2].join(h.channel)
		h.secure(h.parties...)
		h.parties[2].leave()
		h.secure(h.parties[:2]...)
	}
	h.converse(second/2, h.parties[:2]...)
}

// TestDowngrade: a call may be downgraded to unencrypted, and its status says so. Any frame that is
// sent unencrypted at another time fails the test (watch).
func TestDowngrade(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "on")
	h.all()
	us := h.parties[0].(*ourParty)
	h.Downgrade(h.channel)
	testkit.Await(t, within, "the call is in plain", func() bool { return !us.current().Status().Encrypted && h.Group(h.channel).Version == 0 })
	h.converse(second/2, h.parties...)
	h.Upgrade(h.channel)
	h.secure(h.parties...)
	h.converse(second/2, h.parties...)
}

// TestWireHoldsNoWords searches everything that was forwarded in a call with comings and goings for
// the words of our tagged frames: all of it was encrypted. What a decoder would have got is checked
// in every test (ourParty.hear).
func TestWireHoldsNoWords(t *testing.T) {
	t.Parallel()
	h := gather(t, discordtest.Config{}, "oon")
	us, second, other := h.parties[0], h.parties[1], h.parties[2]
	us.join(h.channel)
	testkit.Await(t, within, "we are there", func() bool { return len(h.InCall(h.channel)) == 1 })
	us.play(h.tag(us)) // before anybody else is there, and before there are keys
	other.join(h.channel)
	h.secure(us, other)
	second.join(h.channel)
	second.play(h.tag(second))
	h.secure(us, second, other)
	h.hears(25, []party{other}, []party{us})
	second.stop()
	second.leave()
	h.secure(us, other)
	h.Kick(us.id(), 4006)
	h.secure(us, other)
	other.forget()
	h.hears(25, []party{other}, []party{us})
	us.stop()

	sealed, words := 0, 0
	for _, f := range h.Wire() {
		if f.User != us.id() && f.User != second.id() {
			continue
		}
		switch {
		case f.Silent():
		case containsWords(f.Frame):
			words++
		case f.Encrypted():
			sealed++
		default:
			t.Errorf("neither encrypted nor silence: %x", f.Frame)
		}
	}
	if words > 0 || sealed < 50 {
		t.Errorf("on the wire: %d frames that everybody can read, %d that nobody can", words, sealed)
	}
}

func containsWords(frame []byte) bool { return bytes.Contains(frame, []byte(peers.Words)) }
