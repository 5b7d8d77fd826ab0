// Package interaction is slash commands on Discord's side: how they are registered, what somebody
// who gives one wants, and how it is answered. What a command does is not its business.
//
// Commands are registered for each guild, and once for direct messages, wherever Discord's list
// differs from ours. Each is acknowledged within Discord's three seconds and answered to its giver
// alone, as text for a terminal. A question, which is the command /ask or [earshot.OwnWords], is
// shown to everybody instead, and its answer is a reply to the message that shows it.
//
// Answers are sent in the background. If too many are, a command is answered at once with the
// advice to try again.
package interaction
