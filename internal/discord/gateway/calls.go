package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/voice"
)

// A callSlot is the bot's place in the voice channels of one guild.
type callSlot struct {
	call *voice.Call
	wish voiceTarget // the last request
	owed bool        // a new session has begun since, and does not know the wish
}

// mostComing bounds the guilds that are waited for; Discord allows a session 2,500.
const mostComing = 1 << 13

// A voiceTarget is the wanted channel: none if it is 0.
type voiceTarget struct {
	channel    uint64
	mute, deaf bool
}

// ErrBusy means that there is a call in the guild already.
var ErrBusy = errors.New("the bot is in a call in this guild already")

// Call joins a voice channel and stays in it until ctx ends, or until the call ends otherwise,
// which gives a [*voice.Ended]. It waits for the session to be open. Use receives the call before
// it begins. The session fills in the line and the bot's identity. There is one call per guild; a
// second is [ErrBusy].
func (s *Session) Call(ctx context.Context, cfg voice.Config, use func(*voice.Call)) error {
	_, self, err := s.open(ctx, nil)
	if err != nil {
		return err
	}
	cfg.Place.Self = self
	cfg.Line = callLine{s}
	if cfg.Log == nil {
		cfg.Log = s.log
	}
	if cfg.HTTP == nil {
		cfg.HTTP = s.http
	}
	call := voice.New(cfg)
	guild := cfg.Place.Guild
	if !s.sit(guild, call) {
		return ErrBusy
	}
	defer s.rise(guild)
	if use != nil {
		use(call)
	}
	return call.Run(ctx)
}

func (s *Session) sit(guild uint64, call *voice.Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[guild] != nil {
		return false
	}
	s.calls[guild] = &callSlot{call: call}
	return true
}

func (s *Session) rise(guild uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, guild)
}

// A callLine is what a call needs of the session.
type callLine struct{ s *Session }

// Move implements [voice.Line]. It waits for the session to be open, and does not wait for the
// result, which comes as an event.
func (l callLine) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	w := voiceTarget{channel, mute, deaf}
	var failed *connection
	for {
		conn, _, err := l.s.open(ctx, failed)
		if err != nil {
			return err
		}
		if l.s.want(guild, w) {
			return nil
		}
		if err := l.s.move(ctx, conn, guild, w); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return err
		}
		failed = conn // it has ended, or is about to
	}
}

// Away implements [voice.Absent].
func (l callLine) Away() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.s.conn == nil
}

// want records what is requested, so that it can be requested again. It reports whether that will
// happen by itself: Discord ignores requests until the guild is there.
func (s *Session) want(guild uint64, w voiceTarget) (later bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[guild]
	if c != nil {
		later = w.channel != 0 && s.coming[guild]
		c.wish, c.owed = w, later
	}
	return later
}

// expect records the guilds in READY. Each comes as an event of its own.
func (s *Session) expect(guilds []*discordgo.Guild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.coming)
	for _, g := range guilds {
		if g != nil && len(s.coming) < mostComing {
			s.coming[Number(g.ID)] = true
		}
	}
}

// move sends the request. This is what discordgo's ChannelVoiceJoinManual sends, which needs
// discordgo's own connection.
func (s *Session) move(ctx context.Context, conn *connection, guild uint64, w voiceTarget) error {
	s.mu.Lock()
	wait := conn.room.take(time.Now())
	s.mu.Unlock()
	if !Pause(ctx, wait) {
		return fmt.Errorf("waiting to send: %w", ctx.Err())
	}
	var channel *string
	if w.channel != 0 {
		id := Digits(w.channel)
		channel = &id
	}
	// Writing to a websocket under a context that ends closes the websocket.
	return conn.write(context.WithoutCancel(ctx), opVoiceState, map[string]any{
		"guild_id": Digits(guild), "channel_id": channel, "self_mute": w.mute, "self_deaf": w.deaf,
	})
}

// rejoin repeats the request of an ended session, once the guild is there: until then Discord
// ignores it.
func (s *Session) rejoin(ctx context.Context, conn *connection, guild string) {
	id := Number(guild)
	s.mu.Lock()
	delete(s.coming, id)
	c := s.calls[id]
	var w voiceTarget
	owed := c != nil && c.owed
	if owed {
		w, c.owed = c.wish, false
	}
	s.mu.Unlock()
	if owed {
		_ = s.move(ctx, conn, id, w) // the reader finds out if the connection has ended
	}
}

// voiceState tells a call where the bot is.
func (s *Session) voiceState(e *discordgo.VoiceStateUpdate) {
	s.mu.Lock()
	c := s.calls[Number(e.GuildID)]
	if c == nil || s.self == 0 || Number(e.UserID) != s.self {
		s.mu.Unlock()
		return
	}
	channel := Number(e.ChannelID)
	if channel != 0 && c.wish.channel != 0 {
		c.wish.channel = channel // somebody may have moved the bot
	}
	s.mu.Unlock()
	c.call.State(channel, e.SessionID)
}

// voiceServer tells a call which server it uses.
func (s *Session) voiceServer(e *discordgo.VoiceServerUpdate) {
	s.mu.Lock()
	c := s.calls[Number(e.GuildID)]
	s.mu.Unlock()
	if c != nil {
		c.call.Server(e.Token, e.Endpoint)
	}
}
