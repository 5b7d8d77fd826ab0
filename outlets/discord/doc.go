// Package discord is where a reply comes out on Discord: written in a channel, or said
// in a call.
//
// # Written
//
// A reply is posted in messages that stay as they are, not in one that grows by edits.
// Edits look livelier, but who is mentioned in one is not told, other bots answer the
// first half, the message is marked "(edited)" for good, and each edit costs as much of
// Discord's limit as a message. So the first message goes as soon as a paragraph is
// complete, or after 1.2 s a sentence, so that nobody wonders; what follows is gathered
// for some seconds, so that a reply is some messages and not a dozen. A block of code is
// posted as one. Until the first message there is the typing indicator.
//
// What was heard is what Discord has acknowledged. A cut posts nothing more: a message
// on its way is waited for, and taken back if Discord acknowledges it after the turn
// was given up, so that what stands there is what history holds.
package discord
