package discord

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
)

// text is the outlet for answers to written messages.
const text = "discord"

const (
	// typingLasts is how long Discord shows that somebody types, unless it is renewed.
	typingLasts = 10 * time.Second

	// stays is how long a person counts as present without a sign of them: as long as a talk may
	// rest. People who only read are invisible.
	stays = 6 * time.Hour

	// mostTyping bounds how many people are remembered as typing.
	mostTyping = 1000
)

// The actions for an event, in order. Each is one of the types below.
type action any

// A roomEvent is an event for a channel's room, which is opened for it.
type roomEvent struct {
	in    *channel
	event earshot.Event
}

// A lookup asks about an unknown channel in which something has happened: direct messages with an
// unknown person, or a thread that was asleep.
type lookup struct{ channel uint64 }

// A fault is a fault at Discord.
type fault struct{ notice earshot.Notice }

// translate returns the actions for an event, which the guildState has learned already. Now is
// when it came.
func (w *guildState) translate(event any, now time.Time) []action {
	switch e := event.(type) {
	case *discordgo.MessageCreate:
		return w.created(e.Message, e.Member, now)
	case *discordgo.MessageUpdate:
		return w.changed(e, now)
	case *discordgo.MessageDelete:
		return w.deleted(event, number(e.ChannelID), []string{e.ID}, now)
	case *discordgo.MessageDeleteBulk:
		return w.deleted(event, number(e.ChannelID), e.Messages, now)
	case *discordgo.TypingStart:
		return w.types(e, now)
	case *discordgo.GuildMemberRemove:
		return w.gone(number(e.GuildID), number(e.User.ID), now)
	case *discordgo.InteractionCreate:
		return w.asked(e.Interaction, now)
	}
	return nil
}

// created handles a new message.
func (w *guildState) created(m *discordgo.Message, member *discordgo.Member, now time.Time) []action {
	c := w.channels[number(m.ChannelID)]
	if c == nil {
		return w.unknown(&discordgo.MessageCreate{Message: m}, number(m.ChannelID), m.GuildID)
	}
	user := number(m.Author.ID)
	if number(m.ID) == 0 || !w.reads(c, m) {
		if user == w.me && user != 0 && w.takesPart(c) {
			c.note(m) // somebody may delete it
		}
		return nil
	}
	c.note(m)
	body, ok := w.message(c, m)
	if !ok {
		return w.wordless(m)
	}
	delete(w.typing, typist{user, c.id}) // the typed text is sent
	at := moment(m, now)
	return append(w.comes(c, user, at), roomEvent{c, earshot.Event{
		ID: w.event(c.id, number(m.ID)), At: at, From: handle(user), Via: text, Body: body,
	}})
}

// moment returns when a message was written.
func moment(m *discordgo.Message, now time.Time) time.Time {
	if at := gateway.Made(number(m.ID)); at.Before(now) {
		return at
	}
	return now
}

// comes reports the presence of a person who was not seen there before.
func (w *guildState) comes(c *channel, user uint64, at time.Time) []action {
	if _, here := c.here[user]; here {
		c.here[user] = later(c.here[user], at)
		return nil
	}
	c.here[user] = at
	return []action{roomEvent{c, earshot.Event{At: at, From: handle(user), Via: text, Body: earshot.Presence{Session: name, Here: true}}}}
}

// gone reports that a person has left the guild, wherever they were seen.
func (w *guildState) gone(guild, user uint64, now time.Time) (acts []action) {
	for _, c := range w.sorted() {
		if _, here := c.here[user]; here && c.guild == guild {
			acts = append(acts, w.goes(c, user, now))
		}
	}
	return acts
}

func (w *guildState) goes(c *channel, user uint64, now time.Time) action {
	delete(c.here, user)
	return roomEvent{c, earshot.Event{At: now, From: handle(user), Via: text, Body: earshot.Presence{Session: name}}}
}

