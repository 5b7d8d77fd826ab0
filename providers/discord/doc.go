// Package discord is the provider that reads on Discord: it translates what happens there into
// events.
//
// A channel is a room, a thread a room of its own, and the direct messages with a person a private
// one; each is opened when something first happens there. A message, its edit and its deletion get
// names made of Discord's numbers ([earshot/internal/discord/gateway.EventOf]), so that a repeated
// event is kept once and nothing has to be remembered to find it. Discord does not say who deleted a
// message: it lets only its author and moderators do so, and the provider relies on that.
//
// An event goes through three steps without a wait: the roster learns what exists, and says whom the
// daemon must know before the event can be understood; then the event is translated. The goroutine
// around it does that, in order, and waits for the room. Requests to Discord run beside it: what was
// missed is asked by [earshot/internal/discord/roster], and commands are registered and answered by
// [earshot/internal/discord/interaction].
//
// A mentioned person is written as "@" and the name that the daemon gave them, which is unique; any
// other name in a text, of a channel, a role, or an unknown person, is letters and digits without a
// mention sign.
package discord
