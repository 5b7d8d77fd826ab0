package discord

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"earshot/internal/field"
)

// Variable is the environment variable that holds the bot's token.
const Variable = "EARSHOT_DISCORD_TOKEN"

// A TokenError says why there is no token, and what to do. It never quotes what was found.
type TokenError struct {
	What string
	Fix  string
}

func (e *TokenError) Error() string { return e.What + "; " + e.Fix }

// Cure returns what to do about it.
func (e *TokenError) Cure() string { return e.Fix }

// Is says that a restart does not help: a person must act.
func (e *TokenError) Is(target error) bool { return target == errors.ErrUnsupported }

// Secret returns the bot's token, from the environment or from the first line of the file. A file
// that others can read is refused, because anybody with the token can act as the bot. Its error
// is a [*TokenError].
func (c Config) Secret() (field.Secret, error) {
	switch {
	case c.Token != "":
		return c.Token, nil
	case c.TokenFile == "":
		return "", &TokenError{"there is no token", "write it into a file and set providers.discord.token_file to its path, or set " + Variable}
	}
	about, err := os.Stat(c.TokenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &TokenError{fmt.Sprintf("there is no file %q", c.TokenFile), "write the bot's token into it, and: chmod 600 " + c.TokenFile}
	case err == nil && about.Mode().IsRegular() && about.Mode().Perm()&0o077 != 0:
		return "", &TokenError{fmt.Sprintf("others can read the token in %q", c.TokenFile), "chmod 600 " + c.TokenFile}
	}
	var s field.Secret
	if err := s.UnmarshalText([]byte("file:" + c.TokenFile)); err != nil {
		return "", &TokenError{"the token " + err.Error(), "write the bot's token into it, and: chmod 600 " + c.TokenFile}
	}
	return s, nil
}
