package room

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/presence"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/executive/sight"
)

// observePresence takes in what tells who is here, before anything waits for a disk.
func (r *Room) observePresence(in resolvedEvent) {
	r.presence.Observe(in.event, in.who, in.to == conversation.Own)
	if l, is := presence.Sees(in.event); is {
		if i, fits := r.viewer.Status.People(in.event, l.People, l.Eyes); fits {
			r.observes(i)
		}
	}
}

// updateCameraLight records in the scene how light it is.
func (r *Room) updateCameraLight(e earshot.Event, g earshot.Glance) {
	if i, fits := r.viewer.Status.Light(e, g); fits {
		r.observes(i)
	}
}

// observes takes what a sense has noticed into the scene.
func (r *Room) observes(i scene.Item) {
	if was, over := r.scene.Observe(i); over {
		r.overruled(was, i.Source)
	}
}

// tellPresence writes to the scene who is probably here at now.
func (r *Room) tellPresence(now time.Time) {
	r.presence.Describe(now, r.observes, func(id, source string) {
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

// sightAnswer returns the reflex answer to somebody who wants the agent to look; "" if a model is
// asked instead, with the picture if it accepts pictures.
func (r *Room) sightAnswer(q *question.Question) string {
	if m, written := q.Message.Body.(earshot.Message); q.Want == reflex.See && written && len(m.Attachments) > 0 {
		q.Want = reflex.None // the attachment is what it should look at
	}
	if q.Want != reflex.See {
		return ""
	}
	if q.Look == nil { // it has become a question about sight since
		c, _ := sight.Find(r.cameras(r.set), "")
		q.Look = sight.NoLook(c)
	}
	if answer := r.viewer.Unable(q.Look); answer != "" {
		return answer
	}
	r.recordLook(q)
	if r.modelWorks(q.Seat) {
		return ""
	}
	return q.Look.Describe(r.cfg.Now())
}

// recordLook records that the room has looked for q, as if its agent had: it keeps the words of the
// detectors, and the answer rests on them.
func (r *Room) recordLook(q *question.Question) {
	arguments, _ := json.Marshal(map[string]string{"camera": q.Look.Camera.Name}) // of strings
	use := r.event(q.Rests.Visibility, earshot.Use{
		Turn: q.Turn, Tool: "look", Arguments: earshot.Text(arguments), Result: sight.Found(q.Look.Picture()), Took: q.Look.Took().Round(time.Millisecond),
	})
	use.Author, use.Sources = q.Seat.ID, []earshot.EventID{q.Message.ID}
	q.Rests = q.Rests.With(use.ID)
	r.unsaved.Add(use)
}

// mayCaption reports whether pictures may be described, and none is being described.
func (r *Room) mayCaption() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg.Model != nil && r.set.Enabled && r.is().Answers() && r.is().Watches() && !r.leaving && !r.captioner.Running.Load()
}

// caption has what a camera noticed described, unless that happens too often.
func (r *Room) caption(ctx context.Context) {
	now := r.cfg.Now()
	types, voice := r.activity.About(now)
	quiet := !types && !voice && !r.speaking() && len(r.pending) == 0 && ctx.Err() == nil
	next := r.captioner.Next(now, r.set.Sight.CaptionsPerHour, r.mayCaption(), quiet, func(e earshot.Event) *sight.Look {
		if c, known := sight.Find(r.cameras(r.set), e.Body.(earshot.Sight).Camera); known {
			return r.viewer.Take(ctx, c, e.At)
		}
		return nil
	})
	if next == nil {
		return
	}
	r.captioner.Running.Store(true)
	who := r.seats[0].ID
	engine, model := r.seats[0].EngineAndModel(r.set)
	_, moded := r.Mode()
	r.viewer.Go(func() {
		defer r.nudge()
		defer r.captioner.Running.Store(false)
		ctx, stop := unless(ctx, moded)
		defer stop()
		text := next.Ask(ctx, r.cfg.Model, engine, model, r.cfg.Now, r.cfg.Log)
		if text == "" || !r.is().Watches() || ctx.Err() != nil {
			return
		}
		e := r.event(next.About.Visibility, next.Event(text))
		e.At, e.From, e.Author, e.Sources = next.Look.Picture().At, next.About.From, who, []earshot.EventID{next.About.ID}
		r.record(ctx, e)
	})
}

// unless returns a context that ends with ctx, or as soon as changed is closed. stop must be called
// when it is no longer needed.
func unless(ctx context.Context, changed <-chan struct{}) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watching.Wait()
	}
}
