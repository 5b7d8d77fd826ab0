package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/executive/tool"
	"earshot/participants"
)

// editable are the fields that people change. What was misheard anybody may correct; everything
// else in the other fields, what was written and how an agent's reply ended, only the operator may
// change.
var editable = []scene.Field{scene.Environment, scene.Visual, scene.User, scene.Notes, scene.Reasoning}

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

// amend records an edit if it still fits when its turn has come, so that nobody changes what they
// have not seen. The edit is visible to those who may see what it changes, and is deleted with
// that.
func (r *Room) amend(ctx context.Context, e earshot.Event, a earshot.Audience) error {
	edit := e.Body.(earshot.Edit)
	en, first, err := r.reserve(resolvedEvent{event: e})
	if err != nil {
		return err
	}
	if first {
		en.fits = func() error {
			_, err := r.scene.For(a).Check(edit)
			return err
		}
		r.queue(en)
	}
	return en.wait(ctx)
}

// fitting returns batch without entries that no longer fit. Of those with a condition it keeps only
// the first: whether the others fit can only be checked when that is kept.
func (r *Room) fitting(batch []*entry) (fit []*entry) {
	var later []*entry
	checked := false
	for _, e := range batch {
		switch {
		case e.fits == nil:
			fit = append(fit, e)
		case checked:
			later = append(later, e)
		default:
			checked = true
			if err := e.fits(); err != nil {
				r.finish(e, err)
				continue
			}
			fit = append(fit, e)
		}
	}
	if len(later) > 0 {
		r.mu.Lock()
		r.waiting = append(later, r.waiting...)
		r.mu.Unlock()
		r.nudge()
	}
	return fit
}

// alters returns the event of an edit of the entry i, made from e: for those who may see the entry,
// and deleted with it.
func alters(e earshot.Event, edit earshot.Edit, i scene.Item) earshot.Event {
	edit.Field, edit.Item = string(i.Field), i.ID
	if edit.Act != earshot.Undone {
		edit.Was = i.Text
	}
	if i.Event == "" && edit.Act != earshot.Undone {
		edit.Source = i.Source
	}
	e.Body, e.Visibility = edit, i.Visibility
	if i.Event != "" && !slices.Contains(e.Sources, i.Event) {
		e.Sources = append(slices.Clip(e.Sources), i.Event)
	}
	return e
}

// overruled records that a correction is over, because the sense has observed something else since.
func (r *Room) overruled(was scene.Item, source string) {
	e := alters(r.event(was.Visibility, earshot.Edit{}), earshot.Edit{Act: earshot.Ended, Undoes: was.Event}, was)
	b := e.Body.(earshot.Edit)
	b.Source = source
	e.Body = b
	_, _ = r.enqueue(e, nil) // if it is not kept, the correction applies again after a start
}

// taught tells the part of the program that was wrong that somebody has corrected it.
func (r *Room) taught(e earshot.Event) {
	b, ok := e.Body.(earshot.Edit)
	if !ok || r.cfg.Corrected == nil {
		return
	}
	if source := r.scene.Wrote(b); source != "" {
		r.cfg.Corrected(source, e)
	}
}

// mayEdit says why somebody may not change an entry of a field; nil if they may.
func mayEdit(who participants.Participant, had scene.Item, act earshot.Act) error {
	f, misheard := had.Field, had.Aloud && act == earshot.Changed
	switch {
	case who.ID == "" || who.ID == participants.Generic:
		return errors.New("a change needs an author; say who you are with --identity NAME")
	case had.Source == prompt.Clock:
		return errors.New("that is the clock of this machine; if it is wrong, set the clock")
	case act == earshot.Created && (f == scene.Messages || f == scene.Agent || f == scene.Reasoning || f == scene.Visual):
		return fmt.Errorf("nothing can be added to %s by hand; /context add notes TEXT keeps something in mind, /context add user_state TEXT says how somebody is", f)
	case !slices.Contains(editable, f) && !misheard && !who.Can(participants.Operate):
		return fmt.Errorf("%s records what was said or how a reply ended; only an operator of this earshot can change it", f)
	}
	return nil
}

