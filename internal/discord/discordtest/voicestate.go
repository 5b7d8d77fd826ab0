package discordtest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"earshot/internal/mailbox"
)

// A region hosts calls: a voice gateway of its own.
type region struct{ endpoint string }

// addRegion adds a region.
func (s *Server) addRegion() (*region, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	r := &region{"localhost:" + port}
	s.regions = append(s.regions, r)
	s.serve(tls.NewListener(l, s.ca.Config()), s.voiceGateway(r))
	return r, nil
}

// join handles a client's op 4. A request that is not allowed gets no answer, as on Discord.
func (s *Server) join(g *gatewaySession, channel uint64, mute, deaf bool) {
	a := g.account
	if channel != 0 && !s.may(a, channel) {
		return
	}
	changed := a.mute != mute || a.deaf != deaf
	a.mute, a.deaf = mute, deaf
	if channel != 0 && channel == a.voice && a.session == g.id && changed {
		s.tellState(a)
		return
	}
	s.place(a, g.id, channel)
}

// may reports whether a user is allowed into a channel.
func (s *Server) may(a *account, channel uint64) bool {
	c := s.channel(channel)
	if c == nil || c.Kind == TextChannel || c.deny[a.user.ID]&(ViewChannel|Connect) != 0 {
		return false
	}
	if c.Limit == 0 || a.voice == channel {
		return true
	}
	inside := 0
	for _, other := range s.accounts {
		if other.voice == channel {
			inside++
		}
	}
	return inside < c.Limit
}

// place moves a user into a channel, or out of all if it is 0, and announces it. The old
// connection to a call is then useless.
func (s *Server) place(a *account, session string, channel uint64) {
	if a.voice == 0 && channel == 0 {
		return
	}
	if a.voice != 0 {
		s.leaveCall(a, 4014, "Disconnected.")
	}
	a.voice, a.session, a.token = channel, session, ""
	a.suppressed = channel != 0 && s.channel(channel).Kind == StageChannel
	s.tellState(a)
	if channel != 0 {
		s.invite(a)
	}
}

// invite gives a user a new token for the call of their channel.
func (s *Server) invite(a *account) {
	c := s.callIn(a.voice)
	a.token, a.region = s.secret("the token of a call"), c.region
	a.tokens[a.token] = true
	s.tellUser(a.user.ID, "VOICE_SERVER_UPDATE", object{
		"token": a.token, "guild_id": id(s.guild.ID), "endpoint": c.region.endpoint,
	})
}

// tellState announces a voice state to everybody, and to its owner in any case.
func (s *Server) tellState(a *account) {
	state := s.voiceState(a)
	for _, g := range s.sessions {
		if g.account == a || g.wants(intentVoiceStates) {
			g.tell("VOICE_STATE_UPDATE", state)
		}
	}
}

// A Line replaces a user's main gateway: for a voice client alone.
type Line struct {
	s       *Server
	session *gatewaySession
	user    User

	state  func(channel uint64, session string)
	server func(token, endpoint string)
	calls  *mailbox.Queue[func()] // of these two
}

// Line logs a user in without a gateway. State receives the user's own voice state, the channel
// and the name of the session; server receives the location of the call. Both are called in order,
// by one goroutine.
func (s *Server) Line(user User, state func(channel uint64, session string), server func(token, endpoint string)) *Line {
	l := &Line{s: s, user: user, state: state, server: server, calls: mailbox.New[func()](nil)}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.session = s.newSession(s.accounts[user.ID].user, 0)
	l.session.line = l
	if s.closed {
		l.session.end()
		return l
	}
	s.wg.Go(l.run)
	return l
}

// Move asks to be in a channel, or in none if it is 0.
func (l *Line) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	switch {
	case l.session.gone:
		return errors.New("the server is closed")
	case guild != l.s.guild.ID:
		return errors.New("no such guild")
	}
	l.s.join(l.session, channel, mute, deaf)
	return ctx.Err()
}

// end is called with the server's mutex held, once.
func (l *Line) end() { l.calls.Close() }

func (l *Line) tell(event string, data any) {
	d, _ := data.(object)
	switch event {
	case "VOICE_STATE_UPDATE":
		if d["user_id"] != id(l.user.ID) {
			return
		}
		channel, _ := d["channel_id"].(string)
		session, _ := d["session_id"].(string)
		l.calls.Put(func() { l.state(number(channel), session) })
	case "VOICE_SERVER_UPDATE":
		token, _ := d["token"].(string)
		endpoint, _ := d["endpoint"].(string)
		l.calls.Put(func() { l.server(token, endpoint) })
	}
}

func (l *Line) run() {
	for {
		call, ok := l.calls.Take(l.s.ctx)
		if !ok {
			return
		}
		call()
	}
}
