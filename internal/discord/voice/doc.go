// Package voice is a client of Discord's voice gateway, version 8, and of the UDP
// server behind it: one [Call] is the agent in one voice channel, from joining to
// leaving, over resumed and new connections, moves and changes of region.
//
// What is heard comes out as batches of packets, at most one batch every 20 ms: of
// each speaker those that are next, decrypted, in order, with what is lost counted so
// that silence of the exact length stands in its place. What is in order waits for
// nothing; only where a packet is missing are later ones held back, for 20 to 120 ms,
// as long as packets have lately been late. Nothing that could not be decrypted is
// ever among them, and nothing of which nobody knows whose it is: where the gateway does
// not say, the key that opens a frame does.
//
// What is said goes in as Opus frames and leaves on an absolute schedule of 20 ms;
// while encryption is due and not ready, or nobody is connected, nothing leaves: what
// is said waits, and the time goes on.
//
// When the reader is slow: packets wait in a ring of two seconds a speaker, of which
// the oldest are dropped and counted, and as many of each of 16 streams that are
// nobody's yet. [Call.Say] waits while 200 ms are ahead. A gateway that does not take
// what it is told is given up and connected to anew. All of it is in the [Status].
//
// What is lost is a hole of silence. The codec could conceal it, and recover most of it from
// the next packet, but FFmpeg's binding of libopus offers neither. A frame that ends in FA FA,
// as every end-to-end encrypted one does, is never decoded as plain sound; one good packet
// in 65,536 is lost by that. When a session is refused with 4006, the next one keeps the name
// of the session until the main gateway says another, since that may not be said again.
//
// From the bottom up: wire.go reads and writes both forms of the gateway, transport.go
// undoes the encryption between us and the server, close.go knows what to do after
// each close code, door.go pairs the two halves of a ticket, binding.go knows whose a
// stream is, jitter.go puts it in order, schedule.go says what leaves when, and
// watchdog.go notices a call that is joined and deaf. None of these has a clock or a
// goroutine. media.go is the sound of one session, link.go one websocket of it, and
// call.go the life of them all.
package voice
