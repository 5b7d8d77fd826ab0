package calls_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/calls"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/providers"
)

// deafness hears and decodes nothing.
type deafness struct{}

func (deafness) Decode([]codec.Packet) {}
func (deafness) Forget(uint32)         {}

// idle is the Run of a decoder and an ear that do nothing.
func idle(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

type decoder struct{ deafness }

func (decoder) Run(ctx context.Context) error { return idle(ctx) }

type ear struct{}

func (ear) Run(ctx context.Context, _ providers.Emit) error { return idle(ctx) }

// An usher is a bot that joins as it is told, on a Discord of its own. It keeps what is said in the
// chat.
type usher struct {
	*discordtest.Server
	*calls.Calls
	house
	me discordtest.User
}

func ushers(t *testing.T) *usher {
	u := &usher{Server: discordtest.New(t, discordtest.Config{}), house: house{out: make(map[uint64]bool)}}
	u.me = u.Bot("earshot")
	var session *gateway.Session
	cfg := calls.Config{Announce: true, EncryptedCalls: true}
	cfg.Announce = false
	u.Calls = calls.New(cfg, calls.Parts{
		Call: func(ctx context.Context, cfg voice.Config, use func(calls.Call)) error {
			return calls.RunCall(ctx, session, cfg, func(c *voice.Call) { use(c) })
		},
		Ear:     func(earshot.Handle, earshot.RoomID, calls.Capture) calls.Ear { return ear{} },
		Decoder: func(func(uint32, *audio.Frame)) calls.Decoder { return decoder{} },
		Room: func(_ context.Context, _, channel uint64) (earshot.RoomID, error) {
			return earshot.RoomID(fmt.Sprintf("discord-%d", channel)), nil
		},
		Listens: func(earshot.RoomID) (bool, <-chan struct{}) { return true, nil },
		Arrive:  func(context.Context, uint64, uint64) error { return nil },
		Tell: func(_ context.Context, channel uint64, text string) error {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.told = append(u.told, fmt.Sprintf("%d: %s", channel, text))
			return nil
		},
		OptOuts: &u.house,
	})
	session = gateway.New(gateway.Config{
		Token: field.Secret(u.me.Token), Base: u.Base(), HTTP: u.HTTP(), Events: u.Take, Intents: discordgo.IntentGuilds | discordgo.IntentGuildVoiceStates,
	})
	perform(t, session.Run)
	perform(t, func(ctx context.Context) error { return u.Run(ctx, u.emit) })
	testkit.Await(t, patience, "the guild", func() bool {
		return !strings.Contains(u.Join(u.Guild().ID, u.Channel("general").ID, 0), "coming") && session.Status().Open
	})
	return u
}

// says waits until the bot has said text in the chat of a channel.
func (u *usher) says(t *testing.T, channel uint64, text string) {
	t.Helper()
	testkit.Await(t, patience, "that it says "+text, func() bool {
		u.mu.Lock()
		defer u.mu.Unlock()
		return slices.ContainsFunc(u.told, func(line string) bool {
			return strings.HasPrefix(line, fmt.Sprintf("%d: ", channel)) && strings.Contains(line, text)
		})
	})
}

// in waits until the bot is in a channel and listens there; for 0, until it is in none.
func (u *usher) in(t *testing.T, channel uint64) {
	t.Helper()
	testkit.Await(t, patience, "where it is", func() bool {
		all := u.Status()
		return len(all) == 0 && channel == 0 || len(all) == 1 && all[0].Channel == channel && all[0].Listens
	})
}

// TestMannersOnDiscord: if something on Discord keeps the bot out of a call, or from hearing or
// speaking in one, the bot says so, with what to do about it.
func TestMannersOnDiscord(t *testing.T) {
	u := ushers(t)
	guild, hall := u.Guild().ID, u.Channel("voice").ID
	small := u.AddChannel(discordtest.Channel{Kind: discordtest.VoiceChannel, Name: "small", Limit: 1}).ID
	shut := u.AddChannel(discordtest.Channel{Kind: discordtest.VoiceChannel, Name: "shut"}).ID
	u.Deny(shut, u.me.ID, discordtest.Connect|discordtest.Speak)
	guest := u.AddUser(discordtest.User{Name: "ann", Human: true})
	line := u.Line(guest, func(uint64, string) {}, func(string, string) {})
	if err := line.Move(t.Context(), guild, small, false, false); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		channel uint64
		want    string
	}{
		// The first asks for the guest's own channel: until the bot knows that the guest is in it,
		// the bot would join any other that has room.
		{0, "is full"}, {small, "is full, with 1 people"}, {shut, "Permissions: Connect, Speak"}, {u.Channel("stage").ID, "stages"}, {u.Channel("general").ID, "no such voice channel"},
	} {
		testkit.Await(t, patience, "a refusal of which it says "+tt.want, func() bool { return strings.Contains(u.Join(guild, tt.channel, guest.ID), tt.want) })
	}
	if err := line.Move(t.Context(), guild, 0, false, false); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, patience, "that there is room", func() bool { return strings.Contains(u.Join(guild, small, guest.ID), "coming") })
	u.in(t, small)
	u.Move(u.me.ID, hall)
	u.in(t, hall)

	u.Silence(u.me.ID, true, false)
	u.says(t, hall, "Server Mute")
	u.Silence(u.me.ID, false, true)
	u.says(t, hall, "Server Deafen")
	testkit.Await(t, patience, "one trouble", func() bool { st := u.Status(); return len(st) == 1 && len(st[0].Trouble) == 1 })
	u.Silence(u.me.ID, false, false)
	testkit.Await(t, patience, "that all is well", func() bool { st := u.Status(); return len(st) == 1 && len(st[0].Trouble) == 0 })

	stage := u.Channel("stage").ID
	u.Move(u.me.ID, stage)
	u.says(t, stage, "stages")
	u.in(t, 0)
	testkit.Await(t, patience, "that it comes again", func() bool { return strings.Contains(u.Join(guild, hall, guest.ID), "coming") })
	u.in(t, hall)
	u.Disconnect(u.me.ID)
	u.says(t, hall, "Somebody removed the bot")
	u.in(t, 0)
}
