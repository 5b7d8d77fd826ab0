// Package peers runs other people's Discord clients, so that tests can have a call with clients
// that know nothing of this project: discord.js with its own voice and its own encryption, in the
// versions of package-lock.json, none of them changed.
//
// scripts/discord/build installs them, once and outside the tree. If they are missing, a test
// fails, unless EARSHOT_WITHOUT names discord.
//
// A [Peer] is a process: it receives commands as lines, and answers with lines of JSON. It plays
// tagged frames ([Frame]) in place of Opus, so that a listener knows whose frame it is and that
// nothing is missing, and a test that searches the traffic recognises one.
package peers
