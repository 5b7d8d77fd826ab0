// Package discord is one session of a Discord bot: the main gateway, REST by discordgo,
// and the calls in voice channels that hang on them (package voice). A sense and an
// outlet share it.
//
// # The gateway
//
// Events are discordgo's structs and REST is discordgo's; the websocket in between is
// ours. Discordgo's cannot be kept from doing what a bot must not do. Op 7 or op 9 in
// place of READY or RESUMED, which is how Discord refuses to resume, stops its Open for
// ever, with its lock held. It closes with code 1000, which ends a session that could
// have been resumed, after five intervals without an acknowledgement. The heartbeat of a
// connection that has ended can close the next one. It does not tell the codes that
// say why. Its goroutines cannot be waited for, and closing sleeps for a second. All
// that could be kept away from it only by a gateway in front of it, which is more than
// a gateway instead of it.
//
// What to do after a disconnection is a step function (sessionState): resume where Discord allows
// that, at most three times for one session while Discord itself can be reached;
// otherwise identify, at most once in 5 s, in 2 minutes when it goes badly, and not at
// all when Discord says that no session start is left for the day. Every wait doubles
// and is jittered. A bad token, missing intents and the like end the session with a
// [Fault]. A session is closed with 1000 only when it is told to stop.
//
// Events are handled once: a resumed session is sent again what Discord does not know
// to have arrived, and what was numbered before is dropped. A *discordgo.Ready that is
// not the first one means that a new session has begun, and that what happened in
// between is not known; what is where follows as *discordgo.GuildCreate.
//
// Our own VOICE_STATE_UPDATE, with the name of its session, and VOICE_SERVER_UPDATE,
// which holds a token, go to the call of the guild by the reader itself. The receiver of
// events is not given what a session or a call can be taken over by.
//
// # When the receiver is slow
//
// Events are delivered in order by a goroutine of the session, from a queue of its own,
// so that the reader of the gateway never waits. It grows to 4,096 events or 64 MB;
// then presence and typing are dropped first, and counted, then the oldest. Messages
// and states are never dropped silently: a [*Lost] stands in their place, and if states
// were among them the session begins anew once the receiver has caught up, so that
// they come again.
//
// # The token
//
// It is known to two places: the introduction to the gateway and the transport of
// REST, which adds it to a copy of the request. It goes over TLS, unless the base
// itself is plain, as in a test.
package discord
