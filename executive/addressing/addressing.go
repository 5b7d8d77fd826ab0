// Package addressing determines for which agents of a room a message is, from the names it calls
// and the people present.
package addressing

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
	"earshot/participants/agents"
)

// The reasons why something is for agents of the room, or for none, as they stand in the journal.
const (
	Alone     = "nobody else is here, so it was for me"
	Named     = "it calls me by name"
	Everybody = "it calls every agent"
	ToOthers  = "it calls somebody else"
	Misses    = "it calls a name that nobody has"
	Elsewhere = "several people are here, and it does not call me"
	Whispered = "it was written to me in private"
)

// An Addressees says for which agents of the room something is. It is fixed at ingress, from who is
// here then.
type Addressees struct {
	Agents []earshot.ParticipantID // each of them answers

	// The fields below are set for written messages.
	Mine  bool   // it is for an agent
	Named bool   // it calls one, by name or in private
	Why   string // the reason, as it stands in the journal

	Hint string // tells the sender who was called and is absent; empty if nobody
	Lost bool   // nobody was called, and nobody answers
}

// A Resolver determines for whom a message in a room is. Its methods are safe for concurrent use;
// only its caches change.
type Resolver struct {
	Room   earshot.RoomID
	People *participants.Registry
	Agents func() []agents.Record               // the agents of the room, the main one first; there is always one
	Seats  bool                                 // Agents are those with a seat in the room; otherwise every agent has one
	Former func() []string                      // the names of agents that have ended; may be nil
	Orders bool                                 // operators can make agents
	Enters func(participants.Participant) error // why somebody may not enter the room; if nil, everybody may

	// Recipients returns the agents at an address, at least one of which sits in the room; if nil, none
	// has one.
	Recipients func(ctx context.Context, by participants.Participant, address string) ([]agents.Record, error)

	directoryCache atomic.Pointer[directoryCache]
	seatRoster     atomic.Pointer[seatRoster]
}

// A directoryCache is who can be addressed, prepared for one version of the registry.
type directoryCache struct {
	version   uint64
	directory *conversation.Directory
}

// Directory returns who can be addressed. It is rebuilt after every change of the registry.
func (r *Resolver) Directory() *conversation.Directory {
	version := r.People.Version() // read before the participants, so that a change meanwhile is seen next time
	if n := r.directoryCache.Load(); n != nil && n.version == version {
		return n.directory
	}
	var former []string
	if r.Former != nil {
		former = r.Former()
	}
	n := &directoryCache{version, conversation.NewDirectory(r.People.Everybody(), former...)}
	r.directoryCache.Store(n)
	return n.directory
}

// Direct determines to whom a text goes, which agents may see it, and what it means for the agents
// of this room.
func (r *Resolver) Direct(e *earshot.Event, who participants.Participant, text earshot.Text) Addressees {
	names := r.Directory()
	d := names.Direct(text, who.ID)
	sits := r.Roster().Internal
	for _, a := range r.People.Roster(r.Room).Internal {
		if !(d.All && IsAmong(sits, a.ID)) && !slices.Contains(d.To, a.ID) && !BeginsWithName(text, a.Name) && !BeginsWithName(text, a.Username) {
			continue
		}
		if !slices.Contains(d.To, a.ID) {
			d.To = append(d.To, a.ID)
		}
		if !d.All { // a message that calls some agents is hidden from the others
			e.Visibility.Agents = append(e.Visibility.Agents, a.ID)
		}
	}
	e.To = d.To
	a := r.aimed(d, r.Company(who), e.From.Provider)
	alone := ""
	switch a.Why {
	case Misses:
		if r.Company(who) <= 1 && len(names.Nearest(d.Unknown[0], 1)) == 0 {
			alone = "Leave out the @ and I answer"
		}
	case Alone: // "@Override" calls nobody, and a person who is alone is answered in any case
		d.Unknown = slices.DeleteFunc(d.Unknown, func(u string) bool { return len(names.Nearest(u, 1)) == 0 })
	}
	a.Hint = sentences(a.Hint, r.retired(d.Former, who), names.Hint(d), alone)
	if a.Mine && len(e.To) == 0 {
		e.To = a.Agents
	}
	return a
}

// aimed returns what a text with direction d means for the agents, in a room with so many people.
// An unknown name calls nobody, so somebody who is alone is still answered, by the agent of connector; but
// not if the text is addressed to that name.
func (r *Resolver) aimed(d conversation.Addressees, people int, connector string) Addressees {
	all := r.Agents()
	called := r.Seated(d.To, all)
	switch {
	case d.All:
		return Addressees{Agents: IDs(all), Mine: true, Named: true, Why: Everybody}
	case len(called) > 0:
		return Addressees{Agents: called, Mine: true, Named: true, Why: Named, Hint: r.Elsewhere(d.To, all)}
	case len(d.To) > 0:
		return Addressees{Why: ToOthers, Hint: sentences(r.Away(d.To), r.Elsewhere(d.To, all))}
	case d.People:
		return Addressees{Why: ToOthers}
	case d.Misses:
		return Addressees{Why: Misses}
	case people > 1:
		return Addressees{Why: Elsewhere, Lost: len(d.Former)+len(d.Unknown) == 0}
	}
	return Addressees{Agents: IDs([]agents.Record{agents.Met(connector, all)}), Mine: true, Why: Alone}
}

// Seated returns those of some participants that are among the agents of the room.
func (r *Resolver) Seated(some []earshot.ParticipantID, all []agents.Record) (here []earshot.ParticipantID) {
	for _, id := range some {
		if slices.ContainsFunc(all, func(a agents.Record) bool { return a.ID == id }) {
			here = append(here, id)
		}
	}
	return here
}

