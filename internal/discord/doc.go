// Package discord is one session of a Discord bot: the main gateway and REST by
// discordgo, and the calls in voice channels that hang on it (package voice). A sense
// and an outlet share it.
//
// Events are delivered in order, each once, by a goroutine of the session, from a
// queue of its own, so that the reader of the gateway never waits. When their
// receiver is slow the queue grows to 4,096 events; then presence and typing are
// dropped first, and counted, then the oldest; messages and voice states are never
// dropped silently: the session says that it lost some and asks for the state anew.
package discord
