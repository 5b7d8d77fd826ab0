package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/speakers"
)

// maxSaid is how many utterances are remembered by when they began, for who finds out
// later whose they were: some minutes of a lively talk.
const maxSaid = 256

// A saying is something that was said aloud.
type saying struct {
	event      earshot.EventID
	began      time.Time
	visibility earshot.Visibility
}

// says remembers what was said aloud, and is on record.
func (r *Room) says(e earshot.Event) {
	if e.Body.Kind() != earshot.KindUtterance {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sayings = append(r.sayings, saying{e.ID, e.At, e.Visibility})
	r.sayings = slices.Delete(r.sayings, 0, max(0, len(r.sayings)-maxSaid))
}

// Regard takes in that it became otherwise whose some voices are. What turned out to be
// somebody else's is written down as such; what a voice is called is looked up wherever
// it is shown. It returns at once, and may be called from many goroutines.
func (r *Room) Regard(c speakers.Change) {
	h := c.Voice
	if c.Act == speakers.Divided {
		h = c.Other
	}
	if c.Act == speakers.Forgotten || h.ID == "" {
		return
	}
	for _, began := range c.Moved {
		if s, ok := r.saidAt(began); ok {
			r.revise(s, earshot.Whose{Speaker: h, Author: r.meet(h).Reader(), Sure: 1, By: c.Said.By})
		}
	}
}

// saidAt returns what began to be said at a time.
func (r *Room) saidAt(began time.Time) (saying, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.sayings, func(s saying) bool { return s.began.Equal(began) })
	if i < 0 {
		return saying{}, false
	}
	return r.sayings[i], true
}

// revise writes down whose something was that was said aloud: for those who may see
// that, and deleted with it.
func (r *Room) revise(s saying, w earshot.Whose) {
	w.Of = s.event
	e := r.event(s.visibility, w)
	e.Author, e.Sources = w.By, []earshot.EventID{s.event}
	if _, err := r.enqueue(e, nil); err != nil {
		r.cfg.Log.Warn("whose words these were cannot be written down", "err", err)
	}
}

// revised takes in that something was said by somebody else than was thought. It says
// what they are called, and nothing of what they may do: that stays as it was.
func (h *history) revised(e earshot.Event) {
	w, is := e.Body.(earshot.Whose)
	i := slices.IndexFunc(h.lines, func(l line) bool { return is && l.event == w.Of && l.aloud })
	if i >= 0 {
		h.lines[i].whose = &w
	}
}

// speaker returns whose words a line is, as far as anybody knows.
func (l line) speaker() earshot.ParticipantID {
	if l.whose != nil {
		return l.whose.Author
	}
	return l.author
}
