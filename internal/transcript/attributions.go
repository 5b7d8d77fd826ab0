// Package transcript tells what happened to people, a line an event.
package transcript

import (
	"context"
	"fmt"
	"slices"

	"earshot"
)

// mostRevised is how many revisions are looked at of whose words these were: people take
// back few, and of older ones the first word stands.
const mostRevised = 4096

// A Source is what has happened as somebody may see it: as the journal on this machine has it,
// or as an earshot elsewhere tells it. Its methods are those of [store.Reader].
type Source interface {
	Last(ctx context.Context, kinds []earshot.Kind, n int) ([]earshot.Event, error)
	Find(ctx context.Context, ids []earshot.EventID) ([]earshot.Event, error)
}

// An Attributions tells of utterances whose they turned out to be, by the event that says so
// and is the last of them.
type Attributions map[earshot.EventID]earshot.Event

// ReadAttributions returns what is known of that to whoever reads.
func ReadAttributions(ctx context.Context, r Source) (Attributions, error) {
	all, err := r.Last(ctx, []earshot.Kind{earshot.KindWhose}, mostRevised)
	known := make(Attributions)
	for _, e := range all { // the newest last
		if w, ok := e.Body.(earshot.Attribution); ok {
			known[w.Of] = e
		}
	}
	return known, err
}

// Apply returns events with those as their authors who they turned out to be of.
func (r Attributions) Apply(events []earshot.Event) []earshot.Event {
	events = slices.Clone(events)
	for i, e := range events {
		if later, ok := r[e.ID]; ok {
			events[i].Author = later.Body.(earshot.Attribution).Author
		}
	}
	return events
}

// Mark returns an event as people read it: under the name of whose words these are, and
// with whose they were taken for first, if that is somebody else.
func (r Attributions) Mark(e earshot.Event, name func(earshot.ParticipantID) string) earshot.Event {
	now := r.Apply([]earshot.Event{e})[0]
	u, ok := e.Body.(earshot.Utterance)
	if !ok {
		return now
	}
	if name(now.Author) != name(e.Author) {
		u.Text += earshot.Text(fmt.Sprintf(" [first taken for %s]", name(e.Author)))
	}
	if later, revised := r[e.ID]; revised {
		u.Sure = later.Body.(earshot.Attribution).Sure
	}
	now.Body = u
	return now
}
