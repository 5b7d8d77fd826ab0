package room

import (
	"context"
	"errors"

	"earshot"
	"earshot/executive/revision"
	"earshot/executive/scene"
	"earshot/executive/tool"
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
		r.entries.PutBack(later)
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
	if !revision.Covers(p.question.Rests.Visibility, had.Visibility) {
		return "", tool.Refuse("that entry is visible to more people than this conversation; add an entry of your own, which those here will see")
	}
	return map[string]earshot.Text{"change": "It is changed.", "remove": "It is removed."}[c.Action], p.room.amend(ctx, e, s.Audience)
}
