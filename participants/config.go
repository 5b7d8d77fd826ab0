package participants

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"earshot"
	"earshot/internal/field"
)

// Config is the section external_actors of the configuration: who may come in from outside.
type Config struct {
	// Actors are the participants that are known from the beginning.
	Actors []Actor `yaml:"actors"`

	// AllowDynamicCreation lets somebody come in under a name that nobody has yet.
	AllowDynamicCreation bool `yaml:"allow_dynamic_creation"`

	// AllowAnonymous lets somebody come in without a name.
	AllowAnonymous bool `yaml:"allow_anonymous"`

	// AnonymousPattern is the name given to somebody without one. In it, {timestamp} and {number}
	// are replaced.
	AnonymousPattern string `yaml:"anonymous_pattern"`
}

// An Actor is a participant that the configuration names.
type Actor struct {
	ID           earshot.ParticipantID `yaml:"actor_id"`
	Type         Type                  `yaml:"type"`
	DisplayName  string                `yaml:"display_name"`
	Description  string                `yaml:"description"`
	RequiresAuth bool                  `yaml:"requires_auth"`
	Handles      []string              `yaml:"handles"` // by which providers know them, such as console:uid1000
	Capabilities []Capability          `yaml:"capabilities"`
}

const (
	mostPredeclared    = 1000 // the list is searched for each change of a name
	longestDescription = 200  // bytes; it is in every prompt
)

// DefaultConfig returns the configuration for a file without this section.
func DefaultConfig() Config {
	return Config{AllowDynamicCreation: true, AnonymousPattern: "guest_{timestamp}"}
}

func (a Actor) name() string { return cmp.Or(a.DisplayName, string(a.ID)) }

// nameKey returns the key that holds the name of a.
func (a Actor) nameKey() string {
	if a.DisplayName == "" {
		return "actor_id"
	}
	return "display_name"
}

// kind returns the type of a: a person unless it says otherwise.
func (a Actor) kind() Type { return cmp.Or(a.Type, Human) }

// owner returns the index of the actor who is the person of an account; -1 if there is none.
func (c Config) owner(account earshot.Handle, name string) int {
	if i := slices.IndexFunc(c.Actors, func(a Actor) bool { return slices.Contains(a.Handles, account.String()) }); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(c.Actors, func(a Actor) bool { return a.ID == Owner }); i >= 0 {
		return i
	}
	return slices.IndexFunc(c.Actors, func(a Actor) bool {
		return len(a.Handles) == 0 && a.kind() == Human && name != "" && fold(a.name()) == fold(name)
	})
}

// parseHandle parses "provider:id".
func parseHandle(s string) (earshot.Handle, bool) {
	provider, id, ok := strings.Cut(s, ":")
	bad := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' }
	return earshot.Handle{Provider: provider, ID: id}, ok && provider != "" && id != "" && !strings.ContainsFunc(s, bad)
}

// anonymous returns the name of the nth guest, who came at now.
func (c Config) anonymous(now time.Time, n int) string {
	return strings.NewReplacer(
		"{timestamp}", strconv.FormatInt(now.Unix(), 10), "{number}", strconv.Itoa(n),
	).Replace(c.AnonymousPattern)
}

// Validate reports every fault in c.
func (c Config) Validate() error {
	n := len(c.Actors)
	faults := []error{c.checkPattern(), field.Check(n <= mostPredeclared, "actors", "has %d entries; must have at most %d", n, mostPredeclared)}
	names := makeNames()
	ids, handles := make(map[earshot.ParticipantID]int), make(map[string]int)
	for i, a := range c.Actors {
		at := fmt.Sprintf("actors[%d]", i)
		faults = append(faults, field.Under(at, a.validate()))
		if j, twice := ids[a.ID]; twice {
			faults = append(faults, field.Errorf(at+".actor_id", "is %q, which is also that of actors[%d]; each needs its own", a.ID, j))
			continue
		}
		ids[a.ID] = i
		if other, near := names.same(a.name(), a.ID); near {
			faults = append(faults, field.Errorf(at+"."+a.nameKey(), "is %q, which could be mistaken for that of actors[%d], %q",
				a.name(), ids[other], c.Actors[ids[other]].name()))
		}
		names.add(a.name(), a.ID, false)
		for k, h := range a.Handles {
			j, twice := handles[h]
			faults = append(faults, field.Check(!twice, fmt.Sprintf("%s.handles[%d]", at, k), "is %q, which is a handle of actors[%d] already", h, j))
			handles[h] = i
		}
	}
	return errors.Join(faults...)
}

