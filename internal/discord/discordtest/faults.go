package discordtest

import (
	"slices"
	"time"

	"github.com/coder/websocket"

	"earshot/internal/discord/davetest"
	"earshot/internal/discord/discordtest/wire"
)

// Faults are the simulated faults, and what the server has observed.
type faults struct {
	davetest.Rules
	modes    []string
	early    bool          // op 25 before op 4
	speaking time.Duration // the delay of op 5; never sent if negative

	loss, pad, reorder, duplicate float64

	wire []Forwarded
}

// A userFault happens to a user a number of times.
type userFault int

const (
	insteadOfReady userFault = iota
	dropDiscovery
	refuseResume
)

// userFaults are the simulated faults of one user, and what the server has observed of them.
type userFaults struct {
	times      [refuseResume + 1]int // that each is still to happen
	heldVoice  bool                  // its heartbeats in a call are not acknowledged
	refuse     int                   // the code for its next identify in a call; 0 for none
	mistakenAs uint64                // the user that op 5 gives for its stream; 0 for itself

	identified   []time.Time
	resumed      int
	voiceResumed int
}

// garbage is invalid JSON.
var garbage = wire.Message{Kind: websocket.MessageText, Data: []byte(`{"op":0,"d":{"id`)}

// take reports whether a fault happens this time.
func (f *userFaults) take(kind userFault) bool {
	if f.times[kind] <= 0 {
		return false
	}
	f.times[kind]--
	return true
}

// with calls f with the mutex held.
func (s *Server) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		f()
	}
}

// sessionsOf calls f with each connected session of a user.
func (s *Server) sessionsOf(user uint64, f func(g *gatewaySession)) {
	s.with(func() {
		for _, g := range slices.Clone(s.sessions) {
			if g.account.user.ID == user && g.link != nil {
				f(g)
			}
		}
	})
}

// Reconnect sends op 7 to a user's main gateway.
func (s *Server) Reconnect(user uint64) {
	s.sessionsOf(user, func(g *gatewaySession) { g.link.SendJSON(object{"op": 7, "d": nil}) })
}

// ReconnectInsteadOfReady sends it in place of READY, the next times.
func (s *Server) ReconnectInsteadOfReady(user uint64, times int) {
	s.with(func() { s.accounts[user].times[insteadOfReady] = times })
}

// Invalid sends op 9. If the session is not resumable it is over.
func (s *Server) Invalid(user uint64, resumable bool) {
	s.sessionsOf(user, func(g *gatewaySession) {
		g.link.SendJSON(object{"op": 9, "d": resumable})
		if !resumable {
			s.forget(g)
		}
	})
}

// Forget ends a user's sessions, so that they cannot be resumed. It says nothing.
func (s *Server) Forget(user uint64) {
	s.with(func() {
		for _, g := range slices.Clone(s.sessions) {
			if g.account.user.ID == user && g.line == nil {
				s.forget(g)
			}
		}
	})
}

// HoldAcks stops or resumes acknowledging heartbeats on the main gateway.
func (s *Server) HoldAcks(user uint64, hold bool) {
	s.sessionsOf(user, func(g *gatewaySession) { g.held = hold })
}

// Drop cuts a user's main gateway without a close frame. The session can be resumed.
func (s *Server) Drop(user uint64) {
	s.sessionsOf(user, func(g *gatewaySession) { g.link.Drop() })
}

// CloseGateway closes it with a code. The reason repeats the user's token: a server may say
// anything.
func (s *Server) CloseGateway(user uint64, code int) {
	s.sessionsOf(user, func(g *gatewaySession) { g.link.Close(code, "As a test wants it: "+g.account.user.Token) })
}

// Garbage sends invalid JSON on the main gateway.
func (s *Server) Garbage(user uint64) {
	s.sessionsOf(user, func(g *gatewaySession) { g.link.Send(garbage) })
}

// Identified returns when a user has identified, and Resumed how often it has tried to resume.
func (s *Server) Identified(user uint64) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.accounts[user].identified)
}

