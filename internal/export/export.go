// Package export writes what of a journal somebody wants and may see into a file, as JSON that can
// be imported again or as text.
package export

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/participants"
	"earshot/store"
)

// A Selection is what of a journal somebody wants and may see.
type Selection struct {
	archive *store.Archive
	people  *participants.Registry
	only    []string // what is left out, in words
	wanted  func(earshot.Event) (bool, error)
	whose   map[earshot.EventID]earshot.Event // see [transcript.Attributions]
	voices  string                            // the file of prints, if they are wanted
	all     bool                              // nothing is left out
}

// A Choice is what of a journal somebody wants.
type Choice struct {
	Mine         bool                     // only what they may see themselves
	Voices       string                   // the file of the voice prints, which go with it; empty for none
	Room         earshot.RoomID           // only what happened there; empty for all
	Since, Until string                   // only what happened then, as people write it; empty for always
	Person       participants.Participant // only what concerns them; the zero value for everybody
}

// Choose finds out what is wanted by the person of around, and what of it they may see. The
// error is why that is not possible.
func Choose(ctx context.Context, archive *store.Archive, people *participants.Registry, around earshot.Audience, gate access.Gate, c Choice) (*Selection, error) {
	me := around.Members[0]
	s := &Selection{archive: archive, people: people, whose: make(map[earshot.EventID]earshot.Event)}
	var filters []func(earshot.Event) (bool, error)
	who, _ := people.Get(me)
	operates := slices.ContainsFunc(people.Identities(me), func(id earshot.ParticipantID) bool {
		p, ok := people.Get(id)
		return ok && p.Can(participants.Operate)
	})
	if !operates || c.Mine {
		s.only = append(s.only, "what "+people.Name(me)+" may see")
		filters = append(filters, seenBy(gate, who, around))
	}
	if c.Voices != "" && !operates {
		return nil, errors.New("only an operator of earshot may export voice prints")
	}
	s.voices = c.Voices
	if c.Room != "" {
		s.only = append(s.only, "room "+string(c.Room))
		filters = append(filters, func(e earshot.Event) (bool, error) { return e.Room == c.Room, nil })
	}
	for _, bound := range []struct {
		flag, text string
		within     func(e earshot.Event, at time.Time) bool
	}{
		{"since", c.Since, func(e earshot.Event, at time.Time) bool { return !e.At.Before(at) }},
		{"until", c.Until, func(e earshot.Event, at time.Time) bool { return e.At.Before(at) }},
	} {
		if bound.text == "" {
			continue
		}
		at, err := instant(bound.text, time.Now())
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", bound.flag, err)
		}
		s.only = append(s.only, bound.flag+" "+at.Format(time.RFC3339))
		filters = append(filters, func(e earshot.Event) (bool, error) { return bound.within(e, at), nil })
	}
	if c.Person.ID != "" {
		s.only = append(s.only, "what concerns "+c.Person.Name)
		filters = append(filters, func(e earshot.Event) (bool, error) { return s.concerns(ctx, e, c.Person.Reader()) })
	}
	s.all = len(filters) == 0
	s.wanted = func(e earshot.Event) (bool, error) {
		for _, f := range filters {
			if ok, err := f(e); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	return s, nil
}

// seenBy returns what somebody may see, in any room that they may enter.
func seenBy(g access.Gate, who participants.Participant, around earshot.Audience) func(earshot.Event) (bool, error) {
	rooms := make(map[earshot.RoomID]bool)
	return func(e earshot.Event) (bool, error) {
		enters, known := rooms[e.Room]
		if !known {
			enters = g.MayEnter(who, e.Room) == nil
			rooms[e.Room] = enters
		}
		as := around
		as.Room = e.Room
		return enters && e.Visibility.Allows(as), nil
	}
}

// concerns reports whether an event is somebody's: they said it, it was for them alone,
// it is about them, or it came of what they said.
func (s *Selection) concerns(ctx context.Context, e earshot.Event, who earshot.ParticipantID) (bool, error) {
	is := func(id earshot.ParticipantID) bool {
		return id != "" && (id == who || slices.Contains(s.people.Identities(who), id))
	}
	if is(e.Author) || slices.ContainsFunc(e.To, is) || e.Visibility.Scope == earshot.Private && slices.ContainsFunc(e.Visibility.Members, is) {
		return true, nil
	}
	if later, ok := s.whose[e.ID]; ok && is(later.Body.(earshot.Attribution).Author) {
		return true, nil
	}
	about := e.Sources
	switch b := e.Body.(type) {
	case earshot.Actor:
		return is(b.Participant) || is(b.Into), nil
	case earshot.Attribution:
		return is(b.Author), nil
	case earshot.Decision:
		about = append(slices.Clip(about), b.About)
	case earshot.Reply:
		about = append(slices.Clip(about), b.About)
	}
	if len(about) == 0 {
		return false, nil
	}
	for _, id := range s.people.Identities(who) {
		if wrote, err := s.archive.Wrote(ctx, id, about); wrote || err != nil {
			return wrote, err
		}
	}
	return false, nil
}

// events yields what was chosen, up to what there is now.
func (s *Selection) events(ctx context.Context, last int64) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		for e, err := range s.archive.All(ctx, last) {
			ok := false
			if err == nil {
				ok, err = s.wanted(e)
			}
			if (ok || err != nil) && (!yield(e, err) || err != nil) {
				return
			}
		}
	}
}

