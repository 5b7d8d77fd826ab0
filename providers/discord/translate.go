package discord

import (
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/interaction"
	"earshot/internal/discord/roster"
)

// text is the outlet for answers to written messages.
const text = "discord"

// A translator makes actions of the events of the gateway. It has neither a goroutine nor a clock.
type translator struct {
	roster   *roster.Roster // which has learned an event before it is translated
	agent    func() string
	eventOf  func(channel, message uint64) earshot.EventID
	commands []interaction.Command // that are offered

	typing typing
	blind  bool // it was reported that messages come without their text
}

// The actions for an event, in order. Each is one of the types below.
type action any

// A roomEvent is an event for a channel's room, which is opened for it.
type roomEvent struct {
	in    *roster.Channel
	event earshot.Event
}

// A lookup asks about an unknown channel in which something has happened.
type lookup struct{ channel uint64 }

// A fault is a fault at Discord.
type fault struct{ notice earshot.Notice }

// A command is one that somebody gave, as an event.
type command struct {
	in    *roster.Channel
	given *interaction.Invocation
	event earshot.Event
}

// A question is a text that somebody asks in public, as an event without a name.
type question command

// A refusal is a command that is not carried out.
type refusal struct{ *interaction.Refusal }

// translate returns the actions for an event, which came at now.
func (t *translator) translate(event any, now time.Time) []action {
	switch e := event.(type) {
	case *discordgo.MessageCreate:
		return t.create(e.Message, now)
	case *discordgo.MessageUpdate:
		return t.revise(e, now)
	case *discordgo.MessageDelete:
		return t.withdraw(event, e.ChannelID, e.GuildID, []string{e.ID}, now)
	case *discordgo.MessageDeleteBulk:
		return t.withdraw(event, e.ChannelID, e.GuildID, e.Messages, now)
	case *discordgo.TypingStart:
		return t.beginTyping(e, now)
	case *discordgo.GuildMemberRemove:
		return t.depart(t.roster.Leave(gateway.Number(e.GuildID), gateway.Number(e.User.ID)), now)
	case *discordgo.InteractionCreate:
		return t.invoke(e.Interaction, now)
	}
	return nil
}

// event returns an event of a user in a channel.
func (t *translator) event(in *roster.Channel, user uint64, at time.Time, body earshot.Body) roomEvent {
	return roomEvent{in, earshot.Event{At: at, From: gateway.HandleOf(user), Via: text, Body: body}}
}

// create translates a new message.
func (t *translator) create(m *discordgo.Message, now time.Time) []action {
	id, user := gateway.Number(m.ID), gateway.Number(m.Author.ID)
	c := t.roster.Channel(gateway.Number(m.ChannelID))
	if c == nil {
		return t.postpone(&discordgo.MessageCreate{Message: m}, m.ChannelID, m.GuildID)
	}
	if id == 0 || !t.roster.Reads(c, m) {
		if user == t.roster.Self() && user != 0 && t.roster.TakesPart(c) {
			c.Note(m) // somebody may delete it
		}
		return nil
	}
	c.Note(m)
	body, ok := t.message(c, m)
	if !ok {
		return t.complain(m)
	}
	t.typing.forget(user, c.ID) // the typed text is sent
	at := moment(m, now)
	said := t.event(c, user, at, body)
	said.event.ID = t.eventOf(c.ID, id)
	return append(t.see(c, user, at), said)
}

// moment returns when a message was written.
func moment(m *discordgo.Message, now time.Time) time.Time {
	if at := gateway.Made(gateway.Number(m.ID)); at.Before(now) {
		return at
	}
	return now
}

// see reports the presence of a person who was not seen there before.
func (t *translator) see(c *roster.Channel, user uint64, at time.Time) []action {
	if !c.See(user, at) {
		return nil
	}
	return []action{t.event(c, user, at, earshot.Presence{Session: name, Here: true})}
}

