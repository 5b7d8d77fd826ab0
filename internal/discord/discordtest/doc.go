// Package discordtest is a Discord on loopback, for tests: REST, the main gateway,
// the voice gateway, the server that forwards packets, and the delivery service of
// the encryption, with faults on demand. What it forwards it cannot read, but it keeps
// it, so that a test can search the wire.
//
// It is written from the public descriptions of the protocols, and checked by clients
// that know nothing of this project. It is strict: what Discord would refuse, it
// refuses, with the same codes.
package discordtest