// Write writes what was chosen, and returns how many events that were.
func (s *Selection) Write(ctx context.Context, w io.Writer, text bool) (int, error) {
	census, err := s.archive.Totals(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.readAttributions(ctx, census.Last); err != nil {
		return 0, err
	}
	if text {
		return s.writeText(ctx, w, census.Last)
	}
	var beside []store.ExportCompanion
	if s.voices != "" {
		data, err := os.ReadFile(s.voices)
		if err == nil {
			beside = append(beside, store.ExportCompanion{Name: filepath.Base(s.voices), Content: json.RawMessage(data)})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	label := store.ExportHeader{Only: strings.Join(s.only, ", ")}
	if s.all {
		label.Events, label.Last = census.Events, census.Last
	}
	return store.WriteExport(w, label, s.events(ctx, census.Last), beside...)
}

// readAttributions learns whose the words were that turned out to be somebody else's.
func (s *Selection) readAttributions(ctx context.Context, last int64) error {
	if s.all {
		return nil
	}
	for e, err := range s.archive.All(ctx, last) {
		if err != nil {
			return err
		}
		if w, ok := e.Body.(earshot.Attribution); ok {
			s.whose[w.Of] = e
		}
	}
	return nil
}

// writeText writes what was chosen as people read it.
func (s *Selection) writeText(ctx context.Context, w io.Writer, last int64) (n int, err error) {
	out := bufio.NewWriter(w)
	var day, room string
	for e, err := range s.events(ctx, last) {
		if err != nil {
			return n, err
		}
		if !slices.Contains(transcript.Told, e.Body.Kind()) && e.Body.Kind() != earshot.KindSight || transcript.IsHousekeeping(e) {
			continue
		}
		if at := e.At.Local().Format(time.DateOnly); at != day || string(e.Room) != room {
			day, room = at, string(e.Room)
			fmt.Fprintf(out, "\n%s, %s\n", day, terminal.Safe(room))
		}
		transcript.Print(out, transcript.Attributions(s.whose).Mark(e, s.people.Name), s.people.Name)
		n++
	}
	return n, out.Flush()
}

// instant reads a moment of the past: a date, a date and a time, or how long ago.
func instant(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	at, err := ParseMoment(text, now)
	if err != nil || !at.After(now) {
		return at, fmt.Errorf("%q must be a date such as 2026-01-31, with a time such as 2026-01-31 18:30, or how long ago, such as 30d or 12h", text)
	}
	return now.Add(now.Sub(at)), nil
}

// ParseMoment reads a date or a length of time from now; nothing is never.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil {
			return now.AddDate(0, 0, n), nil
		}
	}
	if long, err := time.ParseDuration(text); err == nil {
		return now.Add(long), nil
	}
	return time.Time{}, fmt.Errorf("--expires is %q; must be a date such as 2027-01-31, or a duration such as 90d or 12h", text)
}
