package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/internal/field"
	"earshot/server/client"
)

// elsewhere says where the earshot is that a command asks, where that is not at the socket.
type elsewhere struct {
	API       string `name:"api" help:"Use the earshot that listens there (server.listen), such as http://127.0.0.1:8765; a port that ssh forwards works too." placeholder:"URL"`
	TokenFile string `help:"File with your token; without it, EARSHOT_TOKEN is used." placeholder:"FILE" type:"path"`
}

// reaching are the commands that ask an earshot, wherever it is. The others look at what
// is on this machine.
var reaching = []string{"agents", "chat", "cluster", "context", "cron", "forget", "history", "listen", "memory", "monitor", "mute", "pause", "reload", "resume", "say", "search", "see", "speakers", "status", "stop", "tasks", "think", "unmute", "who", "why"}

// fits reports why a command cannot be told to ask elsewhere.
func (w elsewhere) fits(command string) error {
	first, _, _ := strings.Cut(command, " ")
	if w.API == "" || slices.Contains(reaching, first) {
		return nil
	}
	return &verdict{misused, fmt.Errorf("earshot %s works on this machine only and takes no --api; these commands do: %s", first, strings.Join(reaching, ", "))}
}

// secretBytes is the longest file with a token that is read.
const secretBytes = 4 << 10

// secret returns the token that somebody has at hand: that of the file they named, or of the
// environment; empty if there is none.
func (a *app) secret() (field.Secret, error) {
	if a.TokenFile == "" {
		return field.Secret(os.Getenv("EARSHOT_TOKEN")), nil
	}
	f, err := os.Open(a.TokenFile)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if about.Mode().Perm()&0o077 != 0 && about.Mode().IsRegular() { // a pipe is nobody else's
		return "", fmt.Errorf("others can read the token in %s\n  → chmod 600 %[1]s, and create a new token: earshot token create NAME", config.ShortPath(a.TokenFile))
	}
	text, err := io.ReadAll(io.LimitReader(f, secretBytes))
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("there is no token in %s", config.ShortPath(a.TokenFile))
	}
	return field.Secret(line), nil
}

// visitAway comes to an earshot at a port, as whoever the token is of.
func (a *app) visitAway(i identityFlags, room earshot.RoomID) (*client.Client, api.Status, error) {
	secret, err := a.secret()
	if err == nil && secret == "" {
		secret, err = a.typedSecret(a.ctx, "The token: ")
	}
	if err != nil {
		return nil, api.Status{}, err
	}
	c := &client.Client{URL: a.API, Room: room, Token: secret}
	if i.Identity != lastIdentity {
		c.Identity = i.Identity
	}
	s, err := state(a.ctx, c)
	return c, s, a.unreached(err)
}

// unreached returns err, or that nothing listens where an earshot was asked at a port.
func (a *app) unreached(err error) error {
	if a.API == "" || !errors.Is(err, client.ErrNotRunning) { // which would be of the one on this machine
		return err
	}
	return &verdict{notRunning, fmt.Errorf("nothing listens at %s\n  → set server.listen where earshot runs, and check there: earshot status", a.API)}
}
