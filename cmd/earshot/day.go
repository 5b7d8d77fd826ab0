package main

import (
	"bufio"
	"bytes"
	"cmp"
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
	"earshot/internal/english"
	"earshot/internal/helper"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
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
	from, to, err := dayCalled(p.Day, time.Now())
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
		return &verdict{notFound, fmt.Errorf("the journal has nothing of %s%s", nameOf(from), where)}
	}
	res, err := a.rerun(d)
	if err != nil {
		return err
	}
	if asJSON {
		err = a.json(res)
	} else {
		err = tellDay(a.out, res, d, from)
	}
	if err == nil && len(res.Differences) > 0 {
		return &verdict{different, nil}
	}
	return err
}

// everything is what one calls the whole of a journal.
const everything = "all"

// dayCalled returns when a day begins and ends, where earshot is.
func dayCalled(text string, now time.Time) (from, to time.Time, err error) {
	from = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch strings.ToLower(text) {
	case everything:
		return time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), nil
	case "today":
	case "yesterday":
		from = from.AddDate(0, 0, -1)
	default:
		day, err := time.ParseInLocation(time.DateOnly, text, now.Location())
		if err != nil {
			return from, to, fmt.Errorf("%s is not a day; write it as %s, today, yesterday, or all", participants.OneLine(text), from.Format(time.DateOnly))
		}
		from = day
	}
	return from, from.AddDate(0, 0, 1), nil
}

// nameOf returns what a day is called that begins then.
func nameOf(from time.Time) string {
	if from.IsZero() {
		return "all time"
	}
	return from.Format("Monday, 2 January 2006")
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
		case isJournal(p.Journal):
			return &verdict{misused, fmt.Errorf("%s is a database\n  → give the folder that holds it as earshot.db, or an export: earshot export FILE", config.ShortPath(p.Journal))}
		default:
			return readExport(p.Journal, d)
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

// isJournal reports whether a file is one of SQLite, which is given as its folder.
func isJournal(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 15)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "SQLite format 3"
}

// longestEvent is the longest line of an export in bytes: several of what an event may be.
const longestEvent = 16 << 20

// readExport reads events, each a line of JSON; what is no event among them is passed over,
// if it has no kind.
func readExport(path string, d *replay.Day) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestEvent)
	for n := 1; lines.Scan(); n++ {
		var is struct {
			Kind earshot.Kind `json:"kind"`
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || json.Unmarshal(line, &is) == nil && is.Kind == "" {
			continue // a heading
		}
		var e earshot.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s, line %d: not an event that this earshot knows: %w", config.ShortPath(path), n, err)
		}
		if more, err := d.Add(e); err != nil || !more {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", config.ShortPath(path), err)
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

// tellDay tells people what is different.
func tellDay(w io.Writer, res *replay.Result, d *replay.Day, from time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s; ", capital(nameOf(from)), english.Count(res.Events, "event"), english.Count(res.Decisions, "decision"))
	switch n := len(res.Differences); {
	case n == 0:
		b.WriteString("all would be decided the same now.\n")
	default:
		fmt.Fprintf(&b, "%d would be decided the same now; %s.\n", res.Same, english.Count(n, "difference"))
	}
	words := make(map[earshot.EventID]earshot.Event)
	for _, e := range d.Events {
		words[e.ID] = e
	}
	for _, is := range res.Differences {
		tellDifference(&b, is, words[is.About])
	}
	for _, note := range []struct {
		n    int
		what string
	}{
		{res.Erased, "Forgotten since, and left out"}, {res.Revised, "Changed later, and replayed as it is now"},
		{res.Refused, "Would be refused now"},
	} {
		if note.n > 0 {
			fmt.Fprintf(&b, "%s: %s.\n", note.what, english.Count(note.n, "event"))
		}
	}
	_, err := io.WriteString(w, terminal.Safe(b.String()))
	return err
}

func tellDifference(b *strings.Builder, is replay.Difference, about earshot.Event) {
	at := is.Then
	if at == nil {
		at = is.Now
	}
	fmt.Fprintf(b, "\n%s  %s", at.At.Local().Format("15:04:05"), string(is.Room))
	switch body := about.Body.(type) {
	case earshot.Message:
		fmt.Fprintf(b, "  %s: %s", is.By, transcript.Excerpt(body.Whole()))
	case earshot.Utterance:
		fmt.Fprintf(b, "  %s: %s", cmp.Or(is.By, "somebody"), transcript.Excerpt(body.Text))
	case earshot.Sight:
		fmt.Fprintf(b, "  %s: %s", body.Camera, transcript.Excerpt(body.Words()))
	case earshot.Reply:
		fmt.Fprintf(b, "  %s: %s", is.By, transcript.Excerpt(body.Delivered()))
	case earshot.Reminder:
		fmt.Fprintf(b, "  to be reminded: %s", transcript.Excerpt(body.Text))
	case earshot.Finding:
		fmt.Fprintf(b, "  found: %s", transcript.Excerpt(body.Text))
	}
	if is.Revised {
		b.WriteString("  (changed since)")
	}
	fmt.Fprintf(b, "\n  then  %s\n  now   %s\n", decidedSo(is, is.Then), decidedSo(is, is.Now))
}

// capital returns text with a capital letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func decidedSo(is replay.Difference, e *earshot.Event) string {
	if e == nil {
		return "no decision"
	}
	d := e.Body.(earshot.Decision)
	text := fmt.Sprintf("%s (%s): %s", string(d.Verdict), is.Name, strings.Join(d.Reasons, "; "))
	if is.What == replay.Order {
		text += e.At.Local().Format("  at 15:04:05.000")
	}
	return text
}
