package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"time"

	"earshot/config"
	"earshot/internal/logfile"
	"earshot/internal/systemd"
	"earshot/internal/terminal"
)

// poll is how often a log that is followed is looked at: as often as somebody who reads
// it would notice.
const poll = 250 * time.Millisecond

type serviceLogs struct {
	N       int  `short:"n" default:"50" help:"How many lines."`
	Follow  bool `short:"f" help:"Follow: print lines as they are added."`
	Manager bool `help:"Show systemd's log (starts, stops, crashes) instead of earshot's own."`
}

// Run shows the log of earshot, or what systemd has of it. What people say is in neither.
func (c serviceLogs) Run(a *app) error {
	cfg, err := a.asking("log.file")
	if err != nil {
		return err
	}
	if c.N < 0 {
		return &verdict{misused, errors.New("-n must be a number of lines, 0 or more")}
	}
	if c.Manager || cfg.Log.File == "-" {
		return c.journal(a)
	}
	f, err := logfile.OpenFile(cfg.Log.File, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return &verdict{notFound, fmt.Errorf("there is no log yet; it will be %s", config.ShortPath(cfg.Log.File))}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	from, err := lastLines(f, c.N)
	if err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	return c.copy(a, f, cfg.Log.File)
}

// copy prints what f holds, and what is added to it until the program is to end. Where
// another file has taken its place, that is gone on with.
func (c serviceLogs) copy(a *app, f *os.File, path string) error {
	lines := bufio.NewReader(f)
	rest := ""
	var next *os.File // which has taken the place of f
	for {
		line, err := lines.ReadString('\n')
		rest += line
		if err == nil || !c.Follow && rest != "" {
			if _, err := fmt.Fprintln(a.out, terminal.Safe(trimNewline(rest))); err != nil {
				return err
			}
			rest = ""
		}
		switch {
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			return fmt.Errorf("reading the log: %w", err)
		case !c.Follow:
			return nil
		case next != nil: // and f is read to its end
			f.Close()
			defer next.Close()
			f, next, rest = next, nil, ""
			lines.Reset(f)
			continue
		}
		select {
		case <-a.ctx.Done():
			return nil
		case <-time.After(poll):
		}
		next = replaced(f, path)
	}
}

// replaced opens the file that has taken the place of f; it is nil if none has. One that was
// made shorter is read from its beginning.
func replaced(f *os.File, path string) *os.File {
	is, err := f.Stat()
	if err != nil {
		return nil
	}
	now, err := os.Stat(path)
	at, seek := f.Seek(0, io.SeekCurrent)
	if err != nil || seek != nil || os.SameFile(is, now) && now.Size() >= at {
		return nil
	}
	next, err := logfile.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	return next
}

func trimNewline(line string) string {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

// lastLines returns where the last n lines of f begin. It reads backwards, since a log
// may be long.
func lastLines(f *os.File, n int) (int64, error) {
	about, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := about.Size()
	if n == 0 {
		return end, nil
	}
	block := make([]byte, 64<<10)
	for at := end; at > 0; {
		size := min(at, int64(len(block)))
		at -= size
		if _, err := f.ReadAt(block[:size], at); err != nil {
			return 0, err
		}
		for i := size - 1; i >= 0; i-- {
			if block[i] != '\n' || at+i == end-1 { // which ends the last line
				continue
			}
			if n--; n == 0 {
				return at + i + 1, nil
			}
		}
	}
	return 0, nil
}

// journal shows what systemd has of the service.
func (c serviceLogs) journal(a *app) error {
	program, err := exec.LookPath("journalctl")
	if err != nil {
		return &systemd.UnavailableError{Why: "journalctl is not installed here"}
	}
	args := []string{"--user", "--no-pager", "--unit=" + systemd.UnitName, "--lines=" + strconv.Itoa(c.N)}
	if c.Follow {
		args = append(args, "--follow")
	}
	show := exec.CommandContext(a.ctx, program, args...)
	show.Stdout, show.Stderr = a.out.file, a.err
	if err := show.Run(); err != nil && a.ctx.Err() == nil {
		return fmt.Errorf("journalctl: %w", err)
	}
	return nil
}
