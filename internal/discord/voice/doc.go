// Package voice is a client of Discord's voice gateway, version 8, and of the UDP server behind
// it: one [Call] is the agent in one voice channel, from joining to leaving, across resumed and
// new connections, moves and changes of region.
//
// Received sound comes out as batches of packets, at most one batch every 20 ms: the next packets
// of each speaker, decrypted, in order, with lost ones counted so that silence of the exact length
// replaces them. Packets in order wait for nothing; only where a packet is missing are later ones
// held back, for 20 to 120 ms, as long as packets have lately been late. A packet that could not
// be decrypted, or whose speaker is unknown, is never among them: where the gateway does not name
// the speaker, the key that opens a frame does.
//
// Speech goes in as Opus frames and leaves on an absolute schedule of 20 ms. While encryption is
// required and not ready, or the connection is lost, nothing leaves: frames wait, and time goes
// on.
//
// When the reader is slow: packets wait in a ring of two seconds per speaker, from which the
// oldest are dropped and counted; the same holds for each of 16 streams without a known speaker.
// [Call.Say] waits while 200 ms are ahead. A gateway that does not accept messages is given up and
// connected to anew. All of it is in the [Status].
//
// A lost packet is a gap of silence. The codec could conceal it, and recover most of it from the
// next packet, but FFmpeg's binding of libopus offers neither. A frame that ends in FA FA, as
// every end-to-end encrypted one does, is never decoded as plain sound; one good packet in 65,536
// is lost by that. When a session is refused with 4006, the next one keeps the name of the session
// until the main gateway gives another, since it may not repeat it.
//
// From the bottom up: wire.go reads and writes both forms of the gateway, transport.go undoes the
// encryption between us and the server, close.go knows what to do after each close code, ticket.go
// pairs the two halves of a ticket, stream_owners.go knows who owns a stream, jitter.go puts it in
// order, schedule.go says what leaves when, and watchdog.go notices a joined call in which nothing
// can be heard. None of these has a clock or a goroutine. media.go is the sound of one session,
// link.go one websocket of it, and call.go their lifetime.
package voice
