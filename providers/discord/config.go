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
	// Enabled lets the agent be on Discord. That needs a token.
	Enabled bool `yaml:"enabled"`

	// TokenFile is the absolute path of the file whose first line is the bot's token. Nobody else
	// may be able to read it.
	TokenFile string `yaml:"token_file"`

	// Token is the bot's token if the environment has it, which goes before the file.
	// It cannot be written in the configuration.
	Token field.Secret `yaml:"-"`

	// Guilds, Channels and Users are who and where it takes part, by their numbers at
	// Discord; an empty list is all of them. A thread belongs to its channel.
	Guilds   []string `yaml:"guilds"`
	Channels []string `yaml:"channels"`
	Users    []string `yaml:"users"`

	// Operators are the users who operate this earshot when they write there.
	Operators []string `yaml:"operators"`

	// Bots is what other bots and webhooks are: ignored, or agents.
	Bots string `yaml:"bots"`

	// DirectMessages lets people write to it alone.
	DirectMessages bool `yaml:"direct_messages"`

	// Join is when it comes into a voice channel: never, when somebody gives the command,
	// or also when people are there.
	Join string `yaml:"join"`

	// VoiceChannels are those which it may come into; empty means every one.
	VoiceChannels []string `yaml:"voice_channels"`

	// Announce says, in text and aloud, that it listens, when it comes into a channel.
	Announce bool `yaml:"announce"`

	// EncryptedCalls leaves voice channels that Discord does not encrypt end to end.
	EncryptedCalls bool `yaml:"require_encrypted_calls"`

	// Recognisers is how many people who speak at once are understood at once.
	Recognisers int `yaml:"recognisers"`

	// Base is where Discord's REST interface is, if not at Discord. It is for tests.
	Base string `yaml:"base"`
}

// What other bots are, see [Config.Bots].
const (
	Ignored = "ignore"
	Agents  = "agents"
)

// When it comes into a voice channel, see [Config.Join].
const (
	JoinNever   = "never"
	JoinCommand = "command"
	JoinPeople  = "people"
)

// mostRecognisers is more than a machine of today can run at once.
const mostRecognisers = 16

// DefaultConfig returns the configuration of somebody who wrote none.
func DefaultConfig() Config {
	return Config{Bots: Agents, DirectMessages: true, Join: JoinCommand, Announce: true, EncryptedCalls: true, Recognisers: 2}
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	fault := func(key, format string, args ...any) { faults = append(faults, field.Errorf(key, format, args...)) }
	switch {
	case c.TokenFile != "" && !filepath.IsAbs(c.TokenFile):
		fault("token_file", "is not an absolute path; write the whole path, from the root") // what it is may be the token
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
