package main

import (
	"fmt"
	"os"
	"time"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/helper"
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
	j := replay.Job{Config: a.file}
	j.Account, j.AccountName = access.Self()
	res, err := j.Perform(a.ctx, path, d)
	if a.ctx.Err() != nil {
		return nil, &verdict{failed, nil}
	}
	return res, err
}
