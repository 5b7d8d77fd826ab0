package discord

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
)

// A Channel is a place where people write: a channel of a guild, a thread, the chat of a voice
// channel, or the direct messages with one person.
type Channel struct {
	ID     string // Discord's number
	Guild  string // likewise; empty for direct messages
	Parent string // of a thread, the channel that it is in
	With   string // of direct messages, the number of the other person
	Name   string // as people see it: "#general", or "The House / #general" among several guilds
}

// Room returns the name of its room.
func (c Channel) Room() earshot.RoomID {
	if c.With != "" {
		return earshot.RoomID("discord-dm-" + c.With)
	}
	return earshot.RoomID("discord-" + c.ID)
}

// Private reports whether what is said there is for one person alone.
func (c Channel) Private() bool { return c.With != "" }

// The bounds of what is remembered. Discord's own limits are mostly lower.
const (
	mostGuilds   = 200
	mostChannels = 20_000  // of all guilds, with threads
	mostPeople   = 100_000 // whose name is known
	mostStrange  = 1000    // channels whose lookup found nothing
	mostUnplaced = 100     // events of a channel that is being looked up
	mostRoles    = 10      // of one person that are passed on
	mostRecent   = 100     // messages of a channel that are remembered by number
	mostArrivals = 20      // of people who are mentioned in one message
	mostMembers  = 1000    // of a guild that are looked at when it comes
	mostLetters  = 20      // direct messages that are looked up when a session begins
)

// mostMissed is the greatest age of a missed message that is still brought in.
const mostMissed = 24 * time.Hour

// A guildState is what is known of the guilds, as plain state. One goroutine uses it.
type guildState struct {
	cfg   Config
	agent func() string
	event func(channel, message uint64) earshot.EventID

	commands []Command                                         // that are offered
	listed   struct{ guilds, channels, users map[uint64]bool } // empty means all

	me       uint64 // 0 until it is known
	app      uint64
	ready    int // how many sessions there were
	guilds   map[uint64]*guild
	channels map[uint64]*channel
	people   map[uint64]*person
	typing   map[typist]time.Time // until when
	strange  map[uint64]bool      // channels that are known not to exist
	unplaced map[uint64][]any     // events of channels that are being looked up
	blind    bool                 // it was reported that messages come without their text

	// What the daemon had of channels that have not come yet, and of direct messages, by the other
	// person.
	past, letters map[uint64]Past
}

type guild struct {
	id    uint64
	name  string
	roles map[uint64]*discordgo.Role
}

type channel struct {
	id, guild, parent, with uint64
	kind                    discordgo.ChannelType
	name                    string

	here   map[uint64]time.Time // people seen there, and when last
	last   uint64               // the newest message seen
	asked  uint64               // the value of last at the last request for missed messages
	recent []recent             // the last ones, oldest first
	behind bool                 // something may have been missed
	waits  bool                 // its room must be opened
}

// A recent message is remembered to find out what happened to it while it was not observed.
type recent struct {
	id     uint64
	edited time.Time
}

// A person is a user whom the daemon knows.
type person struct {
	is   Person
	name string // their name here
}

type typist struct{ user, channel uint64 }

func newWorld(cfg Config, parts Parts) *guildState {
	w := &guildState{
		cfg: cfg, agent: parts.Agent, event: parts.Event, commands: parts.Commands,
		guilds: make(map[uint64]*guild), channels: make(map[uint64]*channel),
		people: make(map[uint64]*person), typing: make(map[typist]time.Time), strange: make(map[uint64]bool),
		unplaced: make(map[uint64][]any),
	}
	set := func(ids []string) map[uint64]bool {
		m := make(map[uint64]bool)
		for _, id := range ids {
			m[number(id)] = true
		}
		return m
	}
	w.listed.guilds, w.listed.channels, w.listed.users = set(cfg.Guilds), set(cfg.Channels), set(cfg.Users)
	return w
}

// number parses one of Discord's numbers; 0 if it is invalid.
func number(id string) uint64 {
	n := gateway.Number(id)
	return n
}

