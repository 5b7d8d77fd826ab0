package room

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
	"earshot/participants/agents"
)

// An addressees says for which agents of the room something is. It is fixed at ingress, from who is
// here then.
type addressees struct {
	agents []earshot.ParticipantID // each of them answers

	// The fields below are set for written messages.
	mine  bool   // it is for an agent
	named bool   // it calls one, by name or in private
	why   string // the reason, as it stands in the journal

	hint string // tells the sender who was called and is absent; empty if nobody
	lost bool   // nobody was called, and nobody answers
}

// A directoryCache is who can be addressed, prepared for one version of the registry.
type directoryCache struct {
	version   uint64
	directory *conversation.Directory
}

// directory returns who can be addressed. It is rebuilt after every change of the registry.
func (r *Room) directory() *conversation.Directory {
	version := r.cfg.People.Version() // read before the participants, so that a change meanwhile is seen next time
	if n := r.directoryCache.Load(); n != nil && n.version == version {
		return n.directory
	}
	var former []string
	if r.cfg.Former != nil {
		former = r.cfg.Former()
	}
	n := &directoryCache{version, conversation.NewDirectory(r.cfg.People.Everybody(), former...)}
	r.directoryCache.Store(n)
	return n.directory
}

// direct determines to whom a text goes, which agents may see it, and what it means for the agents
// of this room.
func (r *Room) direct(e *earshot.Event, who participants.Participant, text earshot.Text) addressees {
	names := r.directory()
	d := names.Direct(text, who.ID)
	sits := r.roster().Internal
	for _, a := range r.cfg.People.Roster(r.cfg.ID).Internal {
		if !(d.All && isAmong(sits, a.ID)) && !slices.Contains(d.To, a.ID) && !begins(text, a.Name) {
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
	a := r.aimed(d, r.company(who))
	alone := ""
	switch a.why {
	case Misses:
		if r.company(who) <= 1 && len(names.Nearest(d.Unknown[0], 1)) == 0 {
			alone = "Leave out the @ and I answer"
		}
	case Alone: // "@Override" calls nobody, and a person who is alone is answered in any case
		d.Unknown = slices.DeleteFunc(d.Unknown, func(u string) bool { return len(names.Nearest(u, 1)) == 0 })
	}
	a.hint = sentences(a.hint, r.retired(d.Former, who), names.Hint(d), alone)
	if a.mine && len(e.To) == 0 {
		e.To = a.agents
	}
	return a
}

// aimed returns what a text with direction d means for the agents, in a room with so many people.
// An unknown name calls nobody, so somebody who is alone is still answered, by the main agent; but
// not if the text is addressed to that name.
func (r *Room) aimed(d conversation.Addressees, people int) addressees {
	all := r.agents()
	called := r.sitting(d.To, all)
	switch {
	case d.All:
		return addressees{agents: ids(all), mine: true, named: true, why: Everybody}
	case len(called) > 0:
		return addressees{agents: called, mine: true, named: true, why: Named, hint: r.elsewhere(d.To, all)}
	case len(d.To) > 0:
		return addressees{why: ToOthers, hint: sentences(r.away(d.To), r.elsewhere(d.To, all))}
	case d.People:
		return addressees{why: ToOthers}
	case d.Misses:
		return addressees{why: Misses}
	case people > 1:
		return addressees{why: Elsewhere, lost: len(d.Former)+len(d.Unknown) == 0}
	}
	return addressees{agents: ids(all[:1]), mine: true, why: Alone}
}

// sitting returns those of some agents that are among the agents of the room.
func (r *Room) sitting(some []earshot.ParticipantID, all []agents.Record) (here []earshot.ParticipantID) {
	for _, id := range some {
		if slices.ContainsFunc(all, func(a agents.Record) bool { return a.ID == id }) {
			here = append(here, id)
		}
	}
	return here
}

// ids returns the IDs of some agents.
func ids(of []agents.Record) (all []earshot.ParticipantID) {
	for _, a := range of {
		all = append(all, a.ID)
	}
	return all
}

// elsewhere says which of some participants are agents without a seat in the room. It is empty if
// Config.Agents is not set.
func (r *Room) elsewhere(some []earshot.ParticipantID, all []agents.Record) string {
	var names []string
	for _, id := range some {
		if p, _ := r.cfg.People.Get(id); p.Type == participants.Internal && len(r.sitting([]earshot.ParticipantID{id}, all)) == 0 {
			names = append(names, p.Name)
		}
	}
	switch {
	case len(names) == 0 || r.cfg.Agents == nil:
		return ""
	case len(names) > 1:
		return list(names) + " have no seat in this room and do not answer here"
	}
	return names[0] + " has no seat in this room and does not answer here"
}

// retired tells somebody that they have called agents that no longer exist, and how to get another.
func (r *Room) retired(names []string, who participants.Participant) string {
	if len(names) == 0 {
		return ""
	}
	said := list(names) + " has ended"
	if len(names) > 1 {
		said = list(names) + " have ended"
	}
	if r.cfg.Order == nil || !who.Can(participants.Operate) {
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

// roster returns who is in the room. It returns the same one until anything changes. If
// Config.Agents is not set, all agents are in it.
func (r *Room) roster() *participants.Roster {
	all := r.cfg.People.Roster(r.cfg.ID)
	if r.cfg.Agents == nil {
		return all
	}
	now := ids(r.agents())
	if s := r.seatRoster.Load(); s != nil && s.of == all && slices.Equal(s.agents, now) {
		return s.made
	}
	made := *all
	made.Internal = slices.DeleteFunc(slices.Clone(all.Internal), func(p participants.Participant) bool { return !slices.Contains(now, p.ID) })
	r.seatRoster.Store(&seatRoster{all, now, &made})
	return &made
}

// rosterWith adds the people who wrote through a program to the roster: whoever is answered takes
// part in that turn.
func (r *Room) rosterWith(writers []participants.Participant) *participants.Roster {
	is := r.roster()
	external := is.External
	for _, p := range writers {
		if p.ID != "" && p.Type != participants.Internal && !p.ByVoice && !p.Nameless() && !isAmong(external, p.ID) {
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

// company returns how many people are in the room, including somebody who writes from elsewhere.
// Somebody who has not said who they are does not count, nor does somebody known only by voice: the
// voice may be that of one of the others.
func (r *Room) company(who participants.Participant) int {
	here := slices.DeleteFunc(slices.Clone(r.cfg.People.Here(r.cfg.ID)), participants.Participant.Nameless)
	if who.ID == "" || who.ID == participants.Generic || who.Nameless() || isAmong(here, who.ID) {
		return len(here)
	}
	return len(here) + 1
}

func isAmong(list []participants.Participant, id earshot.ParticipantID) bool {
	return slices.ContainsFunc(list, func(p participants.Participant) bool { return p.ID == id })
}

// away says which of some people are absent, if all of them are.
func (r *Room) away(to []earshot.ParticipantID) string {
	here := r.cfg.People.Here(r.cfg.ID)
	var gone []string
	for _, id := range to {
		if p, ok := r.cfg.People.Get(id); !ok || p.Type == participants.Internal || isAmong(here, id) {
			return ""
		}
		gone = append(gone, r.cfg.People.Name(id))
	}
	if len(gone) == 0 {
		return ""
	}
	if out := r.outsiders(to); len(out) > 0 {
		return list(out) + " may not enter this room and will not see it"
	}
	return list(gone) + isOrAre(gone) + "not here and will find it in the history"
}

// outsiders returns the names of those people who may enter the room by none of their handles.
func (r *Room) outsiders(of []earshot.ParticipantID) (names []string) {
	if r.cfg.Enters == nil {
		return nil
	}
	enters := func(id earshot.ParticipantID) bool {
		p, _ := r.cfg.People.Get(id)
		return p.Type == participants.Internal || r.cfg.Enters(p) == nil
	}
	for _, id := range of {
		if !slices.ContainsFunc(r.cfg.People.Identities(id), enters) {
			names = append(names, r.cfg.People.Name(id))
		}
	}
	return names
}

// list joins names into a readable list.
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func isOrAre(names []string) string {
	if len(names) > 1 {
		return " are "
	}
	return " is "
}

// begins reports whether text begins with the name of an agent and continues without a comma:
// "Earshot what time is it". About a person one often speaks like this, but about an agent much
// less often than to it.
func begins(text earshot.Text, name string) bool {
	t := strings.TrimSpace(string(text))
	if name == "" || len(t) < len(name) || !strings.EqualFold(t[:len(name)], name) {
		return false
	}
	next, n := utf8.DecodeRuneInString(t[len(name):])
	return n == 0 || unicode.IsSpace(next)
}

// maxHinted is how many sessions are remembered to have received a hint once: more than there are
// at a time.
const maxHinted = 256

// advise sends the hint about a message to its author, where they wrote it. That nobody was called
// is said once in a session: people who talk to each other know it.
func (r *Room) advise(e earshot.Event, a addressees) {
	hint := r.advice(a)
	if hint == "" || e.Via == "" || a.hint == "" && !r.first(e.Via) {
		return
	}
	told := r.event(e.Visibility, earshot.Notice{Key: earshot.HintKey, Text: hint})
	for _, p := range r.around(told.Visibility) {
		if p.Name() == e.Via {
			p.show(told)
		}
	}
}

// advice tells the author of a message that it reaches nobody, or not everybody whom it calls. It
// is empty if there is nothing to tell.
func (r *Room) advice(a addressees) string {
	if a.hint == "" && a.lost && r.is().Answers() && r.cfg.Settings().Enabled {
		return "nobody was addressed, so nobody answers; begin with " + r.agents()[0].Name + ", and I will"
	}
	return a.hint
}

// Advice tells the author of a new message that it reaches nobody, or not everybody whom it calls.
// It is empty if there is nothing to tell, or the room does not remember the message. It is the
// text that is shown at the outlet beside the author's sense, if there is one.
func (r *Room) Advice(message earshot.EventID) string {
	r.mu.Lock()
	en := r.known.byID[message]
	r.mu.Unlock()
	if en == nil {
		return ""
	}
	return r.advice(en.aim)
}

// first reports whether the session at an outlet has not been told yet.
func (r *Room) first(outlet string) bool {
	session := outlet
	if s, ok := r.cfg.People.At(outlet); ok {
		session = s.ID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hinted[session] {
		return false
	}
	if len(r.hinted) >= maxHinted {
		clear(r.hinted)
	}
	r.hinted[session] = true
	return true
}
