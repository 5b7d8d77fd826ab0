// Package mls is the part of the Messaging Layer Security protocol (RFC 9420)
// that Discord's end-to-end encryption of calls needs, on the standard library
// alone: one cipher suite, MLS_128_DHKEMP256_AES128GCM_SHA256_P256; basic
// credentials; Add and Remove, proposed by one external sender; commits and
// welcomes in both roles; the exporter. There are no pre-shared keys, no
// external commits, no updates, no application messages.
//
// A [Group] is one member's view of one epoch. It does not change: a commit, its own or another's,
// makes the group of the next epoch, and the old one may still be used until it is cleared. So a
// commit that loses against another is simply forgotten.
//
// Everything here is pure: no goroutine, no clock, no network. A group may be read from any
// goroutine. External input is bounded before memory is allocated for it, and gives an [Error] if
// it is wrong; names, section numbers and labels are the RFC's.
//
// What DAVE does not use is refused: a member that updates its leaf by a proposal, brings a
// pre-shared key, changes the group's context or encrypts its commits, a group of more than
// maxLeaves members, and a commit that changes the name or the signature key of its author. Every
// commit of ours renews our keys, even one that only adds; that costs a group of 25 a millisecond.
// Signatures are accepted with either value of s, since other implementations produce both.
//
// Keys and secrets come from the given reader; the ephemeral keys of encryptions are always
// crypto/rand's, and signatures are deterministic (RFC 6979). Secrets are overwritten when they
// are no longer needed; we cannot reach the copies that the standard library makes while it
// computes.
package mls
