package discord

import (
	"log/slog"

	"earshot/internal/discord/gateway"
	"earshot/internal/field"
)

// NewSession returns the session of the bot in c. Events is called for each event that the gateway
// delivers.
func NewSession(c Config, token field.Secret, log *slog.Logger, events func(any)) *gateway.Session {
	return gateway.New(gateway.Config{Token: token, Intents: Intents(c), Base: c.Base, Events: events, Log: log})
}
