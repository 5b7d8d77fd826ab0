package slash

import (
	"context"
	"errors"
	"fmt"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/participants"
)

// MaxMemo is the longest memo in bytes: a few sentences, so that several fit among the notes of a
// scene.
const MaxMemo = 300

// note records a memo for everybody here to see.
func (h *Commands) note(ctx context.Context, c command.Call) (string, error) {
	text, err := dialogue.Wording(c.Args, MaxMemo)
	switch {
	case len(c.Args) > MaxMemo:
		return "", fmt.Errorf("the note has %d bytes, and at most %d are possible; use fewer words", len(c.Args), MaxMemo)
	case err != nil:
		return "", errors.New("what shall I keep in mind? Write: /note TEXT")
	case c.By.ID == participants.Generic:
		return "", errors.New("a note needs an author; say who you are with --identity NAME")
	}
	e := c.Event
	e.Body, e.Author, e.To = earshot.Memo{Text: text}, c.By.ID, nil
	e.Visibility = earshot.Visibility{Scope: earshot.Public}
	return "", h.Keep(ctx, e)
}
