// Package discord is the outlet for replies on Discord: written in a channel, or said in a call.
//
// # Written
//
// A reply is posted in several messages that stay as they are, not in one that grows by edits.
// Edits look livelier, but a mention in one notifies nobody, other bots answer the first half, the
// message stays marked "(edited)", and each edit costs as much of Discord's rate limit as a
// message. So the first message goes out as soon as a paragraph is complete, or a sentence after
// 1.2 s, so that nobody wonders; later text is gathered for some seconds, so that a reply is a few
// messages and not a dozen. A code block is posted as one. Until the first message, the typing
// indicator is shown.
//
// What was heard is what Discord has acknowledged. A cut posts nothing more: a message on its way
// is waited for, and deleted if Discord acknowledges it after the turn was given up, so that the
// channel shows what the history holds.
package discord
