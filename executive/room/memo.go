package room

import (
	"context"
	"errors"
	"fmt"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/scene"
	"earshot/participants"
)

// maxMemo is the longest memo in bytes: a few sentences, so that several fit among the notes of a
// scene.
const maxMemo = 300

// note records a memo for everybody here to see.
func (r *Room) note(ctx context.Context, c command.Call) (string, error) {
	text, err := wording(c.Args, maxMemo)
	switch {
	case len(c.Args) > maxMemo:
		return "", fmt.Errorf("the note has %d bytes, and at most %d are possible; use fewer words", len(c.Args), maxMemo)
	case err != nil:
		return "", errors.New("what shall I keep in mind? Write: /note TEXT")
	case c.By.ID == participants.Generic:
		return "", errors.New("a note needs an author; say who you are with --identity NAME")
	}
	e := c.Event
	e.Body, e.Author, e.To = earshot.Memo{Text: text}, c.By.ID, nil
	e.Visibility = earshot.Visibility{Scope: earshot.Public}
	en, err := r.enqueue(e, nil)
	if err != nil {
		return "", err
	}
	return "", en.wait(ctx)
}

// noted takes a memo into the scene.
func noted(into *scene.Scene, e earshot.Event, m earshot.Memo) {
	into.Put(scene.Item{
		Field: scene.Notes, Source: e.From.Provider, Event: e.ID, At: e.At, Text: m.Text, By: e.Author, Visibility: e.Visibility,
	})
}
