package participants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"earshot"
)

// A nameIndex records which names are taken, and by whom.
type nameIndex struct {
	folded map[string]earshot.ParticipantID         // see fold
	looks  map[string]earshot.ParticipantID         // see keys
	all    map[earshot.ParticipantID]comparableName // the name of each participant
	agents map[earshot.ParticipantID]bool           // the participants that are agents
}

// A comparableName is a name in the forms in which it is compared.
type comparableName struct {
	folded string
	ways   [][]rune // see spellings
	former string   // a former name by which they can still be found; see nameIndex.also
}

func makeNames() nameIndex {
	return nameIndex{
		make(map[string]earshot.ParticipantID), make(map[string]earshot.ParticipantID),
		make(map[earshot.ParticipantID]comparableName), make(map[earshot.ParticipantID]bool),
	}
}

// add adds a name; agent says whether it is an agent's.
func (n nameIndex) add(name string, who earshot.ParticipantID, agent bool) {
	is := comparableNameOf(name, agent)
	n.all[who] = is
	n.folded[is.folded] = who
	for _, k := range keys(name) {
		n.looks[k] = who
	}
	if agent {
		n.agents[who] = true
	}
}

// enter adds all names of somebody.
func (n nameIndex) enter(p Participant) {
	n.add(p.Name, p.ID, p.Type == Internal)
	if p.Username == "" {
		return
	}
	is := n.all[p.ID]
	is.ways = append(is.ways, spellings(p.Username)...)
	n.all[p.ID], n.folded[fold(p.Username)] = is, p.ID
	for _, k := range keys(p.Username) {
		n.looks[k] = p.ID
	}
}

// leave removes all names of somebody.
func (n nameIndex) leave(p Participant) {
	for _, name := range p.names() {
		n.remove(name, p.ID)
	}
}

func (n nameIndex) remove(name string, who earshot.ParticipantID) {
	for _, k := range append(keys(name), fold(name)) {
		if n.looks[k] == who {
			delete(n.looks, k)
		}
		if n.folded[k] == who {
			delete(n.folded, k)
		}
	}
	if former := n.all[who].former; n.folded[former] == who {
		delete(n.folded, former)
	}
	delete(n.all, who)
	delete(n.agents, who)
}

// also makes somebody findable by their former name, which they lost to somebody else.
func (n nameIndex) also(name string, who earshot.ParticipantID) {
	is := n.all[who]
	is.former = fold(name)
	if _, taken := n.folded[is.former]; !taken {
		n.folded[is.former], n.all[who] = who, is
	}
}

// comparableNameOf returns a name in the forms in which it is compared. An agent's name followed by
// digits could be mistaken for the agent too.
func comparableNameOf(name string, agent bool) comparableName {
	s := comparableName{folded: fold(name), ways: spellings(name)}
	if !agent && strings.ContainsFunc(name, unicode.IsDigit) {
		s.ways = append(s.ways, spellings(only(name, func(r rune) bool { return !unicode.IsDigit(r) }))...)
	}
	return s
}

// sort returns some people without duplicates, in the order of their names.
func (n nameIndex) sort(people []earshot.ParticipantID) []earshot.ParticipantID {
	slices.SortFunc(people, func(a, b earshot.ParticipantID) int {
		return cmp.Or(strings.Compare(n.all[a].folded, n.all[b].folded), strings.Compare(string(a), string(b)))
	})
	return slices.Compact(people)
}

func (n nameIndex) find(name string) (earshot.ParticipantID, bool) {
	who, ok := n.folded[fold(name)]
	return who, ok
}

// same returns somebody other than who whose name looks like name.
func (n nameIndex) same(name string, who earshot.ParticipantID) (earshot.ParticipantID, bool) {
	for _, k := range keys(name) {
		if other, taken := n.looks[k]; taken && other != who {
			return other, true
		}
	}
	return "", false
}

// near returns another participant that could be mistaken for who, called name. agent says
// whether who is an agent. Two can be mistaken if their names look the same, or if one is an agent
// and the other a person or the main agent, and the names differ by one letter.
func (n nameIndex) near(name string, who earshot.ParticipantID, agent bool) (earshot.ParticipantID, bool) {
	if other, is := n.same(name, who); is {
		return other, true
	}
	if len(n.agents) == 0 && !agent {
		return "", false
	}
	is := comparableNameOf(name, agent)
	if !agent {
		for other := range n.agents {
			if other != who && is.slips(n.all[other]) {
				return other, true
			}
		}
		return "", false
	}
	for other, has := range n.all {
		if other != who && is.slips(has) && !(n.agents[other] && other != Agent && who != Agent) {
			return other, true // people who have agents choose names such as Scout 1 and Scout 2
		}
	}
	return "", false
}

// slips reports whether people could write or hear one name instead of the other.
func (s comparableName) slips(other comparableName) bool {
	for _, a := range s.ways {
		if slices.ContainsFunc(other.ways, func(b []rune) bool { return slip(a, b) }) {
			return true
		}
	}
	return false
}

// free returns a name that nobody has for who, an external actor: name, or name with a number.
func (n nameIndex) free(name string, who earshot.ParticipantID) string {
	if _, near := n.near(name, who, false); !near {
		return name
	}
	free, _ := n.freeFrom(name, who, 2)
	return free
}

// freeFrom returns the first name with a number, from i on, that nobody else has, and the number.
func (n nameIndex) freeFrom(name string, who earshot.ParticipantID, i int) (string, int) {
	for ; ; i++ {
		suffix := fmt.Sprintf(" %d", i)
		candidate := cut(name, maxName-len(suffix)) + suffix
		if _, taken := n.same(candidate, who); !taken {
			return candidate, i
		}
	}
}

// tooNear returns the error for a name that belongs to other, or could be mistaken for other's.
func (r *Registry) tooNear(name string, other earshot.ParticipantID) error {
	p := r.people[other]
	problem := fmt.Sprintf("the name %q could be mistaken for %q", name, p.Name)
	if fold(name) == fold(p.Name) {
		problem = fmt.Sprintf("somebody is called %q already", p.Name)
	}
	cure := "choose another, such as " + r.names.free(example(name+" Smith"), "")
	if p.Type != Internal {
		return Refuse(ErrTaken, problem, cure)
	}
	problem = fmt.Sprintf("the name %q could be mistaken for the agent %q", name, p.Name)
	if fold(name) == fold(p.Name) {
		problem = fmt.Sprintf("the name %q is reserved for an agent", p.Name)
	}
	return Refuse(ErrReserved, problem, cure)
}
