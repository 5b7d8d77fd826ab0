package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"
)

// A Call is one in a voice channel, such as a [earshot/internal/discord/voice.Call]: the session tells
// it where the bot is, and which server it uses.
type Call interface {
	State(channel uint64, session string)
	Server(token, endpoint string)
}

// A callSlot is the bot's place in the voice channels of one guild.
type callSlot struct {
	call Call
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

// Attach gives a call the bot's place in the voice channels of a guild, until that is detached. There
// is one call per guild; a second is [ErrBusy].
func (s *Session) Attach(guild uint64, call Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[guild] != nil {
		return ErrBusy
	}
	s.calls[guild] = &callSlot{call: call}
	return nil
}

// Detach ends what Attach began.
func (s *Session) Detach(guild uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, guild)
}

// A Line is what a call needs of the session.
type Line struct {
	Self uint64       // the bot's number
	HTTP *http.Client // for websockets; knows no token
	Log  *slog.Logger

	session *Session
}

// Line returns what a call needs. It waits for the session to be open.
func (s *Session) Line(ctx context.Context) (Line, error) {
	_, self, err := s.open(ctx, nil)
	return Line{self, s.http, s.log, s}, err
}

// Move asks to be in a channel of a guild, or in none if it is 0. It waits for the session to be
// open, and does not wait for the result, which comes as an event.
func (l Line) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	w := voiceTarget{channel, mute, deaf}
	var failed *connection
	for {
		conn, _, err := l.session.open(ctx, failed)
		if err != nil {
			return err
		}
		if l.session.want(guild, w) {
			return nil
		}
		if err := l.session.move(ctx, conn, guild, w); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return err
		}
		failed = conn // it has ended, or is about to
	}
}

// Away reports whether the main gateway is away.
func (l Line) Away() bool {
	l.session.mu.Lock()
	defer l.session.mu.Unlock()
	return l.session.conn == nil
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
