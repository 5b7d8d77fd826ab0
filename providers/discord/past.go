package discord

import (
	"cmp"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/gateway"
)

// remember records what the daemon has of channels that will come.
func (w *guildState) remember(past []Past) {
	w.past, w.letters = make(map[uint64]Past), make(map[uint64]Past)
	for _, p := range past {
		switch {
		case p.With == "":
			w.past[number(p.Channel)] = p
		case w.cfg.DirectMessages && in(w.listed.users, number(p.With)) && len(w.letters) < mostLetters:
			w.letters[number(p.With)] = p
		}
	}
}

// recall takes what the daemon has of c, to find out what was missed.
func (c *channel) recall(p Past) {
	for _, m := range p.Written {
		if id, ok := gateway.MessageOf(c.id, m.Event); ok {
			c.recent = append(c.recent, recent{id, m.Edited})
		}
	}
	c.behind = len(c.recent) > 0
	for _, id := range p.Own {
		c.recent = append(c.recent, recent{id: id})
	}
	slices.SortFunc(c.recent, func(a, b recent) int { return cmp.Compare(a.id, b.id) })
	c.recent = c.recent[max(0, len(c.recent)-mostRecent):]
	if c.behind {
		c.last = max(c.recent[len(c.recent)-1].id, gateway.Since(p.Since))
	}
	c.waits = p.Waits
}

// An opening is a channel whose room is to be open.
type opening struct{ in *channel }

// waiting returns the rooms to open in a guild, or in direct messages for 0, because something
// there waits for its time.
func (w *guildState) waiting(guild uint64) (acts []action) {
	for _, c := range w.sorted() {
		if c.waits && c.guild == guild && w.takesPart(c) {
			c.waits = false
			acts = append(acts, opening{c})
		}
	}
	return acts
}

// correspondents returns the people of earlier direct messages whose channels have not come.
func (w *guildState) correspondents() (all []uint64) {
	for user := range w.letters {
		all = append(all, user)
	}
	slices.Sort(all)
	return all
}

// behind returns the channels of a guild, or the direct messages for 0, in which something may
// have been missed, and marks them as requested.
func (w *guildState) behind(guild uint64) (all []*channel) {
	for _, c := range w.sorted() {
		if c.behind && c.guild == guild && c.last != 0 && w.takesPart(c) {
			c.behind, c.asked = false, c.last
			all = append(all, c)
		}
	}
	return all
}

// company returns the recent authors in c, according to the newest messages, newest first: their
// arrivals, as events, and the authors. So everybody who takes part in a talk is known before any
// of it comes in.
func (w *guildState) company(c *channel, newest []*discordgo.Message, now time.Time) (all []*discordgo.MessageCreate) {
	for _, m := range slices.Backward(newest) {
		if m != nil && m.Author != nil && w.reads(c, m) && now.Sub(gateway.Made(number(m.ID))) < stays {
			m.ChannelID, m.GuildID = digits(c.id), orNone(c.guild)
			all = append(all, &discordgo.MessageCreate{Message: m})
		}
	}
	return all
}

// missed returns what happened in a channel while it was not observed, according to its newest
// messages, newest first. A message that came and was deleted meanwhile is lost. Nothing is known
// about times before the oldest of these messages, and what is older than [mostMissed] comes too
// late. Messages that came after the request are left out.
func (w *guildState) missed(c *channel, newest []*discordgo.Message, now time.Time) (events []any) {
	there := make(map[uint64]*discordgo.Message)
	oldest := uint64(0)
	for _, m := range newest {
		if m != nil && m.Author != nil && number(m.ID) != 0 {
			there[number(m.ID)] = m
			if oldest == 0 || number(m.ID) < oldest {
				oldest = number(m.ID)
			}
		}
	}
	if len(newest) < mostRecent {
		oldest = 0 // these are all
	}
	for _, r := range slices.Clone(c.recent) {
		m := there[r.id]
		delete(there, r.id)
		switch {
		case m == nil && r.id >= oldest && r.id <= c.asked:
			events = append(events, &discordgo.MessageDelete{Message: &discordgo.Message{ID: digits(r.id), ChannelID: digits(c.id), GuildID: orNone(c.guild)}})
		case m != nil && m.EditedTimestamp != nil && m.EditedTimestamp.After(r.edited):
			m.ChannelID, m.GuildID = digits(c.id), orNone(c.guild)
			events = append(events, &discordgo.MessageUpdate{Message: m})
		}
	}
	from := max(c.asked, gateway.Since(now.Add(-mostMissed)))
	for _, m := range slices.Backward(newest) {
		if m != nil && there[number(m.ID)] != nil && number(m.ID) > from {
			m.ChannelID, m.GuildID = digits(c.id), orNone(c.guild)
			events = append(events, &discordgo.MessageCreate{Message: m})
		}
	}
	return events
}
