// Package discordtest is a Discord on loopback, for tests: REST, the main gateway,
// the voice gateway, the server that forwards packets, and the delivery service of
// the encryption, with faults on demand. What it forwards it cannot read, but it keeps
// it, so that a test can search the wire.
//
// It is written from the public descriptions of the protocols, and checked by clients
// that know nothing of this project. It is strict: what Discord would refuse, it
// refuses, with the same codes. A client gets nothing that it has no intent or
// address for; nobody is heard who has not announced to speak.
//
// A [Server] has one guild, whose channels and users are there from the start or are
// added. A client is pointed at [Server.Base], and trusts [Server.CAFile] or uses
// [Server.HTTP]; a voice client without a main gateway is given a [Line]. Peers that
// are other processes get the same addresses.
//
// All state is behind one mutex. What is told to a client goes through a queue of its
// own, so that nobody waits for a slow one: a client that lets 4,096 messages pile up
// is cut off. Dice are seeded, so that a test that failed fails again.
package discordtest
