package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"earshot"
	"earshot/daemon/access"
	"earshot/daemon/console"
	"earshot/internal/terminal"
	"earshot/monitor"
	"earshot/participants"
	"earshot/store"
)

type monitorCommand struct {
	identityFlags
	Room     earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	Plain    bool           `help:"One line per event, for pipes and screen readers."`
	JSON     bool           `help:"The events as JSON, one per line."`
	Live     bool           `help:"With --json: also the state of the room, whenever it changes."`
	Since    string         `help:"With --plain or --json: start at a time, such as 10m, 14:05, 2026-11-22 or after:SEQUENCE." placeholder:"WHEN"`
	Last     int            `short:"n" default:"10" help:"With --plain or --json: how many of the newest events to begin with."`
	NoFollow bool           `help:"With --plain or --json: stop after the past events."`
}

// Run shows what goes on, and why.
func (c monitorCommand) Run(a *app) error {
	lines := monitor.Lines{Out: a.out, JSON: c.JSON, Live: c.Live, Last: max(0, c.Last), Follow: !c.NoFollow, ASCII: terminal.ASCII(os.Getenv)}
	if err := lines.Start(c.Since, time.Now()); err != nil {
		return &verdict{misused, fmt.Errorf("--since %s: %w", participants.OneLine(strings.TrimSpace(c.Since)), err)}
	}
	if c.Live && !c.JSON {
		return &verdict{misused, errors.New("--live needs --json")}
	}
	client, _, err := a.reach(c.identityFlags, c.Room) // who looks on is not asked
	if err != nil {
		return err
	}
	if lines.Daemon = client; c.Plain || c.JSON || !a.screen() {
		return a.follow(lines)
	}
	handle, _ := access.Self()
	return monitor.Run(a.ctx, monitor.Config{
		Daemon: client, Door: client, Handle: handle, Via: console.Name, NewID: store.NewIDs(),
		ASCII: lines.ASCII, In: a.in, Out: a.out.file,
	})
}

// screen reports whether the terminal can show a whole screen.
func (a *app) screen() bool {
	return term.IsTerminal(int(a.in.Fd())) && term.IsTerminal(int(a.out.file.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

// follow writes one line an event.
func (a *app) follow(l monitor.Lines) error {
	signal.Ignore(syscall.SIGPIPE) // who has read enough ends this without a noise
	ctx, gone := context.WithCancel(a.ctx)
	var watch sync.WaitGroup
	watch.Go(func() { terminal.WatchReader(ctx, a.out.file, gone) })
	err := l.Run(ctx, func(text string) { fmt.Fprintf(a.err, "earshot: %s\n", terminal.Safe(text)) })
	gone()
	watch.Wait()
	return err
}
