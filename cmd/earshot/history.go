package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/config"
	"earshot/internal/field"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/server"
	"earshot/store"
)

// A reading is as whom somebody reads, and which room.
type reading struct {
	introduction
	Room earshot.RoomID `help:"Which room; without it, the desk." placeholder:"ROOM"`
}

type historyCommand struct {
	reading
	Number int  `short:"n" default:"20" help:"How many messages, replies and announcements."`
	JSON   bool `help:"Print the events as JSON, one a line."`
}

// spoken are the kinds of what was said, by whomever.
var spoken = []earshot.Kind{earshot.KindMessage, earshot.KindUtterance, earshot.KindReply}

// told are the kinds that make a history: what was said, and among whom.
var told = append(slices.Clone(spoken), earshot.KindPresence, earshot.KindMode, earshot.KindMemo)

// Run shows what was said of late.
func (h historyCommand) Run(a *app) error {
	return a.read(h.reading, func(r *store.Reader, name func(earshot.ParticipantID) string) error {
		events, err := r.Last(a.ctx, told, max(1, h.Number))
		if err != nil {
			return err
		}
		return a.transcript(events, h.JSON, name, "Nothing has been said yet.")
	})
}

type searchCommand struct {
	reading
	Words  []string `arg:"" help:"The words to look for; all of them must be there."`
	Number int      `short:"n" default:"20" help:"How many results."`
	JSON   bool     `help:"Print the events as JSON, one a line."`
}

// Run searches what was said.
func (s searchCommand) Run(a *app) error {
	return a.read(s.reading, func(r *store.Reader, name func(earshot.ParticipantID) string) error {
		events, err := r.Search(a.ctx, strings.Join(s.Words, " "), max(1, s.Number))
		if err != nil {
			return err
		}
		slices.Reverse(events) // the newest last, where the eye is
		return a.transcript(events, s.JSON, name, "Nothing was found.")
	})
}

// read opens the journal as somebody may see it, whether or not earshot runs.
func (a *app) read(as reading, use func(*store.Reader, func(earshot.ParticipantID) string) error) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	archive, err := store.OpenReader(a.ctx, cfg.Store.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return &verdict{notFound, fmt.Errorf("there is no journal yet in %s; it begins with: earshot run", short(cfg.Store.Directory))}
	}
	if err != nil {
		return err
	}
	defer archive.Close()
	people, around, err := a.reader(cfg, archive, as)
	if err != nil {
		return err
	}
	return use(archive.For(around), people.Name)
}

// reader returns who exists, and who reads.
func (a *app) reader(cfg *config.Config, archive *store.Archive, as reading) (*participants.Registry, earshot.Audience, error) {
	read := *cfg // whoever reads is somebody who is known
	read.ExternalActors.AllowDynamicCreation, read.ExternalActors.AllowAnonymous = false, false
	account, user := self()
	people, err := census{Config: &read, account: account, name: user, newID: identifiers()}.registry(a.ctx, archive.For)
	if err != nil {
		return nil, earshot.Audience{}, err
	}
	g := newGate(cfg, people)
	p := porch{known: people.Known(), own: people.Resolve(account).ID}
	var around earshot.Audience
	p.claim = func(ctx context.Context, name string, secret field.Secret) error {
		_, around, err = g.pass(ctx, account, server.Claim{Name: name, Room: as.Room, Token: secret})
		return err
	}
	_, _, err = a.enterAs("")(a.ctx, as.introduction, p)
	return people, around, err
}

// transcript prints events, for people or for programs.
func (a *app) transcript(events []earshot.Event, asJSON bool, name func(earshot.ParticipantID) string, none string) error {
	if len(events) == 0 {
		return &verdict{notFound, errors.New(none)}
	}
	events = inOrder(events)
	for _, e := range events {
		if asJSON {
			if err := json.NewEncoder(a.out).Encode(e); err != nil {
				return err
			}
			continue
		}
		printLine(a.out, e, name)
	}
	return nil
}

// inOrder puts each reply behind what it answers, and so before the message
// that cut it off, after which it ended.
func inOrder(events []earshot.Event) []earshot.Event {
	var out []earshot.Event
	for _, e := range events {
		at := len(out)
		if r, ok := e.Body.(earshot.Reply); ok {
			if i := slices.IndexFunc(out, func(x earshot.Event) bool { return x.ID == r.About }); i >= 0 {
				at = i + 1
			}
		}
		out = slices.Insert(out, at, e)
	}
	return out
}

// printLine prints one event: when, who, what, and of a reply that was not heard
// to its end, how it ended and what is left of it.
func printLine(w io.Writer, e earshot.Event, name func(earshot.ParticipantID) string) {
	text, ok := account(e, name)
	if !ok {
		return
	}
	if e.Visibility.Scope == earshot.Private {
		text = among(e.To, name) + " " + text
	}
	fmt.Fprintf(w, "%s  %-10s %s\n", when(e.At), terminal.Safe(name(e.Author)), indent(terminal.Safe(strings.TrimSpace(text))))
}

// account says in words what an event was, if there is anything to be said.
func account(e earshot.Event, name func(earshot.ParticipantID) string) (string, bool) {
	switch body := e.Body.(type) {
	case earshot.Message:
		return string(body.Text), true
	case earshot.Utterance:
		if len(e.To) == 0 {
			return string(body.Text) + " [not to me]", true
		}
		return string(body.Text), true
	case earshot.Reply:
		return string(body.Delivered()) + " " + ended(body, name), body.Outcome != earshot.Suppressed || body.Offered != ""
	case earshot.Presence:
		return passage(body), true
	case earshot.ModeChange:
		return fmt.Sprintf("[the room is %s from now on]", body.Mode), true
	case earshot.Memo:
		return "[to keep in mind] " + string(body.Text), true
	}
	return "", false
}

// passage says that somebody came or went.
func passage(p earshot.Presence) string {
	text := map[bool]string{true: "[has joined", false: "[has left"}[p.Here]
	if p.Times > 0 {
		text += ", having come and gone " + count(p.Times, "time") + " meanwhile"
	}
	return text + "]"
}

// among says to whom alone something was said.
func among(to []earshot.ParticipantID, name func(earshot.ParticipantID) string) string {
	var names []string
	for _, id := range to {
		names = append(names, name(id))
	}
	if len(names) == 0 {
		return "(private)"
	}
	return "(private, to " + strings.Join(names, ", ") + ")"
}

// ended says how a reply ended, if not at its end.
func ended(r earshot.Reply, name func(earshot.ParticipantID) string) string {
	rest := strings.TrimSpace(string(r.Remainder()))
	switch {
	case r.Cut != nil && rest == "":
		return fmt.Sprintf("[cut off by %s]", name(r.Cut.By))
	case r.Cut != nil:
		return fmt.Sprintf("[cut off by %s; not heard: %s]", name(r.Cut.By), rest)
	case r.Outcome == earshot.Failed && rest == "":
		return "[it failed here]"
	case rest != "":
		return fmt.Sprintf("[not heard: %s]", rest)
	}
	return ""
}

// when writes a time as briefly as it is clear.
func when(t time.Time) string {
	t = t.Local()
	if y, m, d := time.Now().Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// indent keeps the lines of a message below each other.
func indent(text string) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 21))
}
