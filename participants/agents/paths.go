package agents

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/participants"
)

// ErrPath is wrapped by every error about a path: the input is not one, or none can be made from
// it. The errors explain to people what is wrong, and have a method Cure that says what to do.
var ErrPath = errors.New("that is not a path")

const (
	// longestPath is how many bytes a path may have: it is a key, and appears in log lines.
	longestPath = 512

	// deepestPath is how many levels of agents there may be below the first one. Agents that ask one
	// another give up much earlier.
	deepestPath = 8

	// mostIndex is the highest number of a child. At one child a second, it takes thirty years to
	// get there.
	mostIndex = 999_999_999
)

// reserved are the looks of the words that have a meaning in a path; see [participants.Key].
var reserved = sync.OnceValue(func() map[string]bool {
	looks := make(map[string]bool)
	for _, k := range []earshot.PathKind{
		earshot.PathAgent, earshot.PathCron, earshot.PathTask, earshot.PathSubuser, earshot.PathSystem,
		earshot.PathSub, earshot.PathMemory, earshot.PathSearch, earshot.PathConnector,
	} {
		looks[participants.Key(string(k))] = true
	}
	return looks
})

// ReservedWord reports whether word has a meaning in a path, or looks like a word that has one.
func ReservedWord(word string) bool { return reserved()[participants.Key(word)] }

// PathOf returns the path of an agent without a parent. name is the connector, the name (see
// [Slug]), the ID or the tag, as the kind has it. An agent of the program itself, of kind
// [earshot.PathSystem], has no user.
func PathOf(user string, kind earshot.PathKind, name string) (earshot.Path, error) {
	if kind == earshot.PathSystem {
		tag, err := segment("tag", name)
		if err != nil {
			return "", err
		}
		return earshot.Path("/" + string(earshot.PathSystem) + "/" + tag), nil
	}
	of, err := segment("user", user)
	if err != nil {
		return "", err
	}
	word, err := segment(string(kind), name)
	switch {
	case err != nil:
		return "", err
	case kind == earshot.PathConnector:
		return earshot.Path("/" + of + "/" + word), nil
	}
	return earshot.Path("/" + of + "/" + string(kind) + "/" + word), nil
}

// ChildPath returns the path of an agent of a kind below another. n is 0 if there can be only one.
func ChildPath(parent earshot.Path, kind earshot.PathKind, n int) (earshot.Path, error) {
	if _, err := ParsePath(parent); err != nil {
		return "", err
	}
	var child earshot.Path
	switch {
	case !kind.Below():
		return "", participants.Refuse(ErrPath, fmt.Sprintf("an agent of kind %q cannot be below another agent", kind), "use sub, memory or search")
	case n < 0 || n > mostIndex || n > 0 && !kind.Indexed():
		return "", participants.Refuse(ErrPath, fmt.Sprintf("a %s cannot have the number %d", kind, n), fmt.Sprintf("use a number from 0 to %d", mostIndex))
	case kind.Indexed():
		child = parent + earshot.Path("/"+string(kind)+"/"+strconv.Itoa(n))
	default:
		child = parent + earshot.Path("/"+string(kind))
	}
	if _, err := ParsePath(child); err != nil { // the path may have become too deep
		return "", err
	}
	return child, nil
}

// segment returns s as a word of a path; errors call the word what.
func segment(what, s string) (string, error) {
	word, err := participants.CheckWord(s)
	switch {
	case s == "":
		return "", participants.Refuse(ErrPath, fmt.Sprintf("the %s of a path is empty", what), "give one")
	case err != nil:
		return "", participants.Refuse(ErrPath, err.Error(), "use only letters, digits and - . _, such as daily-sync")
	case ReservedWord(word):
		return "", participants.Refuse(ErrPath, fmt.Sprintf("the %s of a path cannot be %q, which has a special meaning there or looks like a word that does", what, word),
			"choose another, such as the-"+word)
	}
	return word, nil
}

// An Address is a parsed path.
type Address struct {
	Kind earshot.PathKind
	User string // the user it belongs to; empty for an agent of the program itself

	// Name is the connector, the name, the ID or the tag; empty for an agent that has a parent.
	Name string

	Parent earshot.Path // the agent directly above; empty if there is none
	Index  int          // of a sub or a search
}

// ParsePath parses a path. It accepts only what the builders make, so a path has one spelling.
func ParsePath(p earshot.Path) (Address, error) {
	if len(p) > longestPath {
		return Address{}, wrongPath(p, fmt.Sprintf("has %d bytes; it may have %d", len(p), longestPath))
	}
	rest, ok := strings.CutPrefix(string(p), "/")
	if !ok {
		return Address{}, wrongPath(p, "does not begin with a slash")
	}
	words := strings.Split(rest, "/")
	a, n, problem := parseRoot(words)
	at := earshot.Path("/" + strings.Join(words[:n], "/"))
	for depth := 1; problem == "" && n < len(words); depth++ {
		if depth > deepestPath {
			problem = fmt.Sprintf("is deeper than %d", deepestPath)
			break
		}
		var used int
		if a, used, problem = parseChild(a, at, words[n:]); problem == "" {
			at += earshot.Path("/" + strings.Join(words[n:n+used], "/"))
			n += used
		}
	}
	if problem != "" {
		return Address{}, wrongPath(p, problem)
	}
	return a, nil
}

