package roster

import (
	"cmp"
	"slices"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

// A Person is a user as Discord knows them.
type Person struct {
	Name    string   // the shown name; not unique, and chosen by themselves
	Account string   // the name of their account, which may say more
	Bot     bool     // or a webhook
	Roles   []string // the names of their roles in the guild; at most [mostRoles]

	// Member says that the data come from a guild. The data of an account alone are less complete,
	// and do not replace those of a known person.
	Member bool

	// IfKnown says that a person who is not known is ignored.
	IfKnown bool
}

// A Known person is one whom the daemon knows.
type Known struct {
	Person Person
	Name   string // their name here, which the daemon gave
}

// Known returns a user whom the daemon knows; nil if it does not.
func (r *Roster) Known(user uint64) *Known { return r.personOf[user] }

// An Arrival is a person whom the daemon must know, or know better.
type Arrival struct {
	User   uint64
	Person Person
}

// Arrived records the name under which the daemon knows a person; "" if it need not know them.
func (r *Roster) Arrived(a Arrival, name string) {
	if name != "" && (r.personOf[a.User] != nil || len(r.personOf) < mostPeople) {
		r.personOf[a.User] = &Known{a.Person, name}
	}
}

// Arrivals returns the people who must be known before an event is understood.
func (r *Roster) Arrivals(event any) (all []Arrival) {
	add := func(u *discordgo.User, m *discordgo.Member, guild uint64) {
		if u == nil || gateway.Number(u.ID) == 0 || gateway.Number(u.ID) == r.self || len(all) > mostArrivals {
			return
		}
		a := Arrival{gateway.Number(u.ID), r.describe(u, m, guild)}
		known := r.personOf[a.User]
		switch {
		case known != nil && m == nil:
			return // the name in a guild is better than none
		case known != nil && known.Person.Name == a.Person.Name && slices.Equal(known.Person.Roles, a.Person.Roles):
			return
		case slices.ContainsFunc(all, func(b Arrival) bool { return b.User == a.User }):
			return
		}
		all = append(all, a)
	}
	switch e := event.(type) {
	case *discordgo.MessageCreate:
		if c := r.channelOf[gateway.Number(e.ChannelID)]; c != nil && r.Reads(c, e.Message) {
			m := e.Member
			if e.WebhookID != "" {
				e.Author.Bot, m = true, nil // it may use another name each time
			}
			add(e.Author, m, gateway.Number(e.GuildID))
			for _, u := range e.Mentions {
				add(u, nil, 0)
			}
		}
	case *discordgo.MessageUpdate:
		if c := r.channelOf[gateway.Number(e.ChannelID)]; c != nil && e.Author != nil && r.Reads(c, e.Message) {
			for _, u := range e.Mentions {
				add(u, nil, 0)
			}
		}
	case *discordgo.InteractionCreate:
		if u, m := gateway.Giver(e.Interaction); u != nil && r.MayAsk(e.Interaction) {
			add(u, m, gateway.Number(e.GuildID))
		}
	case *discordgo.GuildCreate:
		if r.guildOf[gateway.Number(e.ID)] == nil {
			break
		}
		for _, m := range e.Members[:min(len(e.Members), mostMembers)] { // the daemon may still have old properties of those it knows
			if user := gateway.Number(m.User.ID); r.personOf[user] == nil && user != r.self {
				a := Arrival{user, r.describe(m.User, m, gateway.Number(e.ID))}
				a.Person.IfKnown = true
				all = append(all, a)
			}
		}
	case *discordgo.GuildMemberUpdate:
		if r.guildOf[gateway.Number(e.GuildID)] != nil && e.User != nil && r.personOf[gateway.Number(e.User.ID)] != nil {
			add(e.User, e.Member, gateway.Number(e.GuildID))
		}
	}
	return all
}

// describe returns a user as Discord knows them, with the names of their roles; m may be nil.
func (r *Roster) describe(u *discordgo.User, m *discordgo.Member, guild uint64) Person {
	p := Describe(u, m)
	if m != nil {
		for _, id := range m.Roles {
			if role := r.Role(guild, gateway.Number(id)); role != nil && len(p.Roles) < mostRoles {
				p.Roles = append(p.Roles, compose.CleanName(role.Name, gateway.Digits(gateway.Number(id))))
			}
		}
	}
	return p
}

// Describe returns a user as Discord knows them, without their roles; m may be nil.
func Describe(u *discordgo.User, m *discordgo.Member) Person {
	name := cmp.Or(u.GlobalName, u.Username)
	if m != nil {
		name = cmp.Or(m.Nick, name)
	}
	return Person{Name: compose.CleanLine(name), Account: compose.CleanLine(u.Username), Bot: u.Bot, Member: m != nil}
}

// MayAsk reports whether a command may be carried out.
func (r *Roster) MayAsk(i *discordgo.Interaction) bool {
	u, _ := gateway.Giver(i)
	c := r.channelOf[gateway.Number(i.ChannelID)]
	return u != nil && c != nil && !u.Bot && r.users.Allows(gateway.Number(u.ID)) && r.TakesPart(c) && (c.With == 0 || c.With == gateway.Number(u.ID))
}
