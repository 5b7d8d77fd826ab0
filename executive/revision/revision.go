// Package revision decides what may be changed of what is on record, and how it reads then: the
// revision and the withdrawal of a message, and edits of the scene by a sense or an agent. Its
// functions have no state. It knows neither the journal nor the room, which finds what is changed,
// and carries out what follows from that.
package revision

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/executive/dialogue"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/language"
	"earshot/participants"
)

// The errors of revisions and withdrawals. Nothing has changed then.
var (
	ErrNoSuch    = errors.New("there is no such message in this room")
	errNotTheirs = errors.New("somebody else wrote that message, or it was written elsewhere")
	errNotWords  = errors.New("only a message can be changed or taken back")
	ErrTakenBack = errors.New("that message was taken back")

	// ErrNothingKept says that the message is not kept anyway.
	ErrNothingKept = errors.New("nothing of that message is kept")
)

// Of returns which message a body revises or withdraws, if it does.
func Of(b earshot.Body) (of earshot.EventID, does bool) {
	switch b := b.(type) {
	case earshot.Revision:
		return b.Of, true
	case earshot.Withdrawal:
		return b.Of, true
	}
	return "", false
}

// Check says why e may not revise or withdraw an event, or nothing. Only the author of a message can
// do that, by the handle by which they wrote it. A moderator can withdraw it, and also a reply that
// was delivered at their place.
func Check(e, was earshot.Event) error {
	revision, revises := e.Body.(earshot.Revision)
	m, message := was.Body.(earshot.Message)
	reply, _ := was.Body.(earshot.Reply)
	switch _, aloud := was.Body.(earshot.Utterance); {
	case Moderates(e) && cameOut(reply, e.Via):
	case was.From.Provider != e.From.Provider || was.From != e.From && !Moderates(e):
		return errNotTheirs
	case !message && !(aloud && !revises), m.Turn != "":
		return errNotWords
	case revises && len(m.Attachments) == 0:
		if _, err := dialogue.Wording(revision.Text, earshot.MaxText); err != nil {
			return err
		}
	}
	return nil
}

// Moderates reports whether e is a withdrawal by the moderator of the place where a message was
// written, represented by the sense itself.
func Moderates(e earshot.Event) bool {
	_, back := e.Body.(earshot.Withdrawal)
	return back && e.From.ID == ""
}

// cameOut reports whether any of a reply was heard at an outlet.
func cameOut(r earshot.Reply, outlet string) bool {
	return slices.ContainsFunc(r.Heard, func(d earshot.Delivery) bool { return d.Outlet == outlet && d.Bytes > 0 })
}

// Needless reports whether a failed change is already done: withdrawing something twice is not an
// error of the sender.
func Needless(b earshot.Body, why error) bool {
	_, back := b.(earshot.Withdrawal)
	return errors.Is(why, ErrNothingKept) || back && errors.Is(why, ErrTakenBack)
}

// Signal returns the signal for the floor that a question no longer exists, which e by somebody
// changes.
func Signal(e earshot.Event, by earshot.ParticipantID) *interrupt.Signal {
	return &interrupt.Signal{Kind: interrupt.Addressed, From: e.From, Via: e.Via, By: by, Confidence: 1, At: e.At}
}

// Reword returns an event as it is after a revision: a message with its new text, an earlier revision
// of that message without its own. Others stay as they are, and changed is false.
func Reword(had, by earshot.Event) (now earshot.Event, changed bool) {
	now = had
	b, revises := by.Body.(earshot.Revision)
	switch was := had.Body.(type) {
	case earshot.Message:
		if changed = revises && had.ID == b.Of; changed {
			was.Text, was.Revised = b.Text, by.At
			now.Body = was
		}
	case earshot.Revision:
		if changed = revises && was.Of == b.Of && had.ID != by.ID; changed {
			now.Body = earshot.Revision{Of: was.Of}
		}
	}
	return now, changed
}

// Covers reports whether everybody who may see something of visibility w may also see something of
// visibility v.
func Covers(v, w earshot.Visibility) bool {
	both := v.And(w)
	return both.Scope == w.Scope && len(both.Members) == len(w.Members) && (both.Agents == nil) == (w.Agents == nil) && len(both.Agents) == len(w.Agents)
}

// MaxMemo is the longest memo in bytes: a few sentences, so that several fit among the notes of a
// scene.
const MaxMemo = 300

// CheckEdit returns an edit by a sense in the form in which it may be kept: only of fields that a
// sense observes, under names of its own, so that it cannot change what others have added, and with
// a text of at most so many bytes.
func CheckEdit(b earshot.Edit, from earshot.Handle, who participants.Participant, most int) (earshot.Edit, error) {
	f := scene.Field(b.Field)
	switch {
	case who.ID != "":
		return b, errors.New("a known participant cannot change the scene through a sense; use /context")
	case b.Act != earshot.Created && b.Act != earshot.Changed && b.Act != earshot.Ended:
		return b, fmt.Errorf("a sense can only add, change or end its own entries, not %q", participants.OneLine(string(b.Act)))
	case f != scene.Environment && f != scene.Visual && f != scene.User:
		return b, fmt.Errorf("a sense can only report on %s, %s and %s", scene.Environment, scene.Visual, scene.User)
	case len(b.Item) > mostItem:
		return b, fmt.Errorf("the name of an entry has %d bytes; at most %d", len(b.Item), mostItem)
	}
	b.Item, b.Was, b.Undoes, b.Source = from.Provider+":"+b.Item, "", "", ""
	if b.Act == earshot.Ended {
		b.Text = ""
		return b, nil
	}
	text, err := dialogue.Wording(b.Text, most)
	b.Text = text
	return b, err
}

// mostItem is the longest name of an entry in bytes.
const mostItem = 64

// Respelt reports whether two texts differ at most in spelling: in punctuation, in capitals and,
// within long words, in one letter or two swapped ones. In numbers and short words every letter
// counts: "now" is no spelling of "not".
func Respelt(a, b earshot.Text) bool {
	return slices.EqualFunc(language.Words(string(a)), language.Words(string(b)), mistyped)
}

// longWord is the number of letters from which a wrong one may be a slip: in English few words of
// that length differ in one letter, while most of four do.
const longWord = 6

// mistyped reports whether two words may be the same one.
func mistyped(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	if strings.ContainsFunc(a+b, unicode.IsDigit) {
		return false
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	from := 0
	for from < len(x) && x[from] == y[from] {
		from++
	}
	x, y = x[from:], y[from:]
	for len(x) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	swapped := len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
	return swapped || len(y) <= 1 && max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) >= longWord
}