// parseRoot parses the words up to the first agent, and returns how many words those are.
func parseRoot(words []string) (a Address, used int, problem string) {
	if len(words) < 2 {
		return a, 0, "has only one word"
	}
	a = Address{Kind: earshot.PathConnector, User: words[0], Name: words[1]}
	used = 2
	switch kind := earshot.PathKind(words[1]); {
	case words[0] == string(earshot.PathSystem):
		a.Kind, a.User = earshot.PathSystem, ""
	case kind == earshot.PathAgent, kind == earshot.PathCron, kind == earshot.PathTask, kind == earshot.PathSubuser:
		if len(words) < 3 {
			return a, 0, fmt.Sprintf("ends after %q", words[1])
		}
		a.Kind, a.Name, used = kind, words[2], 3
	}
	for _, word := range []string{a.User, a.Name} {
		if problem := canonical(word); problem != "" && (word != "" || a.Kind != earshot.PathSystem) {
			return a, 0, problem
		}
	}
	if a.Name == "" {
		return a, 0, "has an empty word"
	}
	return a, used, ""
}

// parseChild parses the words of an agent below the one at parent.
func parseChild(above Address, parent earshot.Path, words []string) (a Address, used int, problem string) {
	kind := earshot.PathKind(words[0])
	a = Address{Kind: kind, User: above.User, Parent: parent}
	switch {
	case kind == earshot.PathMemory:
		return a, 1, ""
	case !kind.Indexed():
		return a, 0, fmt.Sprintf("has %q where only sub, memory or search is possible", participants.OneLine(words[0]))
	case len(words) < 2:
		return a, 0, fmt.Sprintf("ends after %q", words[0])
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 0 || n > mostIndex || strconv.Itoa(n) != words[1] {
		return a, 0, fmt.Sprintf("has %q for a number; it must be from 0 to %d, without leading zeros", participants.OneLine(words[1]), mostIndex)
	}
	a.Index = n
	return a, 2, ""
}

// canonical says in what way word differs from what a builder makes; empty if it does not.
func canonical(word string) string {
	switch is, err := segment("word", word); {
	case word == "":
		return "has an empty word"
	case err != nil:
		return "has a bad word: " + err.Error()
	case is != word:
		return fmt.Sprintf("has %q in it, which is written %q", participants.OneLine(word), is)
	}
	return ""
}

func wrongPath(p earshot.Path, problem string) error {
	return participants.Refuse(ErrPath, fmt.Sprintf("%q is not a path: it %s", string(p[:min(len(p), longestPath)]), problem), "write it like /owner/agent/coder")
}

// ParentPath returns the path of the agent directly above p; empty if there is none.
func ParentPath(p earshot.Path) earshot.Path {
	a, _ := ParsePath(p)
	return a.Parent
}

// Within reports whether p is subtree or is somewhere below it. It compares whole words, so /u1
// does not contain /u10.
func Within(p, subtree earshot.Path) bool {
	if subtree == "" || strings.HasSuffix(string(subtree), "/") {
		return false
	}
	return p == subtree || strings.HasPrefix(string(p), string(subtree)+"/")
}

// PathLook returns the same key for all paths that people could mistake for each other. It is only
// for comparison.
func PathLook(p earshot.Path) string {
	words := strings.Split(string(p), "/")
	for i, w := range words {
		words[i] = participants.Key(w)
	}
	return strings.Join(words, "/")
}

// PathLabel returns the label of the agent at p, for people: "Coder", "Coder's helper 0", "console
// of owner". name is the name of the agent or, if it has ancestors, of the topmost one. If name is
// empty, the label is made from the path.
func PathLabel(p earshot.Path, name string) string {
	a, err := ParsePath(p)
	if err != nil {
		return "unknown"
	}
	if a.Parent == "" {
		return a.label(name)
	}
	above := PathLabel(a.Parent, name)
	switch a.Kind {
	case earshot.PathSub:
		return fmt.Sprintf("%s's helper %d", above, a.Index)
	case earshot.PathSearch:
		return fmt.Sprintf("%s's search %d", above, a.Index)
	}
	return above + "'s memory"
}

// label returns the label of an agent without a parent.
func (a Address) label(name string) string {
	switch {
	case name != "":
		return name
	case a.Kind == earshot.PathAgent:
		return a.Name
	case a.Kind == earshot.PathConnector:
		return a.Name + " of " + a.User
	case a.Kind == earshot.PathSystem:
		return "system " + a.Name
	}
	return fmt.Sprintf("%s %s of %s", a.Kind, a.Name, a.User)
}

// longestSlug is the longest slug; it leaves room for a number after it.
const longestSlug = 48

// Slug returns the path word for a name: "Ann Smith" becomes "ann-smith".
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.In(r, unicode.L, unicode.M, unicode.Nd) || strings.ContainsRune("-._", r):
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	slug := b.String()
	for len(slug) > longestSlug {
		_, size := utf8.DecodeLastRuneInString(slug)
		slug = slug[:len(slug)-size]
	}
	slug, err := participants.CheckWord(strings.Trim(slug, "-._"))
	switch {
	case err != nil:
		return "nameless"
	case ReservedWord(slug):
		return "the-" + slug
	}
	return slug
}
