package room

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
)

const contextForms = "/context [add FIELD TEXT | change N TEXT | remove N | undo [N] | log | resync]"

// context answers /context: it shows the scene or changes it.
func (r *Room) context(ctx context.Context, c command.Call) (string, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(string(c.Args)), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(verb) {
	case "":
		return r.listed(c), nil
	case "add":
		return r.contextAdd(ctx, c, rest)
	case "change", "remove":
		return r.contextChange(ctx, c, strings.ToLower(verb), rest)
	case "undo":
		return r.contextUndo(ctx, c, rest)
	case "log":
		return r.contextLog(c), nil
	case "resync":
		return r.contextResync(ctx, c)
	}
	return "", errors.New("write " + contextForms)
}

// listed returns the scene as everybody may know it who reads the answer, with a number for each
// entry, by which it can be changed from there.
func (r *Room) listed(c command.Call) string {
	going := r.Going(c.Audience)
	r.mu.Lock()
	r.listings = slices.DeleteFunc(r.listings, func(l listing) bool { return l.of(c) })
	r.listings = append(r.listings, listing{c.Event.Via, c.By.ID, going})
	r.listings = slices.Delete(r.listings, 0, max(0, len(r.listings)-mostListed))
	r.mu.Unlock()
	var b strings.Builder
	for n, line := range strings.Split(strings.TrimRight(scene.Prompt(going, r.cfg.Now()), "\n"), "\n") {
		if line != "" {
			fmt.Fprintf(&b, "%3d  %s\n", n+1, line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// numbered returns the entry that was shown with a number where the command was given.
func (r *Room) numbered(c command.Call, number string) (scene.Item, error) {
	n, err := strconv.Atoi(strings.TrimSpace(number))
	r.mu.Lock()
	defer r.mu.Unlock()
	k := slices.IndexFunc(r.listings, func(l listing) bool { return l.of(c) })
	switch {
	case err != nil:
		return scene.Item{}, errors.New("which entry? Write " + contextForms)
	case k < 0 || n < 1 || n > len(r.listings[k].items):
		return scene.Item{}, errors.New("there is no such number; /context shows the numbers")
	}
	return r.listings[k].items[n-1], nil
}

func (r *Room) contextAdd(ctx context.Context, c command.Call, rest string) (string, error) {
	field, text, _ := strings.Cut(rest, " ")
	f := scene.Field(strings.ToLower(field))
	edit := earshot.Edit{Act: earshot.Created, Field: string(f), Text: dialogue.OneLine(earshot.Text(text))}
	if slices.Contains(scene.Fields(), f) { // otherwise the scene says which fields exist
		if err := mayEdit(c.By, scene.Item{Field: f}, edit.Act); err != nil {
			return "", err
		}
	}
	if _, err := r.scene.For(c.Audience).Check(edit); err != nil {
		return "", err
	}
	e := r.edits(c)
	e.Body, e.Visibility = edit, earshot.Visibility{Scope: earshot.Public}
	return "", r.amend(ctx, e, c.Audience) // everybody is shown it
}

func (r *Room) contextChange(ctx context.Context, c command.Call, verb, rest string) (string, error) {
	number, text, _ := strings.Cut(rest, " ")
	had, err := r.numbered(c, number)
	if err != nil {
		return "", err
	}
	edit := earshot.Edit{Act: earshot.Ended}
	if verb == "change" {
		edit = earshot.Edit{Act: earshot.Changed, Text: dialogue.OneLine(earshot.Text(text))}
	}
	return "", r.change(ctx, c, had, edit)
}

// change makes somebody's edit.
func (r *Room) change(ctx context.Context, c command.Call, had scene.Item, edit earshot.Edit) error {
	if err := mayEdit(c.By, had, edit.Act); err != nil {
		return err
	}
	e := alters(r.edits(c), edit, had)
	return r.amend(ctx, e, earshot.Audience{Room: r.cfg.ID, Members: []earshot.ParticipantID{c.By.ID}})
}

// edits returns the event by which somebody changes the scene.
func (r *Room) edits(c command.Call) earshot.Event {
	e := c.Event
	e.Author, e.To, e.Sources = c.By.ID, nil, nil
	return e
}

// contextUndo undoes a change: the one with a number, or the last that the author made themselves.
func (r *Room) contextUndo(ctx context.Context, c command.Call, number string) (string, error) {
	all := r.scene.For(c.Audience).Versions()
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
	return "", r.takeBack(ctx, c, all[k].Edit)
}

// takeBack undoes one change.
func (r *Room) takeBack(ctx context.Context, c command.Call, which earshot.Event) error {
	was := which.Body.(earshot.Edit)
	edit := earshot.Edit{Act: earshot.Undone, Field: was.Field, Undoes: which.ID}
	had, err := r.scene.For(c.Audience).Check(edit)
	if err != nil {
		return err
	}
	if err := mayEdit(c.By, had, earshot.Changed); err != nil {
		return err
	}
	edit.Was, edit.Text = was.Text, was.Was
	return r.amend(ctx, alters(r.edits(c), edit, had), c.Audience)
}

// contextLog lists the changes, newest first.
func (r *Room) contextLog(c command.Call) string {
	var b strings.Builder
	for n, v := range r.scene.For(c.Audience).Versions() {
		edit := v.Edit.Body.(earshot.Edit)
		fmt.Fprintf(&b, "%3d  %s  %s %s", n+1, v.Edit.At.Local().Format("Mon 15:04:05"), r.cfg.People.Name(v.Edit.Author), string(edit.Deed()))
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
func (r *Room) correction(ctx context.Context, c command.Call) (string, error) {
	said := dialogue.OneLine(c.Args)
	if said == "" {
		return "", errors.New(`what is wrong? write /correct and what is right, such as: /correct no, that is Bob's cup`)
	}
	if who, is := r.spokenBy(c.By, said); is {
		if s, ok := r.listener.SaidLast(who.ID); ok {
			return r.reattribute(c, s, who)
		}
	}
	had, clear, among := scene.About(r.correctable(c.Audience), said, r.cfg.Now())
	if !clear {
		return r.which(c, among), nil
	}
	if had.Aloud {
		text, tells := scene.Reheard(had.Text, said)
		if !tells {
			return "", errors.New("what was said instead? write it such as: /correct I said ship, not shop")
		}
		return "", r.change(ctx, c, had, earshot.Edit{Act: earshot.Changed, Text: text})
	}
	text, out := scene.Corrected(had.Text, said)
	edit := earshot.Edit{Act: earshot.Changed, Text: text}
	if out {
		edit = earshot.Edit{Act: earshot.Ended}
	}
	return "", r.change(ctx, c, had, edit)
}

// correctable returns what a correction can be about: the scene, and what was said aloud, however
// long ago.
func (r *Room) correctable(a earshot.Audience) []scene.Item {
	all := r.Going(a)
	for _, i := range r.scene.For(a).Items(scene.Messages) {
		if i.Aloud && !slices.ContainsFunc(all, func(had scene.Item) bool { return had.Field == i.Field && had.ID == i.ID }) {
			all = append(all, i)
		}
	}
	return all
}

// which asks what a correction is about.
func (r *Room) which(c command.Call, among []scene.Item) string {
	if len(among) == 0 {
		return "I do not know what that refers to; /context shows what I know, /context add notes TEXT adds to it."
	}
	all := strings.Split(r.listed(c), "\n")
	going := r.Going(c.Audience)
	var b strings.Builder
	b.WriteString("Which of these is wrong? Write /context change N TEXT, or /context remove N:")
	for n, i := range going {
		if n < len(all) && slices.ContainsFunc(among, func(a scene.Item) bool { return a.ID == i.ID && a.Field == i.Field }) {
			b.WriteString("\n" + all[n])
		}
	}
	return b.String()
}
