package scene

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/participants"
)

// editable are the fields that anybody may change. In the other fields, anybody may correct what
// was misheard. The rest of them, which is what was written and how an agent's reply ended, only an
// operator may change.
var editable = []Field{Environment, Visual, User, Notes, Reasoning}

// Alter returns e as the event of an edit of the entry i. It is visible to those who may see the
// entry, and is deleted with it.
func Alter(e earshot.Event, edit earshot.Edit, i Item) earshot.Event {
	edit.Field, edit.Item = string(i.Field), i.ID
	if edit.Act != earshot.Undone {
		edit.Was = i.Text
	}
	if i.Event == "" && edit.Act != earshot.Undone {
		edit.Source = i.Source
	}
	e.Body, e.Visibility = edit, i.Visibility
	if i.Event != "" && !slices.Contains(e.Sources, i.Event) {
		e.Sources = append(slices.Clip(e.Sources), i.Event)
	}
	return e
}

// MayEdit says why somebody may not change an entry of a field; nil if they may.
func MayEdit(who participants.Participant, had Item, act earshot.Act) error {
	f, misheard := had.Field, had.Aloud && act == earshot.Changed
	switch {
	case who.ID == "" || participants.Unnamed(who.ID):
		return errors.New("a change needs an author; say who you are with --identity NAME")
	case had.Source == Clock:
		return errors.New("that is the clock of this machine; if it is wrong, set the clock")
	case act == earshot.Created && (f == Messages || f == Agent || f == Reasoning || f == Visual):
		return fmt.Errorf("nothing can be added to %s by hand; /context add notes TEXT keeps something in mind, /context add user_state TEXT says how somebody is", f)
	case !slices.Contains(editable, f) && !misheard && !who.Can(participants.Operate):
		return fmt.Errorf("%s records what was said or how a reply ended; only an operator of this earshot can change it", f)
	}
	return nil
}

// Quoted returns the entry that a model means by its words: the one that says exactly that, or
// otherwise the only one that contains it.
func Quoted(items []Item, words string) (Item, error) {
	want := plain(words)
	var within []Item
	for _, i := range items {
		if want != "" && (plain(string(i.Text)) == want || plain(i.Line()) == want) {
			return i, nil
		}
		if want != "" && strings.Contains(plain(i.Line()), want) {
			within = append(within, i)
		}
	}
	switch {
	case len(within) == 1:
		return within[0], nil
	case len(items) == 0:
		return Item{}, errors.New("there is no entry in that field; add one if it is needed")
	case len(within) > 1:
		items = within
	}
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "\n- %s", i.Line())
	}
	return Item{}, fmt.Errorf("it is not clear which entry is meant; copy one of these into entry, as it stands:%s", b.String())
}

// plain returns words in the form in which they are compared.
func plain(words string) string {
	return strings.ToLower(strings.Trim(strings.Join(strings.Fields(words), " "), `"'. `))
}

// Clock is the source of the entry with the time. That entry is not stored in the scene, because
// each reader reads it at a different moment.
const Clock = "clock"
