package voice_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/voice"
	"earshot/internal/testkit"
)

// within is how long anything may take on a busy machine. What has a fixed duration is tested in a
// bubble.
const within = 20 * time.Second

// A party is somebody's call, with what it has heard.
type party struct {
	t    *testing.T
	user discordtest.User
	call *voice.Call
	line *discordtest.Line
	stop context.CancelFunc
	done chan error

	mu    sync.Mutex
	heard map[uint64][]heard
	told  []voice.Status
}

// A heard is a packet with the number in its frame instead of its bytes.
type heard struct {
	voice.Packet
	n int // -1 for silence, -2 for no frame
}

// saying returns frame n of somebody: it contains the number, and a mark to search for.
func saying(n int) []byte {
	return append([]byte{0xFC, byte(n >> 8), byte(n)}, "these words are for nobody else"...)
}

var mark = []byte("these words")

// join lets somebody join a channel.
func join(t *testing.T, s *discordtest.Server, channel, name string) *party {
	t.Helper()
	p := begin(t, s, s.Channel(channel).ID, s.Bot(name))
	p.await("be in the call", func(s voice.Status) bool { return s.Phase == "in the call" })
	return p
}

// A via is a line that can be handed over before the line itself exists.
type via struct{ p *party }

func (v via) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	return v.p.line.Move(ctx, guild, channel, mute, deaf)
}

func begin(t *testing.T, s *discordtest.Server, channel uint64, user discordtest.User) *party {
	t.Helper()
	return beginAs(t, s, channel, user, false)
}

// beginAs is begin for somebody who may insist on encrypted calls.
func beginAs(t *testing.T, s *discordtest.Server, channel uint64, user discordtest.User, encrypted bool) *party {
	t.Helper()
	p := &party{t: t, user: user, done: make(chan error, 1), heard: make(map[uint64][]heard)}
	p.call = voice.New(voice.Config{
		Place: voice.Place{Guild: s.Guild().ID, Channel: channel, Self: user.ID},
		Line:  via{p},
		Heard: p.hear, Encrypted: encrypted,
		Changed: func(s voice.Status) { p.mu.Lock(); p.told = append(p.told, s); p.mu.Unlock() },
		HTTP:    s.HTTP(),
	})
	p.line = s.Line(user, p.call.State, p.call.Server)
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() { p.done <- p.call.Run(ctx) }()
	t.Cleanup(p.leave)
	return p
}

// leave ends the call, and waits for its end.
func (p *party) leave() {
	p.stop()
	err := testkit.Receive(p.t, testkit.Patience, "the end of the call", p.done)
	p.done <- err
}

func (p *party) hear(batch []voice.Packet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range batch {
		n := -1
		switch {
		case len(k.Opus) == 0:
			n = -2
		case bytes.Contains(k.Opus, mark):
			n = int(k.Opus[1])<<8 | int(k.Opus[2])
		case !bytes.Equal(k.Opus, []byte{0xF8, 0xFF, 0xFE}):
			p.t.Errorf("%s heard what nobody said: %x", p.user.Name, k.Opus)
		}
		k.Opus = nil
		p.heard[k.User] = append(p.heard[k.User], heard{k, n})
	}
}

// of returns the numbers of the frames that were heard from somebody.
func (p *party) of(who *party) (ns []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.heard[who.user.ID] {
		if h.n >= 0 {
			ns = append(ns, h.n)
		}
	}
	return ns
}

func (p *party) await(what string, ok func(voice.Status) bool) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("%s: %+v", p.user.Name, p.call.Status())
		}
	}()
	testkit.Await(p.t, within, p.user.Name+" to "+what, func() bool { return ok(p.call.Status()) })
}

// secure waits until everybody has the keys of everybody.
func secure(parties ...*party) {
	parties[0].t.Helper()
	for _, p := range parties {
		p.await("have the keys of all", func(s voice.Status) bool {
			return s.Encrypted && s.Code != "" && len(s.People) == len(parties)-1 && s.Code == parties[0].call.Status().Code
		})
	}
}

