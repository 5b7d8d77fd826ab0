package room

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive/looking"
	"earshot/llm"
)

// holds is how long a picture waits for silence in the room before it is described. It stays in
// memory that long.
const holds = time.Minute

// captions are the pictures that a model describes. They belong to Run.
type captions struct {
	budget looking.Budget
	news   *earshot.Event // the newest sight that is worth a description
	next   *caption       // waits for its picture, or for silence
}

// A caption is a description to be made.
type caption struct {
	about    earshot.Event // the sight that caused it
	snapshot *snapshotRequest
}

// describes notes that a camera has noticed something that is worth a description.
func (r *Room) describes(e earshot.Event) {
	if s, is := e.Body.(earshot.Sight); is && looking.Worth(s) {
		r.captions.news = &e
	}
}

// mayCaption reports whether pictures may be described, and none is being described.
func (r *Room) mayCaption() bool {
	set := r.set
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg.Model != nil && set.Enabled && r.mode.Answers() && r.mode.Watches() && !r.leaving && !r.captioning
}

// caption has what a camera noticed described, unless that happens too often. The picture is taken
// at once, and waits until nobody speaks, types or waits for an answer.
func (r *Room) caption(ctx context.Context) {
	r.frame(ctx)
	c, now := r.captions.next, r.cfg.Now()
	if c == nil || r.snapshotPending(c.snapshot) {
		return
	}
	if !c.snapshot.seen || now.Sub(c.about.At) > holds || !r.mayCaption() {
		r.captions.next = nil
		return
	}
	if types, voice := r.activity.About(now); types || voice || r.speaking() || len(r.pending) > 0 || ctx.Err() != nil {
		return
	}
	r.captions.next = nil
	r.captions.budget.Spend(now)
	r.describing(true)
	who := r.seats[0].ID
	engine, model := r.seats[0].thinks(r.set)
	_, moded := r.Mode()
	r.snapshotsRunning.Go(func() {
		defer r.nudge()
		defer r.describing(false)
		ctx, stop := unless(ctx, moded)
		defer stop()
		r.captioned(ctx, c, who, engine, model)
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

// frame takes the next picture to describe, in place of one that waits.
func (r *Room) frame(ctx context.Context) {
	e, set := r.captions.news, r.set
	r.captions.news = nil
	if e == nil || !r.mayCaption() || !r.captions.budget.Allows(r.cfg.Now(), set.Sight.CaptionsPerHour) {
		return
	}
	if c, known := cameraOf(r.cameras(set), e.Body.(earshot.Sight).Camera); known {
		r.captions.next = &caption{*e, r.snapshotFrom(ctx, c, e.At)}
	}
}

// describing notes whether a picture is being described.
func (r *Room) describing(is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.captioning = is
}

// captioned asks a model what is in the picture of c, and keeps its answer. A model that does not
// accept pictures is not asked. The cost goes to the log, the answer does not.
func (r *Room) captioned(ctx context.Context, c *caption, by earshot.ParticipantID, engine, model string) {
	began, p := r.cfg.Now(), c.snapshot.picture
	var text strings.Builder
	var cost llm.Done
	for d, err := range r.cfg.Model.Stream(ctx, looking.Describe(p, engine, model)) {
		if err != nil {
			fault, _ := errors.AsType[*llm.Error](err)
			r.cfg.Log.Debug("a picture is not described", "camera", c.snapshot.camera.Name, "why", cause(fault))
			return
		}
		if d.Done != nil {
			cost = *d.Done
		}
		if text.WriteString(d.Text); text.Len() > longestDescribed {
			break
		}
	}
	r.cfg.Log.Info("a picture was described", "camera", c.snapshot.camera.Name, "prompt_tokens", cost.PromptTokens, "reply_tokens", cost.ReplyTokens, "latency", r.cfg.Now().Sub(began))
	caption := looking.Caption(text.String())
	if caption == "" || !r.is().Watches() || ctx.Err() != nil {
		return
	}
	s := c.about.Body.(earshot.Sight)
	e := r.event(c.about.Visibility, earshot.Sight{Camera: s.Camera, What: earshot.Captioned, People: s.People, Eyes: earshot.Clear, Text: caption})
	e.At, e.From, e.Author, e.Sources = p.At, c.about.From, by, []earshot.EventID{c.about.ID}
	r.record(ctx, e)
}

// longestDescribed is how many bytes of a description are read: more is no description.
const longestDescribed = 4 << 10

// cause says in the program's words what kept a model from an answer.
func cause(fault *llm.Error) string {
	if fault == nil {
		return "it was stopped for something more urgent"
	}
	return string(fault.Fault)
}
