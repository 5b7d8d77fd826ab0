package room

import (
	"context"
	"errors"
	"fmt"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/scene"
	"earshot/executive/slash"
	"earshot/executive/tool"
	"earshot/participants"
)

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

// overruled records that a correction is over, because the sense has observed something else since.
func (r *Room) overruled(was scene.Item, source string) {
	e := scene.Alter(r.event(was.Visibility, earshot.Edit{}), earshot.Edit{Act: earshot.Ended, Undoes: was.Event}, was)
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
	had, err := scene.Quoted(view.Items(f), c.Entry)
	if err != nil {
		return "", err
	}
	e := scene.Alter(p.event(earshot.Edit{}), earshot.Edit{Act: map[string]earshot.Act{"change": earshot.Changed, "remove": earshot.Ended}[c.Action], Text: c.Text}, had)
	if !reaches(p.question.Rests.Visibility, had.Visibility) {
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
	text, err := dialogue.Wording(b.Text, slash.MaxMemo)
	b.Text = text
	return b, err
}

// mostItem is the longest name of an entry in bytes.
const mostItem = 64
