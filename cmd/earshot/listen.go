package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"earshot/internal/login"
)

// A listenCommand is a key that is held to talk: a desktop begins it when a key goes down,
// and ends it when it goes up.
type listenCommand struct {
	identityFlags
	Seconds float64 `help:"Stop after so many seconds; by default at ^C or at the end of standard input, if that is a pipe or a terminal." placeholder:"N"`
}

// Run holds the key.
func (c listenCommand) Run(a *app) error {
	if !(c.Seconds >= 0 && c.Seconds <= maxHold.Seconds()) {
		return &verdict{misused, fmt.Errorf("--seconds must be from 0 (no limit) to %.0f", maxHold.Seconds())}
	}
	client, _, err := a.reach(c.identityFlags, "")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(a.ctx)
	defer end()
	if c.Seconds > 0 {
		timer := time.AfterFunc(time.Duration(c.Seconds*float64(time.Second)), end)
		defer timer.Stop()
	}
	if ends(a.in) {
		ended, err := closed(ctx, a.in, end)
		if err != nil {
			return err
		}
		defer func() { end(); <-ended }()
	}
	return client.Hold(ctx, func() { fmt.Fprintln(a.err, "I listen.") })
}

// maxHold is the longest that can be asked for: who wants longer has earshot resume.
const maxHold = time.Hour

// ends reports whether the end of what f has means something. The null device, which is what
// desktops give, has ended before it began.
func ends(f *os.File) bool {
	about, err := f.Stat()
	return err == nil && (about.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 || term.IsTerminal(int(f.Fd())))
}

// closed calls end when f has come to its end. Ended is closed when nothing reads it any
// more, soon after ctx ends.
func closed(ctx context.Context, f *os.File, end func()) (ended <-chan struct{}, err error) {
	next, done, err := login.Bytes(ctx, f)
	if err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer done()
		for {
			if _, err := next(); err != nil {
				if errors.Is(err, login.ErrLeft) || errors.Is(err, io.EOF) {
					end()
				}
				return
			}
		}
	}()
	return over, nil
}
