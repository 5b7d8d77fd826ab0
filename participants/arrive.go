package participants

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"earshot"
)

// vouching maps the providers that know for certain who somebody is to their names for people.
// Somebody who arrives through one has an ID made of the provider's key, a hyphen, and their ID
// there. Nobody gets such an ID in any other way.
var vouching = map[string]string{"discord": "Discord"}

const (
	// mostArrived is how many people may be known through providers: a large community, whose
	// records are read again in less than a second. Beyond that, those who have been away longest
	// lapse.
	mostArrived = 5000

	// renaming is the least time between two adoptions of a changed name: people change theirs for
	// fun, and each change stays on record for ever.
	renaming = 10 * time.Minute

	// longestArrival is the longest ID of a provider in digits: a 64-bit number.
	longestArrival = 20

	// longestAbout is the longest description from a provider in bytes: a few roles.
	longestAbout = 120
)

// A Newcomer is a provider's description of somebody whose identity it is certain of. It contains
// whatever people choose there.
type Newcomer struct {
	Names       []string // the name that people see comes first
	Type        Type     // Human, if it is not a type of external actors
	Description string   // such as their roles
}

// An arrival is what is remembered about somebody whom a provider knows.
type arrival struct {
	called  string    // their name at the provider, as it appears in a line
	named   bool      // the operator of the daemon has set their name here
	renamed time.Time // when last renamed, in this run
	seen    time.Time // when last seen, in this run
}

// VouchedFor reports whether the provider of h knows for certain who somebody is, so that they need
// to prove nothing else.
func VouchedFor(h earshot.Handle) bool { return vouching[h.Provider] != "" }

// ArrivedAs returns the ID of somebody who arrives by h, where the configuration does not assign
// that handle. It is empty if nobody can arrive by h.
func ArrivedAs(h earshot.Handle) earshot.ParticipantID {
	if !VouchedFor(h) || h.ID == "" || len(h.ID) > longestArrival || strings.Trim(h.ID, "0123456789") != "" {
		return ""
	}
	return earshot.ParticipantID(h.Provider + "-" + h.ID)
}

// arrivedBy returns the handle from which an ID was made; the zero Handle if it was not made from a
// handle.
func arrivedBy(id earshot.ParticipantID) earshot.Handle {
	provider, own, _ := strings.Cut(string(id), "-")
	if h := (earshot.Handle{Provider: provider, ID: own}); ArrivedAs(h) == id && id != "" {
		return h
	}
	return earshot.Handle{}
}

// Arrived reports whether p is known because a provider knows them. Nobody becomes p by claiming to
// be p.
func (p Participant) Arrived() bool { return arrivedBy(p.ID) != (earshot.Handle{}) }

// Arrive returns the person with the handle h, for whom the provider vouches. A new person is
// created and recorded. A person who has a new name there is renamed, at most every ten minutes,
// unless the operator of the daemon has set their name here. Their name is the first usable one of
// n.Names, without anything that a name cannot contain, and with a number if they could be mistaken
// for somebody else. If the configuration assigns the handle to somebody, that is who they are.
//
// They may send messages, and operate the daemon if they are among [Setup].Operators. The errors
// are [ErrUnknown] for a handle that nobody vouches for, [ErrFull], and errors of recording. Arrive
// is safe for concurrent use, and may be called for each thing that somebody does: if nothing is
// new, it only looks them up.
func (r *Registry) Arrive(ctx context.Context, h earshot.Handle, n Newcomer) (Participant, error) {
	id := ArrivedAs(h)
	if id == "" {
		return Participant{}, Refuse(ErrUnknown, fmt.Sprintf("nobody has confirmed who %s is", OneLine(h.String())), "say who you are, with --identity NAME")
	}
	if p, settled := r.settledIn(h, id, n); settled {
		return p, nil
	}
	done, err := r.begin(ctx)
	if err != nil {
		return Participant{}, err
	}
	defer done()
	if p, settled := r.settledIn(h, id, n); settled { // another goroutine was quicker
		return p, nil
	}
	a, lapses, err := r.news(h, id, n)
	if err != nil {
		return Participant{}, err
	}
	if lapses != "" {
		if err := r.lapse(ctx, lapses); err != nil {
			return Participant{}, err
		}
	}
	if err := r.record(ctx, "", a); err != nil {
		return Participant{}, err
	}
	if a.Act == earshot.Renamed {
		r.mu.Lock()
		r.arrivals[id].renamed = r.now()
		r.mu.Unlock()
	}
	p, _ := r.settledIn(h, id, n)
	return p, nil
}

// settledIn returns the person with the handle h, and whether nothing needs to be recorded about
// them.
func (r *Registry) settledIn(h earshot.Handle, id earshot.ParticipantID, n Newcomer) (Participant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is, known := r.byHandle[h]
	if !known {
		return Participant{}, false
	}
	if is != id {
		return r.resolve(h), true // the configuration says who this is
	}
	r.redescribe(id, n.Description)
	was := r.arrivals[id]
	was.seen = r.now()
	called := n.called()
	if called == was.called || was.named || !was.renamed.IsZero() && r.now().Sub(was.renamed) < renaming {
		return r.resolve(h), true
	}
	if r.distinct(r.presentable(n, h, id), id) == r.people[id].Name { // only the spelling differs
		was.called = called
		return r.resolve(h), true
	}
	return Participant{}, false
}

