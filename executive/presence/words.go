package presence

import (
	"fmt"
	"strings"
	"time"

	"earshot"
)

// Reasons says what speaks for a guess, without the times, so that it is the same as long as
// nothing else does.
func (g Guess) Reasons() string {
	var all []string
	for _, e := range g.By {
		all = append(all, e.Text)
	}
	return strings.Join(all, ", ")
}

// Noticed returns when something spoke for a guess last that is more than that somebody is in
// view.
func (g Guess) Noticed() time.Time {
	if len(g.By) == 0 {
		return time.Time{}
	}
	return g.By[0].At
}

// Strangers says in one line of whom nobody knows who they are, and what does not fit
// together; nothing if there is nothing of that.
func (e Estimate) Strangers() string {
	var all []string
	if e.Unknown > 0 {
		is := "are"
		if e.Unknown == 1 {
			is = "is"
		}
		all = append(all, fmt.Sprintf("%s %s probably here whom nobody can name", count(e.Unknown), is))
	}
	return strings.Join(append(all, e.Against...), "; ")
}

// Lines say at now who is probably here, for people. Age is how one says how long ago
// something was.
func (e Estimate) Lines(now time.Time, age func(time.Duration) string) (all []string) {
	for _, eye := range e.Eyes {
		text := string(eye.Eyes.Words())
		if eye.Sees {
			text = earshot.InView(eye.People)
		} else if eye.Eyes == earshot.Clear {
			text = "has seen nothing since"
		}
		all = append(all, fmt.Sprintf("%s (%s): %s", earshot.CameraCalled(eye.Camera), age(now.Sub(eye.At)), text))
	}
	for _, g := range e.Who {
		all = append(all, fmt.Sprintf("%s is probably here (%s), by %s", g.Name, age(now.Sub(g.Noticed())), g.Reasons()))
	}
	if text := e.Strangers(); text != "" {
		all = append(all, text)
	}
	return all
}
