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
//
// The encryption keeps outsiders out. It does not tell members apart who lie: each can
// derive the keys of all others, as the protocol has it. Where Discord has not said whose a
// stream is, a member with a client of its own can therefore send in the name of another,
// and with a nonce far ahead make that other unheard until the next epoch, since what
// follows counts as replayed. A key package that crosses with a new group may be welcomed
// after it was replaced, which costs one more round. Keys of the last epoch are forgotten
// with the first frame or message after [Keep], and not by a clock.
package dave
