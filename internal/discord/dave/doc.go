// Package dave is Discord's end-to-end encryption of calls (DAVE, protocol version 1.1): one
// member's [Session], from the opcodes of the voice gateway to sealed and opened frames.
//
// A session is a pure state machine: messages of the gateway go in with the time, answers come
// out. It has no goroutine and no clock, so that hours of a call are tested in a moment.
//
// It fails closed. While encryption is required and not ready, [Session.Seal] returns
// [ErrNotReady] and the sender stays silent; a frame that looks encrypted and cannot be opened is
// an error and never anything else; unencrypted frames are accepted only at the moments that the
// protocol defines.
//
// The encryption keeps outsiders out. It does not protect against members who lie: by the
// protocol, each can derive the keys of all others. If Discord has not said who owns a stream, a
// member with a modified client can therefore send in the name of another, and with a nonce far
// ahead make that other unheard until the next epoch, since later frames count as replayed. A key
// package that crosses with a new group may be welcomed after it was replaced, which costs one
// more round. Keys of the last epoch are forgotten with the first frame or message after [Keep],
// and not by a clock.
package dave
