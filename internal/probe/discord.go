package probe

import (
	"context"
	"log/slog"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/internal/discord/gateway"
	outlet "earshot/outlets/discord"
	"earshot/providers/discord"
)

// discordTimeout is how long doctor waits for Discord's answers, in all.
const discordTimeout = 10 * time.Second

// Discord looks at what a bot needs, if there is to be one.
func Discord(ctx context.Context, cfg *config.Config) []api.CheckResult {
	if !cfg.Providers.Discord.Enabled {
		return nil
	}
	token, err := cfg.Providers.Discord.Secret()
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, discordTimeout)
		defer cancel()
		err = discord.NewSession(cfg.Providers.Discord, token, gateway.Shard{}, slog.New(slog.DiscardHandler), nil).Check(ctx)
	}
	return discordFindings(err, cfg.Outlets.Discord)
}

// discordFindings tells each thing that a check has found.
func discordFindings(err error, c outlet.Config) []api.CheckResult {
	if err == nil {
		return []api.CheckResult{{Thing: "discord", Works: true, Text: "token, intents and permissions are in order; answers " + answers(c)}}
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var findings []api.CheckResult
	for _, err := range all {
		f := api.CheckResult{Thing: "discord"}
		f.Text, f.Cure = earshot.Explain(err)
		if f.Cure == "" {
			f.Cure = "check that this machine can reach https://discord.com"
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
		return "in writing only"
	case c.Voice:
		return "aloud alone"
	}
	return "nowhere, as set in outlets.discord"
}
