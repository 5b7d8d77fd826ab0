package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// The kinds of channels that people make themselves, by Discord's numbers.
const (
	directChannel = 1 // between two users, in no guild
	PublicThread  = 11
)

// direct returns the direct messages of two users, which exist if one of them is a bot.
func (s *Server) direct(a, b uint64) *Channel {
	for _, c := range s.channels {
		if c.Kind == directChannel && slices.Contains(c.between, a) && slices.Contains(c.between, b) {
			return c
		}
	}
	return s.addChannel(Channel{Kind: directChannel, between: []uint64{a, b}})
}

// sees reports whether a user can see a channel.
func (c *Channel) sees(user uint64) bool {
	if c.Kind == directChannel {
		return slices.Contains(c.between, user)
	}
	return c.deny[user]&ViewChannel == 0
}

// intent is the intent needed for messages in c: the one for guilds, or for direct messages.
func (c *Channel) intent(guild, direct int) int {
	if c.Kind == directChannel {
		return direct
	}
	return guild
}

// tellOf sends an event in a channel to those who see it and want it. For a guild it adds the
// guild's number.
func (s *Server) tellOf(c *Channel, event string, o object, intent int) {
	if c.Kind != directChannel {
		o["guild_id"] = id(s.guild.ID)
	}
	for _, g := range s.sessions {
		if g.wants(intent) && c.sees(g.account.user.ID) {
			g.tell(event, o)
		}
	}
}

// Direct returns the direct messages of a person and a bot.
func (s *Server) Direct(user, bot uint64) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.direct(user, bot)
}

// AddThread starts a thread in a text channel, and announces it.
func (s *Server) AddThread(parent uint64, name string) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.addChannel(Channel{Kind: PublicThread, Name: name, parent: parent})
	s.broadcast("THREAD_CREATE", s.channelObject(c), intentGuilds)
	return *c
}

// Write has a user write a message, as [Server.Say] does, with all possible fields. It gets a new
// number.
func (s *Server) Write(m Message) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.say(m)
}

// Edit has the author of a message change it.
func (s *Server) Edit(channel, message uint64, text string) {
	s.with(func() {
		m := s.message(channel, message)
		m.edit(text)
		s.tellMessage("MESSAGE_UPDATE", m)
	})
}

// Unfurl sends an update of a message, as Discord does when it has found the preview of a link.
func (s *Server) Unfurl(channel, message uint64) {
	s.with(func() { s.tellMessage("MESSAGE_UPDATE", s.message(channel, message)) })
}

// Delete deletes messages, as their authors or moderators do; several at once, as only moderators'
// bots do. Discord does not say who it was.
func (s *Server) Delete(channel uint64, messages ...uint64) {
	s.with(func() { s.remove(s.channel(channel), messages...) })
}

func (s *Server) remove(c *Channel, messages ...uint64) {
	ids := []string{}
	for _, n := range messages {
		s.message(c.ID, n).Deleted = true
		ids = append(ids, id(n))
	}
	if intent := c.intent(intentMessages, intentDirect); len(ids) == 1 {
		s.tellOf(c, "MESSAGE_DELETE", object{"id": ids[0], "channel_id": id(c.ID)}, intent)
	} else {
		s.tellOf(c, "MESSAGE_DELETE_BULK", object{"ids": ids, "channel_id": id(c.ID)}, intent)
	}
}

// message returns an existing message. It panics if there is none.
func (s *Server) message(channel, message uint64) *Message {
	m := s.find(channel, message)
	if m == nil {
		panic("discordtest: no message " + id(message))
	}
	return m
}

// Type has a user start typing.
func (s *Server) Type(user, channel uint64) {
	s.with(func() { s.types(s.accounts[user].user, s.channel(channel)) })
}

func (s *Server) types(u *User, c *Channel) {
	o := object{"channel_id": id(c.ID), "user_id": id(u.ID), "timestamp": time.Now().Unix()}
	if c.Kind != directChannel {
		o["member"] = s.memberObject(u)
	}
	s.tellOf(c, "TYPING_START", o, c.intent(intentTyping, intentDirectTyping))
}

// Leave has a user leave the guild.
func (s *Server) Leave(user uint64) {
	s.with(func() {
		s.broadcast("GUILD_MEMBER_REMOVE", object{"guild_id": id(s.guild.ID), "user": s.accounts[user].user.object()}, intentMembers)
	})
}

// Rename gives a user another name in the guild.
func (s *Server) Rename(user uint64, nick string) {
	s.with(func() {
		u := s.accounts[user].user
		u.nick = nick
		o := s.memberObject(u)
		o["guild_id"] = id(s.guild.ID)
		s.broadcast("GUILD_MEMBER_UPDATE", o, intentMembers)
	})
}

// AddRole makes a role of the guild, and gives it to users.
func (s *Server) AddRole(name string, users ...uint64) (role uint64) {
	s.with(func() {
		r := &Role{ID: s.snowflake(), Name: name, members: users}
		role, s.roles = r.ID, append(s.roles, r)
		s.broadcast("GUILD_ROLE_CREATE", object{"guild_id": id(s.guild.ID), "role": r.object()}, intentGuilds)
	})
	return role
}

// A Role is a role of the guild, besides that of everybody.
type Role struct {
	ID   uint64
	Name string

	members []uint64
}

func (r *Role) object() object {
	return object{
		"id": id(r.ID), "name": r.Name, "permissions": "0", "position": 1,
		"color": 0, "hoist": false, "managed": false, "mentionable": true, "flags": 0,
	}
}

// openDirect handles a bot's request for direct messages.
func (x *exchange) openDirect() {
	var d struct {
		Recipient string `json:"recipient_id"`
	}
	var u *account
	if json.Unmarshal(x.body, &d) == nil {
		u = x.accounts[number(d.Recipient)]
	}
	if u == nil || u.user.ID == x.user.ID || u.user.Human == x.user.Human {
		x.fail(http.StatusBadRequest, 50033, "Invalid Recipient(s)")
		return
	}
	x.ok(x.channelObject(x.direct(x.user.ID, u.user.ID)))
}
