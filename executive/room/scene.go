package room

import (
	"context"
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/command"
	"earshot/executive/perception"
	"earshot/executive/presence"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/executive/sight"
	"earshot/participants"
)

// Going returns the time and the scene, as everybody in a may know it.
func (r *Room) Going(a earshot.Audience) []scene.Item {
	now := r.cfg.Now()
	r.tellPresence(now)
	return append([]scene.Item{prompt.TimeOf(now)}, r.sceneFor(a, now)...)
}

// sceneFor returns the scene as everybody in a may know it now.
func (r *Room) sceneFor(a earshot.Audience, now time.Time) []scene.Item {
	return r.scene.For(a).Shown(now, r.cfg.Settings().ContextWindow.Duration(), addressing.IDs(r.agents()))
}

// observePresence takes in what tells who is here, before anything waits for a disk.
func (r *Room) observePresence(in admission.Input) {
	r.presence.Observe(in.Event, in.Who, in.Address == conversation.Own)
	if l, is := presence.Sees(in.Event); is {
		if i, fits := r.viewer.Status.People(in.Event, l.People, l.Eyes); fits {
			r.observeItem(i)
		}
	}
}

// observeItem takes what a sense has noticed into the scene.
func (r *Room) observeItem(i scene.Item) {
	if was, over := r.scene.Observe(i); over {
		r.overruled(was, i.Source)
	}
}

// tellPresence writes to the scene who is probably here at now.
func (r *Room) tellPresence(now time.Time) {
	r.presence.Describe(now, r.observeItem, func(id, source string) {
		if was, over := r.scene.Vanish(scene.User, id); over {
			r.overruled(was, source)
		}
	})
}

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
	e := scene.Alter(r.event(was.Visibility, earshot.Edit{}), earshot.Edit{Act: earshot.Ended, Undoes: was.Event, Source: source}, was)
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

// contextResync answers /context resync.
func (r *Room) contextResync(ctx context.Context, c command.Call) (string, error) {
	if c.By.ID == "" || participants.Unnamed(c.By.ID) {
		return "", errors.New("say who you are first, with --identity NAME")
	}
	var differed bool
	var failed error
	lost := r.owner.Do(ctx, func(ctx context.Context) { differed, failed = r.perceiver.Resync(ctx) })
	if err := errors.Join(failed, lost); err != nil {
		return "", err
	}
	return perception.Answer(differed), nil
}

// cameras returns those that agents of this room can look through.
func (r *Room) cameras(set executive.Config) []sight.Camera {
	all := r.viewer.List()
	if slices.Contains(set.Sight.Rooms, r.cfg.ID) {
		return all
	}
	return slices.DeleteFunc(all, func(c sight.Camera) bool { return !c.Own })
}

// startLooks takes a look for each waiting question that needs one.
func (r *Room) startLooks(ctx context.Context) {
	for i, q := range r.pending {
		if q.Want == reflex.See && q.Look == nil {
			c, _ := sight.Find(r.cameras(r.set), "")
			r.pending[i].Look = r.viewer.Take(ctx, c, q.Message.End()) // the moment that somebody means
		}
	}
}

// mayCaption reports whether pictures may be described, and none is being described.
func (r *Room) mayCaption() bool {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	return r.cfg.Model != nil && r.set.Enabled && r.mode.Current().Answers() && r.mode.Current().Watches() && !r.live.leaving && !r.viewer.Captioner.Running.Load()
}

// caption has what a camera noticed described, unless that happens too often.
func (r *Room) caption(ctx context.Context) {
	now := r.cfg.Now()
	types, voice := r.activity.About(now)
	quiet := !types && !voice && !r.live.busy() && len(r.pending) == 0 && ctx.Err() == nil
	next := r.viewer.Captioner.Next(now, r.set.Sight.CaptionsPerHour, r.mayCaption(), quiet, func(e earshot.Event) *sight.Look {
		if c, known := sight.Find(r.cameras(r.set), e.Body.(earshot.Sight).Camera); known {
			return r.viewer.Take(ctx, c, e.At)
		}
		return nil
	})
	if next == nil {
		return
	}
	engine, model := r.seats[0].EngineAndModel(r.set)
	_, moded := r.Mode()
	who := r.seats[0].ID
	r.viewer.Describe(ctx, next, sight.Describer{Model: r.cfg.Model, Engine: engine, Name: model, Stop: moded}, func(ctx context.Context, text earshot.Text) {
		if !r.mode.Current().Watches() {
			return
		}
		e := r.event(next.About.Visibility, next.Event(text))
		e.At, e.From, e.Author, e.Sources = next.Look.Picture().At, next.About.From, who, []earshot.EventID{next.About.ID}
		r.record(ctx, e)
	})
}