// fields are those that an agent changes, as its tool calls them.
var fields = map[string]scene.Field{"notes": scene.Notes, "user_state": scene.User, "findings": scene.Reasoning}

// edit changes the scene for an agent. The change is for those who may see the entry.
func (p *toolContext) edit(ctx context.Context, s tool.Scope, c tool.Change) (earshot.Text, error) {
	f := fields[c.Field]
	view := p.room.scene.For(s.Audience).As(p.who.ID)
	if c.Action == "add" {
		if f == scene.Reasoning {
			return "", errors.New("findings come from thinking; add a note instead, or change or remove a finding")
		}
		return "It is added.", p.room.amend(ctx, p.event(earshot.Edit{Act: earshot.Created, Field: string(f), Text: c.Text}), s.Audience)
	}
	had, err := quoted(view.Items(f), c.Entry)
	if err != nil {
		return "", err
	}
	e := alters(p.event(earshot.Edit{}), earshot.Edit{Act: map[string]earshot.Act{"change": earshot.Changed, "remove": earshot.Ended}[c.Action], Text: c.Text}, had)
	if !reaches(p.question.rests.Visibility, had.Visibility) {
		return "", tool.Refuse("that entry is visible to more people than this conversation; add an entry of your own, which those here will see")
	}
	return map[string]earshot.Text{"change": "It is changed.", "remove": "It is removed."}[c.Action], p.room.amend(ctx, e, s.Audience)
}

// reaches reports whether everybody who may see something of visibility w may also see something of
// visibility v.
func reaches(v, w earshot.Visibility) bool {
	both := v.And(w)
	return both.Scope == w.Scope && len(both.Members) == len(w.Members) && (both.Agents == nil) == (w.Agents == nil) && len(both.Agents) == len(w.Agents)
}

// quoted returns the entry that a model means by its words: the one that says exactly that, or else
// the only one that contains it.
func quoted(items []scene.Item, words string) (scene.Item, error) {
	want := plain(words)
	var within []scene.Item
	for _, i := range items {
		if want != "" && (plain(string(i.Text)) == want || plain(i.Line()) == want) {
			return i, nil
		}
		if want != "" && strings.Contains(plain(i.Line()), want) {
			within = append(within, i)
		}
	}
	switch {
	case len(within) == 1:
		return within[0], nil
	case len(items) == 0:
		return scene.Item{}, errors.New("there is no entry in that field; add one if it is needed")
	case len(within) > 1:
		items = within
	}
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "\n- %s", i.Line())
	}
	return scene.Item{}, fmt.Errorf("it is not clear which entry is meant; copy one of these into entry, as it stands:%s", b.String())
}

// plain returns words in the form in which they are compared.
func plain(words string) string {
	return strings.ToLower(strings.Trim(strings.Join(strings.Fields(words), " "), `"'. `))
}

// told returns an edit by a sense in the form in which it may be kept: only of fields that a sense
// observes, and under names of its own, so that it cannot change what others have added.
func told(from earshot.Handle, who participants.Participant, b earshot.Edit) (earshot.Edit, error) {
	f := scene.Field(b.Field)
	switch {
	case who.ID != "":
		return b, errors.New("a known participant cannot change the scene through a sense; use /context")
	case b.Act != earshot.Created && b.Act != earshot.Changed && b.Act != earshot.Ended:
		return b, fmt.Errorf("a sense can only add, change or end its own entries, not %q", participants.OneLine(string(b.Act)))
	case f != scene.Environment && f != scene.Visual && f != scene.User:
		return b, fmt.Errorf("a sense can only report on %s, %s and %s", scene.Environment, scene.Visual, scene.User)
	case len(b.Item) > mostItem:
		return b, fmt.Errorf("the name of an entry has %d bytes; at most %d", len(b.Item), mostItem)
	}
	b.Item, b.Was, b.Undoes, b.Source = from.Provider+":"+b.Item, "", "", ""
	if b.Act == earshot.Ended {
		b.Text = ""
		return b, nil
	}
	text, err := wording(b.Text, maxMemo)
	b.Text = text
	return b, err
}

// mostItem is the longest name of an entry in bytes.
const mostItem = 64
