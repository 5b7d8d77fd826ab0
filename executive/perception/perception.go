// Package perception makes the scene of a room from the events on its record: it says what each kind
// of event adds to the scene, changes there or takes away. That follows from the events alone, so
// the scene can be rebuilt from the journal at any time, and compared. The package knows neither the
// journal nor the room, which says what an agent there may see.
package perception

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/scene"
	"earshot/executive/sight"
)

// A Perceiver keeps the scene of a room in step with its record. It is not safe for concurrent use;
// the scene is.
type Perceiver struct {
	Scene *scene.Scene

	// Recent returns an event, if the room remembers it, so that a revised message keeps its attachments.
	Recent func(earshot.EventID) earshot.Event

	// Scenery returns the newest events of the room from which the scene is made, oldest first. It may
	// wait for a disk. If nil, the scene is never compared with the journal.
	Scenery func(context.Context) ([]earshot.Event, error)

	// Perceivable reports whether an agent may see an event.
	Perceivable func(earshot.Event) bool

	Tell func(text string) // tells the people in the room something
	Log  *slog.Logger

	perceived int64 // events that were given to the scene
}

// Perceive takes an event on record into the scene.
func (p *Perceiver) Perceive(e earshot.Event) {
	p.perceived++
	into := p.Scene
	into.Took(e.Sequence)
	switch body := e.Body.(type) {
	case earshot.Message:
		said(into, scene.Messages, e, body.Whole())
	case earshot.Revision:
		was, _ := p.Recent(body.Of).Body.(earshot.Message)
		into.Reword(body.Of, earshot.Message{Text: body.Text, Attachments: was.Attachments}.Whole())
	case earshot.Utterance:
		said(into, scene.Messages, e, body.Text)
	case earshot.Memo:
		said(into, scene.Notes, e, body.Text)
	case earshot.Sight:
		into.Put(sight.Item(e, body))
	case earshot.Edit:
		into.Edit(e)
	case earshot.Attribution:
		into.Attribute(body.Of, body.Author)
	case earshot.Finding:
		into.Forget(body.Merges...)
		into.Put(scene.Item{
			Field: scene.Reasoning, Source: "think", Event: e.ID, At: e.At, Text: body.Text, Visibility: e.Visibility,
			Confidence: body.Confidence, Until: body.Until,
		})
	case earshot.Reply:
		into.Use(body.Delivered(), e.Visibility, e.Sources...)
		replied(into, e, body)
	}
}

// Complete reports whether the scene has taken in each event that it was given, in order.
func (p *Perceiver) Complete() bool { return p.Scene.Counts(p.perceived) }

// Resync rebuilds the scene from the journal, and reports whether it differed. Nothing may be written
// to the journal meanwhile.
func (p *Perceiver) Resync(ctx context.Context) (differed bool, err error) {
	if p.Scenery == nil {
		return false, errNoJournal
	}
	events, err := p.Scenery(ctx)
	if err != nil {
		return false, fmt.Errorf("reading the journal: %w", err)
	}
	fresh := &Perceiver{Scene: new(scene.Scene), Recent: p.Recent}
	for _, e := range events {
		if p.Perceivable(e) {
			fresh.Perceive(e)
		}
	}
	return p.Scene.Resync(fresh.Scene, p.perceived), nil
}

var errNoJournal = errors.New("there is no journal to compare with")

// resynced tells the people in a room that the scene differed from the journal.
const resynced = "what I knew about the situation did not match the journal, so I have rebuilt it from the journal"

// Mend compares the scene with the journal, and tells people if it differed.
func (p *Perceiver) Mend(ctx context.Context) {
	if p.Scenery == nil {
		return
	}
	differed, err := p.Resync(ctx)
	switch {
	case err != nil:
		p.Log.Warn("the scene could not be compared with the journal", "err", err)
	case differed:
		p.Log.Warn("the scene did not match the journal and was rebuilt")
		p.Tell(resynced)
	}
}

// Answer says in words what a comparison with the journal has found.
func Answer(differed bool) string {
	if differed {
		return "It did not match the journal, so I have rebuilt it from the journal; /context shows it."
	}
	return "It matches the journal."
}

// said adds somebody's words to a field.
func said(into *scene.Scene, field scene.Field, e earshot.Event, text earshot.Text) {
	into.Put(scene.Item{
		Field: field, Aloud: e.Body.Kind() == earshot.KindUtterance, Source: e.From.Provider, Event: e.ID, At: e.At, Text: text, By: e.Author, Visibility: e.Visibility,
	})
}

// replied records in the state of its agent how a reply ended. A reply that was cut off and can be
// resumed stays there while others are answered, until it is resumed or grows old.
func replied(into *scene.Scene, e earshot.Event, reply earshot.Reply) {
	by, note := dialogue.Outcome(reply)
	if reply.Offered == "" && note == "" {
		return
	}
	was, ok := into.Made(scene.Agent, string(e.Author))
	if ok && e.At.Before(was.Until) && reply.Resumable.IsZero() && (reply.Resumes != was.Event || reply.Outcome != earshot.Completed) {
		return
	}
	state := earshot.Text(note)
	switch {
	case !reply.Resumable.IsZero():
		state += leftSaying(reply)
	case note == "":
		state = "you have said what you wanted to say"
	}
	into.Put(scene.Item{
		Field: scene.Agent, Of: e.Author, Source: "turn", Event: e.ID, At: e.At, Text: state, By: by, Visibility: e.Visibility, Until: reply.Resumable,
	})
}

// leftSaying tells the model which part of a reply that was cut off was heard, and which was not.
func leftSaying(reply earshot.Reply) earshot.Text {
	heard, rest := strings.TrimSpace(string(reply.Delivered())), strings.TrimSpace(string(reply.Remainder()))
	text := ""
	if heard != "" {
		text = " The last that was heard: " + dialogue.QuoteEnd(heard, mostStateHeard) + "."
	}
	if rest != "" {
		text += " Not said yet: " + rest
	} else {
		text += " You had more to say."
	}
	return earshot.Text(text)
}

// mostStateHeard is how many bytes of what was heard stand in the state of an agent: enough to tell
// which reply it was.
const mostStateHeard = 160
