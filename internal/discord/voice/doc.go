// Package voice is a client of Discord's voice gateway, version 8, and of the UDP
// server behind it: one [Call] is the agent in one voice channel, from joining to
// leaving, over resumed and new connections, moves and changes of region.
//
// What is heard comes out as batches of packets, one batch every 20 ms: for each
// speaker the next packet by a jitter buffer of its own, decrypted, in order, with
// what is lost counted so that silence of the exact length stands in its place.
// Nothing that could not be decrypted is ever among them. What is said goes in as
// Opus frames and leaves on an absolute schedule of 20 ms; while encryption is due
// and not ready, nothing leaves and the time goes on.
//
// When the reader is slow: packets wait in a ring of two seconds a speaker, of which
// the oldest are dropped and counted. When the network is slow to take what is said,
// [Call.Say] waits: our own voice must not stutter.
package voice