// say says the frames from from up to to, at their pace.
func (p *party) say(from, to int) {
	p.t.Helper()
	for n := from; n < to; n++ {
		if err := p.call.Say(p.t.Context(), saying(n)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// hears waits until somebody has heard frame n from another.
func (p *party) hears(who *party, n int) {
	p.t.Helper()
	p.await(fmt.Sprintf("hear frame %d of %s", n, who.user.Name), func(voice.Status) bool { return slices.Contains(p.of(who), n) })
}

func numbers(from, to int) (ns []int) {
	for n := from; n < to; n++ {
		ns = append(ns, n)
	}
	return ns
}

// plain fails t if anything on the wire could have been listened to by a server.
func plain(t *testing.T, s *discordtest.Server) {
	t.Helper()
	for _, f := range s.Wire() {
		if f.Due && (bytes.Contains(f.Frame, mark) || !f.Encrypted() && !f.Silent()) {
			t.Fatalf("on the wire, plain: %x", f.Frame)
		}
	}
}

func newServer(t *testing.T, cfg discordtest.Config) *discordtest.Server {
	t.Helper()
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections() })
	return discordtest.New(t, cfg)
}

func TestTwoHearEachOther(t *testing.T) {
	for _, mode := range []string{discordtest.ModeAES, discordtest.ModeXChaCha20} {
		t.Run(mode, func(t *testing.T) {
			s := newServer(t, discordtest.Config{})
			s.Modes(mode)
			ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
			secure(ann, bob)
			var both sync.WaitGroup
			both.Go(func() { ann.say(0, 25) })
			bob.say(100, 125)
			testkit.Finish(t, 5*testkit.Patience, "the end of both", both.Wait)
			bob.hears(ann, 24)
			ann.hears(bob, 124)
			if got := bob.of(ann); !slices.Equal(got, numbers(0, 25)) {
				t.Errorf("bob heard %v of ann", got)
			}
			if got := ann.of(bob); !slices.Equal(got, numbers(100, 125)) {
				t.Errorf("ann heard %v of bob", got)
			}
			plain(t, s)
			bob.await("hear the end", func(voice.Status) bool {
				bob.mu.Lock()
				defer bob.mu.Unlock()
				h := bob.heard[ann.user.ID]
				return h[len(h)-1].Ends
			})
			ann.leave()
			bob.await("be alone", func(s voice.Status) bool { return len(s.People) == 0 })
			bob.leave()
			if where := s.Voices(); len(where) != 0 {
				t.Errorf("still in a channel: %v", where)
			}
			if n := s.Traffic(ann.user.ID).Refused; n != 0 {
				t.Errorf("%d datagrams were refused", n)
			}
		})
	}
}

// TestPlainCall: without end-to-end encryption, a stream belongs to the user whom Discord names,
// and is not heard until then. Nothing is sent unencrypted once the call is encrypted again.
func TestPlainCall(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	channel := s.Channel("voice").ID
	ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
	secure(ann, bob)
	s.Downgrade(channel)
	for _, p := range []*party{ann, bob} {
		p.await("be without encryption", func(s voice.Status) bool { return !s.Encrypted && s.Phase == "in the call" })
	}
	s.LateSpeaking(-1)
	cid := join(t, s, "voice", "cid")
	ann.say(0, 10)
	bob.hears(ann, 9)
	cid.say(200, 210)
	bob.await("hold what is nobody's", func(s voice.Status) bool { return s.Packets >= s.Decrypted+10 })
	if got := bob.of(cid); len(got) != 0 {
		t.Errorf("heard %v of cid, of whom nothing was said", got)
	}
	s.Upgrade(channel)
	secure(ann, bob, cid)
	cid.say(220, 230)
	bob.hears(cid, 229)
	if got := bob.of(cid); got[0] != 220 && got[0] != 200 {
		t.Errorf("heard %v of cid", got)
	}
	plain(t, s)
}

// TestNoPlainCall: somebody who insists on encryption leaves as soon as the call becomes
// unencrypted, is told which key says so, and has neither said nor heard anything unencrypted. The
// others go on. They do not join a call that is already unencrypted.
func TestNoPlainCall(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	channel := s.Channel("voice").ID
	bot := s.Bot("careful")
	careful := beginAs(t, s, channel, bot, true)
	ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
	secure(ann, bob, careful)
	ann.say(0, 10)
	careful.hears(ann, 9)
	s.Downgrade(channel)
	refuses := func(p *party) {
		t.Helper()
		select {
		case err := <-p.done:
			p.done <- err
			var ended *voice.Ended
			if !errors.As(err, &ended) || ended.Code != voice.Plain || !strings.Contains(ended.Why, "providers.discord.require_encrypted_calls") {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(within):
			t.Fatal("waited in vain for the end of a call that is plain")
		}
	}
	refuses(careful)
	for _, p := range []*party{ann, bob} {
		p.await("be without encryption", func(s voice.Status) bool { return !s.Encrypted && s.Phase == "in the call" })
	}
	ann.say(100, 110)
	bob.hears(ann, 109)
	again := beginAs(t, s, channel, bot, true)
	again.say(200, 210)
	refuses(again)
	for _, p := range []*party{careful, again} {
		if got := p.of(ann); slices.ContainsFunc(got, func(n int) bool { return n >= 100 }) {
			t.Errorf("heard %v", got)
		}
	}
	for _, f := range s.Wire() {
		if f.User == bot.ID && !f.Encrypted() && !f.Silent() {
			t.Errorf("said plain: %x", f.Frame)
		}
	}
}

// TestNothingLeavesPlain: somebody who speaks all the time while others come and go can never be
// listened to by the server.
func TestNothingLeavesPlain(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	ann := begin(t, s, s.Channel("voice").ID, s.Bot("ann"))
	stop := make(chan struct{})
	var talk sync.WaitGroup
	talk.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				ann.say(n, n+1)
			}
		}
	})
	bob := join(t, s, "voice", "bob")
	secure(ann, bob)
	for _, name := range []string{"cid", "dan"} {
		p := join(t, s, "voice", name)
		secure(ann, bob, p)
		p.await("hear ann", func(voice.Status) bool { return len(p.of(ann)) > 5 })
		p.leave()
		secure(ann, bob)
	}
	close(stop)
	testkit.Finish(t, 5*testkit.Patience, "the end of the talk", talk.Wait)
	plain(t, s)
	if len(bob.of(ann)) == 0 {
		t.Error("bob heard nothing")
	}
}

