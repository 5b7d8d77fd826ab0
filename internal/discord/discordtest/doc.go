// Package discordtest is a Discord on loopback, for tests: REST, the main gateway, the voice
// gateway, the server that forwards packets, and the delivery service of the encryption, with
// faults on demand. It cannot read what it forwards, but it keeps it, so that a test can search
// it.
//
// It is written from the public descriptions of the protocols, and checked with clients that know
// nothing of this project. It is strict: what Discord would refuse, it refuses, with the same
// codes. A client gets only what it has an intent or address for; nobody is heard who has not
// announced that they speak.
//
// A [Server] has one guild, whose channels and users exist from the start or are added. A client
// is pointed at [Server.Base], and trusts [Server.CAFile] or uses [Server.HTTP]; a voice client
// without a main gateway is given a [Line]. Peers in other processes get the same addresses.
//
// All state is behind one mutex. Messages to a client go through a queue of its own, so that
// nobody waits for a slow one: a client that lets 4,096 messages pile up is disconnected. The
// random generator is seeded, so that a failed test fails again.
package discordtest
