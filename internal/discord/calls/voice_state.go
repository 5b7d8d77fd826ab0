package calls

import (
	"cmp"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/gateway"
)

// A voiceState is what is known about voice channels: which exist, who is in them, and what the
// agent may do there. It keeps copies of what it needs, since events are shared.
type voiceState struct {
	mu    sync.Mutex
	self  string
	state *discordgo.State
}

// feeder lets discordgo's state be fed; nothing else of it is used.
var feeder = &discordgo.Session{StateEnabled: true}

func newVoiceState() *voiceState {
	w := new(voiceState)
	w.forget()
	return w
}

func (w *voiceState) forget() {
	w.state = discordgo.NewState()
	w.state.TrackPresences, w.state.TrackEmojis, w.state.TrackThreads, w.state.TrackThreadMembers = false, false, false, false
}

// take handles an event, and reports whether it may have changed anything.
func (w *voiceState) take(event any) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *discordgo.Ready:
		w.forget()
		w.self = e.User.ID
	case *discordgo.GuildCreate:
		_ = w.state.GuildAdd(w.guild(e.Guild))
	case *discordgo.GuildUpdate:
		_ = w.state.GuildAdd(&discordgo.Guild{ID: e.ID, Name: e.Name, OwnerID: e.OwnerID, Roles: roles(e.Roles)})
	case *discordgo.GuildDelete:
		_ = w.state.GuildRemove(&discordgo.Guild{ID: e.ID})
	case *discordgo.ChannelCreate:
		_ = w.state.ChannelAdd(channel(e.Channel))
	case *discordgo.ChannelUpdate:
		_ = w.state.ChannelAdd(channel(e.Channel))
	case *discordgo.ChannelDelete:
		_ = w.state.ChannelRemove(channel(e.Channel))
	case *discordgo.GuildRoleCreate:
		_ = w.state.RoleAdd(e.GuildID, role(e.Role))
	case *discordgo.GuildRoleUpdate:
		_ = w.state.RoleAdd(e.GuildID, role(e.Role))
	case *discordgo.GuildRoleDelete:
		_ = w.state.RoleRemove(e.GuildID, e.RoleID)
	case *discordgo.GuildMemberUpdate:
		if e.Member == nil || e.User == nil || e.User.ID != w.self {
			return false
		}
		w.member(e.GuildID, e.Member)
	case *discordgo.VoiceStateUpdate:
		w.member(e.GuildID, e.Member)
		v := *e.VoiceState
		v.Member = nil
		_ = w.state.OnInterface(feeder, &discordgo.VoiceStateUpdate{VoiceState: &v})
	default:
		return false
	}
	return true
}

// guild returns a copy of the needed parts of g.
func (w *voiceState) guild(g *discordgo.Guild) *discordgo.Guild {
	made := &discordgo.Guild{ID: g.ID, Name: g.Name, OwnerID: g.OwnerID, Roles: roles(g.Roles)}
	for _, c := range g.Channels {
		if c != nil {
			made.Channels = append(made.Channels, channel(c))
		}
	}
	there := map[string]bool{w.self: true}
	made.VoiceStates, made.Members = []*discordgo.VoiceState{}, []*discordgo.Member{} // nil would keep the previous ones
	for _, v := range g.VoiceStates {
		if v == nil {
			continue
		}
		copied := *v
		copied.Member = nil
		there[v.UserID] = true
		made.VoiceStates = append(made.VoiceStates, &copied)
	}
	for _, m := range g.Members {
		if m != nil && m.User != nil && there[m.User.ID] {
			made.Members = append(made.Members, person(g.ID, m))
		}
	}
	return made
}

// member records a person who is in a channel, or the agent.
func (w *voiceState) member(guild string, m *discordgo.Member) {
	if m != nil && m.User != nil {
		_ = w.state.MemberAdd(person(guild, m))
	}
}

