// Package discord is the provider that reads and hears on Discord.
//
// # Messages
//
// A channel is a room, a thread a room of its own, and the direct messages with a person a private
// one; each is opened when something first happens there. A message, its edit and its deletion get
// names made of Discord's numbers ([earshot/internal/discord.EventOf]), so that a repeated event
// is kept once and nothing has to be remembered to find it. Discord does not say who deleted a
// message: it lets only its author and moderators do so, and the provider relies on that.
//
// Events go through the guildState, which is plain state, in three steps without a wait: learn
// records what exists, arrivals says whom the daemon must know before the event can be understood,
// and translate says what is to be done. The goroutine around it does that, in order, and waits
// for the room. Requests to Discord run beside it, at most [mostAtOnce] at a time.
//
// When a session begins anew, or events were dropped, the newest hundred messages of every channel
// in which something was said are checked: unseen ones come in, and so do edits and deletions made
// meanwhile. Older messages stay as they are. When the provider starts, the daemon says what it
// has of the channels ([Past]), so that the same can be done for the time while nothing ran.
//
// # Names and texts
//
// All names and texts are chosen by unknown people. A text keeps its lines and loses invisible
// characters. A mentioned person is written as "@" and the name that the daemon gave them, which
// is unique; any other name in a text, of a channel, a role, or an unknown person, is letters and
// digits without a mention sign.
//
// # Commands
//
// Commands are registered for each guild, and once for direct messages, wherever Discord's list
// differs from ours. Each is acknowledged within Discord's three seconds and answered to its giver
// alone. /ask shows the question to everybody and brings it in as that message, so that the answer
// refers to it.
package discord
