package discord

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"earshot/internal/discord/gateway"
	"earshot/internal/field"
)

// Variable is the environment variable that holds the bot's token.
const Variable = "EARSHOT_DISCORD_TOKEN"

// Secret returns the bot's token, from the environment or from the first line of the file. A file
// that others can read is refused, because anybody with the token can act as the bot. Its error is a
// [*gateway.Fault], which never quotes what was found.
func (c Config) Secret() (field.Secret, error) {
	switch {
	case c.Token != "":
		return c.Token, nil
	case c.TokenFile == "":
		return "", &gateway.Fault{What: "there is no token", Fix: "write it into a file and set providers.discord.token_file to its path, or set " + Variable}
	}
	about, err := os.Stat(c.TokenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &gateway.Fault{What: fmt.Sprintf("there is no file %q", c.TokenFile), Fix: "write the bot's token into it, and: chmod 600 " + c.TokenFile}
	case err == nil && about.Mode().IsRegular() && about.Mode().Perm()&0o077 != 0:
		return "", &gateway.Fault{What: fmt.Sprintf("others can read the token in %q", c.TokenFile), Fix: "chmod 600 " + c.TokenFile}
	}
	var s field.Secret
	if err := s.UnmarshalText([]byte("file:" + c.TokenFile)); err != nil {
		return "", &gateway.Fault{What: "the token " + err.Error(), Fix: "write the bot's token into it, and: chmod 600 " + c.TokenFile}
	}
	return s, nil
}
