package earshot

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// longestDeed is how many characters of what a model wrote, or was told, stand in
// a line about it.
const longestDeed = 80

// A deed is how people are told of the use of a tool: what its agent does, and to
// which of its arguments.
type deed struct{ does, to string }

// deeds are those of the tools of the house that leave no event of their own.
var deeds = map[string]deed{
	"list_files": {"lists its files", "folder"},
	"read_file":  {"reads", "path"},
	"write_file": {"writes", "path"},
	"recall":     {"looks up", "query"},
}

// evident are the tools that leave an event of their own, which is shown.
var evident = map[string]bool{"message_agent": true, "delegate": true, "note": true, "remind": true}

// Deed says in one short line, as it follows the agent's name, what it did, such
// as "writes notes.txt". It is empty if that is to be seen otherwise. What stands
// in it is a model's, and not to be trusted.
func (u Use) Deed() Text {
	d, known := deeds[u.Tool]
	switch {
	case u.Refused:
		return Text("was refused " + brief(u.Tool) + ": " + brief(string(u.Result)))
	case evident[u.Tool]:
		return ""
	case !known:
		return Text("uses " + brief(u.Tool))
	}
	var arguments map[string]any
	if json.Unmarshal([]byte(u.Arguments), &arguments) == nil {
		if to, ok := arguments[d.to].(string); ok && strings.TrimSpace(to) != "" {
			return Text(d.does + " " + brief(to))
		}
	}
	return Text(d.does)
}

// brief returns text in one short line.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > longestDeed {
		text = string([]rune(text)[:longestDeed]) + "…"
	}
	return text
}

// Deed says in one line, as it follows the agent's name, what became of a
// reminder at a time.
func (r Reminder) Deed(at time.Time) Text {
	switch due := r.Due.Local(); {
	case r.Act == Fired:
		return "is reminded: " + Text(brief(string(r.Text)))
	case r.Act != Created:
		return "will not be reminded any more"
	case r.Due.Sub(at) < 24*time.Hour:
		return Text(due.Format("will be reminded at 15:04:05: ") + brief(string(r.Text)))
	default:
		return Text(due.Format("will be reminded on 2006-01-02 at 15:04: ") + brief(string(r.Text)))
	}
}

// Fate says in a few words, as they follow the agent's name, what happened to it.
func (a Agent) Fate() string {
	switch a.Act {
	case Created:
		return "is an agent now"
	case Ended:
		return "is an agent no longer"
	}
	return "has been changed"
}

// Means says why the floor was left to a person.
func (w Why) Means() string {
	switch w {
	case TurnLimit:
		return "they have talked among themselves for long enough"
	case Repetition:
		return "they said the same again and again"
	}
	return "it was their wish"
}
