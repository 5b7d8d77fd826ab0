package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/executive/reflex"
	"earshot/participants"
)

// noteNovelty takes in an event, as far as it may be new and everybody may know it. What agents say
// is nothing new to them.
func (r *Room) noteNovelty(e earshot.Event) {
	g := attention.Occurrence{At: e.At, Who: string(r.person(e.Author))}
	switch body := e.Body.(type) {
	case earshot.Message:
		g.Text = body.Text
	case earshot.Utterance:
		g.Text = body.Text
	case earshot.Memo:
		g.Text = body.Text
	case earshot.Edit:
		g.What, g.Text = body.Field, body.Text
	case earshot.Sight:
		if !r.catchesTheEye(&g, e, body) {
			return
		}
	default:
		return
	}
	if p, _ := r.cfg.People.Get(e.Author); p.Type == participants.Internal || !overhears(e) || slices.Contains(r.attentionState.routine, e.ID) {
		return
	}
	if g.Who == "" && e.Body.Kind() != earshot.KindSight { // cameras name nobody
		g.Who = e.From.Provider + ":" + e.From.ID
	}
	r.attentionState.novelty.Take(g)
	r.attentionState.latest = e.ID
}

// byReflex reports whether an entry is handled without a model: a command word, or a question such
// as what time it is.
func (r *Room) byReflex(e *entry) bool {
	for _, q := range e.asks {
		if q.want == reflex.None && q.words == "" {
			return false
		}
	}
	return len(e.asks) > 0 || r.cuts(wrote(e.event))
}

// catchesTheEye reports whether a sight may be new: somebody who comes, something held up, or
// another picture. Somebody who comes back within a moment had not gone.
func (r *Room) catchesTheEye(g *attention.Occurrence, e earshot.Event, s earshot.Sight) bool {
	g.Who = ""
	switch s.What {
	case earshot.PeopleChanged:
		g.What, g.Absence = "arrival", r.absence(e.At)
		return s.People > s.Were && (s.Were > 0 || g.Absence >= moments)
	case earshot.CodeRead, earshot.Captioned:
		g.What, g.Text = string(s.What), s.Text
		return true
	}
	g.What = string(s.What)
	return s.What == earshot.SceneChanged
}

// moments is how long nobody may be noticed now and then although somebody is here.
const moments = 10 * time.Second

// nextWeighing returns when recent events should be weighed; the zero time while there are none.
func (r *Room) nextWeighing() time.Time {
	r.attentionState.novelty.Every = r.set.UpdateInterval.Duration()
	if !r.thinksUnasked() {
		return time.Time{}
	}
	return r.attentionState.novelty.Next()
}

// thinksUnasked reports whether thinking about what nobody asked is on.
func (r *Room) thinksUnasked() bool {
	set := r.set.Parallel
	return set.Enabled && set.ReasoningContinuous && r.thinks()
}

// weighNovelty makes the mind think about recent events, if they are new enough.
func (r *Room) weighNovelty(context.Context) {
	if cause, worth := r.attentionState.novelty.Weigh(r.cfg.Now()); worth {
		r.thinkAbout(cause, r.attentionState.latest, "")
		r.attentionState.novelty.Thinks()
	}
}