func (s *Server) Resumed(user uint64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts[user].resumed
}

// Connected reports whether a user is at the main gateway, past READY.
func (s *Server) Connected(user uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.sessions, func(g *gatewaySession) bool { return g.account.user.ID == user && g.link != nil && !g.gone })
}

// memberOf calls f with a user's membership of its call.
func (s *Server) memberOf(user uint64, f func(m *member)) {
	s.with(func() {
		if a := s.accounts[user]; a != nil && s.calls[a.voice] != nil {
			if m := s.calls[a.voice].members[user]; m != nil {
				f(m)
			}
		}
	})
}

// Kick closes a user's voice gateway with a code, and a reason that repeats its token. After 4015
// and codes below 4000 it can be resumed; after others the user has left the call, though not the
// channel: that is [Server.Disconnect].
func (s *Server) Kick(user uint64, code int) {
	s.memberOf(user, func(m *member) {
		if code >= 4000 && code != 4015 {
			m.account.token = "" // it has to be requested again
			m.call.leave(m, code, "As a test wants it: "+m.token)
		} else if m.link != nil {
			m.link.Close(code, "As a test wants it: "+m.token)
		}
	})
}

// DropVoice cuts a user's voice gateway without a close frame. It can be resumed.
func (s *Server) DropVoice(user uint64) {
	s.memberOf(user, func(m *member) {
		if m.link != nil {
			m.link.Drop()
		}
	})
}

// Refuse closes a user's next identify in a call with a code.
func (s *Server) Refuse(user uint64, code int) {
	s.with(func() { s.accounts[user].refuse = code })
}

// RefuseResume makes the next attempts to resume a call fail.
func (s *Server) RefuseResume(user uint64, times int) {
	s.with(func() { s.accounts[user].times[refuseResume] = times })
}

// Disconnect removes a user from its channel, as a moderator does: its call is closed with 4014,
// and the main gateway says that it is in no channel.
func (s *Server) Disconnect(user uint64) { s.Move(user, 0) }

// Move moves a user to another channel, as a moderator does: its call is closed with 4014, and the
// main gateway names the other channel.
func (s *Server) Move(user, channel uint64) {
	s.with(func() { s.place(s.accounts[user], s.accounts[user].session, channel) })
}

// Silence mutes and deafens a user, as a moderator does, until it is undone.
func (s *Server) Silence(user uint64, silenced, deafened bool) {
	s.with(func() {
		a := s.accounts[user]
		a.silenced, a.deafened = silenced, deafened
		s.tellState(a)
	})
}

// Region moves the call in a channel to another region. All connections are closed with 4014; the
// main gateway says first that there is no endpoint, and then which.
func (s *Server) Region(channel uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.addRegion()
	if err != nil {
		return err
	}
	c := s.callIn(channel)
	var there []*account
	for _, u := range s.users {
		if a := s.accounts[u.ID]; a.voice == channel {
			there = append(there, a)
			s.tellUser(u.ID, "VOICE_SERVER_UPDATE", object{"token": a.token, "guild_id": id(s.guild.ID), "endpoint": nil})
		}
	}
	c.end()
	s.startCall(c.channel, r)
	for _, a := range there {
		s.invite(a)
	}
	return nil
}

// HoldVoiceAcks stops or resumes acknowledging heartbeats on a user's voice gateway.
func (s *Server) HoldVoiceAcks(user uint64, hold bool) {
	s.with(func() { s.accounts[user].heldVoice = hold })
}

// DropDiscovery ignores a user's next IP discovery requests.
func (s *Server) DropDiscovery(user uint64, times int) {
	s.with(func() { s.accounts[user].times[dropDiscovery] = times })
}

// The modes of the encryption between a client and the server.
const (
	ModeAES       = wire.ModeAES
	ModeXChaCha20 = wire.ModeXChaCha20
)

// Modes sets the transport encryptions that are offered from now on.
func (s *Server) Modes(modes ...string) { s.with(func() { s.faults.modes = modes }) }

