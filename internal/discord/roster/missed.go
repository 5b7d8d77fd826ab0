package roster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
)

// mostMissed is the greatest age of a missed message that is still an event.
const mostMissed = 24 * time.Hour

// A Past is what the daemon has of a channel from before this run.
type Past struct {
	Channel uint64 // 0 for direct messages, whose channel is not known
	With    uint64 // of direct messages, the other person

	Written []Written // what was written there, in order; at most the last [MostRecent]
	Own     []uint64  // Discord's numbers of the agent's own messages, in order; likewise

	// Since is the time from which on a message that the daemon does not have was missed: older
	// ones it did not want.
	Since time.Time

	// Waits says that something is scheduled to be said in the room, so the room must be open.
	Waits bool
}

// A Written is a message that the daemon has.
type Written struct {
	Event  earshot.EventID
	Edited time.Time // the last edit; zero if there was none
}

// Remember records what the daemon has of channels that will come.
func (r *Roster) Remember(past []Past) {
	r.past, r.direct = make(map[uint64]Past), make(map[uint64]Past)
	for _, p := range past {
		switch {
		case p.With == 0:
			r.past[p.Channel] = p
		case r.directMessages && r.users.Allows(p.With) && len(r.direct) < mostDirect:
			r.direct[p.With] = p
		}
	}
}

// recall takes what the daemon has of c, to find out what was missed.
func (c *Channel) recall(p Past) {
	for _, m := range p.Written {
		if id, ok := gateway.MessageOf(c.ID, m.Event); ok {
			c.Recent = append(c.Recent, Recent{id, m.Edited})
		}
	}
	c.behind = len(c.Recent) > 0
	for _, id := range p.Own {
		c.Recent = append(c.Recent, Recent{ID: id})
	}
	slices.SortFunc(c.Recent, func(a, b Recent) int { return cmp.Compare(a.ID, b.ID) })
	c.Recent = c.Recent[max(0, len(c.Recent)-MostRecent):]
	if c.behind {
		c.last = max(c.newest(), gateway.Since(p.Since))
	}
	c.waits = p.Waits
}

// Waiting returns the channels of a guild, or the direct messages for 0, whose rooms are to be
// opened, because something there waits for its time. Each is returned once.
func (r *Roster) Waiting(guild uint64) (all []*Channel) {
	for _, c := range r.Channels() {
		if c.waits && c.Guild == guild && r.TakesPart(c) {
			c.waits = false
			all = append(all, c)
		}
	}
	return all
}

// Correspondents returns the people of earlier direct messages whose channels have not come.
func (r *Roster) Correspondents() []uint64 { return slices.Sorted(maps.Keys(r.direct)) }

// Behind returns the channels of a guild, or the direct messages for 0, in which something may
// have been missed, and marks them as requested.
func (r *Roster) Behind(guild uint64) (all []*Channel) {
	for _, c := range r.Channels() {
		if c.behind && c.Guild == guild && c.last != 0 && r.TakesPart(c) {
			c.behind, c.asked = false, c.last
			all = append(all, c)
		}
	}
	return all
}

// company returns the recent messages in c, of the newest messages, newest first. So everybody who
// takes part in a talk is known before any of it is an event.
func (r *Roster) company(c *Channel, newest []*discordgo.Message, now time.Time) (all []*discordgo.MessageCreate) {
	for _, m := range slices.Backward(newest) {
		if m != nil && m.Author != nil && r.Reads(c, m) && now.Sub(gateway.Made(gateway.Number(m.ID))) < Stays {
			all = append(all, &discordgo.MessageCreate{Message: c.place(m)})
		}
	}
	return all
}

// missed returns what happened in a channel while it was not observed, according to its newest
// messages, newest first. A message that came and was deleted meanwhile is lost. Nothing is known
// about times before the oldest of these messages, and what is older than [mostMissed] comes too
// late. Messages that came after the request are left out.
func (c *Channel) missed(newest []*discordgo.Message, now time.Time) (events []any) {
	there := make(map[uint64]*discordgo.Message)
	oldest := uint64(0)
	for _, m := range newest {
		if m != nil && m.Author != nil && gateway.Number(m.ID) != 0 {
			id := gateway.Number(m.ID)
			there[id] = m
			if oldest == 0 || id < oldest {
				oldest = id
			}
		}
	}
	if len(newest) < MostRecent {
		oldest = 0 // these are all
	}
	for _, was := range c.Recent {
		m := there[was.ID]
		delete(there, was.ID)
		switch {
		case m == nil && was.ID >= oldest && was.ID <= c.asked:
			events = append(events, &discordgo.MessageDelete{Message: c.place(&discordgo.Message{ID: gateway.Digits(was.ID)})})
		case m != nil && m.EditedTimestamp != nil && m.EditedTimestamp.After(was.Edited):
			events = append(events, &discordgo.MessageUpdate{Message: c.place(m)})
		}
	}
	from := max(c.asked, gateway.Since(now.Add(-mostMissed)))
	for _, m := range slices.Backward(newest) {
		if m != nil && there[gateway.Number(m.ID)] != nil && gateway.Number(m.ID) > from {
			events = append(events, &discordgo.MessageCreate{Message: c.place(m)})
		}
	}
	return events
}

// place sets where m was written, which REST leaves out in part.
func (c *Channel) place(m *discordgo.Message) *discordgo.Message {
	m.ChannelID, m.GuildID = gateway.Digits(c.ID), ""
	if c.Guild != 0 {
		m.GuildID = gateway.Digits(c.Guild)
	}
	return m
}
