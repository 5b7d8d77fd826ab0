package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/helper"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/replay"
)

// dayHelper is the program that performs a day.
const dayHelper = "earshot-replay"

// A past is which day is performed again.
type past struct {
	Day     string         `placeholder:"DATE" help:"Replay a day from the journal, such as 2026-11-22, yesterday or all, and show what would be decided differently now."`
	Room    earshot.RoomID `placeholder:"ROOM" help:"With --day: this room only."`
	Journal string         `placeholder:"PLACE" type:"path" help:"With --day: the journal in this folder, or an export."`
}

// again performs a day and tells of the differences. It reads the journal beside a daemon
// that runs, and writes nothing.
func (p past) again(a *app, asJSON bool) error {
	from, to, err := replay.ParseDay(p.Day, time.Now())
	if err != nil {
		return &verdict{misused, err}
	}
	d := replay.Between(from, to, p.Room)
	if err := p.read(a, d); err != nil {
		return err
	}
	if d.Close(); d.Empty() {
		where := ""
		if p.Room != "" {
			where = " in the room " + participants.OneLine(string(p.Room))
		}
		return &verdict{notFound, fmt.Errorf("the journal has nothing of %s%s", replay.DayName(from), where)}
	}
	res, err := a.rerun(d)
	if err != nil {
		return err
	}
	if asJSON {
		err = a.json(res)
	} else {
		err = replay.PrintResult(a.out, res, d, from)
	}
	if err == nil && len(res.Differences) > 0 {
		return &verdict{different, nil}
	}
	return err
}

// read reads the day: from the journal of the configuration, or another, or an export.
func (p past) read(a *app, d *replay.Day) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if p.Journal != "" {
		about, err := os.Stat(p.Journal)
		if err != nil {
			return &verdict{notFound, err}
		}
		switch {
		case !about.Mode().IsRegular():
		case replay.IsDatabase(p.Journal):
			return &verdict{misused, fmt.Errorf("%s is a database\n  → give the folder that holds it as earshot.db, or an export: earshot export FILE", config.ShortPath(p.Journal))}
		default:
			return replay.ReadExport(p.Journal, d)
		}
		cfg.Store.Directory = p.Journal
	}
	archive, err := a.archive(cfg)
	if err != nil {
		return err
	}
	defer archive.Close()
	for e, err := range archive.Export(a.ctx) {
		if err != nil {
			return err
		}
		if more, err := d.Add(e); err != nil || !more {
			return err
		}
	}
	return nil
}

// rerun has the helper perform a day.
func (a *app) rerun(d *replay.Day) (*replay.Result, error) {
	path, err := helper.Find(dayHelper)
	if err != nil {
		return nil, err
	}
	var j replay.Job
	j.Config = a.file
	j.Account, j.AccountName = access.Self()
	in, out := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := j.Send(out, d)
		out.CloseWithError(err)
		sent <- err
	}()
	var result, trouble bytes.Buffer
	c := exec.CommandContext(a.ctx, path)
	c.Stdin, c.Stdout, c.Stderr = in, &result, &trouble
	err = c.Run()
	in.Close()
	<-sent
	switch {
	case a.ctx.Err() != nil:
		return nil, &verdict{failed, nil}
	case err != nil:
		return nil, fmt.Errorf("that day could not be replayed: %s", wentWrong(trouble.String(), err))
	}
	res := new(replay.Result)
	if err := json.Unmarshal(result.Bytes(), res); err != nil {
		return nil, fmt.Errorf("the result of the replay cannot be read; is %s of another version? %w", config.ShortPath(path), err)
	}
	return res, nil
}

// wentWrong returns the first line of what a helper said before it ended.
func wentWrong(said string, err error) string {
	if line, _, _ := strings.Cut(strings.TrimSpace(said), "\n"); line != "" {
		return terminal.Safe(line)
	}
	return err.Error()
}
