// Package davetest is the delivery service of the encryption of Discord's calls, for tests
// (protocol.md, "Delivery Service"): what a voice gateway does between the members of one group, who
// are clients of package dave or anybody else's.
//
// A [Service] is plain state with neither a lock, nor a clock, nor a goroutine: its gateway hands it
// the messages of the members, sends its messages to them, and calls it when time has passed. It
// cannot read what the members say: its only key is its own signature key.
package davetest
