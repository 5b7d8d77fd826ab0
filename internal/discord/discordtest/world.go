package discordtest

import (
	"encoding/base64"
	"slices"
	"strconv"
	"time"
)

// A User is a bot or a person.
type User struct {
	ID    uint64
	Name  string
	Token string // to log in with; it has the shape of Discord's
	Human bool   // shown as a person; it can log in nevertheless

	// Privileged says that message content, members and presences may be requested.
	Privileged bool

	nick string
}

// A Guild is the only guild.
type Guild struct {
	ID    uint64
	Name  string
	Owner uint64
}

// The kinds of channels, by Discord's numbers.
const (
	TextChannel  = 0
	VoiceChannel = 2
	StageChannel = 13 // not encrypted end to end
)

// A Channel is a channel of the guild.
type Channel struct {
	ID    uint64
	Kind  int
	Name  string
	Limit int // of users in a voice channel; 0 is none

	parent  uint64            // of a thread
	between []uint64          // of direct messages
	deny    map[uint64]uint64 // permissions that users do not have in it
}

// The permissions that a test may take away, Discord's bits.
const (
	ViewChannel        = 1 << 10
	SendMessages       = 1 << 11
	ReadMessageHistory = 1 << 16
	Connect            = 1 << 20
	Speak              = 1 << 21
)

// everything is what the everybody role allows: all except administration.
const everything = ViewChannel | SendMessages | ReadMessageHistory | Connect | Speak |
	1<<6 /* reactions */ | 1<<9 /* stream */ | 1<<14 /* embeds */ | 1<<15 /* files */ | 1<<25 /* voice activity */ | 1<<31 /* commands */ | 1<<32 /* ask to speak */ | 1<<38 /* threads */

// An account is the state of a user in the guild.
type account struct {
	user       *User
	voice      uint64 // the channel that it is in
	session    string // of the voice state: the gateway session's
	mute, deaf bool
	suppressed bool // in a stage channel: in the audience
	silenced   bool // by a moderator: nobody hears it
	deafened   bool // by a moderator: it hears nobody

	token  string          // to the call, new with each join
	tokens map[string]bool // all tokens so far
	region *region         // where the call is

	userFaults
}

// populate makes the guild, its channels, and its owner.
func (s *Server) populate() {
	s.guild = Guild{ID: s.snowflake(), Name: "The House"}
	s.guild.Owner = s.addUser(User{Name: "owner", Human: true}).ID
	for _, c := range []Channel{
		{Kind: TextChannel, Name: "general"},
		{Kind: VoiceChannel, Name: "voice"},
		{Kind: VoiceChannel, Name: "other"},
		{Kind: StageChannel, Name: "stage"},
	} {
		s.addChannel(c)
	}
}

// Guild returns the guild.
func (s *Server) Guild() Guild { return s.guild }

// Channel returns a channel by its name: "general", "voice", "other", "stage" or an added one. It
// panics if there is none.
func (s *Server) Channel(name string) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		if c.Name == name {
			return *c
		}
	}
	panic("discordtest: no channel " + name)
}

// AddChannel adds one, and announces it. Empty fields are filled in.
func (s *Server) AddChannel(c Channel) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := s.addChannel(c)
	s.broadcast("CHANNEL_CREATE", s.channelObject(added), intentGuilds)
	return *added
}

func (s *Server) addChannel(c Channel) *Channel {
	if c.ID == 0 {
		c.ID = s.snowflake()
	}
	c.deny = make(map[uint64]uint64)
	s.channels = append(s.channels, &c)
	return &c
}

// AddUser adds a member of the guild, and announces it. Empty fields are filled in.
func (s *Server) AddUser(u User) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := s.addUser(u)
	o := s.memberObject(added)
	o["guild_id"] = id(s.guild.ID)
	s.broadcast("GUILD_MEMBER_ADD", o, intentMembers)
	return *added
}

func (s *Server) addUser(u User) *User {
	if u.ID == 0 {
		u.ID = s.snowflake()
	}
	if u.Token == "" {
		u.Token = base64.RawStdEncoding.EncodeToString([]byte(strconv.FormatUint(u.ID, 10))) + ".test." + random()
	}
	s.secrets = append(s.secrets, Secret{"the token of " + u.Name, u.Token})
	s.users = append(s.users, &u)
	s.accounts[u.ID] = &account{user: &u, tokens: make(map[string]bool)}
	return &u
}

// Bot adds a bot with all privileges.
func (s *Server) Bot(name string) User { return s.AddUser(User{Name: name, Privileged: true}) }

// Deny takes permissions away from a user in a channel, and announces it.
func (s *Server) Deny(channel, user, permissions uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	c.deny[user] |= permissions
	s.broadcast("CHANNEL_UPDATE", s.channelObject(c), intentGuilds)
}