// IDs returns the IDs of some agents.
func IDs(of []agents.Record) (all []earshot.ParticipantID) {
	for _, a := range of {
		all = append(all, a.ID)
	}
	return all
}

// Elsewhere says which of some participants are agents without a seat in the room. It is empty if
// Seats is not set.
func (r *Resolver) Elsewhere(some []earshot.ParticipantID, all []agents.Record) string {
	var names []string
	for _, id := range some {
		if p, _ := r.People.Get(id); p.Type == participants.Internal && len(r.Seated([]earshot.ParticipantID{id}, all)) == 0 {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 || !r.Seats {
		return ""
	}
	return say(names, " has no seat in this room and does not answer here", " have no seat in this room and do not answer here")
}

// say returns what is said of one, or of several.
func say(names []string, one, several string) string {
	if len(names) > 1 {
		return List(names) + several
	}
	return names[0] + one
}

// retired tells somebody that they have called agents that no longer exist, and how to get another.
func (r *Resolver) retired(names []string, who participants.Participant) string {
	if len(names) == 0 {
		return ""
	}
	said := say(names, " has ended", " have ended")
	if !r.Orders || !who.Can(participants.Operate) {
		return said + "; an operator of this earshot can add a new one"
	}
	name := names[0]
	if strings.Contains(name, " ") {
		name = strconv.Quote(name)
	}
	return said + "; to add a new one, write /agent add " + name + " and what it is for"
}

// sentences joins the texts that are not empty.
func sentences(some ...string) string {
	return strings.Join(slices.DeleteFunc(some, func(s string) bool { return s == "" }), ". ")
}

// A seatRoster is who is in the room, and of the agents only those with a seat.
type seatRoster struct {
	of     *participants.Roster
	agents []earshot.ParticipantID
	made   *participants.Roster
}

// Roster returns who is in the room. It returns the same one until anything changes. If Seats is
// not set, all agents are in it.
func (r *Resolver) Roster() *participants.Roster {
	all := r.People.Roster(r.Room)
	if !r.Seats {
		return all
	}
	now := IDs(r.Agents())
	if s := r.seatRoster.Load(); s != nil && s.of == all && slices.Equal(s.agents, now) {
		return s.made
	}
	made := *all
	made.Internal = slices.DeleteFunc(slices.Clone(all.Internal), func(p participants.Participant) bool { return !slices.Contains(now, p.ID) })
	r.seatRoster.Store(&seatRoster{all, now, &made})
	return &made
}

// RosterWith returns the roster and the people who wrote through a program: a writer takes part in
// the turn that answers them.
func (r *Resolver) RosterWith(writers []participants.Participant) *participants.Roster {
	is := r.Roster()
	external := is.External
	for _, p := range writers {
		if p.ID != "" && p.Type != participants.Internal && !p.ByVoice && !p.Nameless() && !IsAmong(external, p.ID) {
			external = append(slices.Clip(external), p)
		}
	}
	if len(external) == len(is.External) {
		return is
	}
	made := *is
	made.External = external
	return &made
}

// Company returns how many people are in the room, including somebody who writes from elsewhere.
// Somebody who has not said who they are does not count, nor does somebody known only by voice: the
// voice may be that of one of the others.
func (r *Resolver) Company(who participants.Participant) int {
	here := slices.DeleteFunc(slices.Clone(r.People.Here(r.Room)), participants.Participant.Nameless)
	if who.ID == "" || participants.Unnamed(who.ID) || who.Nameless() || IsAmong(here, who.ID) {
		return len(here)
	}
	return len(here) + 1
}

// IsAmong reports whether a list contains a participant.
func IsAmong(list []participants.Participant, id earshot.ParticipantID) bool {
	return slices.ContainsFunc(list, func(p participants.Participant) bool { return p.ID == id })
}

// Away says which of some people are absent, if all of them are.
func (r *Resolver) Away(to []earshot.ParticipantID) string {
	here := r.People.Here(r.Room)
	var gone []string
	for _, id := range to {
		if p, ok := r.People.Get(id); !ok || p.Type == participants.Internal || IsAmong(here, id) {
			return ""
		}
		gone = append(gone, r.People.Name(id))
	}
	if len(gone) == 0 {
		return ""
	}
	if out := r.Outsiders(to); len(out) > 0 {
		return List(out) + " may not enter this room and will not see it"
	}
	return say(gone, " is", " are") + " not here and will find it in the history"
}

// Outsiders returns the names of those people who may enter the room by none of their handles.
func (r *Resolver) Outsiders(of []earshot.ParticipantID) (names []string) {
	if r.Enters == nil {
		return nil
	}
	enters := func(id earshot.ParticipantID) bool {
		p, _ := r.People.Get(id)
		return p.Type == participants.Internal || r.Enters(p) == nil
	}
	for _, id := range of {
		if !slices.ContainsFunc(r.People.Identities(id), enters) {
			names = append(names, r.People.Name(id))
		}
	}
	return names
}

// List joins names into a readable list.
func List(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// BeginsWithName reports whether text begins with the name of an agent and continues without a
// comma: "Earshot what time is it". About a person one often speaks like this, but about an agent
// much less often than to it.
func BeginsWithName(text earshot.Text, name string) bool {
	t := strings.TrimSpace(string(text))
	if name == "" || len(t) < len(name) || !strings.EqualFold(t[:len(name)], name) {
		return false
	}
	next, n := utf8.DecodeRuneInString(t[len(name):])
	return n == 0 || unicode.IsSpace(next)
}
