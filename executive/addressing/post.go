package addressing

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"earshot"
	"earshot/participants"
)

var (
	errNoPost   = errors.New("no agent has an address here; call one by its name")
	errNoLetter = errors.New("what is to be sent to which address? Write /" + earshot.PostTo + " PATH text; see: earshot agents")
)

// Post reads the command "/to ADDRESS text" given by who, and returns the agents to which it goes, and
// the text.
func (r *Resolver) Post(ctx context.Context, who participants.Participant, args earshot.Text) (to []earshot.ParticipantID, text earshot.Text, err error) {
	address, text := CutAddress(args)
	if r.Recipients == nil {
		return nil, "", errNoPost
	}
	if text.Blank() {
		return nil, "", errNoLetter
	}
	all, err := r.Recipients(ctx, who, address)
	return IDs(all), text, err
}

// CutAddress returns the address and the text in the arguments of the command "/to ADDRESS text".
func CutAddress(args earshot.Text) (address string, text earshot.Text) {
	rest := strings.TrimLeftFunc(string(args), unicode.IsSpace)
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		return rest[:i], earshot.Text(strings.TrimLeftFunc(rest[i:], unicode.IsSpace))
	}
	return rest, ""
}

// Posted returns what a message to an address means for the agents: those of its recipients that sit
// here answer it.
func (r *Resolver) Posted(e earshot.Event) Addressees {
	all := r.Agents()
	a := Addressees{Agents: r.Seated(e.To, all), Hint: r.Elsewhere(e.To, all), Why: ToOthers}
	if len(a.Agents) > 0 {
		a.Mine, a.Named, a.Why = true, true, Named
	}
	return a
}
