package room

import (
	"errors"
	"slices"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/decision"
	"earshot/executive/dialogue"
	"earshot/participants"
)

var (
	errNobodysWords = errors.New("whose words? say who you are first: earshot chat --identity NAME")
	errNoQuestion   = errors.New("what do you want to ask? Write /" + earshot.OwnWords + " QUESTION; everybody here sees it")
)

// ownWords makes the message of the command "/mywords QUESTION" given by who. It keeps the event's
// ID, so that a command that is sent twice counts once. Everybody sees it, as if it had no command.
func ownWords(e *earshot.Event, who participants.Participant, args earshot.Text) error {
	if who.ID == "" || who.ID == participants.Generic {
		return errNobodysWords
	}
	if dialogue.Valid(args) == "" {
		return errNoQuestion
	}
	text, err := dialogue.Wording(args, earshot.MaxText)
	if err != nil {
		return err
	}
	e.Body = earshot.Message{Text: text, OwnWords: true}
	return nil
}

// withOwnWords returns the addressees of a question with its author's own words alone: the agents
// that it calls, or the main one if it calls none.
func (r *Room) withOwnWords(e *earshot.Event, a addressing.Addressees) addressing.Addressees {
	if !a.Mine || a.Why == addressing.Alone {
		all := r.agents()
		a = addressing.Addressees{Agents: addressing.IDs(all[:1]), Mine: true, Named: true, Why: decision.OwnWords}
		e.To, e.Visibility.Agents = slices.Clone(a.Agents), nil
	}
	return a
}
