package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/terminal"
	"earshot/monitor"
	"earshot/monitor/model"
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
	lines := monitor.Lines{Out: a.out, JSON: c.JSON, Live: c.Live, Last: max(0, c.Last), Follow: !c.NoFollow, ASCII: ascii(os.Getenv)}
	if err := c.since(&lines, time.Now()); err != nil {
		return &verdict{misused, err}
	}
	if c.Live && !c.JSON {
		return &verdict{misused, errors.New("--live needs --json")}
	}
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	if c.Plain || c.JSON || !a.screen() {
		return c.lines(a, cfg, lines)
	}
	client, _, err := a.visit(cfg, c.identityFlags, c.Room, a.enterAs("")) // who looks on is not asked
	if err != nil {
		return err
	}
	handle, _ := access.Self()
	return monitor.Run(a.ctx, monitor.Config{
		Daemon: client, Door: client, Handle: handle, Via: local, NewID: store.NewIDs(),
		ASCII: lines.ASCII, In: a.in, Out: a.out.file,
	})
}

// screen reports whether the terminal can show a whole screen.
func (a *app) screen() bool {
	return term.IsTerminal(int(a.in.Fd())) && term.IsTerminal(int(a.out.file.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

// lines writes one line an event.
func (c monitorCommand) lines(a *app, cfg *config.Config, l monitor.Lines) error {
	client, _, err := a.visit(cfg, c.identityFlags, c.Room, a.enterAs(""))
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // who has read enough ends this without a noise
	l.Daemon = client
	ctx, gone := context.WithCancel(a.ctx)
	var watch sync.WaitGroup
	watch.Go(func() { deserted(ctx, a.out.file, gone) })
	err = l.Run(ctx, func(text string) { fmt.Fprintf(a.err, "earshot: %s\n", terminal.Safe(text)) })
	gone()
	watch.Wait()
	return err
}

// deserted calls gone when nobody reads a pipe any more, which a write would only find out
// when there is something to write. It looks once a second.
func deserted(ctx context.Context, f *os.File, gone func()) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		over := false
		err := conn.Control(func(fd uintptr) {
			at := []unix.PollFd{{Fd: int32(fd)}}
			n, err := unix.Poll(at, 0)
			over = err == nil && n > 0 && at[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		})
		if err != nil || over {
			gone()
			return
		}
	}
}

// since reads from when on somebody wants to know.
func (c monitorCommand) since(l *monitor.Lines, now time.Time) error {
	text := strings.TrimSpace(c.Since)
	if text == "" {
		return nil
	}
	if n, ok := strings.CutPrefix(text, "after:"); ok {
		after, err := strconv.ParseInt(n, 10, 64)
		if err != nil || after < 0 {
			return fmt.Errorf("--since %s: after: needs a sequence, a number from 0", participants.OneLine(text))
		}
		if l.After = after; after == 0 {
			l.Since = time.Unix(0, 0)
		}
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		l.Since = now.Add(-d)
		return nil
	}
	at, ok := model.Moment(text, now)
	if !ok {
		return fmt.Errorf("--since %s: not a time; write 10m, 14:05, yesterday 14:05, 2026-11-22 or after:SEQUENCE", participants.OneLine(text))
	}
	l.Since = at
	return nil
}

// ascii reports whether a terminal shows ASCII alone, by the environment.
func ascii(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}
