package discord

import "github.com/bwmarrin/discordgo"

// Intents are what a session must ask for, so that the sense is told what it needs. One
// of them, the content of messages, has to be switched on for the bot.
const Intents = discordgo.IntentGuilds | discordgo.IntentGuildVoiceStates |
	discordgo.IntentGuildMessages | discordgo.IntentGuildMessageTyping | discordgo.IntentMessageContent |
	discordgo.IntentDirectMessages | discordgo.IntentDirectMessageTyping
