// Package discord is the outlet for replies on Discord: written in a channel, or said in a call. It
// translates: clauses become posts or sound, and what was posted or has left becomes what was heard.
// How messages are posted is told in [earshot/internal/discord/posts], and how sound leaves in
// [earshot/internal/discord/calls].
//
// A reply is posted in several messages that stay as they are, not in one that grows by edits.
// Edits look livelier, but a mention in one notifies nobody, other bots answer the first half, the
// message stays marked "(edited)", and each edit costs as much of Discord's rate limit as a
// message.
package discord