func TestBadNetwork(t *testing.T) {
	s := newServer(t, discordtest.Config{Seed: 7})
	ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
	secure(ann, bob)
	s.Loss(.1)
	s.Pad(.2)
	s.Reorder(.1)
	s.Duplicate(.1)
	ann.say(0, 150)
	s.Loss(0)
	ann.say(150, 160)
	bob.hears(ann, 159)

	bob.mu.Lock()
	defer bob.mu.Unlock()
	last, at, got, begun := -1, time.Time{}, 0, false
	for _, h := range bob.heard[ann.user.ID] {
		// The time from one packet to the next is that of the packets lost in between, and of those
		// that ann, on a busy machine, did not send in time.
		if begun && h.n != -2 && !h.At.Equal(at.Add(time.Duration(h.Lost+1)*20*time.Millisecond)) {
			t.Errorf("frame %d after %d with %d lost, %v later", h.n, last, h.Lost, h.At.Sub(at))
		}
		begun, at = !h.Ends, h.At
		if h.n < 0 {
			continue
		}
		if h.n <= last {
			t.Errorf("frame %d after %d", h.n, last)
		}
		last = h.n
		got++
	}
	st := bob.call.Status()
	if got < 120 || st.Refused != 0 {
		t.Errorf("%d of 160 came through; %+v", got, st)
	}
	if st.Duplicates == 0 || st.Lost == 0 {
		t.Errorf("not noticed: %+v", st)
	}
}

