package addressing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"earshot"
	"earshot/participants"
)

// WhisperCommand is the command that sends a private message.
const WhisperCommand = "msg"

// The errors of /msg. None of them repeats what was written, because an error may be logged.
var (
	errNobodyAsks  = errors.New("a private message needs a sender; say who you are first: earshot chat --identity NAME")
	errToOneself   = errors.New("that is you; to keep something in mind, use /note")
	errNoName      = errors.New("to whom? Write /msg NAME text, or /msg NAME, NAME text")
	errNoText      = errors.New("an empty message says nothing; write /msg NAME text")
	errManyNames   = errors.New("more than one name begins like this; put the one you mean in quotes: /msg \"NAME\" text")
	errNoQuote     = errors.New("the closing quote after the name is missing")
	errManyMembers = fmt.Errorf("a private message can go to at most %d people", maxMembers)
)

// maxMembers is for how many people a private message can be: more are a room.
const maxMembers = 32

// Whisper reads the command "/msg NAME, NAME text" given by who, and returns to whom it goes, who may
// see it, sorted, and the text. Only who and the named people may, and the names must be exact: none
// is guessed.
func (r *Resolver) Whisper(who participants.Participant, args earshot.Text) (to, members []earshot.ParticipantID, text earshot.Text, err error) {
	if who.ID == "" || participants.Unnamed(who.ID) {
		return nil, nil, "", errNobodyAsks
	}
	to, rest, err := r.recipients(string(args))
	if err != nil {
		return nil, nil, "", err
	}
	to = slices.DeleteFunc(to, func(id earshot.ParticipantID) bool { return id == who.ID })
	switch {
	case len(to) == 0:
		return nil, nil, "", errToOneself
	case len(to) >= maxMembers:
		return nil, nil, "", errManyMembers
	case strings.TrimSpace(rest) == "":
		return nil, nil, "", errNoText
	}
	if out := r.Outsiders(to); len(out) > 0 {
		return nil, nil, "", errors.New(List(out) + " may not enter this room and would never see it; nothing was sent")
	}
	for _, id := range append([]earshot.ParticipantID{who.ID}, to...) {
		members = append(members, r.People.Readers(id)...) // so that people see it by each of their handles
	}
	slices.Sort(members) // the members of one conversation are the same, whoever writes
	return to, members, earshot.Text(rest), nil
}

// Whispered returns what a private message means for the agents.
func (r *Resolver) Whispered(e earshot.Event) Addressees {
	all := r.Agents()
	a := Addressees{Hint: r.Away(slices.DeleteFunc(slices.Clone(e.To), r.IsHere)) + r.Elsewhere(e.To, all)}
	if a.Agents = r.Seated(e.To, all); len(a.Agents) > 0 {
		a.Mine, a.Named, a.Why = true, true, Whispered
	}
	return a
}

// IsHere reports whether id is an agent, or in the room.
func (r *Resolver) IsHere(id earshot.ParticipantID) bool {
	p, _ := r.People.Get(id)
	return p.Type == participants.Internal || IsAmong(r.People.Here(r.Room), id)
}

// recipients returns the people named at the beginning of args, without duplicates, and the rest. A
// comma is followed by another name; a colon ends the names.
func (r *Resolver) recipients(args string) (to []earshot.ParticipantID, rest string, err error) {
	for rest = args; ; {
		var p participants.Participant
		p, rest, err = r.recipient(strings.TrimSpace(rest))
		switch {
		case err != nil && len(to) > 0:
			return nil, "", fmt.Errorf("a comma must be followed by another name, and a colon ends the names: %w", err)
		case err != nil:
			return nil, "", err
		}
		if !slices.Contains(to, p.ID) {
			to = append(to, p.ID)
		}
		more, another := strings.CutPrefix(rest, ",")
		if !another {
			return to, strings.TrimLeft(strings.TrimPrefix(rest, ":"), " \t"), nil
		}
		rest = more
	}
}

// recipient returns the participant named at the beginning of text, and the rest.
func (r *Resolver) recipient(text string) (who participants.Participant, rest string, err error) {
	if text == "" {
		return who, "", errNoName
	}
	if quoted, is := strings.CutPrefix(text, `"`); is {
		name, rest, ends := strings.Cut(quoted, `"`)
		if !ends {
			return who, "", errNoQuote
		}
		p, err := r.called(name)
		return p, strings.TrimLeft(rest, " \t"), err
	}
	return r.begun(strings.TrimPrefix(text, "@"))
}

// begun returns the participant named by the first words of text: as many words as make a name. If
// several match, it returns nobody.
func (r *Resolver) begun(text string) (who participants.Participant, rest string, err error) {
	for _, end := range ends(text) {
		p, ok := r.Find(text[:end])
		switch {
		case !ok:
		case who.ID != "" && who.ID != p.ID:
			return who, "", errManyNames
		default:
			who, rest = p, strings.TrimLeft(text[end:], " \t")
		}
	}
	if who.ID == "" {
		first := text
		if at := ends(text); len(at) > 0 {
			first = text[:at[0]]
		}
		_, err = r.called(first)
	}
	return who, rest, err
}

// mostWords is more words than any name has.
const mostWords = 8

// ends returns where the first words of text end, up to a comma, a colon, a quote or a new line,
// which no name contains.
func ends(text string) (at []int) {
	within := false
	for i, c := range text {
		stop := strings.ContainsRune(",:\"\n", c)
		if within && (stop || unicode.IsSpace(c)) {
			at = append(at, i)
			within = false
		}
		if stop || len(at) == mostWords {
			return at
		}
		within = within || !unicode.IsSpace(c)
	}
	if within {
		at = append(at, len(text))
	}
	return at
}

// called returns who has exactly this name.
func (r *Resolver) called(name string) (participants.Participant, error) {
	p, ok := r.Find(strings.TrimSpace(name))
	if !ok {
		return p, errors.New("nobody has that name, so nothing was sent" + r.Meant(name))
	}
	return p, nil
}

// Meant asks whether one of the nearest names was meant, if any is near.
func (r *Resolver) Meant(name string) string {
	near := r.Directory().Nearest(name, 3)
	if len(near) == 0 {
		return "; /who shows who is here"
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// Find returns who has a name. The generic participant cannot be found, because messages to it are
// readable by anybody.
func (r *Resolver) Find(name string) (participants.Participant, bool) {
	p, ok := r.People.Find(name)
	return p, ok && !participants.Unnamed(p.ID)
}