func (s *Server) channel(id uint64) *Channel {
	for _, c := range s.channels {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func (s *Server) userByToken(token string) *User {
	for _, u := range s.users {
		if u.Token == token {
			return u
		}
	}
	return nil
}

// An object is a JSON object.
type object = map[string]any

func id(n uint64) string { return strconv.FormatUint(n, 10) }

// orNull is an identifier, or null for 0.
func orNull(n uint64) any {
	if n == 0 {
		return nil
	}
	return id(n)
}

func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

const longAgo = "2024-01-01T00:00:00.000000+00:00"

func (u *User) object() object {
	return object{
		"id": id(u.ID), "username": u.Name, "global_name": u.Name, "discriminator": "0",
		"avatar": nil, "bot": !u.Human, "public_flags": 0, "flags": 0,
	}
}

func (s *Server) memberObject(u *User) object {
	roles := []string{}
	for _, r := range s.roles {
		if slices.Contains(r.members, u.ID) {
			roles = append(roles, id(r.ID))
		}
	}
	var nick any
	if u.nick != "" {
		nick = u.nick
	}
	return object{
		"user": u.object(), "nick": nick, "avatar": nil, "roles": roles, "joined_at": longAgo,
		"deaf": false, "mute": false, "flags": 0, "pending": false,
	}
}

func (s *Server) channelObject(c *Channel) object {
	overwrites := []object{}
	for _, u := range s.users {
		if denied := c.deny[u.ID]; denied != 0 {
			overwrites = append(overwrites, object{"id": id(u.ID), "type": 1, "allow": "0", "deny": id(denied)})
		}
	}
	o := object{
		"id": id(c.ID), "type": c.Kind, "guild_id": id(s.guild.ID), "name": c.Name, "position": 0,
		"permission_overwrites": overwrites, "parent_id": nil, "nsfw": false, "flags": 0,
	}
	switch c.Kind {
	case directChannel:
		recipients := []object{}
		for _, user := range c.between {
			recipients = append(recipients, s.accounts[user].user.object())
		}
		return object{"id": id(c.ID), "type": c.Kind, "last_message_id": nil, "recipients": recipients, "flags": 0}
	case PublicThread:
		o["parent_id"], o["owner_id"], o["member_count"], o["message_count"] = id(c.parent), id(s.guild.Owner), 1, 0
		o["thread_metadata"] = object{"archived": false, "auto_archive_duration": 1440, "archive_timestamp": longAgo, "locked": false}
	case TextChannel:
		o["topic"], o["last_message_id"] = nil, nil
	default:
		o["bitrate"], o["user_limit"], o["rtc_region"] = 64000, c.Limit, nil
	}
	return o
}

// channelObjects are the channels of the guild, or its threads.
func (s *Server) channelObjects(threads bool) []object {
	list := []object{}
	for _, c := range s.channels {
		if c.Kind != directChannel && (c.Kind == PublicThread) == threads {
			list = append(list, s.channelObject(c))
		}
	}
	return list
}

func (s *Server) memberObjects() []object {
	list := []object{}
	for _, u := range s.users {
		list = append(list, s.memberObject(u))
	}
	return list
}

func (s *Server) roleObjects() []object {
	list := []object{{
		"id": id(s.guild.ID), "name": "@everyone", "permissions": id(everything), "position": 0,
		"color": 0, "hoist": false, "managed": false, "mentionable": false, "flags": 0,
	}}
	for _, r := range s.roles {
		list = append(list, r.object())
	}
	return list
}

// guildCreate is a guild with everything in it.
func (s *Server) guildCreate() object {
	states := []object{}
	for _, u := range s.users {
		if a := s.accounts[u.ID]; a.voice != 0 {
			state := s.voiceState(a)
			delete(state, "guild_id")
			states = append(states, state)
		}
	}
	return object{
		"id": id(s.guild.ID), "name": s.guild.Name, "owner_id": id(s.guild.Owner), "icon": nil,
		"splash": nil, "discovery_splash": nil, "afk_channel_id": nil, "afk_timeout": 300,
		"verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"roles": s.roleObjects(), "emojis": []any{}, "stickers": []any{}, "features": []string{},
		"mfa_level": 0, "application_id": nil, "system_channel_id": nil, "system_channel_flags": 0,
		"rules_channel_id": nil, "vanity_url_code": nil, "description": nil, "banner": nil,
		"premium_tier": 0, "preferred_locale": "en-US", "public_updates_channel_id": nil,
		"nsfw_level": 0, "premium_progress_bar_enabled": false, "safety_alerts_channel_id": nil,
		"joined_at": longAgo, "large": false, "unavailable": false,
		"member_count": len(s.users), "members": s.memberObjects(),
		"channels": s.channelObjects(false), "threads": s.channelObjects(true), "voice_states": states,
		"presences": []any{}, "stage_instances": []any{}, "guild_scheduled_events": []any{}, "soundboard_sounds": []any{},
	}
}

func (s *Server) voiceState(a *account) object {
	return object{
		"guild_id": id(s.guild.ID), "channel_id": orNull(a.voice), "user_id": id(a.user.ID),
		"session_id": a.session, "member": s.memberObject(a.user),
		"deaf": a.deafened, "mute": a.silenced, "self_deaf": a.deaf, "self_mute": a.mute,
		"self_video": false, "suppress": a.suppressed, "request_to_speak_timestamp": nil,
	}
}