// depart reports that people are no longer present.
func (t *translator) depart(all []roster.Departure, now time.Time) (acts []action) {
	for _, d := range all {
		acts = append(acts, t.event(d.From, d.User, now, earshot.Presence{Session: name}))
	}
	return acts
}

// complain reports once that Discord kept the text of a message from the bot, if it has none.
func (t *translator) complain(m *discordgo.Message) []action {
	if t.blind || m.Author.Bot || m.WebhookID != "" || len(m.Mentions) > 0 || m.GuildID == "" || m.Flags != 0 {
		return nil
	}
	t.blind = true
	return []action{fault{earshot.Notice{
		Key: "discord content", Text: "Discord does not show the bot what people write",
		Cure: "switch on Message Content Intent at https://discord.com/developers/applications under Bot, and start earshot again",
	}}}
}

// revise translates an edit by the author. Discord also sends one when it has found the preview of a
// link.
func (t *translator) revise(e *discordgo.MessageUpdate, now time.Time) []action {
	m, id := e.Message, gateway.Number(e.ID)
	if m.Author == nil || m.EditedTimestamp == nil || id == 0 {
		return nil
	}
	c := t.roster.Channel(gateway.Number(m.ChannelID))
	if c == nil {
		return t.postpone(e, m.ChannelID, m.GuildID)
	}
	if !t.roster.Reads(c, m) {
		return nil
	}
	body, ok := t.message(c, m)
	if !ok {
		return nil
	}
	edited := *m.EditedTimestamp
	c.NoteEdit(id, edited)
	at := edited
	if at.After(now) {
		at = now
	}
	revised := t.event(c, gateway.Number(m.Author.ID), at, earshot.Revision{Of: t.eventOf(c.ID, id), Text: body.Text})
	revised.event.ID = gateway.RevisionOf(c.ID, id, edited)
	return []action{revised}
}

// withdraw translates deleted messages: deleted by their authors, or by moderators. Discord does not
// say who, and lets nobody else do it.
func (t *translator) withdraw(event any, channel, guild string, ids []string, now time.Time) (acts []action) {
	c := t.roster.Channel(gateway.Number(channel))
	if c == nil {
		return t.postpone(event, channel, guild)
	}
	if !t.roster.TakesPart(c) {
		return nil
	}
	for _, id := range ids {
		if n := gateway.Number(id); n != 0 {
			c.Forget(n)
			acts = append(acts, roomEvent{c, earshot.Event{At: now, From: earshot.Handle{Provider: name}, Via: text, Body: earshot.Withdrawal{Of: t.eventOf(c.ID, n)}}})
		}
	}
	return acts
}

// postpone has an event in an unknown channel wait until the channel has been looked up.
func (t *translator) postpone(event any, channel, guild string) []action {
	if n := gateway.Number(channel); t.roster.Defer(event, n, guild) {
		return []action{lookup{n}}
	}
	return nil
}

// invoke translates a command that somebody gave.
func (t *translator) invoke(i *discordgo.Interaction, now time.Time) []action {
	given, refused := interaction.Parse(t.roster, t.commands, i)
	switch {
	case refused != nil:
		return []action{refusal{refused}}
	case given == nil:
		return nil
	}
	in, e := t.roster.Channel(gateway.Number(i.ChannelID)), earshot.Event{At: now, From: gateway.HandleOf(given.User)}
	if given.Question() {
		asked := earshot.Text("@" + t.agent() + " " + given.Args)
		e.Via, e.Body = text, earshot.Message{Text: asked}
		if given.OwnWords() {
			e.Body = earshot.Command{Name: earshot.OwnWords, Args: asked}
		}
		return append(t.see(in, given.User, now), question{in, given, e})
	}
	e.ID, e.Body = gateway.EventOf(in.ID, given.ID), earshot.Command{Name: given.Name, Args: earshot.Text(given.Args)}
	return []action{command{in, given, e}}
}
