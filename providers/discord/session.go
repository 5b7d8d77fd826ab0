package discord

import (
	"log/slog"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/gateway"
	"earshot/internal/field"
)

// NewSession returns the session of the bot in c. Events is called for each event that the gateway
// delivers.
func NewSession(c Config, token field.Secret, log *slog.Logger, events func(any)) *gateway.Session {
	return gateway.New(gateway.Config{Token: token, Intents: Intents(c), Base: c.Base, Events: events, Log: log})
}

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
