// Package dave is Discord's end-to-end encryption of calls (DAVE, protocol version
// 1.1): one member's [Session], from the opcodes of the voice gateway to frames that
// are sealed and opened.
//
// A session is a pure state machine: what the gateway says goes in with the time,
// what is to be answered comes out. It has no goroutine and no clock, so that hours
// of a call are tested in a moment.
//
// It fails closed. As long as encryption is due and not there, [Session.Seal]
// returns [ErrNotReady] and the sender keeps silent; a frame that looks encrypted
// and cannot be opened is an error and never anything else; what is not encrypted
// is let through only in the moments in which the protocol says so.
package dave
