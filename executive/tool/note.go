package tool

import (
	"context"
	"fmt"
	"strings"

	"earshot"
	"earshot/participants"
)

// mostNote is the longest note in bytes: as for a person's, so that several fit among the notes of
// a scene.
const mostNote = 300

// Note is the tool by which an agent keeps something in mind. keep records it, for those who may
// see what the agent says there.
func Note(keep func(context.Context, Scope, earshot.Text) error) Tool {
	type note struct {
		Text string `json:"text"`
	}
	return New("note", "Keep a short fact in mind for later conversations in this room. Everybody in this one can see it.",
		`{"type":"object","properties":{"text":{"type":"string","description":"one or two sentences"}},`+
			`"required":["text"],"additionalProperties":false}`,
		participants.SendMessages, func(ctx context.Context, s Scope, given note) (Answer, error) {
			text, err := Wording("text", given.Text, mostNote)
			if err != nil {
				return Answer{}, err
			}
			return Answer{Text: "It is noted."}, keep(ctx, s, text)
		})
}

// Wording returns the text of the argument called name: not empty, and of at most so many bytes.
func Wording(name, text string, most int) (earshot.Text, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case text == "":
		return "", fmt.Errorf("%s is empty; it must say something", name)
	case len(text) > most:
		return "", fmt.Errorf("%s has %d bytes; at most %d: say it in fewer words", name, len(text), most)
	}
	return earshot.Text(text), nil
}
