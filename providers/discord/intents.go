package discord

import "github.com/bwmarrin/discordgo"

// Intents are what a session must request. Discord shows a bot no members and no message contents
// unless its owner has switched that on.
func Intents(cfg Config) discordgo.Intent {
	in := discordgo.IntentGuilds | discordgo.IntentGuildMembers | discordgo.IntentGuildVoiceStates |
		discordgo.IntentGuildMessages | discordgo.IntentGuildMessageTyping | discordgo.IntentMessageContent
	if cfg.DirectMessages {
		in |= discordgo.IntentDirectMessages | discordgo.IntentDirectMessageTyping
	}
	return in
}
