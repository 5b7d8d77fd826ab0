package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/participants"
)

// WholeJournal is what one calls the whole of a journal.
const WholeJournal = "all"

// ParseDay returns when a day begins and ends, where earshot is.
func ParseDay(text string, now time.Time) (from, to time.Time, err error) {
	from = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch strings.ToLower(text) {
	case WholeJournal:
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

// DayName returns what a day is called that begins then.
func DayName(from time.Time) string {
	if from.IsZero() {
		return "all time"
	}
	return from.Format("Monday, 2 January 2006")
}

// IsDatabase reports whether a file is one of SQLite, which is given as its folder.
func IsDatabase(path string) bool {
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

// ReadExport reads events, each a line of JSON; what is no event among them is passed over,
// if it has no kind.
func ReadExport(path string, d *Day) error {
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

// PrintResult tells people what is different.
func PrintResult(w io.Writer, res *Result, d *Day, from time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s; ", capital(DayName(from)), english.Count(res.Events, "event"), english.Count(res.Decisions, "decision"))
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

func tellDifference(b *strings.Builder, is Difference, about earshot.Event) {
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

func decidedSo(is Difference, e *earshot.Event) string {
	if e == nil {
		return "no decision"
	}
	d := e.Body.(earshot.Decision)
	text := fmt.Sprintf("%s (%s): %s", string(d.Verdict), is.Name, strings.Join(d.Reasons, "; "))
	if is.What == Order {
		text += e.At.Local().Format("  at 15:04:05.000")
	}
	return text
}
