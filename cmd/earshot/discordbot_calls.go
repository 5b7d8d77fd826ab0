package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/voice"
	"earshot/internal/helper"
	"earshot/internal/supervise"
	hearing "earshot/models/hear"
	"earshot/models/stt"
	"earshot/models/tts"
	outlet "earshot/outlets/discord"
	"earshot/providers/discord"
	ringing "earshot/providers/discord/calls"
	"earshot/providers/microphone"
)

// inCalls is what hears in calls, and what speaks there.
const inCalls = "discord voice"

// listens gives the bot ears, and if speaks is set a voice.
func (e *discordBot) listens(speaks bool) (part, error) {
	out, err := openOptouts(e.daemon.config())
	if err != nil {
		return part{}, err
	}
	e.pool = stt.NewPool(stt.PoolConfig{
		Each: stt.Config{Dial: helper.NewDialer(e.daemon.log, helper.SpeechProgram, "hear"), Log: e.daemon.log, Names: []string{e.daemon.config().Executive.Name}},
		Most: e.daemon.config().Providers.Discord.Recognisers, Name: "recognition of calls", Report: e.daemon.report, Restarts: restarts,
	})
	parts := ringing.Parts{
		Call: func(ctx context.Context, cfg voice.Config, use func(ringing.Call)) error {
			return e.session.Call(ctx, cfg, func(c *voice.Call) { use(c) })
		},
		Ear: e.ear,
		Decoder: func(heard func(uint32, *audio.Frame)) ringing.Decoder {
			return codec.NewOpus(codec.OpusConfig{Dial: helper.NewDialer(e.daemon.log, helper.SpeechProgram, "media"), Heard: heard})
		},
		Room:    e.roomOf,
		Listens: e.mayListen,
		Arrive:  e.arrives,
		Tell:    e.tell,
		OptOuts: out, Report: e.daemon.report, Log: e.daemon.log,
	}
	if speaks {
		parts.Enter = e.speaks
	}
	e.line = ringing.New(e.daemon.config().Providers.Discord, parts)
	return part{name: "recognition of calls", run: e.pool.Run}, nil
}

// roomOf opens the room of a voice channel.
func (e *discordBot) roomOf(ctx context.Context, guild, channel uint64) (earshot.RoomID, error) {
	c := discord.Channel{ID: strconv.FormatUint(channel, 10), Guild: strconv.FormatUint(guild, 10)}
	if known, ok := e.posts.posted(c.Room()); ok {
		return e.Room(ctx, known)
	}
	var is struct {
		Name string `json:"name"`
	}
	if err := e.session.Ask(ctx, http.MethodGet, "channels/"+c.ID, nil, &is); err != nil {
		return "", err
	}
	c.Name = "#" + is.Name
	return e.Room(ctx, c)
}

// arrives makes somebody known who is in a call and has never written.
func (e *discordBot) arrives(ctx context.Context, guild, user uint64) error {
	who := ringing.HandleOf(user)
	if e.daemon.people.Resolve(who).ID != "" {
		return nil
	}
	var is struct {
		Nick string `json:"nick"`
		User struct {
			Name   string `json:"username"`
			Global string `json:"global_name"`
			Bot    bool   `json:"bot"`
		} `json:"user"`
	}
	if err := e.session.Ask(ctx, http.MethodGet, fmt.Sprintf("guilds/%d/members/%d", guild, user), nil, &is); err != nil {
		return err
	}
	_, err := e.Arrive(ctx, who, discord.Person{
		Name: cmp.Or(is.Nick, is.User.Global, is.User.Name), Account: is.User.Name, Bot: is.User.Bot, Member: true,
	})
	return err
}

// mayListen reports whether a room listens, and returns what is closed when that changes.
func (e *discordBot) mayListen(id earshot.RoomID) (bool, <-chan struct{}) {
	r, ok := e.daemon.rooms.find(id)
	if !ok {
		return false, nil
	}
	mode, changed := r.Mode()
	return mode.Listens(), changed
}

// tell writes something of the house into a channel. It pings nobody.
func (e *discordBot) tell(ctx context.Context, channel uint64, text string) error {
	return e.session.Ask(ctx, http.MethodPost, fmt.Sprintf("channels/%d/messages", channel),
		map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}}, nil)
}

// ear listens to one person in the call of a room. How long it waits for more words
// depends on what the agent has just asked there.
func (e *discordBot) ear(from earshot.Handle, in earshot.RoomID, c ringing.Capture) ringing.Ear {
	set := e.daemon.config().Providers.Microphone
	set.Deaf = 0 // who is silent sends nothing
	return microphone.New(set, microphone.Parts{
		Dropped: e.daemon.drops("microphone"),
		Capture: c, Recogniser: recogniser{e.pool.Listener()}, Name: inCalls, From: from, Via: inCalls, Notice: e.daemon.report,
		Talk: func() hearing.Talk {
			var about hearing.Talk
			if r, ok := e.daemon.rooms.find(in); ok {
				about = hearing.Asks(string(r.Asked()))
			}
			about.Name = e.daemon.config().Executive.Name
			return about
		},
	})
}

// A mouth is the voice of the agent in one call, with the helpers that make its sound.
type mouth struct {
	*outlet.Voice
	stop context.CancelFunc
	life sync.WaitGroup
}

// Leave implements [ringing.RoomVoice].
func (m *mouth) Leave() {
	m.stop()
	m.life.Wait()
}

// speaks gives the agent a voice in a call.
func (e *discordBot) speaks(ctx context.Context, call ringing.Call, id earshot.RoomID) (ringing.RoomVoice, error) {
	line, ok := call.(outlet.Call)
	r, open := e.daemon.rooms.find(id)
	if !ok || !open {
		return nil, errors.New("there is no call to speak in")
	}
	set := e.daemon.config().Outlets.Discord
	say := tts.New(tts.Config{Dial: helper.NewDialer(e.daemon.log, helper.SpeechProgram, "say"), Voice: set.VoiceName, Speed: set.Speed, Log: e.daemon.log})
	m := &mouth{Voice: outlet.NewVoice(say)}
	coder := codec.NewOpus(codec.OpusConfig{Dial: helper.NewDialer(e.daemon.log, helper.SpeechProgram, "media"), Encoded: m.Encoded})
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	launch := func(name string, run func(context.Context) error) {
		cfg := restarts
		cfg.Report = e.daemon.report
		m.life.Go(func() {
			if err := supervise.Run(ctx, name, run, cfg); err != nil {
				e.daemon.log.Error("a part cannot run", "part", name, "err", err)
			}
		})
	}
	launch("voice in calls", say.Run)
	launch("sound of the voice in calls", coder.Run)
	m.life.Go(func() {
		m.Run(ctx, line, coder, func(o earshot.Outlet) func() { return r.Enter(o, earshot.Audience{Unknown: true}) })
	})
	return m, nil
}
