package discord

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"earshot/internal/field"
)

// Config is the section providers.discord of the configuration. The zero value is
// off; start from [DefaultConfig].
type Config struct {
	// Enabled turns Discord on. That needs a token.
	Enabled bool `yaml:"enabled"`

	// TokenFile is the absolute path of the file whose first line is the bot's token. No other user
	// may be able to read it.
	TokenFile string `yaml:"token_file"`

	// Token is the bot's token from the environment, which takes precedence over the file. It
	// cannot be written in the configuration.
	Token field.Secret `yaml:"-"`

	// Guilds, Channels and Users are where and with whom the bot takes part, by their numbers at
	// Discord; an empty list means all. A thread belongs to its channel.
	Guilds   []string `yaml:"guilds"`
	Channels []string `yaml:"channels"`
	Users    []string `yaml:"users"`

	// Operators are the users who may operate this earshot through Discord.
	Operators []string `yaml:"operators"`

	// Bots says how other bots and webhooks are treated: ignored, or as agents.
	Bots string `yaml:"bots"`

	// DirectMessages lets people write to it alone.
	DirectMessages bool `yaml:"direct_messages"`

	// Join is when the bot joins a voice channel: never, on command, or also when people are there.
	Join string `yaml:"join"`

	// VoiceChannels are those that it may join; empty means all.
	VoiceChannels []string `yaml:"voice_channels"`

	// Announce says, in text and aloud, that the bot listens, when it joins a channel.
	Announce bool `yaml:"announce"`

	// EncryptedCalls makes it leave voice channels that Discord does not encrypt end to end.
	EncryptedCalls bool `yaml:"require_encrypted_calls"`

	// Recognisers is how many people can be recognised while they speak at the same time.
	Recognisers int `yaml:"recognisers"`

	// Base is the address of Discord's REST interface, if not the real one. It is for tests.
	Base string `yaml:"base"`
}

// The treatment of other bots, see [Config.Bots].
const (
	Ignored = "ignore"
	Agents  = "agents"
)

// When to join a voice channel, see [Config.Join].
const (
	JoinNever   = "never"
	JoinCommand = "command"
	JoinPeople  = "people"
)

// mostRecognisers is more than a current machine can run at once.
const mostRecognisers = 16

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config {
	return Config{Bots: Agents, DirectMessages: true, Join: JoinCommand, Announce: true, EncryptedCalls: true, Recognisers: 2}
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	fault := func(key, format string, args ...any) { faults = append(faults, field.Errorf(key, format, args...)) }
	switch {
	case c.TokenFile != "" && !filepath.IsAbs(c.TokenFile):
		fault("token_file", "is not an absolute path; write the whole path, from the root") // it may be the token itself
	case c.Enabled && c.TokenFile == "" && c.Token == "":
		fault("token_file", "is empty, and %s is not set; write the bot's token into a file that only you can read, and name it here (docs/discord.md)", Variable)
	}
	for _, list := range []struct {
		key string
		ids []string
	}{
		{"guilds", c.Guilds}, {"channels", c.Channels}, {"users", c.Users}, {"operators", c.Operators}, {"voice_channels", c.VoiceChannels},
	} {
		for i, id := range list.ids {
			key := fmt.Sprintf("%s[%d]", list.key, i)
			switch {
			case !isNumber(id):
				fault(key, "is %q; must be a number of 17 to 20 digits: in Discord switch on Settings, Advanced, Developer Mode, then choose Copy ID in its menu", id)
			case slices.Index(list.ids, id) < i:
				fault(key, "is listed already")
			}
		}
	}
	oneOf := func(key, value string, of ...string) {
		if !slices.Contains(of, value) {
			fault(key, "is %q; must be one of %s", value, strings.Join(of, ", "))
		}
	}
	oneOf("bots", c.Bots, Ignored, Agents)
	oneOf("join", c.Join, JoinNever, JoinCommand, JoinPeople)
	if c.Recognisers < 1 || c.Recognisers > mostRecognisers {
		fault("recognisers", "is %d; must be from 1 to %d", c.Recognisers, mostRecognisers)
	}
	if c.Base != "" && !strings.HasPrefix(c.Base, "https://") && !strings.HasPrefix(c.Base, "http://127.0.0.1:") {
		fault("base", "is %q; must begin with https://, or be on this machine, because the token is sent there", c.Base)
	}
	return errors.Join(faults...)
}

// isNumber reports whether s has the form of Discord's numbers.
func isNumber(s string) bool {
	return len(s) >= 17 && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}
