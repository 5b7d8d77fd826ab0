package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/admission"
	"earshot/executive/presence"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/executive/sight"
)

// observePresence takes in what tells who is here, before anything waits for a disk.
func (r *Room) observePresence(in admission.Input) {
	r.presence.Observe(in.Event, in.Who, in.Address == conversation.Own)
	if l, is := presence.Sees(in.Event); is {
		if i, fits := r.viewer.Status.People(in.Event, l.People, l.Eyes); fits {
			r.observeItem(i)
		}
	}
}

// updateCameraLight records in the scene how light it is.
func (r *Room) updateCameraLight(e earshot.Event, g earshot.Glance) {
	if i, fits := r.viewer.Status.Light(e, g); fits {
		r.observeItem(i)
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

// cameras returns those that agents of this room can look through.
func (r *Room) cameras(set executive.Config) []sight.Camera {
	if !slices.Contains(set.Sight.Rooms, r.cfg.ID) {
		return nil
	}
	return r.viewer.List()
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
