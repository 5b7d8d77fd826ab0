package participants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"earshot"
)

// names is which names are taken, by whom.
type names struct {
	folded map[string]earshot.ParticipantID // see fold
	looks  map[string]earshot.ParticipantID // see keys
	order  map[earshot.ParticipantID]string // the folded name of each
}

func makeNames() names {
	return names{make(map[string]earshot.ParticipantID), make(map[string]earshot.ParticipantID), make(map[earshot.ParticipantID]string)}
}

func (n names) add(name string, who earshot.ParticipantID) {
	n.order[who] = fold(name)
	n.folded[n.order[who]] = who
	for _, k := range keys(name) {
		n.looks[k] = who
	}
}

func (n names) remove(name string, who earshot.ParticipantID) {
	for _, k := range append(keys(name), fold(name)) {
		if n.looks[k] == who {
			delete(n.looks, k)
		}
		if n.folded[k] == who {
			delete(n.folded, k)
		}
	}
	delete(n.order, who)
}

// sort returns some people, each once, in the order of their names.
func (n names) sort(people []earshot.ParticipantID) []earshot.ParticipantID {
	slices.SortFunc(people, func(a, b earshot.ParticipantID) int {
		return cmp.Or(strings.Compare(n.order[a], n.order[b]), strings.Compare(string(a), string(b)))
	})
	return slices.Compact(people)
}

func (n names) find(name string) (earshot.ParticipantID, bool) {
	who, ok := n.folded[fold(name)]
	return who, ok
}

// near returns somebody else for whom people could take one who is called name.
func (n names) near(name string, who earshot.ParticipantID) (earshot.ParticipantID, bool) {
	for _, k := range keys(name) {
		if other, taken := n.looks[k]; taken && other != who {
			return other, true
		}
	}
	return "", false
}

// free returns a name for who that nobody has: name, or name with a number.
func (n names) free(name string, who earshot.ParticipantID) string {
	if _, near := n.near(name, who); !near {
		return name
	}
	free, _ := n.freeFrom(name, who, 2)
	return free
}

// freeFrom returns the first name for who with a number, from i on, that nobody has, and
// the number.
func (n names) freeFrom(name string, who earshot.ParticipantID, i int) (string, int) {
	for ; ; i++ {
		suffix := fmt.Sprintf(" %d", i)
		candidate := cut(name, maxName-len(suffix)) + suffix
		if _, near := n.near(candidate, who); !near {
			return candidate, i
		}
	}
}

// tooNear refuses a name that is other's, or looks like it.
func (r *Registry) tooNear(name string, other earshot.ParticipantID) error {
	p := r.people[other]
	problem := fmt.Sprintf("the name %q could be taken for %q", name, p.Name)
	if fold(name) == fold(p.Name) {
		problem = fmt.Sprintf("there is somebody called %q already", p.Name)
	}
	cure := "choose another, such as " + r.names.free(example(name+" Smith"), "")
	if p.Type != Internal {
		return Refuse(ErrTaken, problem, cure)
	}
	if fold(name) == fold(p.Name) {
		problem = fmt.Sprintf("the name %q is reserved for an agent", p.Name)
	}
	return Refuse(ErrReserved, problem, cure)
}
