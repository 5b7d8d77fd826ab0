package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/internal/search"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/participants"
	"earshot/store"
)

type searchCommand struct {
	reading
	Words  []string `arg:"" optional:"" help:"The words to look for; all must occur. tid* matches any word that begins like that, '\"high tide\"' words in sequence."`
	From   []string `help:"Only what was said by somebody of this name; may be repeated." placeholder:"NAME" sep:"none"`
	On     string   `help:"Only one day: 2026-11-20, today, yesterday, monday." placeholder:"DAY"`
	Since  string   `help:"Only since a time: a day as for --on, \"2026-11-20 10:30\", 10:30, or how long ago, such as 3d or 12h." placeholder:"TIME"`
	Before string   `help:"Only before a time, written as for --since." placeholder:"TIME"`
	Number int      `short:"n" default:"20" help:"How many results."`
	JSON   bool     `help:"Print the events as JSON, one per line, each with its passage."`
}

// Run searches what was said.
func (s searchCommand) Run(a *app) error {
	text := s.query()
	if text == "" {
		return &verdict{misused, errors.New("nothing to search for: give words, or --from, --on, --since or --before")}
	}
	q, err := search.Parse(text, time.Now())
	if err != nil {
		return err
	}
	return a.read(s.reading, func(r searcher, name func(earshot.ParticipantID) string) error {
		events, err := r.Search(a.ctx, q, max(1, s.Number))
		if err != nil {
			return err
		}
		return a.passages(r, q, events, s.JSON, name, "Nothing was found.")
	})
}

// query returns what is looked for, with the flags as they are typed before a colon.
func (s searchCommand) query() string {
	all := []string{strings.Join(s.Words, " ")}
	add := func(option, value string) {
		if value != "" {
			all = append(all, option+`:"`+strings.ReplaceAll(value, `"`, " ")+`"`)
		}
	}
	for _, name := range s.From {
		add("from", name)
	}
	add("on", s.On)
	add("since", s.Since)
	add("before", s.Before)
	return strings.Join(all, " ")
}

// passages prints what was found, the newest first: of each event the words around what was
// looked for.
func (a *app) passages(r transcript.Source, q search.Query, events []earshot.Event, asJSON bool, name func(earshot.ParticipantID) string, none string) error {
	known, answered, err := a.later(r, events, none)
	if err != nil {
		return err
	}
	bold := a.out.tty && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
	for _, e := range events {
		p := q.Passage(string(search.TextOf(e)))
		if asJSON {
			err = transcript.FoundEvent{Event: e, Passage: p}.Encode(a.out)
		} else {
			var line bytes.Buffer
			e = answered.Mark(known.Mark(transcript.Shorten(e, p), name), name)
			transcript.Print(terminal.FoldTo(&line, a.out.file), e, name)
			_, err = io.WriteString(a.out, transcript.Highlight(line.String(), bold))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A journalPast is what has happened as the journal on this machine has it.
type journalPast struct {
	*store.Reader
	people *participants.Registry
	me     earshot.ParticipantID
}

// Search implements [searcher].
func (p journalPast) Search(ctx context.Context, q search.Query, n int) ([]earshot.Event, error) {
	from, err := access.Identities(p.people, p.me, q.From)
	if err != nil {
		return nil, &verdict{notFound, err}
	}
	return p.Match(ctx, q, from, 0, n)
}