// TestSpeakingEvents: speaking events that come late or never do no harm: the key tells who it is.
func TestSpeakingEvents(t *testing.T) {
	for _, late := range []time.Duration{300 * time.Millisecond, -1} {
		t.Run(late.String(), func(t *testing.T) {
			s := newServer(t, discordtest.Config{})
			s.LateSpeaking(late)
			ann, bob, cid := join(t, s, "voice", "ann"), join(t, s, "voice", "bob"), join(t, s, "voice", "cid")
			secure(ann, bob, cid)
			var both sync.WaitGroup
			both.Go(func() { ann.say(0, 20) })
			cid.say(200, 220)
			testkit.Finish(t, 5*testkit.Patience, "the end of both", both.Wait)
			bob.hears(ann, 19)
			bob.hears(cid, 219)
			if got := bob.of(ann); !slices.Equal(got, numbers(0, 20)) {
				t.Errorf("of ann: %v", got)
			}
			if got := bob.of(cid); !slices.Equal(got, numbers(200, 220)) {
				t.Errorf("of cid: %v", got)
			}
		})
	}
}

// TestKeysDoNotContradict: keys prove nothing against what Discord says, since every member can
// make the keys of all others. A stream that is opened by another user's key than the one Discord
// names belongs to nobody.
func TestKeysDoNotContradict(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	a, c := s.Bot("ann"), s.Bot("cid")
	s.Mistake(a.ID, c.ID)
	ann, bob, cid := begin(t, s, s.Channel("voice").ID, a), join(t, s, "voice", "bob"), begin(t, s, s.Channel("voice").ID, c)
	secure(ann, bob, cid)
	ann.say(0, 10)
	bob.await("refuse what ann says", func(s voice.Status) bool { return s.Refused >= 10 })
	cid.say(200, 210)
	bob.hears(cid, 209)
	if got := bob.of(ann); len(got) != 0 {
		t.Errorf("heard %v of ann, whose stream is said to be cid's", got)
	}
	if got := bob.of(cid); !slices.Equal(got, numbers(200, 210)) {
		t.Errorf("of cid: %v", got)
	}
}

func TestExternalSenderFirst(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	s.EarlyExternalSender(true)
	ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
	secure(ann, bob)
	ann.say(0, 5)
	bob.hears(ann, 4)
}

// TestConnectionsEnd: however a connection ends, those who were in the call hear each other again.
func TestConnectionsEnd(t *testing.T) {
	for _, tt := range []struct {
		name string
		beat time.Duration // 0 for Discord's own interval
		do   func(s *discordtest.Server, bob *party)
		ok   func(s voice.Status) bool
	}{
		{"4006", 0, func(s *discordtest.Server, bob *party) { s.Kick(bob.user.ID, 4006) },
			func(s voice.Status) bool { return s.Rejoined == 1 && s.Resumed == 0 }},
		{"4015", 0, func(s *discordtest.Server, bob *party) { s.Kick(bob.user.ID, 4015) },
			func(s voice.Status) bool { return s.Resumed == 1 && s.Rejoined == 0 }},
		{"1001", 0, func(s *discordtest.Server, bob *party) { s.Kick(bob.user.ID, 1001) },
			func(s voice.Status) bool { return s.Resumed == 1 && s.Rejoined == 0 }},
		{"cut", 0, func(s *discordtest.Server, bob *party) { s.DropVoice(bob.user.ID) },
			func(s voice.Status) bool { return s.Resumed == 1 && s.Rejoined == 0 }},
		{"cut, and resuming is refused", 0, func(s *discordtest.Server, bob *party) {
			s.RefuseResume(bob.user.ID, 1)
			s.DropVoice(bob.user.ID)
		}, func(s voice.Status) bool { return s.Resumed == 0 && s.Rejoined == 1 }},
		{"no answers to heartbeats", 400 * time.Millisecond, func(s *discordtest.Server, bob *party) {
			s.HoldVoiceAcks(bob.user.ID, true)
			testkit.Await(bob.t, within, "a resumed call", func() bool { return s.VoiceResumed(bob.user.ID) > 0 })
			s.HoldVoiceAcks(bob.user.ID, false)
		}, func(s voice.Status) bool { return s.Resumed > 0 && s.Rejoined == 0 }},
		{"another region", 0, func(s *discordtest.Server, bob *party) {
			if err := s.Region(s.Channel("voice").ID); err != nil {
				bob.t.Error(err)
			}
		}, func(s voice.Status) bool { return s.Rejoined == 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, discordtest.Config{VoiceHeartbeat: tt.beat})
			ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
			secure(ann, bob)
			ann.say(0, 5)
			bob.hears(ann, 4)
			tt.do(s, bob)
			bob.await("be back", func(s voice.Status) bool { return s.Phase == "in the call" && tt.ok(s) })
			secure(ann, bob)
			var both sync.WaitGroup
			both.Go(func() { ann.say(50, 60) })
			bob.say(150, 160)
			testkit.Finish(t, 5*testkit.Patience, "the end of both", both.Wait)
			bob.hears(ann, 59)
			ann.hears(bob, 159)
			plain(t, s)
			if n := s.Traffic(bob.user.ID); n.Reused != 0 || n.Refused != 0 {
				t.Errorf("of bob's packets: %+v", n)
			}
		})
	}
}

