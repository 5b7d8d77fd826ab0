// Package peers runs other people's Discord clients, so that tests can have a call
// with somebody who knows nothing of this project: discord.js with its own voice and
// its own encryption, in the versions of package-lock.json, none of them changed.
//
// scripts/discord/build installs them, once and outside the tree. Where they are
// missing a test fails, unless EARSHOT_WITHOUT names discord.
//
// A [Peer] is a process: it is told what to do by lines, and answers with lines of
// JSON. What it plays are tagged frames ([Frame]) that pass for Opus, so that whoever
// hears one knows whose it is and that nothing is missing in it, and so that a test
// that searches a wire knows one when it sees it.
package peers
