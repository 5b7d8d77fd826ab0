package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/config"
)

// TestTokenOfABot: the token comes from the environment or from a file for its owner
// alone; a bot without one is a fault with its cure, and nothing ever shows it.
func TestTokenOfABot(t *testing.T) {
	const canary = "canary.of.a-token"
	write := func(text string, mode os.FileMode) string {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	mine, open, none := write(canary+"\n", 0o600), write(canary+"\n", 0o644), write("\n", 0o600)
	for _, tt := range []struct {
		name, file string
		environ    []string
		parse, err string // what a fault has in it
	}{
		{name: "a file", file: mine},
		{name: "the environment", environ: []string{"EARSHOT_DISCORD_TOKEN= " + canary + " "}},
		{name: "both", file: open, environ: []string{"EARSHOT_DISCORD_TOKEN=" + canary}},
		{name: "neither", parse: "providers.discord.token_file: is empty, and EARSHOT_DISCORD_TOKEN is not set"},
		{name: "an empty variable", environ: []string{"EARSHOT_DISCORD_TOKEN="}, parse: "is empty"},
		{name: "not the whole path", file: "token", parse: "is not an absolute path"},
		{name: "no such file", file: "/no/such", err: `there is no file "/no/such"; write`},
		{name: "open to others", file: open, err: "; chmod 600 " + open},
		{name: "an empty file", file: none, err: "whose first line is empty; write"},
		{name: "a folder", file: t.TempDir(), err: "which is not a file; write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "providers: {discord: {enabled: true, token_file: '" + tt.file + "'}}\n"
			c, err := config.Parse("earshot.yaml", []byte(text), tt.environ)
			if tt.parse != "" {
				if err == nil || !strings.Contains(err.Error(), tt.parse) {
					t.Errorf("the fault is %v, without %q", err, tt.parse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := c.Providers.Discord.Secret()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("the fault is %v, without %q", err, tt.err)
				}
			} else if err != nil || s.Reveal() != canary {
				t.Errorf("the token was not found: %v", err)
			}
			if all := fmt.Sprintf("%v %+v %#v %v", *c, *c, *c, err); strings.Contains(all, canary) {
				t.Error("the token shows")
			}
		})
	}
}

// TestTokenInTheFile: a token that stands in the configuration itself is no key.
func TestTokenInTheFile(t *testing.T) {
	_, err := config.Parse("earshot.yaml", []byte("providers: {discord: {token: canary}}\n"), nil)
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "token_file") {
		t.Errorf("the fault is %v", err)
	}
}

// TestDiscordFaults: everything that is wrong is said at once, by its key.
func TestDiscordFaults(t *testing.T) {
	_, err := config.Parse("earshot.yaml", []byte(`providers:
  discord:
    guilds: [general]
    channels: ["123456789012345678", "123456789012345678"]
    operators: ["12"]
    bots: friends
    join: always
    recognisers: 0
    base: http://example.org/
outlets:
  discord: {voice_name: "", speed: 9}
`), nil)
	for _, want := range []string{
		`providers.discord.guilds[0]: is "general"; must be a number of 17 to 20 digits`, "Copy ID",
		"providers.discord.channels[1]: is listed already", "providers.discord.operators[0]",
		`providers.discord.bots: is "friends"; must be one of ignore, agents`,
		`providers.discord.join: is "always"; must be one of never, command, people`,
		"providers.discord.recognisers: is 0", "providers.discord.base",
		"outlets.discord.voice_name", "outlets.discord.speed",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}
