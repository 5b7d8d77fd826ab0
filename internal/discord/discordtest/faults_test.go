package discordtest

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"

	"earshot/internal/discord/davetest"
)

// TestGatewayFaults: the faults that the main gateway can be told to have.
func TestGatewayFaults(t *testing.T) {
	s := New(t, Config{})
	bob := s.Bot("bob")
	ws := raw(t, s)
	send(t, ws, 2, object{"token": bob.Token, "intents": intentGuilds | intentMembers, "properties": object{}})
	expect := func(want string) {
		t.Helper()
		p := next(t, ws)
		if got := fmt.Sprint(p.Op, " ", p.T); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	expect("0 READY")
	expect("0 GUILD_CREATE")
	s.HoldAcks(bob.ID, true)
	send(t, ws, 1, 2)
	send(t, ws, 8, object{"guild_id": id(s.Guild().ID), "query": "", "limit": 0})
	expect("0 GUILD_MEMBERS_CHUNK")
	s.HoldAcks(bob.ID, false)
	send(t, ws, 1, 2)
	expect("11 ")
	s.AddChannel(Channel{Kind: VoiceChannel, Name: "new"})
	expect("0 CHANNEL_CREATE")
	s.AddUser(User{Name: "carol"})
	expect("0 GUILD_MEMBER_ADD")
	s.Reconnect(bob.ID)
	expect("7 ")
	s.Invalid(bob.ID, true)
	expect("9 ")
	s.Garbage(bob.ID)
	if _, b, err := ws.ReadMessage(); err != nil || discordgo.Unmarshal(b, new(any)) == nil {
		t.Errorf("got %q, %v, want what is no JSON", b, err)
	}
	s.CloseGateway(bob.ID, 4000)
	expect("4000 ")

	s = New(t, Config{Heartbeat: 20 * time.Millisecond})
	ws = raw(t, s)
	expect("4009 ")
}

// TestVoiceFaults: the faults that the voice gateway can be told to have.
func TestVoiceFaults(t *testing.T) {
	s := New(t, Config{})
	voice := s.Channel("voice").ID
	s.EarlyExternalSender(true)
	s.Modes(ModeXChaCha20)
	ann := newCaller(t, s, s.Bot("ann"), voice)
	ann.dial()
	ann.identify(nil)
	if e := ann.next(); e.op != voiceReady || fmt.Sprint(e.d["modes"]) != "["+ModeXChaCha20+"]" {
		t.Errorf("got %+v", e)
	}
	if e := ann.next(); e.op != davetest.OpExternalSender || e.seq != 1 {
		t.Errorf("got %+v, want an early external sender", e)
	}
	_ = ann.ws.Close(websocket.StatusNormalClosure, "")
	s.EarlyExternalSender(false)
	s.Modes(ModeAES, ModeXChaCha20)

	ann.dial()
	ann.discover()
	ann.choose(ModeAES)
	bob := enter(t, s, s.Bot("bob"), voice)
	ann.until(voicePlatform)
	s.LateSpeaking(-1)
	bob.speak()
	await(t, "bob to be announced", func() bool { return announced(s, bob.user.ID) })
	ann.send(voiceHeartbeat, object{"t": 1, "seq_ack": ann.seq})
	if e := ann.next(); e.op != voiceHeartbeatAck {
		t.Errorf("got %+v, want not to be told who speaks", e)
	}
	s.LateSpeaking(30 * time.Millisecond)
	bob.speak()
	if e := ann.next(); e.op != voiceSpeaking {
		t.Errorf("got %+v", e)
	}

	for _, said := range []string{"to ann", "and more"} {
		bob.say(said)
		if frame, _ := ann.hear(); frame != said {
			t.Errorf("heard %q", frame)
		}
	}
	wire := s.Wire()
	if len(wire) != 2 || string(wire[0].Frame) != "to ann" || wire[1].Timestamp != 1920 || wire[1].User != bob.user.ID || wire[1].Encrypted() {
		t.Errorf("on the wire were %+v", wire)
	}

	s.HoldVoiceAcks(ann.user.ID, true)
	ann.send(voiceHeartbeat, object{"t": 1, "seq_ack": ann.seq})
	s.Reset(voice)
	if e := ann.next(); e.op != davetest.OpEpoch {
		t.Errorf("got %+v, want no acknowledgement", e)
	}
	s.DropVoice(bob.user.ID)
	bob.closed(-1)
	await(t, "bob to be lost", func() bool { return slices.Equal(s.InCall(voice), []uint64{ann.user.ID}) })
	if e := ann.next(); e.op != davetest.OpPrepare {
		t.Errorf("got %+v: who is lost has not left", e)
	}
	s.Kick(ann.user.ID, 4006)
	ann.closed(4006)
	ann.dial()
	ann.identify(nil)
	ann.closed(4006) // refused until it asks for a new token
	if err := ann.line.Move(t.Context(), s.Guild().ID, voice, false, false); err != nil {
		t.Fatal(err)
	}
	ann.where()
	ann.dial()
	ann.identify(nil)
	ann.until(voiceReady)
}

// TestLostAreGone: somebody whose connection is lost has left the call if they do not resume it in
// time.
func TestLostAreGone(t *testing.T) {
	s := New(t, Config{Hold: 20 * time.Millisecond, VoiceHeartbeat: 300 * time.Millisecond})
	voice := s.Channel("voice").ID
	ann, bob := enter(t, s, s.Bot("ann"), voice), enter(t, s, s.Bot("bob"), voice)
	s.DropVoice(bob.user.ID)
	if e := ann.until(voiceDisconnect); e.d["user_id"] != id(bob.user.ID) {
		t.Errorf("got %+v", e)
	}
	ann.closed(4009) // it sends no heartbeats
}

// FuzzDatagram lets any datagram come by UDP.
func FuzzDatagram(f *testing.F) {
	s, err := Start(Config{}, f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	s.mu.Lock()
	c := s.callIn(s.channels[1].ID)
	m := &member{call: c, account: s.accounts[s.guild.Owner], selected: true}
	m.ssrc, m.announced, m.Nonces = 7, true, make(map[uint32]bool)
	m.discovered = netip.MustParseAddrPort("127.0.0.1:9") // nobody listens there
	if err := m.Choose(ModeAES); err != nil {
		f.Fatal(err)
	}
	c.members[s.guild.Owner] = m
	s.mu.Unlock()
	header := [12]byte{0x80, 0x78, 0, 1, 0, 0, 3, 0xc0, 0, 0, 0, 7}
	for _, options := range []struct{ extension, padding bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		f.Add(m.Seal(header, []byte("frame"), options.extension, options.padding))
	}
	f.Add(make([]byte, 8))
	f.Add(append([]byte{0, 1, 0, 70, 0, 0, 0, 7}, make([]byte, 66)...))
	f.Fuzz(func(t *testing.T, p []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.datagram(p, m.discovered)
		if m.count.In > len(m.Nonces) {
			t.Error("passed on what could not be opened")
		}
	})
}
