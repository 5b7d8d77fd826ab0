package roster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

// The bounds of what is remembered. Discord's own limits are mostly lower.
const (
	MostGuilds   = 200
	MostRecent   = 100     // messages of a channel that are remembered by number
	mostChannels = 20_000  // of all guilds, with threads
	mostPeople   = 100_000 // whose name is known
	mostStrange  = 1000    // channels whose lookup found nothing
	mostUnplaced = 100     // events of a channel that is being looked up
	mostRoles    = 10      // of one person that are passed on
	mostArrivals = 20      // of people who are mentioned in one message
	mostMembers  = 1000    // of a guild that are looked at when it comes
	mostDirect   = 20      // direct messages that are looked up when a session begins
)

// A Config says where and with whom the bot takes part.
type Config struct {
	// Guilds, Channels and Users are numbers at Discord; an empty list means all. A thread belongs
	// to its channel.
	Guilds, Channels, Users []string

	DirectMessages bool // it can be written to alone
	Bots           bool // other bots and webhooks are read
}

// A Roster is what is known of the guilds.
type Roster struct {
	directMessages, bots    bool
	guilds, channels, users gateway.Allowlist

	self  uint64 // 0 until it is known
	app   uint64
	ready int // how many sessions there were

	guildOf   map[uint64]*guild
	channelOf map[uint64]*Channel
	personOf  map[uint64]*Known

	strange  map[uint64]bool  // channels that are known not to exist
	unplaced map[uint64][]any // events of channels that are being looked up
	dropped  map[uint64]int   // how many more of them came than mostUnplaced

	// What the daemon had of channels that have not come yet, and of direct messages, by the other
	// person.
	past, direct map[uint64]Past
}

// A guild is a guild in which the bot takes part.
type guild struct {
	name  string
	roles map[uint64]*discordgo.Role
}

// New returns a roster that knows nothing yet.
func New(cfg Config) *Roster {
	return &Roster{
		directMessages: cfg.DirectMessages, bots: cfg.Bots,
		guilds: gateway.NewAllowlist(cfg.Guilds), channels: gateway.NewAllowlist(cfg.Channels), users: gateway.NewAllowlist(cfg.Users),
		guildOf: make(map[uint64]*guild), channelOf: make(map[uint64]*Channel), personOf: make(map[uint64]*Known),
		strange: make(map[uint64]bool), unplaced: make(map[uint64][]any), dropped: make(map[uint64]int),
	}
}

// Self returns the number of the bot's user; 0 until it is known.
func (r *Roster) Self() uint64 { return r.self }

// App returns the number of the bot's application; 0 until it is known.
func (r *Roster) App() uint64 { return r.app }

// Guilds returns the guilds in which the bot takes part, in order.
func (r *Roster) Guilds() []uint64 { return slices.Sorted(maps.Keys(r.guildOf)) }

// Role returns a role of a guild; nil if there is none.
func (r *Roster) Role(guild, role uint64) *discordgo.Role {
	if g := r.guildOf[guild]; g != nil {
		return g.roles[role]
	}
	return nil
}

// Learn records what an event says about what exists. It returns the guilds that have come.
func (r *Roster) Learn(event any) (came []uint64) {
	switch e := event.(type) {
	case *discordgo.Ready:
		r.begin(e)
	case *gateway.Lost:
		for _, c := range r.channelOf {
			c.behind = c.behind || e.Messages > 0
		}
	case *discordgo.GuildCreate:
		if r.addGuild(e.Guild) {
			came = append(came, gateway.Number(e.ID))
		}
	case *discordgo.GuildUpdate:
		if g := r.guildOf[gateway.Number(e.ID)]; g != nil {
			g.name = e.Name
			g.addRoles(e.Roles)
		}
	case *discordgo.GuildDelete:
		if !e.Unavailable { // the bot was removed; otherwise the guild is back soon
			delete(r.guildOf, gateway.Number(e.ID))
			maps.DeleteFunc(r.channelOf, func(_ uint64, c *Channel) bool { return c.Guild == gateway.Number(e.ID) })
		}
	case *discordgo.GuildRoleCreate:
		r.addRole(e.GuildRole)
	case *discordgo.GuildRoleUpdate:
		r.addRole(e.GuildRole)
	case *discordgo.GuildRoleDelete:
		if g := r.guildOf[gateway.Number(e.GuildID)]; g != nil {
			delete(g.roles, gateway.Number(e.RoleID))
		}
	case *discordgo.ChannelCreate:
		r.addChannel(e.Channel)
	case *discordgo.ChannelUpdate:
		r.addChannel(e.Channel)
	case *discordgo.ChannelDelete:
		delete(r.channelOf, gateway.Number(e.ID))
	case *discordgo.ThreadCreate:
		r.addChannel(e.Channel)
	case *discordgo.ThreadUpdate:
		r.addChannel(e.Channel)
	case *discordgo.ThreadDelete:
		delete(r.channelOf, gateway.Number(e.ID))
	case *discordgo.ThreadListSync:
		for _, c := range e.Threads {
			if c != nil {
				c.GuildID = cmp.Or(c.GuildID, e.GuildID)
				r.addChannel(c)
			}
		}
	case *discordgo.MessageCreate:
		if e.GuildID == "" && e.Author != nil && gateway.Number(e.Author.ID) != r.self && e.WebhookID == "" {
			r.addDirect(gateway.Number(e.ChannelID), gateway.Number(e.Author.ID))
		}
	case *discordgo.InteractionCreate:
		if e.GuildID == "" && e.User != nil {
			r.addDirect(gateway.Number(e.ChannelID), gateway.Number(e.User.ID))
		}
	}
	return came
}

