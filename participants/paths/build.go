package paths

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"earshot"
	"earshot/participants"
)

// ErrPath is wrapped by every error of this package: the input is not a path, or no path can be
// made from it. The errors explain to people what is wrong, and have a method Cure that says what
// to do.
var ErrPath = errors.New("that is not a path")

const (
	// longest is how many bytes a path may have: it is a key, and appears in log lines.
	longest = 512

	// deepest is how many levels of agents there may be below the first one. Agents that ask one
	// another give up much earlier.
	deepest = 8

	// mostIndex is the highest number of a child. At one child a second, it takes thirty years to
	// get there.
	mostIndex = 999_999_999
)

// reserved are the looks of the words that have a meaning in a path; see [participants.Key].
var reserved = sync.OnceValue(func() map[string]bool {
	looks := make(map[string]bool)
	for _, k := range []Kind{Agent, Cron, Task, Subuser, System, Sub, Memory, Search, Connector} {
		looks[participants.Key(string(k))] = true
	}
	return looks
})

// Reserved reports whether word has a meaning in a path, or looks like a word that has one.
func Reserved(word string) bool { return reserved()[participants.Key(word)] }

// Of returns the path of an agent without a parent. name is the connector, the name (see [Slug]), the
// ID or the tag, as the kind has it. An agent of the program itself, of kind [System], has no user.
func Of(user string, kind Kind, name string) (earshot.Path, error) {
	if kind == System {
		tag, err := segment("tag", name)
		if err != nil {
			return "", err
		}
		return earshot.Path("/" + string(System) + "/" + tag), nil
	}
	of, err := segment("user", user)
	if err != nil {
		return "", err
	}
	word, err := segment(string(kind), name)
	switch {
	case err != nil:
		return "", err
	case kind == Connector:
		return earshot.Path("/" + of + "/" + word), nil
	}
	return earshot.Path("/" + of + "/" + string(kind) + "/" + word), nil
}

// Child returns the path of an agent of a kind below another. n is 0 if there can be only one.
func Child(parent earshot.Path, kind Kind, n int) (earshot.Path, error) {
	if _, err := Parse(parent); err != nil {
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
	if _, err := Parse(child); err != nil { // the path may have become too deep
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
	case Reserved(word):
		return "", participants.Refuse(ErrPath, fmt.Sprintf("the %s of a path cannot be %q, which has a special meaning there or looks like a word that does", what, word),
			"choose another, such as the-"+word)
	}
	return word, nil
}
