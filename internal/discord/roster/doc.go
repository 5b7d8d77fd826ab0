// Package roster knows the guilds, channels and members that a bot sees, and what it has missed
// there.
//
// A [Roster] is plain state: it has neither a lock, nor a goroutine, nor a clock, and one goroutine
// uses it. It learns from the events of the gateway, says whom the daemon must know before an event
// can be understood, which messages are read, and who was seen where.
//
// What the gateway does not tell, a [Fetcher] asks by REST, in the background: what an unknown
// channel is, and the newest messages of the channels in which something may have been missed. When
// a session begins anew, or events were dropped, the newest hundred messages of every channel in
// which something was said are compared with those that are remembered: unseen ones are events, and
// so are edits and deletions made meanwhile. Older messages stay as they are. A [Past] says what the
// daemon has of a channel from before this run, so that the same can be done for the time while
// nothing ran.
//
// Everything is bounded: what does not fit is not learned. A result that nobody takes waits, and so
// does the request after it.
package roster
