package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/scene"
	"earshot/participants"
)

// mostListed is for how many people and terminals the room remembers which list they were shown
// last.
const mostListed = 64

// A listing is the numbered list that somebody was shown at an outlet, or in a shell, which has
// none.
type listing struct {
	outlet string
	who    earshot.ParticipantID
	items  []scene.Item
}

// of reports whether it was shown to the author of a command, where they give the command.
func (l listing) of(c command.Call) bool { return l.outlet == c.Event.Via && l.who == c.By.ID }

const contextForms = "/context [add FIELD TEXT | change N TEXT | remove N | undo [N] | log | resync]"

// context answers /context: it shows the scene or changes it.
func (h *Commands) context(ctx context.Context, c command.Call) (string, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(string(c.Args)), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(verb) {
	case "":
		return h.listed(c), nil
	case "add":
		return h.contextAdd(ctx, c, rest)
	case "change", "remove":
		return h.contextChange(ctx, c, strings.ToLower(verb), rest)
	case "undo":
		return h.contextUndo(ctx, c, rest)
	case "log":
		return h.contextLog(c), nil
	case "resync":
		return h.Resync(ctx, c)
	}
	return "", errors.New("write " + contextForms)
}

// listed returns the scene as everybody may know it who reads the answer, with a number for each
// entry, by which it can be changed from there.
func (h *Commands) listed(c command.Call) string {
	going := h.Going(c.Audience)
	h.mu.Lock()
	h.listings = slices.DeleteFunc(h.listings, func(l listing) bool { return l.of(c) })
	h.listings = append(h.listings, listing{c.Event.Via, c.By.ID, going})
	h.listings = slices.Delete(h.listings, 0, max(0, len(h.listings)-mostListed))
	h.mu.Unlock()
	var b strings.Builder
	for n, line := range strings.Split(strings.TrimRight(scene.Prompt(going, h.Now()), "\n"), "\n") {
		if line != "" {
			fmt.Fprintf(&b, "%3d  %s\n", n+1, line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// numbered returns the entry that was shown with a number where the command was given.
func (h *Commands) numbered(c command.Call, number string) (scene.Item, error) {
	n, err := strconv.Atoi(strings.TrimSpace(number))
	h.mu.Lock()
	defer h.mu.Unlock()
	k := slices.IndexFunc(h.listings, func(l listing) bool { return l.of(c) })
	switch {
	case err != nil:
		return scene.Item{}, errors.New("which entry? Write " + contextForms)
	case k < 0 || n < 1 || n > len(h.listings[k].items):
		return scene.Item{}, errors.New("there is no such number; /context shows the numbers")
	}
	return h.listings[k].items[n-1], nil
}

func (h *Commands) contextAdd(ctx context.Context, c command.Call, rest string) (string, error) {
	field, text, _ := strings.Cut(rest, " ")
	f := scene.Field(strings.ToLower(field))
	edit := earshot.Edit{Act: earshot.Created, Field: string(f), Text: dialogue.OneLine(earshot.Text(text))}
	if slices.Contains(scene.Fields(), f) { // otherwise the scene says which fields exist
		if err := scene.MayEdit(c.By, scene.Item{Field: f}, edit.Act); err != nil {
			return "", err
		}
	}
	if _, err := h.Scene.For(c.Audience).Check(edit); err != nil {
		return "", err
	}
	e := h.edits(c)
	e.Body, e.Visibility = edit, earshot.Visibility{Scope: earshot.Public}
	return "", h.Amend(ctx, e, c.Audience) // everybody is shown it
}

func (h *Commands) contextChange(ctx context.Context, c command.Call, verb, rest string) (string, error) {
	number, text, _ := strings.Cut(rest, " ")
	had, err := h.numbered(c, number)
	if err != nil {
		return "", err
	}
	edit := earshot.Edit{Act: earshot.Ended}
	if verb == "change" {
		edit = earshot.Edit{Act: earshot.Changed, Text: dialogue.OneLine(earshot.Text(text))}
	}
	return "", h.change(ctx, c, had, edit)
}

func (h *Commands) change(ctx context.Context, c command.Call, had scene.Item, edit earshot.Edit) error {
	if err := scene.MayEdit(c.By, had, edit.Act); err != nil {
		return err
	}
	e := scene.Alter(h.edits(c), edit, had)
	return h.Amend(ctx, e, earshot.Audience{Room: h.Room, Members: []earshot.ParticipantID{c.By.ID}})
}

// edits returns the event by which somebody changes the scene.
func (h *Commands) edits(c command.Call) earshot.Event {
	e := c.Event
	e.Author, e.To, e.Sources = c.By.ID, nil, nil
	return e
}

// contextUndo undoes a change: the one with a number, or the last that the author made themselves.
func (h *Commands) contextUndo(ctx context.Context, c command.Call, number string) (string, error) {
	all := h.Scene.For(c.Audience).Versions()
	k := slices.IndexFunc(all, func(v scene.Version) bool {
		b := v.Edit.Body.(earshot.Edit)
		return v.Edit.Author == c.By.ID && !v.Undone && b.Act != earshot.Undone
	})
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(all) {
			return "", errors.New("which change? /context log shows the changes with their numbers")
		}
		k = n - 1
	}
	if k < 0 {
		return "", errors.New("you have changed nothing; /context log shows what others have")
	}
	return "", h.takeBack(ctx, c, all[k].Edit)
}

func (h *Commands) takeBack(ctx context.Context, c command.Call, which earshot.Event) error {
	was := which.Body.(earshot.Edit)
	edit := earshot.Edit{Act: earshot.Undone, Field: was.Field, Undoes: which.ID}
	had, err := h.Scene.For(c.Audience).Check(edit)
	if err != nil {
		return err
	}
	if err := scene.MayEdit(c.By, had, earshot.Changed); err != nil {
		return err
	}
	edit.Was, edit.Text = was.Text, was.Was
	return h.Amend(ctx, scene.Alter(h.edits(c), edit, had), c.Audience)
}

// contextLog lists the changes, newest first.
func (h *Commands) contextLog(c command.Call) string {
	var b strings.Builder
	for n, v := range h.Scene.For(c.Audience).Versions() {
		edit := v.Edit.Body.(earshot.Edit)
		fmt.Fprintf(&b, "%3d  %s  %s %s", n+1, v.Edit.At.Local().Format("Mon 15:04:05"), h.People.Name(v.Edit.Author), string(edit.Deed()))
		if v.Undone {
			b.WriteString(" (taken back)")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "Nobody has changed anything."
	}
	return strings.TrimRight(b.String(), "\n")
}

// correction answers /correct: it changes the entry that the author's words are about.
func (h *Commands) correction(ctx context.Context, c command.Call) (string, error) {
	said := dialogue.OneLine(c.Args)
	if said == "" {
		return "", errors.New(`what is wrong? write /correct and what is right, such as: /correct no, that is Bob's cup`)
	}
	if who, is := h.spokenBy(c.By, said); is {
		if s, ok := h.Listener.SaidLast(who.ID); ok {
			return h.Reattribute(c, s, who)
		}
	}
	had, clear, among := scene.About(h.correctable(c.Audience), said, h.Now())
	if !clear {
		return h.which(c, among), nil
	}
	if had.Aloud {
		text, tells := scene.Reheard(had.Text, said)
		if !tells {
			return "", errors.New("what was said instead? write it such as: /correct I said ship, not shop")
		}
		return "", h.change(ctx, c, had, earshot.Edit{Act: earshot.Changed, Text: text})
	}
	text, out := scene.Corrected(had.Text, said)
	edit := earshot.Edit{Act: earshot.Changed, Text: text}
	if out {
		edit = earshot.Edit{Act: earshot.Ended}
	}
	return "", h.change(ctx, c, had, edit)
}

// correctable returns what a correction can be about: the scene, and what was said aloud, however
// long ago.
func (h *Commands) correctable(a earshot.Audience) []scene.Item {
	all := h.Going(a)
	for _, i := range h.Scene.For(a).Items(scene.Messages) {
		if i.Aloud && !slices.ContainsFunc(all, func(had scene.Item) bool { return had.Field == i.Field && had.ID == i.ID }) {
			all = append(all, i)
		}
	}
	return all
}

// which asks what a correction is about.
func (h *Commands) which(c command.Call, among []scene.Item) string {
	if len(among) == 0 {
		return "I do not know what that refers to; /context shows what I know, /context add notes TEXT adds to it."
	}
	all := strings.Split(h.listed(c), "\n")
	going := h.Going(c.Audience)
	var b strings.Builder
	b.WriteString("Which of these is wrong? Write /context change N TEXT, or /context remove N:")
	for n, i := range going {
		if n < len(all) && slices.ContainsFunc(among, func(a scene.Item) bool { return a.ID == i.ID && a.Field == i.Field }) {
			b.WriteString("\n" + all[n])
		}
	}
	return b.String()
}

// thatWas are the beginnings by which people correct who said something.
var thatWas = []string{"that was said by ", "it was said by ", "that was ", "it was ", "this was "}

// spokenBy returns who, according to somebody, said the last words, and whether they say that at
// all.
func (h *Commands) spokenBy(by participants.Participant, said earshot.Text) (participants.Participant, bool) {
	text := strings.TrimSpace(strings.ToLower(strings.TrimRight(string(said), ".! ")))
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "no,"), "no "))
	for _, start := range thatWas {
		name, is := strings.CutPrefix(text, start)
		if name, _, _ = strings.Cut(name, ","); !is { // that was me, not Bob
			continue
		}
		if name = strings.TrimSpace(name); name == "me" || name == "i" {
			return by, true
		}
		if p, known := h.Addressing.Find(name); known && p.Person() {
			return p, true
		}
	}
	return participants.Participant{}, false
}
