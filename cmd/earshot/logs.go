package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"

	"earshot/config"
	"earshot/internal/logfile"
	"earshot/internal/systemd"
)

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
	from, err := logfile.LastLines(f, c.N)
	if err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	return logfile.Follow(a.ctx, a.out, f, cfg.Log.File, c.Follow)
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