// news returns what must be recorded about somebody, and who lapses to make room for them.
func (r *Registry) news(h earshot.Handle, id earshot.ParticipantID, n Newcomer) (a earshot.Actor, lapses earshot.ParticipantID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a = earshot.Actor{Act: earshot.Renamed, Participant: id, Name: r.distinct(r.presentable(n, h, id), id), Called: n.called()}
	if _, known := r.people[id]; known {
		return a, "", nil
	}
	if len(r.arrivals) >= mostArrived {
		lapses = r.longestAway()
	}
	if len(r.arrivals) >= mostArrived && lapses == "" {
		return a, "", Refuse(ErrFull, fmt.Sprintf("%d people are known by %s, which is the limit", len(r.arrivals), vouching[h.Provider]),
			"let fewer people in: shorten the lists of channels and users in providers."+h.Provider)
	}
	a.Act, a.Type, a.Description = earshot.Created, string(n.kind()), about(n.Description)
	return a, lapses, nil
}

// redescribe sets a provider's current description of somebody. It is not recorded, because the
// provider gives it again after a restart.
func (r *Registry) redescribe(id earshot.ParticipantID, description string) {
	p := r.people[id]
	if now := about(description); p.Description != now {
		p.Description = now
		r.people[id] = p
		r.changed()
	}
}

// arrives takes in the record that a provider knows somebody. If the configuration now assigns
// their handle to a person, they become that person, on old lines too.
func (r *Registry) arrives(p *Participant, called string) {
	h := arrivedBy(p.ID)
	if h == (earshot.Handle{}) {
		return
	}
	p.RequiresAuth = true
	r.arrivals[p.ID] = &arrival{called: called}
	is, known := r.byHandle[h]
	switch {
	case !known:
		r.know(h, p.ID)
	case is != p.ID && r.people[is].Type.external():
		r.into[p.ID] = is
	}
}

// distinct returns name for somebody, with a number if they could otherwise be mistaken for
// somebody else. If somebody already has the name with a number, they keep it.
func (r *Registry) distinct(name string, who earshot.ParticipantID) string {
	if _, taken := r.names.same(name, who); !taken {
		return name
	}
	has := r.people[who].Name
	if number, is := strings.CutPrefix(has, name+" "); is && strings.Trim(number, "0123456789") == "" {
		return has
	}
	if len(r.numbered) >= mostArrived {
		clear(r.numbered) // the numbers will be determined again
	}
	base := fold(name)
	free, n := r.names.freeFrom(name, who, max(2, r.numbered[base]))
	r.numbered[base] = n
	return free
}

// entitled returns p with the rights of a handle for which a provider vouches: the right to operate
// the daemon belongs to single handles, not to the person.
func (r *Registry) entitled(h earshot.Handle, p Participant) Participant {
	if !VouchedFor(h) || p.ID == "" {
		return p
	}
	if slices.Contains(r.setup.Operators, h) {
		p.Capabilities = capabilities(UseTools, ReadMemory, Operate)
		return p
	}
	p.Capabilities = slices.DeleteFunc(slices.Clone(p.Capabilities), func(c Capability) bool { return c == Operate })
	return p
}

func (n Newcomer) kind() Type {
	if n.Type.external() {
		return n.Type
	}
	return Human
}

// called returns the name of a newcomer as it appears in a line.
func (n Newcomer) called() string {
	for _, name := range n.Names {
		if line := OneLine(seen(name)); line != "" {
			return line
		}
	}
	return "-"
}

// presentable returns the first usable name of a newcomer, without anything that a name cannot
// contain, that is neither an agent's name nor close to one. If there is none, it returns what
// remains of a name without its reserved words, and otherwise a name that calls them a member of
// the provider.
func (r *Registry) presentable(n Newcomer, h earshot.Handle, who earshot.ParticipantID) string {
	for _, way := range []func(string) string{tidy, func(name string) string { return unreserved(tidy(name)) }} {
		for _, name := range n.Names {
			shown, problem := check(way(name))
			if other, near := r.names.near(shown, who, false); problem == "" && !(near && r.names.agents[other]) {
				return shown
			}
		}
	}
	return vouching[h.Provider] + " member"
}

// mostMarks is how many marks one letter may carry: some scripts need two.
const mostMarks = 2

// tidy returns the part of a name that a name may contain.
func tidy(name string) string {
	marks := 0
	name = strings.Map(func(c rune) rune {
		if !unicode.Is(unicode.Mn, c) {
			marks = 0
		} else if marks++; marks > mostMarks {
			return -1
		}
		switch {
		case solid(c), strings.ContainsRune("-'._", c):
			return c
		case hidden(c), c == '\u200c', c == '\u200d':
			return -1
		}
		return ' '
	}, norm.NFKC.String(seen(name)))
	name = cut(strings.Join(strings.Fields(name), " "), maxName)
	return strings.TrimFunc(name, func(c rune) bool { return !unicode.In(c, unicode.L, unicode.Nd) && !unicode.Is(unicode.M, c) })
}

// seen returns the part of s that is examined, as valid text.
func seen(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 16*maxName)], "")
}

// about returns a description in a form that can be part of a prompt: in one line, without brackets
// and invisible characters.
func about(description string) string {
	return line(only(seen(description), func(c rune) bool { return !hidden(c) || unicode.IsSpace(c) }), longestAbout)
}
