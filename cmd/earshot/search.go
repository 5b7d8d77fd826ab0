package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/internal/search"
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
func (a *app) passages(r historySource, q search.Query, events []earshot.Event, asJSON bool, name func(earshot.ParticipantID) string, none string) error {
	if len(events) == 0 {
		return &verdict{notFound, errors.New(none)}
	}
	known, err := transcript.ReadAttributions(a.ctx, r)
	if err != nil {
		return err
	}
	answered, err := cited(a.ctx, r, events)
	if err != nil {
		return err
	}
	bold := a.out.tty && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
	for _, e := range events {
		p := q.Passage(string(search.TextOf(e)))
		if asJSON {
			err = foundEvent{e, p}.encode(a.out)
		} else {
			var line bytes.Buffer
			e = answered.mark(known.Mark(shortened(e, p), name), name)
			printLine(pageOn(&line, a.out.file), e, name)
			_, err = io.WriteString(a.out, lit(line.String(), bold))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A foundEvent has its passage beside it.
type foundEvent struct {
	event   earshot.Event
	passage api.SearchPassage
}

// encode writes it as JSON, as one line: the event, with one field more.
func (f foundEvent) encode(w io.Writer) error {
	event, err := json.Marshal(f.event)
	if err != nil {
		return err
	}
	passage, err := json.Marshal(f.passage)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s,\"passage\":%s}\n", bytes.TrimSuffix(event, []byte("}")), passage)
	return err
}

// What stands around what was looked for, until it is printed. They are of nobody's text: the
// ends of a passage are cut of all that is unfit, and a terminal shows neither.
const (
	litBegin = "\ue0f0\ue0f1"
	litEnd   = "\ue0f1\ue0f0"
)

// longestUnheard is how many letters are shown of what was not heard.
const longestUnheard = 60

// shortened returns an event that says no more than a passage, with what was looked for between
// marks, and of a reply how much of it was heard.
func shortened(e earshot.Event, p api.SearchPassage) earshot.Event {
	var b strings.Builder
	at := 0
	plain := func(text string) string { return strings.NewReplacer("\ue0f0", "", "\ue0f1", "").Replace(text) }
	for _, h := range p.Hits {
		b.WriteString(plain(p.Text[at:h.Start]) + litBegin + plain(p.Text[h.Start:h.End]) + litEnd)
		at = h.End
	}
	text := earshot.Text(b.String() + plain(p.Text[at:]))
	switch body := e.Body.(type) {
	case earshot.Message:
		body.Text, body.Attachments = text, nil
		e.Body = body
	case earshot.Utterance:
		body.Text = text
		e.Body = body
	case earshot.Memo:
		body.Text = text
		e.Body = body
	case earshot.Edit:
		body.Text = text
		e.Body = body
	case earshot.Sight:
		body.Text = text
		e.Body = body
	case earshot.Reply:
		rest := plain(strings.Join(strings.Fields(string(body.Remainder())), " "))
		if utf8.RuneCountInString(rest) > longestUnheard {
			rest = string([]rune(rest)[:longestUnheard]) + "…"
		}
		body.Offered, body.Heard = text+earshot.Text(rest), []earshot.Delivery{{Bytes: len(text)}}
		e.Body = body
	}
	return e
}

// lit shows what stands between marks in bold, if a terminal can, and without the marks.
func lit(line string, bold bool) string {
	begin, end := "", ""
	if bold {
		begin, end = "\x1b[1m", "\x1b[22m"
	}
	return strings.NewReplacer(litBegin, begin, litEnd, end).Replace(line)
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