// EarlyExternalSender sends op 25 before op 4.
func (s *Server) EarlyExternalSender(early bool) { s.with(func() { s.faults.early = early }) }

// LateSpeaking delays op 5; never sent if negative.
func (s *Server) LateSpeaking(late time.Duration) { s.with(func() { s.faults.speaking = late }) }

// Mistake makes op 5 give another user for the stream of one.
func (s *Server) Mistake(user, as uint64) { s.with(func() { s.accounts[user].mistakenAs = as }) }

// Batch sets how long changes of a group are collected before they are proposed.
func (s *Server) Batch(window time.Duration) { s.with(func() { s.faults.Batch = window }) }

// Compete makes the delivery service wait for everybody's commit, and draw lots.
func (s *Server) Compete(compete bool) { s.with(func() { s.faults.Compete = compete }) }

// Overlap makes it propose more while something is not committed yet.
func (s *Server) Overlap(overlap bool) { s.with(func() { s.faults.Overlap = overlap }) }

// Spoil damages the next commit or welcome that a user is sent.
func (s *Server) Spoil(user uint64) { s.with(func() { s.faults.Spoil[user] = true }) }

// Loss, Pad, Reorder and Duplicate are the shares of packets to each client, from 0 to
// 1, that are lost, padded, late by 25 ms, and sent twice.
func (s *Server) Loss(share float64)      { s.with(func() { s.faults.loss = share }) }
func (s *Server) Pad(share float64)       { s.with(func() { s.faults.pad = share }) }
func (s *Server) Reorder(share float64)   { s.with(func() { s.faults.reorder = share }) }
func (s *Server) Duplicate(share float64) { s.with(func() { s.faults.duplicate = share }) }

// Downgrade ends the end-to-end encryption of the call in a channel, and Upgrade starts it again.
func (s *Server) Downgrade(channel uint64) {
	s.with(func() { s.callIn(channel).delivery.Downgrade() })
}

func (s *Server) Upgrade(channel uint64) { s.with(func() { s.callIn(channel).delivery.Upgrade() }) }

// Reset has everybody in a call start with a group of their own.
func (s *Server) Reset(channel uint64) { s.with(func() { s.callIn(channel).delivery.Reset() }) }

// Group returns the group of the call in a channel.
func (s *Server) Group(channel uint64) (g davetest.Group) {
	s.with(func() { g = s.callIn(channel).delivery.Group() })
	return g
}

// InCall returns the users with a session description of the call in a channel whose connection is
// not lost.
func (s *Server) InCall(channel uint64) (users []uint64) {
	s.with(func() {
		for _, m := range s.callIn(channel).sorted() {
			if m.selected && m.link != nil {
				users = append(users, m.account.user.ID)
			}
		}
	})
	return users
}

// VoiceResumed returns how often a user has resumed a call.
func (s *Server) VoiceResumed(user uint64) (n int) {
	s.with(func() { n = s.accounts[user].voiceResumed })
	return n
}

// Traffic returns the fate of a user's packets since it joined the call.
func (s *Server) Traffic(user uint64) (t Traffic) {
	s.memberOf(user, func(m *member) { t = m.count })
	return t
}

// Wire returns the forwarded packets, the newest 65,536.
func (s *Server) Wire() (wire []Forwarded) {
	s.with(func() { wire = slices.Clone(s.faults.wire) })
	return wire
}

// Plain returns the packets of a user that were neither encrypted nor silence although encryption
// was required.
func (s *Server) Plain(user uint64) []Forwarded {
	return slices.DeleteFunc(s.Wire(), func(f Forwarded) bool {
		return f.User != user || !f.Due || f.Encrypted() || f.Silent()
	})
}

// Voices returns the voice channel of each user who is in one.
func (s *Server) Voices() map[uint64]uint64 {
	where := make(map[uint64]uint64)
	s.with(func() {
		for user, a := range s.accounts {
			if a.voice != 0 {
				where[user] = a.voice
			}
		}
	})
	return where
}