func (a Actor) validate() error {
	faults := []error{a.checkID()}
	_, wrong := checkWhole(a.name())
	if _, problem := check(a.name()); problem != "" && (a.DisplayName != "" || a.ID == Owner || wrong == "") {
		faults = append(faults, field.Errorf(a.nameKey(), "is %q, which %s; such as %q would do", OneLine(a.name()), problem, example(a.name())))
	}
	odd := strings.ContainsFunc(a.Description, func(r rune) bool { return hidden(r) || strings.ContainsRune("[]\u2028\u2029", r) })
	faults = append(faults,
		field.Check(a.kind().external(), "type", "is %q; must be one of %s", a.Type, list(externals)),
		field.Check(len(a.Description) <= longestDescription,
			"description", "has %d bytes; must have at most %d, because it is part of every prompt", len(a.Description), longestDescription),
		field.Check(!odd, "description", "has a bracket or an invisible character in it; must be one line of text"))
	for i, h := range a.Handles {
		_, ok := parseHandle(h)
		faults = append(faults, field.Check(ok, fmt.Sprintf("handles[%d]", i), "is %q; must be a provider, a colon and an ID, such as console:uid1000", cut(h, maxName)))
	}
	for i, c := range a.Capabilities {
		faults = append(faults, field.Check(slices.Contains(capable, c), fmt.Sprintf("capabilities[%d]", i), "is %q; must be one of %s", c, list(capable)))
	}
	return errors.Join(faults...)
}

// list returns the choices as people read them.
func list[S ~string](choices []S) string {
	var all []string
	for _, c := range choices {
		all = append(all, string(c))
	}
	return strings.Join(all, ", ")
}

// checkID checks that no other part of the program could give the ID to somebody else, and that it
// can be part of a handle and a path. The owner may be given under the owner's ID.
func (a Actor) checkID() error {
	id := string(a.ID)
	switch _, problem := checkWhole(id); {
	case id == "":
		return field.Errorf("actor_id", "is missing; each needs one, such as ann")
	case problem != "" && a.ID != Owner:
		return field.Errorf("actor_id", "is %q, which %s; such as %q would do", OneLine(id), problem, strings.ReplaceAll(strings.ToLower(example(id)), " ", "-"))
	case strings.HasPrefix(id, guestPrefix):
		return field.Errorf("actor_id", "is %q; IDs that begin with %q are reserved for guests", id, guestPrefix)
	case OfVoice(a.ID):
		return field.Errorf("actor_id", "is %q; IDs that begin with %q are reserved for voices", id, voicePrefix)
	case atSatellite(a.ID):
		return field.Errorf("actor_id", "is %q; IDs that begin with %q are reserved for satellites", id, satellitePrefix)
	case arrivedBy(a.ID) != (earshot.Handle{}):
		return field.Errorf("actor_id", "is %q, which is reserved for people whom a provider knows; choose another, and write handles: [%s]", id, arrivedBy(a.ID))
	case strings.Contains(id, " "):
		return field.Errorf("actor_id", "is %q; must be one word", id)
	}
	return nil
}

// checkPattern checks that the pattern gives each guest a different name.
func (c Config) checkPattern() error {
	const key = "anonymous_pattern"
	if !strings.Contains(c.AnonymousPattern, "{timestamp}") && !strings.Contains(c.AnonymousPattern, "{number}") {
		return field.Errorf(key, "is %q; must have {timestamp} or {number} in it, so that no two guests get the same name", c.AnonymousPattern)
	}
	if problem := form(c.anonymous(time.Unix(1e10, 0), mostGuests)); problem != "" {
		return field.Errorf(key, "is %q, which gives a name that %s", OneLine(c.AnonymousPattern), problem)
	}
	return nil
}

// Collides reports every actor who could be mistaken for an agent called name.
func (c Config) Collides(name string) error {
	agent := makeNames()
	agent.add(name, Agent, true)
	var faults []error
	for i, a := range c.Actors {
		if _, near := agent.near(a.name(), a.ID, false); near {
			faults = append(faults, field.Errorf(fmt.Sprintf("actors[%d].%s", i, a.nameKey()),
				"is %q, which could be mistaken for the agent, %q; it would not be clear who is meant", a.name(), name))
		}
	}
	return errors.Join(faults...)
}