// in reports whether a list allows an ID.
func in(list map[uint64]bool, id uint64) bool { return len(list) == 0 || list[id] }

// handle returns the handle of a user.
func handle(user uint64) earshot.Handle { return earshot.Handle{Provider: name, ID: digits(user)} }

// learn records what an event says about what exists. It returns the guilds that have come.
func (w *guildState) learn(event any) (came []uint64) {
	switch e := event.(type) {
	case *discordgo.Ready:
		w.ready++
		if e.User != nil {
			w.me = number(e.User.ID)
		}
		w.app = w.me
		if e.Application != nil && number(e.Application.ID) != 0 {
			w.app = number(e.Application.ID)
		}
		for _, c := range w.channels {
			c.behind = w.ready > 1
		}
	case *gateway.Lost:
		for _, c := range w.channels {
			c.behind = c.behind || e.Messages > 0
		}
	case *discordgo.GuildCreate:
		if w.guild(e.Guild) {
			came = append(came, number(e.ID))
		}
	case *discordgo.GuildUpdate:
		if g := w.guilds[number(e.ID)]; g != nil {
			g.name = e.Name
			w.roles(g, e.Roles)
		}
	case *discordgo.GuildDelete:
		if !e.Unavailable { // the bot was removed; otherwise the guild is back soon
			delete(w.guilds, number(e.ID))
			maps.DeleteFunc(w.channels, func(_ uint64, c *channel) bool { return c.guild == number(e.ID) })
		}
	case *discordgo.GuildRoleCreate:
		w.role(e.GuildRole)
	case *discordgo.GuildRoleUpdate:
		w.role(e.GuildRole)
	case *discordgo.GuildRoleDelete:
		if g := w.guilds[number(e.GuildID)]; g != nil {
			delete(g.roles, number(e.RoleID))
		}
	case *discordgo.ChannelCreate:
		w.channel(e.Channel)
	case *discordgo.ChannelUpdate:
		w.channel(e.Channel)
	case *discordgo.ChannelDelete:
		delete(w.channels, number(e.ID))
	case *discordgo.ThreadCreate:
		w.channel(e.Channel)
	case *discordgo.ThreadUpdate:
		w.channel(e.Channel)
	case *discordgo.ThreadDelete:
		delete(w.channels, number(e.ID))
	case *discordgo.ThreadListSync:
		for _, c := range e.Threads {
			if c != nil {
				c.GuildID = cmp.Or(c.GuildID, e.GuildID)
				w.channel(c)
			}
		}
	case *discordgo.UserUpdate:
		if w.me == 0 {
			w.me = number(e.ID)
		}
	case *discordgo.MessageCreate:
		if e.GuildID == "" && e.Author != nil && number(e.Author.ID) != w.me && e.WebhookID == "" {
			w.direct(number(e.ChannelID), number(e.Author.ID))
		}
	case *discordgo.InteractionCreate:
		if e.GuildID == "" && e.User != nil {
			w.direct(number(e.ChannelID), number(e.User.ID))
		}
	}
	return came
}

// guild records a guild, and reports whether the bot takes part in it.
func (w *guildState) guild(e *discordgo.Guild) bool {
	id := number(e.ID)
	if id == 0 || e.Unavailable || !in(w.listed.guilds, id) || w.guilds[id] == nil && len(w.guilds) >= mostGuilds {
		return false
	}
	g := &guild{id: id, name: e.Name, roles: make(map[uint64]*discordgo.Role)}
	w.guilds[id] = g
	w.roles(g, e.Roles)
	for _, c := range e.Channels {
		w.channel(c)
	}
	for _, c := range e.Threads {
		w.channel(c)
	}
	return true
}

func (w *guildState) roles(g *guild, roles []*discordgo.Role) {
	for _, r := range roles {
		if r != nil {
			g.roles[number(r.ID)] = r
		}
	}
}

func (w *guildState) role(e *discordgo.GuildRole) {
	if g := w.guilds[number(e.GuildID)]; g != nil && e.Role != nil {
		g.roles[number(e.Role.ID)] = e.Role
	}
}

