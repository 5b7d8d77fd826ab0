package room

import (
	"context"

	"earshot"
	"earshot/executive/scene"
)

// amend records an edit if it still fits when its turn has come, so that nobody changes what they
// have not seen. The edit is visible to those who may see what it changes, and is deleted with
// that.
func (r *Room) amend(ctx context.Context, e earshot.Event, a earshot.Audience) error {
	edit := e.Body.(earshot.Edit)
	return r.entries.KeepIf(ctx, e, func() error {
		_, err := r.scene.For(a).Check(edit)
		return err
	})
}

// overruled records that a correction is over, because the sense has observed something else since.
func (r *Room) overruled(was scene.Item, source string) {
	e := scene.Alter(r.event(was.Visibility, earshot.Edit{}), earshot.Edit{Act: earshot.Ended, Undoes: was.Event}, was)
	b := e.Body.(earshot.Edit)
	b.Source = source
	e.Body = b
	_, _ = r.entries.Enqueue(e, nil) // if it is not kept, the correction applies again after a start
}

// reportCorrection tells the part of the program that was wrong that somebody has corrected it.
func (r *Room) reportCorrection(e earshot.Event) {
	b, ok := e.Body.(earshot.Edit)
	if !ok || r.cfg.Corrected == nil {
		return
	}
	if source := r.scene.Wrote(b); source != "" {
		r.cfg.Corrected(source, e)
	}
}