func TestMovedByAModerator(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	ann, bob := join(t, s, "voice", "ann"), join(t, s, "other", "bob")
	other := s.Channel("other").ID
	s.Move(ann.user.ID, other)
	ann.await("be in the other channel", func(s voice.Status) bool { return s.Phase == "in the call" && s.Channel == other })
	secure(ann, bob)
	ann.say(0, 5)
	bob.hears(ann, 4)
}

func TestRemovedByAModerator(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	ann := join(t, s, "voice", "ann")
	s.Disconnect(ann.user.ID)
	var end *voice.Ended
	err := testkit.Receive(t, testkit.Patience, "the end of the call", ann.done)
	ann.done <- err
	if !errors.As(err, &end) || !strings.Contains(end.Why, "removed") {
		t.Errorf("ended with %v", err)
	}
}

func TestNotLetIn(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	ann := s.Bot("ann")
	s.Refuse(ann.ID, 4017)
	p := begin(t, s, s.Channel("voice").ID, ann)
	var end *voice.Ended
	err := testkit.Receive(t, testkit.Patience, "the end of the call", p.done)
	p.done <- err
	if !errors.As(err, &end) || end.Code != 4017 {
		t.Errorf("ended with %v", err)
	}
	if where := s.Voices(); len(where) != 0 {
		t.Errorf("still in a channel: %v", where)
	}
}

func TestDiscoveryIsAskedAgain(t *testing.T) {
	s := newServer(t, discordtest.Config{})
	ann := s.Bot("ann")
	s.DropDiscovery(ann.ID, 1)
	p := begin(t, s, s.Channel("voice").ID, ann)
	p.await("be in the call", func(s voice.Status) bool { return s.Phase == "in the call" })
}

// TestStatus: the status tells what there is to tell, and changes of it are reported.
func TestStatus(t *testing.T) {
	s := newServer(t, discordtest.Config{VoiceHeartbeat: 400 * time.Millisecond})
	ann, bob := join(t, s, "voice", "ann"), join(t, s, "voice", "bob")
	secure(ann, bob)
	ann.say(0, 10)
	bob.hears(ann, 9)
	bob.await("know the round trip", func(s voice.Status) bool { return s.RoundTrip > 0 })
	st := bob.call.Status()
	if st.Channel != s.Channel("voice").ID || !slices.Equal(st.People, []uint64{ann.user.ID}) || st.Deaf != "" {
		t.Errorf("%+v", st)
	}
	if st.Packets < 10 || st.Decrypted < 10 || st.Delivered < 10 || st.Delay == 0 {
		t.Errorf("%+v", st)
	}
	if st := ann.call.Status(); st.SentFrames != 10 || st.HeldFrames != 0 || ann.call.Sent() != 10 {
		t.Errorf("%+v", st)
	}
	bob.leave()
	bob.mu.Lock()
	defer bob.mu.Unlock()
	if last := bob.told[len(bob.told)-1]; last.Phase != "left" {
		t.Errorf("told last: %+v", last)
	}
	if !slices.ContainsFunc(bob.told, func(s voice.Status) bool { return s.Encrypted && s.Code == st.Code }) {
		t.Error("not told that it is encrypted")
	}
}
