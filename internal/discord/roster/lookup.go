package roster

import (
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/gateway"
)

// Defer takes an event in an unknown channel of a guild, or of direct messages if that is "": with an
// unknown person, or in a thread that was asleep. If the bot may take part there, the event waits, in
// order, until the channel has been looked up; lookup says that this must be asked for.
func (r *Roster) Defer(event any, channel uint64, guild string) (lookup bool) {
	switch {
	case channel == 0 || r.strange[channel]:
		return false
	case guild == "" && !r.directMessages, guild != "" && r.guildOf[gateway.Number(guild)] == nil:
		return false
	}
	waiting, asked := r.unplaced[channel]
	if len(waiting) < mostUnplaced {
		r.unplaced[channel] = append(waiting, event)
	} else {
		r.dropped[channel]++
	}
	return !asked
}

// found records what a channel is, nil if it does not exist, and returns its events, if people can
// write there.
func (r *Roster) found(channel uint64, is *discordgo.Channel) (events []any) {
	events = r.missing(channel)
	if is != nil {
		is.ID = gateway.Digits(channel)
		r.addChannel(is)
	}
	if r.channelOf[channel] != nil {
		return events
	}
	if len(r.strange) >= mostStrange {
		clear(r.strange)
	}
	r.strange[channel] = true
	return nil
}

// missing records that a channel cannot be looked up at present, and returns its events. The next
// event there starts another lookup.
func (r *Roster) missing(channel uint64) (events []any) {
	events = r.unplaced[channel]
	delete(r.unplaced, channel)
	return events
}

// A Finding is what a [Fetcher] has found out: what a channel is, or its newest messages.
type Finding struct {
	channel uint64             // that was looked up
	with    uint64             // or of direct messages, whom they are with
	found   *discordgo.Channel // nil if there is none
	failed  bool               // it could not be found out

	in     *Channel
	newest []*discordgo.Message // newest first
}

// News is what follows from a [Finding].
type News struct {
	// Came says that a channel has come, in the guild Guild or in direct messages if that is 0.
	Came  bool
	Guild uint64

	// In is the channel of Company, the messages of those who have lately written there. They are
	// not events, but everybody in them must be known and present before Events.
	In      *Channel
	Company []*discordgo.MessageCreate

	Events []any // which happened earlier, in order
	Lost   int   // events that are dropped: their channel could not be looked up, or too many came meanwhile
}

// Take records a finding at now.
func (r *Roster) Take(f *Finding, now time.Time) (n News) {
	dropped := r.dropped[f.channel]
	delete(r.dropped, f.channel)
	switch {
	case f.failed:
		n.Lost = len(r.missing(f.channel)) + dropped
	case f.with != 0:
		r.addDirect(gateway.Number(f.found.ID), f.with)
		n.Came = true
	case f.in != nil:
		n.In, n.Company, n.Events = f.in, r.company(f.in, f.newest, now), f.in.missed(f.newest, now)
	default:
		n.Events = r.found(f.channel, f.found)
		if c := r.channelOf[f.channel]; c != nil {
			n.Came, n.Guild, n.Lost = true, c.Guild, dropped
		}
	}
	return n
}
