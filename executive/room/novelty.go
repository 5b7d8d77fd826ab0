package room

import (
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/participants"
)

// glimpse takes in what happened, as far as it may be new and all may know of it.
// What agents say is nothing new to them.
func (r *Room) glimpse(e earshot.Event) {
	g := attention.Glimpse{At: e.At, Who: string(r.person(e.Author))}
	switch body := e.Body.(type) {
	case earshot.Message:
		g.Text = body.Text
	case earshot.Utterance:
		g.Text = body.Text
	case earshot.Memo:
		g.Text = body.Text
	case earshot.Edit:
		g.What, g.Text = body.Field, body.Text
	default:
		return
	}
	if p, _ := r.cfg.People.Get(e.Author); p.Type == participants.Internal || !overhears(e) {
		return
	}
	if g.Who == "" {
		g.Who = e.From.Provider + ":" + e.From.ID
	}
	r.regard.watch.Take(g)
	r.regard.latest = e.ID
}

// wondering returns a channel that yields when what has happened is to be weighed;
// nil while nothing has.
func (r *Room) wondering() <-chan time.Time {
	r.regard.watch.Every = r.cfg.Settings().UpdateInterval.Duration()
	if at := r.regard.watch.Next(); !at.IsZero() && r.wonders() {
		return time.After(max(at.Sub(r.cfg.Now()), 0))
	}
	return nil
}

// wonders reports whether there is to be thought about what nobody asked for.
func (r *Room) wonders() bool {
	set := r.cfg.Settings().Parallel
	return set.Enabled && set.ReasoningContinuous && r.thinks()
}

// weigh has the mind think about what has happened, if that is new enough.
func (r *Room) weigh() {
	if cause, worth := r.regard.watch.Weigh(r.cfg.Now()); worth {
		r.wonder(cause, r.regard.latest, "")
		r.regard.watch.Thinks()
	}
}
