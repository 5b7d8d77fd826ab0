// Package discord is the sense that reads and hears on Discord.
package discord
