package transcript

import (
	"context"
	"fmt"
	"strings"

	"earshot"
)

// longestCited is how many characters of a message are shown again where another answers it.
const longestCited = 40

// Citations are messages that others answer, by their IDs.
type Citations map[earshot.EventID]earshot.Event

// ReadCitations returns those that some events answer, as far as whoever reads may see them.
func ReadCitations(ctx context.Context, r Source, events []earshot.Event) (Citations, error) {
	var ids []earshot.EventID
	for _, e := range events {
		if m, ok := e.Body.(earshot.Message); ok && m.ReplyTo != "" {
			ids = append(ids, m.ReplyTo)
		}
	}
	all := make(Citations)
	if len(ids) == 0 {
		return all, nil
	}
	found, err := r.Find(ctx, ids)
	for _, e := range found {
		all[e.ID] = e
	}
	return all, err
}

// Mark returns an event as people read it: with the beginning of what it answers.
func (c Citations) Mark(e earshot.Event, name func(earshot.ParticipantID) string) earshot.Event {
	m, ok := e.Body.(earshot.Message)
	was, known := c[m.ReplyTo]
	if !ok || !known {
		return e
	}
	var text earshot.Text
	switch b := was.Body.(type) {
	case earshot.Message:
		text = b.Whole()
	case earshot.Utterance:
		text = b.Text
	case earshot.Reply:
		text = b.Delivered()
	}
	if short := []rune(strings.Join(strings.Fields(string(text)), " ")); len(short) > 0 {
		if len(short) > longestCited {
			short = append(short[:longestCited], '…')
		}
		m.Text = earshot.Text(fmt.Sprintf("[to %s: %q] ", name(was.Author), string(short))) + m.Text
		e.Body = m
	}
	return e
}

// edited returns what a message says, and that it was changed since, if it was.
func edited(m earshot.Message) string {
	text := string(m.Whole())
	if !m.Revised.IsZero() {
		text += " (edited)"
	}
	return text
}
