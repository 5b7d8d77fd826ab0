// Package discord is the sense that reads and hears on Discord.
//
// # What is written
//
// A channel is a room, a thread a room of its own, and the direct messages with somebody
// a private one, all opened at the first thing that happens there. A message, its edit
// and its deletion come in under names made of Discord's numbers
// ([earshot/internal/discord.EventOf]), so that what comes twice is kept once and
// nothing has to be remembered to find it. Discord does not say who deleted a message:
// it lets only its author and moderators do so, and the sense relies on that.
//
// What happens goes through the guildState, which is plain state, in three steps without a
// wait: learn takes in what there is, arrivals says of whom the house must know before
// the event can be understood, and translate says what is to be done. The goroutine
// around it does that, in order, and waits for the room. What asks Discord for something
// is done beside it, at most [mostAtOnce] at a time.
//
// When a session begins anew, or events were dropped, the newest hundred messages of
// every channel in which something was said are looked at: those that nobody has seen
// come in, those that were edited or deleted meanwhile are. What is older than that
// stays as it is. When the sense begins to run, the house says what it has of channels
// ([Past]), so that the same can be done for what happened while nothing ran.
//
// # Names and texts
//
// All of it is chosen by people whom nobody knows. A text keeps its lines and loses what
// cannot be seen. Who is mentioned is called "@" and the name that the house gave them,
// which is nobody else's; any other name in a text, of a channel, a role, or somebody of
// whom the house knows nothing, is letters and digits without a sign that calls.
//
// # Commands
//
// They are registered for each guild, and once for direct messages, where Discord's list
// is not ours. Each is taken within Discord's three seconds and answered to who gave it
// alone. /ask shows the question to everybody and brings it in as that message, so that
// the answer refers to it.
package discord
