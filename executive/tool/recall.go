package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"earshot"
	"earshot/participants"
)

const (
	mostQuery  = 200 // bytes; the rarest few words
	mostFound  = 10  // a small model reads no more
	mostQuoted = 400 // bytes of one of them
)

// A Memory searches what was said.
type Memory interface {
	// Search returns the newest events with all words of the query which everybody in the audience
	// may see, at most so many, newest first. It is safe for concurrent use, waits for a disk, and
	// gives up when ctx ends.
	Search(ctx context.Context, a earshot.Audience, query string, limit int) ([]earshot.Event, error)
}

// Recall is the tool by which an agent looks up what was said, as far as everybody who will read
// the answer may know it. Name returns the name of a participant.
func Recall(m Memory, name func(earshot.ParticipantID) string) Tool {
	type recall struct {
		Query string `json:"query"`
	}
	return New("recall", "Search what was said in this room, also days ago, for messages that have all the words.",
		`{"type":"object","properties":{"query":{"type":"string","description":"one to four rare words, such as: dentist tuesday"}},`+
			`"required":["query"],"additionalProperties":false}`,
		participants.ReadMemory, func(ctx context.Context, s Scope, given recall) (Answer, error) {
			query, err := Wording("query", given.Query, mostQuery)
			if err != nil {
				return Answer{}, err
			}
			found, err := m.Search(ctx, s.Audience, string(query), mostFound)
			if err != nil {
				return Answer{}, errors.New("nothing could be searched; give one to four words that stood in what was said, or answer without it")
			}
			return recalled(s, found, name), nil
		})
}

// recalled returns the results as a model reads them. They are for those who may see all of them.
func recalled(s Scope, found []earshot.Event, name func(earshot.ParticipantID) string) Answer {
	a := Answer{Visibility: s.Visibility}
	var b strings.Builder
	for _, e := range found {
		text, ok := words(e.Body)
		if !ok || !e.Visibility.Allows(s.Audience) {
			continue
		}
		quoted := strings.Join(strings.Fields(string(text)), " ")
		fmt.Fprintf(&b, "%s %s: %s\n", e.At.Local().Format("2006-01-02 15:04"), by(e, name), bounded(quoted, mostQuoted))
		a.Visibility = a.Visibility.And(e.Visibility)
		a.Sources = append(a.Sources, e.ID)
	}
	if b.Len() == 0 {
		return Answer{Text: "Nothing was found. Try fewer or other words, or say that you do not know."}
	}
	a.Text = earshot.Text(b.String())
	return a
}

// by returns whose words an event is, or which camera saw it.
func by(e earshot.Event, name func(earshot.ParticipantID) string) string {
	if s, ok := e.Body.(earshot.Sight); ok {
		return "the " + earshot.CameraCalled(s.Camera)
	}
	return name(e.Author)
}

// words returns the text of an event with somebody's words or a sight.
func words(b earshot.Body) (earshot.Text, bool) {
	switch body := b.(type) {
	case earshot.Message:
		return body.Text, true
	case earshot.Utterance:
		return body.Text, true
	case earshot.Memo:
		return body.Text, true
	case earshot.Edit:
		return body.Text, body.Text != ""
	case earshot.Reply:
		return body.Delivered(), true
	case earshot.Sight:
		return body.Words(), true
	}
	return "", false
}
