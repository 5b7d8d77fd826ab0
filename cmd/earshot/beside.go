package main

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

	// longest is twice what an ear listens to at once.
	longest = time.Minute
)

// A chorus is who spoke at the same time as somebody: by the event in which that is
// written down.
type chorus map[earshot.EventID][]earshot.ParticipantID

// besides returns who spoke at the same time through different senses, where that is
// known to the moment.
func besides(events []earshot.Event) chorus {
	all := make(chorus)
	for i, a := range events {
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

// mark returns an event as people read it: with who spoke at the same time. Of two who
// are heard through one microphone nobody can tell who the other is.
func (c chorus) mark(e earshot.Event, name func(earshot.ParticipantID) string) earshot.Event {
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
