// Package console is the input of a terminal: it turns what is typed into events. It is the same
// in the daemon and in a client that is attached to it.
//
// Keys do not wait for the room. Their events wait in a queue, in order, for a room that waits for
// its disk:
//
//   - messages and commands: [unsent] bytes; beyond that no key is read until
//     the room has taken some;
//   - what is only of use at once, that somebody types or says stop: where
//     [fleeting] of that wait in sequence, one more takes the place of its like.
//
// What the room did not accept is reported, and put back into the line.
//
// Lines that come faster than anybody types are one message, whether or not the terminal marks a
// paste. In an unmarked paste, a command is given by itself; a paste longer than a message may be
// is refused as a whole.
//
// Tab completes commands and names, and ^R searches what was sent: what the person may know now,
// from all sessions, and nothing that was private or off the record.
//
// If the input is not a person typing, each line that is read is a question, and the next is read
// when the answer to the last has been shown.
package console

import (
	"context"
	"time"

	"earshot"
	"earshot/internal/terminal"
	"earshot/providers"
)

// Config describes the person who types. Every field must be set unless its comment says
// otherwise.
type Config struct {
	Handle earshot.Handle         // the person at the terminal
	Via    string                 // the outlet beside this provider
	NewID  func() earshot.EventID // gives each question an ID, by which its answer is recognised
	Whole  bool                   // all input from a pipe is one message; may be false
	Known  Known                  // what can be written here; may be nil
}

// Known returns what the person at a terminal may know that helps them to write. Its methods may
// wait for a daemon, and may be called from many goroutines.
type Known interface {
	// Words returns the commands that they may give, without the slash, and the names that they may
	// mention.
	Words(ctx context.Context) (commands, names []string, err error)

	// Sent returns the messages that they have sent here, in public and on the record, the
	// newest last.
	Sent(ctx context.Context) ([]string, error)
}

// A Console is the provider for one terminal.
type Console struct {
	cfg  Config
	term *terminal.Terminal
}

// New returns the provider on t, which still belongs to the caller. It panics if cfg has no NewID.
func New(cfg Config, t *terminal.Terminal) *Console {
	if cfg.NewID == nil {
		panic("providers/console: no NewID")
	}
	return &Console{cfg: cfg, term: t}
}

// Name implements [providers.Provider].
func (c *Console) Name() string { return "console" }

// Run implements [providers.Provider]. It ends by itself when the person leaves or the input
// ends.
func (c *Console) Run(ctx context.Context, emit providers.Emit) error {
	if c.term.ByKeys() {
		return c.keys(ctx, emit)
	}
	return c.lines(ctx, emit)
}

// event makes an event of body.
func (c *Console) event(body earshot.Body) earshot.Event {
	return earshot.Event{
		ID:   c.cfg.NewID(),
		At:   time.Now(),
		From: c.cfg.Handle,
		Via:  c.cfg.Via,
		Body: body,
	}
}