func channel(c *discordgo.Channel) *discordgo.Channel {
	made := &discordgo.Channel{ID: c.ID, GuildID: c.GuildID, Type: c.Type, UserLimit: c.UserLimit}
	made.PermissionOverwrites = []*discordgo.PermissionOverwrite{} // nil would keep the previous ones
	for _, o := range c.PermissionOverwrites {
		if o != nil {
			copied := *o
			made.PermissionOverwrites = append(made.PermissionOverwrites, &copied)
		}
	}
	return made
}

func roles(all []*discordgo.Role) (made []*discordgo.Role) {
	for _, r := range all {
		if r != nil {
			made = append(made, role(r))
		}
	}
	return made
}

func role(r *discordgo.Role) *discordgo.Role {
	return &discordgo.Role{ID: r.ID, Permissions: r.Permissions}
}

func person(guild string, m *discordgo.Member) *discordgo.Member {
	return &discordgo.Member{GuildID: guild, Roles: slices.Clone(m.Roles), User: &discordgo.User{ID: m.User.ID, Bot: m.User.Bot}}
}

// An occupant is somebody in a voice channel.
type occupant struct {
	user     uint64
	channel  uint64
	bot      bool
	silenced bool // a moderator has muted them
	deafened bool // a moderator has deafened them
}

// occupants returns who is in the voice channels of a guild, by their numbers, and which of them is
// the agent.
func (w *voiceState) occupants(guild uint64) (all []occupant, self occupant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g, err := w.state.Guild(gateway.Digits(guild))
	if err != nil {
		return nil, occupant{}
	}
	for _, v := range g.VoiceStates {
		s := occupant{user: gateway.Number(v.UserID), channel: gateway.Number(v.ChannelID), silenced: v.Mute, deafened: v.Deaf}
		if m, err := w.state.Member(g.ID, v.UserID); err == nil {
			s.bot = m.User.Bot
		}
		if v.UserID == w.self {
			self = s
			continue
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b occupant) int { return cmp.Compare(a.user, b.user) })
	return all, self
}

// guilds returns the known guilds.
func (w *voiceState) guilds() (all []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.state.Guilds {
		all = append(all, gateway.Number(g.ID))
	}
	return all
}

// A voiceChannel is a voice channel, with what keeps the agent out of it.
type voiceChannel struct {
	channel uint64
	stage   bool
	lacks   []string // missing permissions, by Discord's names for them
	full    int      // its limit, if it is full and the agent may not join nevertheless
}

// voiceChannels returns the voice channels of a guild, by their numbers.
func (w *voiceState) voiceChannels(guild uint64) (all []voiceChannel) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g, err := w.state.Guild(gateway.Digits(guild))
	if err != nil {
		return nil
	}
	for _, c := range g.Channels {
		if c.Type != discordgo.ChannelTypeGuildVoice && c.Type != discordgo.ChannelTypeGuildStageVoice {
			continue
		}
		may, err := w.state.UserChannelPermissions(w.self, c.ID)
		if err != nil {
			may = discordgo.PermissionAll // what is unknown is found out by trying
		}
		h := voiceChannel{
			channel: gateway.Number(c.ID), stage: c.Type == discordgo.ChannelTypeGuildStageVoice, lacks: gateway.Lacking(may, needs),
		}
		in, here := 0, false
		for _, v := range g.VoiceStates {
			if v.ChannelID == c.ID {
				in++
				here = here || v.UserID == w.self
			}
		}
		if c.UserLimit > 0 && in >= c.UserLimit && !here && may&discordgo.PermissionVoiceMoveMembers == 0 {
			h.full = c.UserLimit
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b voiceChannel) int { return cmp.Compare(a.channel, b.channel) })
	return all
}

// needs are the permissions that a call needs.
var needs = []gateway.Permission{
	{Bit: discordgo.PermissionViewChannel, Name: "View Channel"},
	{Bit: discordgo.PermissionVoiceConnect, Name: "Connect"},
	{Bit: discordgo.PermissionVoiceSpeak, Name: "Speak"},
}

// bot reports whether somebody in a guild is known to be a bot.
func (w *voiceState) bot(guild, user uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, err := w.state.Member(gateway.Digits(guild), gateway.Digits(user))
	return err == nil && m.User.Bot
}
