package main

import (
	"context"
	"log/slog"
	"time"

	"earshot/config"
	gateway "earshot/internal/discord"
	"earshot/internal/field"
	outlet "earshot/outlets/discord"
	"earshot/providers/discord"
)

// patienceWithDiscord is how long doctor waits for Discord's answers, in all.
const patienceWithDiscord = 10 * time.Second

// sessionOn returns the session of the bot that cfg names.
func sessionOn(cfg *config.Config, token field.Secret, log *slog.Logger, events func(any)) *gateway.Session {
	return gateway.New(gateway.Config{
		Token: token, Intents: discord.Intents(cfg.Providers.Discord), Base: cfg.Providers.Discord.Base, Events: events, Log: log,
	})
}

// lookAtDiscord looks at what a bot needs, if there is to be one.
func lookAtDiscord(ctx context.Context, cfg *config.Config) []finding {
	if !cfg.Providers.Discord.Enabled {
		return nil
	}
	token, err := cfg.Providers.Discord.Secret()
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, patienceWithDiscord)
		defer cancel()
		err = sessionOn(cfg, token, quietly, nil).Check(ctx)
	}
	return aboutDiscord(err, cfg.Outlets.Discord)
}

// aboutDiscord tells each thing that a check has found.
func aboutDiscord(err error, c outlet.Config) []finding {
	if err == nil {
		return []finding{{Thing: "discord", Works: true, Text: "token, intents and permissions are good; answers " + answers(c)}}
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var findings []finding
	for _, err := range all {
		f := finding{Thing: "discord"}
		f.Text, f.Cure = plainly(err)
		if f.Cure == "" {
			f.Cure = "look whether this machine reaches https://discord.com"
		}
		findings = append(findings, f)
	}
	return findings
}

// answers says how replies come out on Discord.
func answers(c outlet.Config) string {
	switch {
	case c.Text && c.Voice:
		return "in writing and aloud"
	case c.Text:
		return "in writing alone"
	case c.Voice:
		return "aloud alone"
	}
	return "nowhere, since outlets.discord says so"
}
