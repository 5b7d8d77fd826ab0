package paths

import (
	"fmt"
	"strconv"
	"strings"

	"earshot"
	"earshot/participants"
)

// An Address is a parsed path.
type Address struct {
	Kind Kind
	User string // the user it belongs to; empty for an agent of the program itself

	// Name is the connector, the name, the ID or the tag; empty for an agent that has a parent.
	Name string

	Parent earshot.Path // the agent directly above; empty if there is none
	Index  int          // of a sub or a search
}

// Parse parses a path. It accepts only what the builders make, so a path has one spelling.
func Parse(p earshot.Path) (Address, error) {
	if len(p) > longest {
		return Address{}, wrong(p, fmt.Sprintf("has %d bytes; it may have %d", len(p), longest))
	}
	rest, ok := strings.CutPrefix(string(p), "/")
	if !ok {
		return Address{}, wrong(p, "does not begin with a slash")
	}
	words := strings.Split(rest, "/")
	a, n, problem := parseRoot(words)
	at := earshot.Path("/" + strings.Join(words[:n], "/"))
	for depth := 1; problem == "" && n < len(words); depth++ {
		if depth > deepest {
			problem = fmt.Sprintf("is deeper than %d", deepest)
			break
		}
		var used int
		if a, used, problem = parseChild(a, at, words[n:]); problem == "" {
			at += earshot.Path("/" + strings.Join(words[n:n+used], "/"))
			n += used
		}
	}
	if problem != "" {
		return Address{}, wrong(p, problem)
	}
	return a, nil
}

// parseRoot parses the words up to the first agent, and returns how many words those are.
func parseRoot(words []string) (a Address, used int, problem string) {
	if len(words) < 2 {
		return a, 0, "has only one word"
	}
	a = Address{Kind: Connector, User: words[0], Name: words[1]}
	used = 2
	switch kind := Kind(words[1]); {
	case words[0] == string(System):
		a.Kind, a.User = System, ""
	case kind == Agent, kind == Cron, kind == Task, kind == Subuser:
		if len(words) < 3 {
			return a, 0, fmt.Sprintf("ends after %q", words[1])
		}
		a.Kind, a.Name, used = kind, words[2], 3
	}
	for _, word := range []string{a.User, a.Name} {
		if problem := canonical(word); problem != "" && (word != "" || a.Kind != System) {
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
	kind := Kind(words[0])
	a = Address{Kind: kind, User: above.User, Parent: parent}
	switch {
	case kind == Memory:
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

func wrong(p earshot.Path, problem string) error {
	return participants.Refuse(ErrPath, fmt.Sprintf("%q is not a path: it %s", string(p[:min(len(p), longest)]), problem), "write it like /owner/agent/coder")
}

// Parent returns the path of the agent directly above p; empty if there is none.
func Parent(p earshot.Path) earshot.Path {
	a, _ := Parse(p)
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

// Look returns the same key for all paths that people could mistake for each other. It is only for
// comparison.
func Look(p earshot.Path) string {
	words := strings.Split(string(p), "/")
	for i, w := range words {
		words[i] = participants.Key(w)
	}
	return strings.Join(words, "/")
}
