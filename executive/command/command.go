// Package command is the one table of /commands for every surface where text
// is written. A command asks something of the program, not of an agent; it is
// answered where it was given and is not kept.
package command

import (
	"context"
	"fmt"
	"strings"

	"earshot"
	"earshot/language"
	"earshot/participants"
)

// A Call is a command that somebody gave.
type Call struct {
	By       participants.Participant
	Event    earshot.Event    // the command itself: when, by which handle, and where it was given
	Audience earshot.Audience // who reads the answer: the asker, and all who are around where it is shown
	Args     earshot.Text
}

// A Command is one row of the table.
type Command struct {
	Group string // the heading in help under which it stands
	Name  string
	Args  string // how its arguments are written, for help; may be empty
	Help  string // what it does, in a few words

	// Needs is what one must be able to do to give it. If empty, everybody may.
	Needs participants.Capability

	// Do answers a call. It may be called from many goroutines, and gives up
	// when ctx ends.
	Do func(ctx context.Context, c Call) (string, error)
}

// A Table is all commands, in the order in which help shows them.
type Table []Command

// Do answers c, or says what there is instead.
func (t Table) Do(ctx context.Context, c earshot.Command, call Call) (string, error) {
	name := strings.ToLower(c.Name)
	for _, row := range t {
		if row.Name == name {
			if err := row.allows(call.By); err != nil {
				return "", err
			}
			call.Args = c.Args
			return row.Do(ctx, call)
		}
	}
	if near := t.nearest(name, call.By); near != "" {
		return "", fmt.Errorf("there is no /%s; did you mean /%s?", short(name), near)
	}
	return "", fmt.Errorf("there is no /%s; /help lists the commands; to begin a line with a slash, write //", short(name))
}

// allows says why p may not give the command, or nothing.
func (c Command) allows(p participants.Participant) error {
	switch {
	case c.Needs == "" || p.Can(c.Needs):
		return nil
	case c.Needs == participants.Operate:
		return fmt.Errorf("/%s is for operators of this earshot; ask one, or if you are one: /identity NAME", c.Name)
	case p.ID == "":
		return fmt.Errorf("/%s is only for people I know", c.Name)
	}
	return fmt.Errorf("/%s needs the capability %s, which is set in the configuration", c.Name, c.Needs)
}

// Help lists what p may do, under the headings of the groups.
func (t Table) Help(p participants.Participant) string {
	var b strings.Builder
	group := ""
	for _, row := range t {
		if row.allows(p) != nil {
			continue
		}
		if row.Group != group {
			group = row.Group
			fmt.Fprintf(&b, "%s\n", group)
		}
		fmt.Fprintf(&b, "  %-24s %s\n", strings.TrimSpace("/"+row.Name+" "+row.Args), row.Help)
	}
	return strings.TrimRight(b.String(), "\n")
}

// Names returns the commands that p may give.
func (t Table) Names(p participants.Participant) (names []string) {
	for _, row := range t {
		if row.allows(p) == nil {
			names = append(names, row.Name)
		}
	}
	return names
}

// nearest returns the command, of those that p may give, that name was most
// likely meant to be.
func (t Table) nearest(name string, p participants.Participant) string {
	best, least := "", 3                       // two typing errors are a typing error; three are another word
	typed := []byte(name[:min(len(name), 32)]) // no command is as long
	for _, row := range t {
		if d := language.Edits([]byte(row.Name), typed); d < least && d < len(row.Name) && row.allows(p) == nil {
			best, least = row.Name, d
		}
	}
	return best
}

// short keeps an answer readable, whatever was typed.
func short(name string) string {
	if r := []rune(name); len(r) > 24 {
		return string(r[:24]) + "…"
	}
	return name
}
