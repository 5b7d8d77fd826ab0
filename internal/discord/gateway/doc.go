// Package gateway is one session of a Discord bot: the main gateway, REST, and the [Line] that a call
// in a voice channel has to them. A provider and an outlet share it.
//
// # The gateway
//
// Events are discordgo's structs; the websocket is ours, because discordgo's does things that a bot
// must not do. Op 7 or op 9 in place of READY or RESUMED, which is how Discord refuses to resume,
// blocks its Open for ever, with its lock held. After five intervals without an acknowledgement it
// closes with code 1000, which ends a session that could have been resumed. The heartbeat of an
// ended connection can close the next one. It hides the codes that say why. Its goroutines cannot
// be waited for, and closing sleeps for a second. All of that could only be prevented by a gateway
// in front of it, which is more than a gateway in place of it.
//
// A step function (sessionState) decides what to do after a disconnection: resume where Discord
// allows it, at most three times for one session while Discord itself can be reached; otherwise
// identify, at most once in 5 s, once in 2 minutes when it keeps failing, and not at all when
// Discord says that no session start is left for the day. Every wait doubles and is jittered. A
// bad token, missing intents and the like end the session with a [Fault]. A session is closed with
// 1000 only when it is told to stop.
//
// Events are handled once: in a resumed session Discord repeats events that it does not know to
// have arrived, and those already seen are dropped. A *discordgo.Ready that is not the first one
// means that a new session has begun, and that what happened in between is unknown; the current
// state follows as *discordgo.GuildCreate.
//
// The reader itself passes our own VOICE_STATE_UPDATE, with the name of its session, and
// VOICE_SERVER_UPDATE, which holds a token, to the call of the guild. The receiver of events gets
// nothing with which a session or a call can be taken over.
//
// # When the receiver is slow
//
// Events are delivered in order by a goroutine of the session, from a queue of its own, so that the
// reader of the gateway never waits. It grows to 4,096 events or 64 MB; then typing is dropped
// first, and counted, then the oldest. Messages and states are never dropped silently: a [*Lost]
// stands in their place, and if states were among them the session begins anew once the receiver
// has caught up, so that they come again.
//
// # REST
//
// [Session.Do] waits as long as Discord's limits demand, and sends a request again where that is
// safe. Whoever must not wait, such as the receiver of events, has a [Background] do it, which
// refuses what is too much.
//
// # The token
//
// Two places know it: the identify of the gateway and the transport of REST, which adds it to a
// copy of the request. It is sent over TLS, unless the base itself is plain, as in a test.
package gateway
