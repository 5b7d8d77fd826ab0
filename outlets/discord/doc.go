// Package discord is where a reply comes out on Discord: written in a channel, or said
// in a call.
package discord
