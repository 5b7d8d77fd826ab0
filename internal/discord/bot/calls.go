package bot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/calls"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/roster"
	"earshot/internal/discord/voice"
	"earshot/internal/helper"
	"earshot/models/engine"
	hearing "earshot/models/hear"
	"earshot/models/neural"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/models/tts"
	outlet "earshot/outlets/discord"
	"earshot/providers/discord"
	"earshot/providers/microphone"
)

// inCalls is the speech input and output of calls.
const inCalls = "discord voice"

// openCalls lets the bot hear and, if speaks is set, speak.
func (b *Bot) openCalls(speaks bool) {
	embedded := helper.NewDialer(b.c.Log, helper.SpeechProgram, "hear")
	ears := engine.New("hears", b.c.Settings().Speech.Recognisers(embedded, neural.Open(b.c.Log)), b.c.Report)
	b.pool = stt.NewPool(stt.PoolConfig{
		Each: stt.Config{Dial: ears.Dial, Log: b.c.Log, Names: []string{b.c.Settings().Executive.Name}},
		Most: b.c.Settings().Providers.Discord.Recognisers, Name: "recognition of calls", Report: b.c.Report, Restarts: b.c.Restarts,
	})
	if is, wanted := b.c.Settings().Speech.Sensing(neural.Open(b.c.Log)); wanted {
		b.turns = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: b.c.Log})
	}
	parts := calls.Parts{
		Call: func(ctx context.Context, cfg voice.Config, use func(calls.Call)) error {
			return calls.RunCall(ctx, b.session, cfg, func(c *voice.Call) { use(c) })
		},
		Ear: b.ear,
		Decoder: func(heard func(uint32, *audio.Frame)) calls.Decoder {
			return codec.NewOpus(codec.OpusConfig{Dial: helper.NewDialer(b.c.Log, helper.SpeechProgram, "media"), Heard: heard})
		},
		Room:    b.callRoom,
		Listens: b.listens,
		Arrive:  b.arriveInCall,
		Tell:    b.postNotice,
		OptOuts: b.refusals, Report: b.c.Report, Log: b.c.Log,
	}
	if speaks {
		parts.Enter = b.enterCall
	}
	c := b.c.Settings().Providers.Discord
	b.calls = calls.New(calls.Config{
		Guilds: c.Guilds, Channels: c.VoiceChannels, Users: c.Users, Never: c.Join == discord.JoinNever, ByItself: c.Join == discord.JoinPeople,
		Announce: c.Announce, EncryptedCalls: c.EncryptedCalls, IgnoreBots: c.Bots == discord.Ignored,
	}, parts)
}

// callRoom opens the room of a voice channel.
func (b *Bot) callRoom(ctx context.Context, guild, channel uint64) (earshot.RoomID, error) {
	c := roster.Place{ID: channel, Guild: guild}
	if known, ok := b.channels.place(c.Room()); ok {
		return b.Room(ctx, known)
	}
	var is struct {
		Name string `json:"name"`
	}
	if err := b.session.Ask(ctx, http.MethodGet, fmt.Sprintf("channels/%d", channel), nil, &is); err != nil {
		return "", err
	}
	c.Name = "#" + is.Name
	return b.Room(ctx, c)
}

// arriveInCall makes known a person who is in a call and has never written.
func (b *Bot) arriveInCall(ctx context.Context, guild, user uint64) error {
	who := gateway.HandleOf(user)
	if b.c.People.Resolve(who).ID != "" {
		return nil
	}
	var is discordgo.Member
	if err := b.session.Ask(ctx, http.MethodGet, fmt.Sprintf("guilds/%d/members/%d", guild, user), nil, &is); err != nil {
		return err
	}
	if is.User == nil {
		is.User = new(discordgo.User)
	}
	_, err := b.Arrive(ctx, who, roster.Describe(is.User, &is))
	return err
}

// listens reports whether a room listens, and returns a channel that is closed when that
// changes.
func (b *Bot) listens(id earshot.RoomID) (bool, <-chan struct{}) {
	r, ok := b.c.Rooms.Find(id)
	if !ok {
		return false, nil
	}
	mode, changed := r.Room.Mode()
	return mode.Listens(), changed
}

// postNotice posts a message of the daemon in a channel. It pings nobody.
func (b *Bot) postNotice(ctx context.Context, channel uint64, text string) error {
	return b.session.Ask(ctx, http.MethodPost, fmt.Sprintf("channels/%d/messages", channel),
		map[string]any{"content": text, "allowed_mentions": compose.Nobody}, nil)
}

// ear listens to one person in the call of a room. How long it waits for more words depends on
// what the agent has just asked there.
func (b *Bot) ear(from earshot.Handle, in earshot.RoomID, c calls.Capture) calls.Ear {
	set := b.c.Settings().Providers.Microphone
	set.Deaf = 0 // a silent person sends nothing
	return microphone.New(set, microphone.Parts{
		Dropped: b.c.Dropped("microphone"),
		Capture: c, Recogniser: microphone.UseSTT(b.pool.Listener()), Sense: microphone.UseSense(b.turns), Name: inCalls, From: from, Via: inCalls, Notice: b.c.Report,
		Talk: func() hearing.Talk {
			var about hearing.Talk
			if r, ok := b.c.Rooms.Find(in); ok {
				about = hearing.Asks(string(r.Room.Asked()))
			}
			about.Name = b.c.Settings().Executive.Name
			return about
		},
	})
}

// A callVoice is the voice of the agent in one call, with the helpers that make its sound.
type callVoice struct {
	*outlet.Voice
	stop context.CancelFunc
	life sync.WaitGroup
}

// Leave implements [calls.RoomVoice].
func (m *callVoice) Leave() {
	m.stop()
	m.life.Wait()
}

// enterCall gives the agent a voice in a call.
func (b *Bot) enterCall(ctx context.Context, call calls.Call, id earshot.RoomID) (calls.RoomVoice, error) {
	line, ok := call.(calls.Sender)
	r, open := b.c.Rooms.Find(id)
	if !ok || !open {
		return nil, errors.New("there is no call to speak in")
	}
	set := b.c.Settings().Outlets.Discord
	voices := engine.New("speaks", b.c.Settings().Speech.Voices(helper.NewDialer(b.c.Log, helper.SpeechProgram, "say"), neural.Open(b.c.Log)), b.c.Report)
	say := tts.New(tts.Config{Dial: voices.Dial, Voice: set.VoiceName, Speed: set.Speed, Log: b.c.Log})
	m := &callVoice{Voice: outlet.NewVoice(say)}
	coder := codec.NewOpus(codec.OpusConfig{Dial: helper.NewDialer(b.c.Log, helper.SpeechProgram, "media"), Encoded: m.Encoded})
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	m.life.Go(func() { b.supervise(ctx, "voice in calls", say.Run) })
	m.life.Go(func() { b.supervise(ctx, "sound of the voice in calls", coder.Run) })
	m.life.Go(func() {
		m.Run(ctx, line, coder, func(o earshot.Outlet) func() { return r.Room.Enter(o, earshot.Audience{Unknown: true}) })
	})
	return m, nil
}