// channel records a channel where people can write.
func (w *guildState) channel(e *discordgo.Channel) {
	if e == nil || number(e.ID) == 0 {
		return
	}
	id := number(e.ID)
	if e.Type == discordgo.ChannelTypeDM {
		for _, u := range e.Recipients {
			if u != nil && number(u.ID) != w.me {
				w.direct(id, number(u.ID))
			}
		}
		return
	}
	if w.guilds[number(e.GuildID)] == nil || !written(e.Type) {
		return
	}
	c := w.channels[id]
	if c == nil {
		if len(w.channels) >= mostChannels {
			return
		}
		c = &channel{id: id, here: make(map[uint64]time.Time)}
		w.channels[id] = c
		c.recall(w.past[id])
		delete(w.past, id)
	}
	c.id, c.guild, c.kind, c.name = id, number(e.GuildID), e.Type, e.Name
	if e.IsThread() {
		c.parent = number(e.ParentID)
	}
}

// written reports whether people write in channels of a kind.
func written(t discordgo.ChannelType) bool {
	switch t {
	case discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews, discordgo.ChannelTypeGuildVoice, discordgo.ChannelTypeGuildStageVoice,
		discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

// direct records the direct messages with a person.
func (w *guildState) direct(id, with uint64) {
	if id == 0 || with == 0 || w.channels[id] != nil || len(w.channels) >= mostChannels {
		return
	}
	c := &channel{id: id, with: with, kind: discordgo.ChannelTypeDM, here: make(map[uint64]time.Time)}
	w.channels[id] = c
	c.recall(w.letters[with])
	delete(w.letters, with)
}

// takesPart reports whether messages in c are read.
func (w *guildState) takesPart(c *channel) bool {
	if c.with != 0 {
		return w.cfg.DirectMessages && in(w.listed.users, c.with)
	}
	return w.guilds[c.guild] != nil && (in(w.listed.channels, c.id) || c.parent != 0 && w.listed.channels[c.parent])
}

// place returns c in the form for the daemon.
func (w *guildState) place(c *channel) Channel {
	if c.with != 0 {
		who := digits(c.with)
		if p := w.people[c.with]; p != nil {
			who = p.name
		}
		return Channel{ID: digits(c.id), With: digits(c.with), Name: "direct messages with " + who}
	}
	p := Channel{ID: digits(c.id), Guild: digits(c.guild), Name: "#" + plain(c.name, digits(c.id))}
	if c.parent != 0 {
		p.Parent = digits(c.parent)
	}
	if len(w.guilds) > 1 {
		p.Name = plain(w.guilds[c.guild].name, digits(c.guild)) + " / " + p.Name
	}
	return p
}

// described returns a user as Discord knows them; m may be nil.
func (w *guildState) described(u *discordgo.User, m *discordgo.Member, guild uint64) Person {
	p := Person{Name: cmp.Or(u.GlobalName, u.Username), Account: shown(u.Username), Bot: u.Bot}
	if m != nil {
		p.Name, p.Member = cmp.Or(m.Nick, p.Name), true
		if g := w.guilds[guild]; g != nil {
			for _, id := range m.Roles {
				if r := g.roles[number(id)]; r != nil && len(p.Roles) < mostRoles {
					p.Roles = append(p.Roles, plain(r.Name, digits(number(id))))
				}
			}
		}
	}
	p.Name = shown(p.Name)
	return p
}

// An arrival is a person whom the daemon must know, or know better.
type arrival struct {
	user uint64
	is   Person
}

// arrivals returns the people who must be known before an event is understood.
func (w *guildState) arrivals(event any) (all []arrival) {
	add := func(u *discordgo.User, m *discordgo.Member, guild uint64) {
		if u == nil || number(u.ID) == 0 || number(u.ID) == w.me || len(all) > mostArrivals {
			return
		}
		a := arrival{number(u.ID), w.described(u, m, guild)}
		known := w.people[a.user]
		switch {
		case known != nil && m == nil:
			return // the name in a guild is better than none
		case known != nil && known.is.Name == a.is.Name && slices.Equal(known.is.Roles, a.is.Roles):
			return
		case slices.ContainsFunc(all, func(b arrival) bool { return b.user == a.user }):
			return
		}
		all = append(all, a)
	}
	switch e := event.(type) {
	case *discordgo.MessageCreate:
		if c := w.channels[number(e.ChannelID)]; c != nil && w.reads(c, e.Message) {
			m := e.Member
			if e.WebhookID != "" {
				e.Author.Bot, m = true, nil // it may use another name each time
			}
			add(e.Author, m, number(e.GuildID))
			for _, u := range e.Mentions {
				add(u, nil, 0)
			}
		}
	case *discordgo.MessageUpdate:
		if c := w.channels[number(e.ChannelID)]; c != nil && e.Author != nil && w.reads(c, e.Message) {
			for _, u := range e.Mentions {
				add(u, nil, 0)
			}
		}
	case *discordgo.InteractionCreate:
		if u, m := giver(e.Interaction); u != nil && w.mayAsk(e.Interaction) {
			add(u, m, number(e.GuildID))
		}
	case *discordgo.GuildCreate:
		if w.guilds[number(e.ID)] == nil {
			break
		}
		for _, m := range e.Members[:min(len(e.Members), mostMembers)] { // the daemon may still have old properties of those it knows
			if w.people[number(m.User.ID)] == nil && number(m.User.ID) != w.me {
				all = append(all, arrival{number(m.User.ID), w.described(m.User, m, number(e.ID))})
				all[len(all)-1].is.IfKnown = true
			}
		}
	case *discordgo.GuildMemberUpdate:
		if w.guilds[number(e.GuildID)] != nil && e.User != nil && w.people[number(e.User.ID)] != nil {
			add(e.User, e.Member, number(e.GuildID))
		}
	}
	return all
}

// arrived records the name under which the daemon knows a person; "" if it need not know them.
func (w *guildState) arrived(a arrival, name string) {
	if name != "" && (w.people[a.user] != nil || len(w.people) < mostPeople) {
		w.people[a.user] = &person{a.is, name}
	}
}

// reads reports whether a message in c is for the daemon. It has an author.
func (w *guildState) reads(c *channel, m *discordgo.Message) bool {
	user := number(m.Author.ID)
	switch {
	case w.me == 0 || user == 0 || user == w.me || m.Author.System:
		return false
	case !w.takesPart(c) || c.with != 0 && user != c.with:
		return false
	case m.Author.Bot || m.WebhookID != "":
		return w.cfg.Bots == Agents && spoken(m.Type)
	}
	return in(w.listed.users, user) && spoken(m.Type)
}

// spoken reports whether messages of a type are somebody's words, and not Discord's own about an
// event.
func spoken(t discordgo.MessageType) bool {
	switch t {
	case discordgo.MessageTypeDefault, discordgo.MessageTypeReply, discordgo.MessageTypeChatInputCommand, discordgo.MessageTypeContextMenuCommand:
		return true
	}
	return false
}

// note remembers a message of c.
func (c *channel) note(m *discordgo.Message) {
	id := number(m.ID)
	c.last = max(c.last, id)
	if m.EditedTimestamp == nil {
		c.recent = append(c.recent, recent{id: id})
	} else {
		c.recent = append(c.recent, recent{id, *m.EditedTimestamp})
	}
	if len(c.recent) > mostRecent {
		c.recent = slices.Delete(c.recent, 0, len(c.recent)-mostRecent)
	}
}

// known returns the newest remembered message, 0 if there is none.
func (c *channel) known() uint64 {
	if len(c.recent) == 0 {
		return 0
	}
	return c.recent[len(c.recent)-1].id
}

func (c *channel) forget(id uint64) {
	c.recent = slices.DeleteFunc(c.recent, func(r recent) bool { return r.id == id })
}

// roleIsMine reports whether a role is the one that the bot was given when it was invited, which
// people mistake for the bot.
func (w *guildState) roleIsMine(r *discordgo.Role) bool {
	return r.Managed && strings.EqualFold(strings.TrimSpace(r.Name), strings.TrimSpace(w.agent()))
}