// idle reports the departure of people without a sign for long.
func (w *guildState) idle(now time.Time) (acts []action) {
	for _, c := range w.sorted() {
		for _, user := range slices.Sorted(maps.Keys(c.here)) {
			if now.Sub(c.here[user]) >= stays {
				acts = append(acts, w.goes(c, user, now))
			}
		}
	}
	return acts
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// sorted returns the channels in order, for determinism.
func (w *guildState) sorted() (all []*channel) {
	for _, c := range w.channels {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *channel) int { return compare(a.id, b.id) })
	return all
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// wordless handles a message without text: if Discord kept the text from the bot, somebody has to
// know.
func (w *guildState) wordless(m *discordgo.Message) []action {
	if w.blind || m.Author.Bot || m.WebhookID != "" || len(m.Mentions) > 0 || m.GuildID == "" || m.Flags != 0 {
		return nil
	}
	w.blind = true
	return []action{fault{earshot.Notice{
		Key: "discord content", Text: "Discord does not show the bot what people write",
		Cure: "switch on Message Content Intent at https://discord.com/developers/applications under Bot, and start earshot again",
	}}}
}

// changed handles an edit by the author. Discord also sends one when it has found the preview of a
// link.
func (w *guildState) changed(e *discordgo.MessageUpdate, now time.Time) []action {
	m := e.Message
	c := w.channels[number(m.ChannelID)]
	if m.Author == nil || m.EditedTimestamp == nil || number(m.ID) == 0 {
		return nil
	}
	if c == nil {
		return w.unknown(e, number(m.ChannelID), m.GuildID)
	}
	if !w.reads(c, m) {
		return nil
	}
	body, ok := w.message(c, m)
	if !ok {
		return nil
	}
	edited := *m.EditedTimestamp
	if i := slices.IndexFunc(c.recent, func(r recent) bool { return r.id == number(m.ID) }); i >= 0 {
		c.recent[i].edited = edited
	}
	at := edited
	if at.After(now) {
		at = now
	}
	return []action{roomEvent{c, earshot.Event{
		ID: gateway.RevisionOf(c.id, number(m.ID), edited), At: at, From: handle(number(m.Author.ID)), Via: text,
		Body: earshot.Revision{Of: w.event(c.id, number(m.ID)), Text: body.Text},
	}}}
}

// deleted handles deleted messages: deleted by their authors, or by moderators. Discord does not
// say who, and lets nobody else do it.
func (w *guildState) deleted(event any, in uint64, ids []string, now time.Time) (acts []action) {
	c := w.channels[in]
	if c == nil {
		guild := ""
		switch e := event.(type) {
		case *discordgo.MessageDelete:
			guild = e.GuildID
		case *discordgo.MessageDeleteBulk:
			guild = e.GuildID
		}
		return w.unknown(event, in, guild)
	}
	if !w.takesPart(c) {
		return nil
	}
	for _, id := range ids {
		if n := number(id); n != 0 {
			acts = append(acts, w.withdrawn(c, n, now))
		}
	}
	return acts
}

func (w *guildState) withdrawn(c *channel, message uint64, now time.Time) action {
	c.forget(message)
	return roomEvent{c, earshot.Event{At: now, From: earshot.Handle{Provider: name}, Via: text, Body: earshot.Withdrawal{Of: w.event(c.id, message)}}}
}

// unknown handles an event in an unknown channel. If the bot may take part there, the channel is
// looked up, once, and its events wait, in order.
func (w *guildState) unknown(event any, channel uint64, guild string) []action {
	switch {
	case channel == 0 || w.strange[channel]:
		return nil
	case guild == "" && !w.cfg.DirectMessages, guild != "" && w.guilds[number(guild)] == nil:
		return nil
	}
	waiting, asked := w.unplaced[channel]
	if len(waiting) < mostUnplaced {
		w.unplaced[channel] = append(waiting, event)
	}
	if asked {
		return nil
	}
	return []action{lookup{channel}}
}

// found records what a channel is, nil if it does not exist, and returns its events, if people can
// write there.
func (w *guildState) found(channel uint64, is *discordgo.Channel) (events []any) {
	events = w.missing(channel)
	if is != nil {
		is.ID = digits(channel)
		w.channel(is)
	}
	if w.channels[channel] != nil {
		return events
	}
	if len(w.strange) >= mostStrange {
		clear(w.strange)
	}
	w.strange[channel] = true
	return nil
}

// missing records that a channel cannot be looked up at present, and returns its events. The next
// event there starts another lookup.
func (w *guildState) missing(channel uint64) (events []any) {
	events = w.unplaced[channel]
	delete(w.unplaced, channel)
	return events
}

// types handles typing in a channel where something was said already.
func (w *guildState) types(e *discordgo.TypingStart, now time.Time) []action {
	c, user := w.channels[number(e.ChannelID)], number(e.UserID)
	if c == nil || user == w.me || !w.takesPart(c) || c.here[user].IsZero() || w.people[user] == nil || w.people[user].is.Bot || !in(w.listed.users, user) {
		return nil
	}
	who := typist{user, c.id}
	c.here[user] = later(c.here[user], now)
	_, already := w.typing[who]
	if !already && len(w.typing) >= mostTyping {
		return nil
	}
	w.typing[who] = now.Add(typingLasts)
	if already {
		return nil
	}
	return []action{w.typed(c, user, true, now)}
}

func (w *guildState) typed(c *channel, user uint64, began bool, at time.Time) action {
	return roomEvent{c, earshot.Event{At: at, From: handle(user), Via: text, Body: earshot.Typing{Began: began}}}
}

// rests returns the people who have stopped typing.
func (w *guildState) rests(now time.Time) (acts []action) {
	for _, who := range w.typists() {
		if until := w.typing[who]; until.After(now) {
			continue
		}
		delete(w.typing, who)
		if c := w.channels[who.channel]; c != nil {
			acts = append(acts, w.typed(c, who.user, false, now))
		}
	}
	return acts
}

func (w *guildState) typists() (all []typist) {
	for who := range w.typing {
		all = append(all, who)
	}
	slices.SortFunc(all, func(a, b typist) int {
		if a.channel != b.channel {
			return compare(a.channel, b.channel)
		}
		return compare(a.user, b.user)
	})
	return all
}

// until returns when the next person may have stopped typing; zero if nobody types.
func (w *guildState) until() (first time.Time) {
	for _, t := range w.typing {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// digits formats one of Discord's numbers.
func digits(id uint64) string { return strconv.FormatUint(id, 10) }

// orNone formats one, or returns "" for 0.
func orNone(id uint64) string {
	if id == 0 {
		return ""
	}
	return digits(id)
}
