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

// A Place is a channel in the form for the daemon: a channel of a guild, a thread, the chat of a
// voice channel, or the direct messages with one person.
type Place struct {
	ID    uint64
	Guild uint64 // 0 for direct messages
	With  uint64 // of direct messages, the other person; otherwise 0
	Name  string // as people see it: "#general", or "The House / #general" among several guilds
}

// Room returns the name of its room.
func (p Place) Room() earshot.RoomID {
	if p.Private() {
		return earshot.RoomID("discord-dm-" + gateway.Digits(p.With))
	}
	return earshot.RoomID("discord-" + gateway.Digits(p.ID))
}

// Private reports whether what is said there is for one person alone.
func (p Place) Private() bool { return p.With != 0 }

// A Channel is a channel in which people write, with who was seen there and what was written last.
// It belongs to its roster.
type Channel struct {
	ID     uint64
	Guild  uint64 // 0 for direct messages
	Parent uint64 // of a thread, the channel that it is in; otherwise 0
	With   uint64 // of direct messages, the other person; otherwise 0
	Name   string

	// Recent are the last messages, oldest first. See [Channel.Note].
	Recent []Recent

	seen   map[uint64]time.Time // people, and when last
	last   uint64               // the newest message seen
	asked  uint64               // the value of last at the last request for missed messages
	behind bool                 // something may have been missed
	waits  bool                 // its room must be opened
}

// A Recent message is remembered to find out what happened to it while it was not observed.
type Recent struct {
	ID     uint64
	Edited time.Time // the last edit; zero if there was none
}

// Channel returns a channel; nil if it is not known.
func (r *Roster) Channel(id uint64) *Channel { return r.channelOf[id] }

// Channels returns the channels in order.
func (r *Roster) Channels() []*Channel {
	return slices.SortedFunc(maps.Values(r.channelOf), func(a, b *Channel) int { return cmp.Compare(a.ID, b.ID) })
}

// Stays is how long a person counts as present without a sign of them: as long as a talk may rest.
// People who only read are invisible.
const Stays = 6 * time.Hour

// See records a sign of a person at a time, and reports whether it is the first one.
func (c *Channel) See(user uint64, at time.Time) (first bool) {
	last, seen := c.seen[user]
	if !seen || at.After(last) {
		c.seen[user] = at
	}
	return !seen
}

// Saw reports whether a person is present.
func (c *Channel) Saw(user uint64) bool {
	_, seen := c.seen[user]
	return seen
}

// A Departure is a person who is no longer present in a channel.
type Departure struct {
	From *Channel
	User uint64
}

// Leave records that a person has left a guild, wherever they were seen.
func (r *Roster) Leave(guild, user uint64) (all []Departure) {
	for _, c := range r.Channels() {
		if c.Guild == guild && c.Saw(user) {
			delete(c.seen, user)
			all = append(all, Departure{c, user})
		}
	}
	return all
}

// Idle records the departure of people without a sign for long.
func (r *Roster) Idle(now time.Time) (all []Departure) {
	for _, c := range r.Channels() {
		for _, user := range slices.Sorted(maps.Keys(c.seen)) {
			if now.Sub(c.seen[user]) >= Stays {
				delete(c.seen, user)
				all = append(all, Departure{c, user})
			}
		}
	}
	return all
}

// Note remembers a message of c.
func (c *Channel) Note(m *discordgo.Message) {
	is := Recent{ID: gateway.Number(m.ID)}
	if m.EditedTimestamp != nil {
		is.Edited = *m.EditedTimestamp
	}
	c.last = max(c.last, is.ID)
	c.Recent = append(c.Recent, is)
	if len(c.Recent) > MostRecent {
		c.Recent = slices.Delete(c.Recent, 0, len(c.Recent)-MostRecent)
	}
}

// NoteEdit remembers when a message was edited.
func (c *Channel) NoteEdit(message uint64, at time.Time) {
	for i := range c.Recent {
		if c.Recent[i].ID == message {
			c.Recent[i].Edited = at
			return
		}
	}
}

// Forget forgets a message.
func (c *Channel) Forget(message uint64) {
	c.Recent = slices.DeleteFunc(c.Recent, func(m Recent) bool { return m.ID == message })
}

// newest returns the newest remembered message, 0 if there is none.
func (c *Channel) newest() uint64 {
	if len(c.Recent) == 0 {
		return 0
	}
	return c.Recent[len(c.Recent)-1].ID
}
