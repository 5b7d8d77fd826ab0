package transcript

import (
	"slices"
	"strings"
	"time"

	"earshot"
)

const (
	// doubtful is how sure it must be whose voice something was said with for no question
	// mark to stand behind the name.
	doubtful = 0.9

	// together is how long two must have spoken at the same time for that to be said:
	// less is one who begins as the other ends.
	together = 300 * time.Millisecond

	// around is how far apart the one who listens for a phrase and the one who listens
	// for words may see its beginning.
	around = 500 * time.Millisecond

	// longest is twice what an ear listens to at once.
	longest = time.Minute
)

// An Overlaps is who spoke at the same time as somebody, or over a reply: by the event in
// which that is written down.
type Overlaps map[earshot.EventID][]earshot.ParticipantID

// FindOverlaps returns who spoke at the same time through different senses, where that is
// known to the moment, and who has cut off a reply, where that came out only when they
// had ended.
func FindOverlaps(events []earshot.Event) Overlaps {
	all := make(Overlaps)
	for i, a := range events {
		if by := cutter(a, events[i:]); by != "" {
			all[a.ID] = append(all[a.ID], by)
		}
		for _, b := range slices.Backward(events[:i]) {
			if a.At.Sub(b.At) > longest {
				break
			}
			if a.Author != b.Author && shared(a, b) >= together {
				all[a.ID] = append(all[a.ID], b.Author)
				all[b.ID] = append(all[b.ID], a.Author)
			}
		}
	}
	return all
}

// cutter returns who said what has cut off a reply of which it is only known when.
func cutter(e earshot.Event, later []earshot.Event) earshot.ParticipantID {
	r, ok := e.Body.(earshot.Reply)
	if !ok || r.Cut == nil || r.Cut.By != "" {
		return ""
	}
	for _, e := range later {
		u, is := e.Body.(earshot.Utterance)
		if is && !r.Cut.At.Before(e.At.Add(-around)) && !r.Cut.At.After(e.At.Add(u.Lasted)) {
			return e.Author
		}
	}
	return ""
}

// shared returns how long two things were said at the same time.
func shared(a, b earshot.Event) time.Duration {
	u, is := a.Body.(earshot.Utterance)
	v, too := b.Body.(earshot.Utterance)
	if !is || !too {
		return 0
	}
	begin, end := a.At, a.At.Add(u.Lasted)
	if b.At.After(begin) {
		begin = b.At
	}
	if e := b.At.Add(v.Lasted); e.Before(end) {
		end = e
	}
	return end.Sub(begin)
}

// Mark returns an event as people read it: with who spoke at the same time, or cut it
// off. Of two who are heard through one microphone nobody can tell who the other is.
func (c Overlaps) Mark(e earshot.Event, name func(earshot.ParticipantID) string) earshot.Event {
	if r, ok := e.Body.(earshot.Reply); ok && len(c[e.ID]) > 0 {
		cut := *r.Cut
		cut.By = c[e.ID][0]
		r.Cut = &cut
		e.Body = r
		return e
	}
	u, ok := e.Body.(earshot.Utterance)
	if !ok {
		return e
	}
	var names []string
	for _, id := range c[e.ID] {
		if n := name(id); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	switch {
	case len(names) > 0:
		slices.Sort(names)
		u.Text += earshot.Text(" [while " + strings.Join(names, " and ") + " spoke]")
	case u.Overlaps:
		u.Text += " [while somebody else spoke]"
	}
	e.Body = u
	return e
}
