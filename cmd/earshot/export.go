package main

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
	"strings"
	"time"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/participants"
	"earshot/speakers"
	"earshot/store"
)

type exportCommand struct {
	identityFlags
	File   string         `arg:"" help:"The file to write; - is standard output."`
	Person string         `help:"Only what this person wrote or said, what was for them alone, and what was derived from it." placeholder:"NAME"`
	Since  string         `help:"Only what happened since: a date, a date and a time, or how long ago, such as 30d or 12h." placeholder:"WHEN"`
	Until  string         `help:"Only what happened before." placeholder:"WHEN"`
	Room   earshot.RoomID `help:"Only what happened in this room." placeholder:"ROOM"`
	Mine   bool           `help:"Only what you may see yourself, even if you are an operator and may export everything."`
	Text   bool           `help:"As readable text, which cannot be imported again."`
	Voices bool           `help:"Include the voice prints that are kept."`
	Force  bool           `help:"Overwrite an existing file."`
}

// Run copies what was said into a file.
func (c exportCommand) Run(a *app) error {
	if c.Text && c.Voices {
		return &verdict{misused, errors.New("a voice print is not readable text: leave out --text or --voices")}
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	archive, err := a.archive(cfg)
	if err != nil {
		return err
	}
	defer archive.Close()
	s, err := a.choose(cfg, archive, c)
	if err != nil {
		return err
	}
	n := 0
	write := func(w io.Writer) (err error) {
		n, err = s.write(a.ctx, w, c)
		return err
	}
	if c.File == "-" {
		return write(a.out)
	}
	// What is deleted while it is written may be in it or not. So that it never has what
	// was deleted and not what came of it, it is written again then.
	for tries := 0; ; tries++ {
		before, err := archive.Totals(a.ctx)
		if err == nil {
			err = deliver(c.File, c.Force || tries > 0, write)
		}
		if err != nil {
			return err
		}
		after, err := archive.Totals(a.ctx)
		if err != nil {
			return err
		}
		if after.Erased == before.Erased || tries == 2 {
			break
		}
	}
	fmt.Fprintf(a.err, "%s in %s, which only you can read.\n", english.Count(n, "event"), config.ShortPath(c.File))
	return nil
}

// deliver writes a file, whole or not at all, for its owner alone.
func deliver(path string, force bool, write func(io.Writer) error) (err error) {
	if err := vacant(path, force); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with 0600
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		wrong.Path = path // and not what it is called until it is whole
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already, if all is well
	if err := write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := vacant(path, force); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// vacant reports whether something may be written at path.
func vacant(path string, force bool) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a plain file", path)
	case !force:
		return fmt.Errorf("%s already exists\n  → choose another name, or overwrite it with --force", path)
	}
	return nil
}

// A selection is what of a journal somebody wants and may see.
type selection struct {
	archive *store.Archive
	people  *participants.Registry
	only    []string // what is left out, in words
	wanted  func(earshot.Event) (bool, error)
	whose   map[earshot.EventID]earshot.Event // see [revision]
	voices  string                            // the file of prints, if they are wanted
	all     bool                              // nothing is left out
}

// choose finds out what is wanted, and what of it may be seen.
func (a *app) choose(cfg *config.Config, archive *store.Archive, c exportCommand) (*selection, error) {
	people, around, err := a.reader(cfg, archive, reading{c.identityFlags, ""})
	if err != nil {
		return nil, err
	}
	me := around.Members[0]
	s := &selection{archive: archive, people: people, whose: make(map[earshot.EventID]earshot.Event)}
	var filters []func(earshot.Event) (bool, error)
	who, _ := people.Get(me)
	operates := slices.ContainsFunc(people.Identities(me), func(id earshot.ParticipantID) bool {
		p, ok := people.Get(id)
		return ok && p.Can(participants.Operate)
	})
	if !operates || c.Mine {
		s.only = append(s.only, "what "+people.Name(me)+" may see")
		filters = append(filters, seenBy(access.NewGate(cfg, people), who, around))
	}
	if c.Voices && !operates {
		return nil, &verdict{misused, errors.New("only an operator of earshot may export voice prints")}
	}
	if c.Voices {
		s.voices = speakers.Path(cfg.Store.Directory)
	}
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
			return nil, &verdict{misused, fmt.Errorf("--%s: %w", bound.flag, err)}
		}
		s.only = append(s.only, bound.flag+" "+at.Format(time.RFC3339))
		filters = append(filters, func(e earshot.Event) (bool, error) { return bound.within(e, at), nil })
	}
	if c.Person != "" {
		p, err := a.somebody(cfg, c.Person)
		if err != nil {
			return nil, err
		}
		s.only = append(s.only, "what concerns "+p.Name)
		filters = append(filters, func(e earshot.Event) (bool, error) { return s.concerns(a.ctx, e, p.Reader()) })
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
func (s *selection) concerns(ctx context.Context, e earshot.Event, who earshot.ParticipantID) (bool, error) {
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
func (s *selection) events(ctx context.Context, last int64) iter.Seq2[earshot.Event, error] {
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

// write writes what was chosen, and returns how many events that were.
func (s *selection) write(ctx context.Context, w io.Writer, c exportCommand) (int, error) {
	census, err := s.archive.Totals(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.know(ctx, census.Last); err != nil {
		return 0, err
	}
	if c.Text {
		return s.read(ctx, w, census.Last)
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

// know learns whose the words were that turned out to be somebody else's.
func (s *selection) know(ctx context.Context, last int64) error {
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

// read writes what was chosen as people read it.
func (s *selection) read(ctx context.Context, w io.Writer, last int64) (n int, err error) {
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
	at, err := moment(text, now)
	if err != nil || !at.After(now) {
		return at, fmt.Errorf("%q must be a date such as 2026-01-31, with a time such as 2026-01-31 18:30, or how long ago, such as 30d or 12h", text)
	}
	return now.Add(now.Sub(at)), nil
}