// begin records that a session has begun. If it is not the first one, something may have been missed
// in every channel.
func (r *Roster) begin(e *discordgo.Ready) {
	r.ready++
	if e.User != nil {
		r.self = gateway.Number(e.User.ID)
	}
	r.app = r.self
	if e.Application != nil && gateway.Number(e.Application.ID) != 0 {
		r.app = gateway.Number(e.Application.ID)
	}
	for _, c := range r.channelOf {
		c.behind = r.ready > 1
	}
}

// addGuild records a guild, and reports whether the bot takes part in it.
func (r *Roster) addGuild(e *discordgo.Guild) bool {
	id := gateway.Number(e.ID)
	if id == 0 || e.Unavailable || !r.guilds.Allows(id) || r.guildOf[id] == nil && len(r.guildOf) >= MostGuilds {
		return false
	}
	g := &guild{name: e.Name, roles: make(map[uint64]*discordgo.Role)}
	r.guildOf[id] = g
	g.addRoles(e.Roles)
	for _, c := range e.Channels {
		r.addChannel(c)
	}
	for _, c := range e.Threads {
		r.addChannel(c)
	}
	return true
}

func (g *guild) addRoles(roles []*discordgo.Role) {
	for _, role := range roles {
		if role != nil {
			g.roles[gateway.Number(role.ID)] = role
		}
	}
}

func (r *Roster) addRole(e *discordgo.GuildRole) {
	if g := r.guildOf[gateway.Number(e.GuildID)]; g != nil && e.Role != nil {
		g.roles[gateway.Number(e.Role.ID)] = e.Role
	}
}

// addChannel records a channel where people can write.
func (r *Roster) addChannel(e *discordgo.Channel) {
	if e == nil || gateway.Number(e.ID) == 0 {
		return
	}
	id := gateway.Number(e.ID)
	if e.Type == discordgo.ChannelTypeDM {
		for _, u := range e.Recipients {
			if u != nil && gateway.Number(u.ID) != r.self {
				r.addDirect(id, gateway.Number(u.ID))
			}
		}
		return
	}
	if r.guildOf[gateway.Number(e.GuildID)] == nil || !hasText(e.Type) {
		return
	}
	c := r.channelOf[id]
	if c == nil {
		if len(r.channelOf) >= mostChannels {
			return
		}
		c = &Channel{ID: id, seen: make(map[uint64]time.Time)}
		r.channelOf[id] = c
		c.recall(r.past[id])
		delete(r.past, id)
	}
	c.Guild, c.Name = gateway.Number(e.GuildID), e.Name
	if e.IsThread() {
		c.Parent = gateway.Number(e.ParentID)
	}
}

// hasText reports whether people write in channels of a kind.
func hasText(t discordgo.ChannelType) bool {
	switch t {
	case discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews, discordgo.ChannelTypeGuildVoice, discordgo.ChannelTypeGuildStageVoice,
		discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

// addDirect records the direct messages with a person.
func (r *Roster) addDirect(id, with uint64) {
	if id == 0 || with == 0 || r.channelOf[id] != nil || len(r.channelOf) >= mostChannels {
		return
	}
	c := &Channel{ID: id, With: with, seen: make(map[uint64]time.Time)}
	r.channelOf[id] = c
	c.recall(r.direct[with])
	delete(r.direct, with)
}

// TakesPart reports whether messages in c are read.
func (r *Roster) TakesPart(c *Channel) bool {
	if c.With != 0 {
		return r.directMessages && r.users.Allows(c.With)
	}
	return r.guildOf[c.Guild] != nil && (r.channels.Allows(c.ID) || c.Parent != 0 && r.channels[c.Parent])
}

// Allows reports whether the bot takes part with a user.
func (r *Roster) Allows(user uint64) bool { return r.users.Allows(user) }

// Reads reports whether a message in c, which has an author, is for the daemon.
func (r *Roster) Reads(c *Channel, m *discordgo.Message) bool {
	user := gateway.Number(m.Author.ID)
	switch {
	case r.self == 0 || user == 0 || user == r.self || m.Author.System:
		return false
	case !r.TakesPart(c) || c.With != 0 && user != c.With:
		return false
	case m.Author.Bot || m.WebhookID != "":
		return r.bots && hasWords(m.Type)
	}
	return r.users.Allows(user) && hasWords(m.Type)
}

// hasWords reports whether messages of a type are somebody's words, and not Discord's own about an
// event.
func hasWords(t discordgo.MessageType) bool {
	switch t {
	case discordgo.MessageTypeDefault, discordgo.MessageTypeReply, discordgo.MessageTypeChatInputCommand, discordgo.MessageTypeContextMenuCommand:
		return true
	}
	return false
}

// Place returns c in the form for the daemon.
func (r *Roster) Place(c *Channel) Place {
	if c.With != 0 {
		who := gateway.Digits(c.With)
		if p := r.personOf[c.With]; p != nil {
			who = p.Name
		}
		return Place{ID: c.ID, With: c.With, Name: "direct messages with " + who}
	}
	p := Place{ID: c.ID, Guild: c.Guild, Name: "#" + compose.CleanName(c.Name, gateway.Digits(c.ID))}
	if len(r.guildOf) > 1 {
		p.Name = compose.CleanName(r.guildOf[c.Guild].name, gateway.Digits(c.Guild)) + " / " + p.Name
	}
	return p
}
