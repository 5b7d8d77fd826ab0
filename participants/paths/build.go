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

// OfConnector returns the path of the agent that user meets through a connector, such as console.
func OfConnector(user, connector string) (earshot.Path, error) { return build(user, "", connector) }

// OfAgent returns the path of the named agent of user; see [Slug].
func OfAgent(user, name string) (earshot.Path, error) { return build(user, Agent, name) }

// OfCron returns the path of the scheduled agent of user.
func OfCron(user, id string) (earshot.Path, error) { return build(user, Cron, id) }

// OfTask returns the path of the agent of user for one task.
func OfTask(user, id string) (earshot.Path, error) { return build(user, Task, id) }

// OfSubuser returns the path of the agent of user that gives access to the agents of a subuser.
func OfSubuser(user, id string) (earshot.Path, error) { return build(user, Subuser, id) }

// OfSystem returns the path of an agent of the program itself.
func OfSystem(tag string) (earshot.Path, error) {
	word, err := segment("tag", tag)
	if err != nil {
		return "", err
	}
	return earshot.Path("/" + string(System) + "/" + word), nil
}

// build returns the path of an agent without a parent.
func build(user string, kind Kind, name string) (earshot.Path, error) {
	of, err := segment("user", user)
	if err != nil {
		return "", err
	}
	what := string(kind)
	if kind == "" {
		what = string(Connector)
	}
	word, err := segment(what, name)
	if err != nil {
		return "", err
	}
	if kind == "" {
		return earshot.Path("/" + of + "/" + word), nil
	}
	return earshot.Path("/" + of + "/" + string(kind) + "/" + word), nil
}

// OfSub returns the path of the nth agent that the agent at parent made.
func OfSub(parent earshot.Path, n int) (earshot.Path, error) { return Child(parent, Sub, n) }

// OfMemory returns the path of the agent that remembers for the agent at parent.
func OfMemory(parent earshot.Path) (earshot.Path, error) { return Child(parent, Memory, 0) }

// OfSearch returns the path of the nth agent that looks something up for the agent at parent.
func OfSearch(parent earshot.Path, n int) (earshot.Path, error) { return Child(parent, Search, n) }

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
	_, err := Parse(child) // the path may have become too deep
	if err != nil {
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
