package tool

import (
	"context"
	"fmt"

	"earshot"
	"earshot/participants"
)

// A Change is an edit that a model wants to make to the scene.
type Change struct {
	Action string       // add, change or remove
	Field  string       // notes, user_state or findings
	Entry  string       // the entry, by its words; empty to add one
	Text   earshot.Text // the new text; empty to remove one
}

// Edit is the tool by which an agent corrects the scene. Change makes the edit and returns what
// to tell the model.
func Edit(change func(context.Context, Scope, Change) (earshot.Text, error)) Tool {
	return New("edit_context",
		"Change the list of what is going on when somebody says that an entry is wrong, missing or over. "+
			"Everybody here can see that, and take it back.",
		`{"type":"object","properties":{`+
			`"action":{"type":"string","enum":["add","change","remove"]},`+
			`"field":{"type":"string","enum":["notes","user_state","findings"],"description":"findings are in reasoning_buffer"},`+
			`"entry":{"type":"string","description":"change, remove: as it stands in the list"},`+
			`"text":{"type":"string","description":"add, change: what it says from now on"}},`+
			`"required":["action","field"],"additionalProperties":false}`,
		participants.SendMessages, func(ctx context.Context, s Scope, given editArguments) (Answer, error) {
			c, err := given.change()
			if err != nil {
				return Answer{}, err
			}
			told, err := change(ctx, s, c)
			return Answer{Text: told}, err
		})
}

// editArguments are the arguments of edit_context.
type editArguments struct {
	Action string `json:"action"`
	Field  string `json:"field"`
	Entry  string `json:"entry"`
	Text   string `json:"text"`
}

// change returns the change that the arguments mean.
func (g editArguments) change() (c Change, err error) {
	c = Change{Action: g.Action, Field: g.Field, Entry: g.Entry}
	switch {
	case g.Field != "notes" && g.Field != "user_state" && g.Field != "findings":
		return c, fmt.Errorf(`field is %q; it must be "notes", "user_state" or "findings"`, bounded(g.Field, mostName))
	case g.Action == "remove" && g.Text != "":
		return c, fmt.Errorf("text is not for remove; leave it out, or change the entry instead")
	case g.Action == "add" && g.Entry != "":
		return c, fmt.Errorf("entry is not for add; leave it out, or change the entry instead")
	case g.Action == "change" || g.Action == "add":
		c.Text, err = Wording("text", g.Text, mostNote)
		return c, err
	case g.Action == "remove":
		return c, nil
	}
	return c, fmt.Errorf(`action is %q; it must be "add", "change" or "remove"`, bounded(g.Action, mostName))
}
