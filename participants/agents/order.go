package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"earshot"
	"earshot/participants"
)

// An Order is a change of an agent that somebody wants, wherever they asked for it.
type Order struct {
	Act   earshot.Act           `json:"act"`             // Created, Changed or Ended
	Agent string                `json:"agent,omitempty"` // an existing agent, by its name or its path
	User  earshot.ParticipantID `json:"user,omitempty"`  // of a new agent; empty means the owner
	Edit  Edit                  `json:"edit,omitzero"`
}

// An Edit changes an agent's profile. A nil field stays as it is.
type Edit struct {
	Name        *string           `json:"name,omitempty"`
	Username    *string           `json:"username,omitempty"` // empty means none
	Description *string           `json:"description,omitempty"`
	Prompt      *earshot.Text     `json:"prompt,omitempty"`    // empty means the built-in one
	Engine      *string           `json:"engine,omitempty"`    // empty means the engine of its role
	Model       *string           `json:"model,omitempty"`     // empty means the model of its role
	Workspace   *string           `json:"workspace,omitempty"` // empty means the one at its path
	Rooms       *[]earshot.RoomID `json:"rooms,omitempty"`     // empty means everywhere
	Main        *bool             `json:"main,omitempty"`
	AutoReply   *bool             `json:"auto_reply,omitempty"`
}

// Keys are the keys of [Edit.Set], named as in the configuration.
var Keys = []string{"name", "username", "description", "prompt", "engine", "model", "workspace", "rooms", "main", "auto_reply"}

// Everywhere stands for all rooms in a list of rooms.
const Everywhere = "all"

// Set sets the value of a key of the configuration. Rooms are separated by commas.
func (e *Edit) Set(key, value string) (err error) {
	value = strings.TrimSpace(value)
	switch strings.ToLower(key) {
	case "name":
		e.Name = &value
	case "username":
		e.Username = &value
	case "description":
		e.Description = &value
	case "prompt":
		e.Prompt = new(earshot.Text(value))
	case "engine":
		e.Engine = &value
	case "model":
		e.Model = &value
	case "workspace":
		e.Workspace = &value
	case "rooms", "room":
		e.Rooms = roomsIn(value)
	case "main":
		e.Main, err = yes(value)
	case "auto_reply":
		e.AutoReply, err = yes(value)
	default:
		return participants.Refuse(ErrProfile, fmt.Sprintf("an agent has no %s", participants.OneLine(key)), "change one of "+strings.Join(Keys, ", "))
	}
	return err
}

func roomsIn(list string) *[]earshot.RoomID {
	rooms := []earshot.RoomID{}
	for room := range strings.SplitSeq(list, ",") {
		if room = strings.TrimSpace(room); room != "" && !strings.EqualFold(room, Everywhere) {
			rooms = append(rooms, earshot.RoomID(room))
		}
	}
	return &rooms
}

func yes(word string) (*bool, error) {
	switch strings.ToLower(word) {
	case "yes", "on":
		word = "true"
	case "no", "off":
		word = "false"
	}
	is, err := strconv.ParseBool(word)
	if err != nil {
		return nil, participants.Refuse(ErrProfile, fmt.Sprintf("%q is neither yes nor no", participants.OneLine(word)), "write yes or no")
	}
	return &is, nil
}

func (e Edit) apply(p *earshot.Profile) {
	set(&p.Name, e.Name)
	set(&p.Username, e.Username)
	set(&p.Description, e.Description)
	set(&p.Prompt, e.Prompt)
	set(&p.Engine, e.Engine)
	set(&p.Model, e.Model)
	set(&p.Workspace, e.Workspace)
	set(&p.Main, e.Main)
	set(&p.AutoReply, e.AutoReply)
	if e.Rooms != nil {
		p.Rooms = append([]earshot.RoomID(nil), *e.Rooms...) // nil if there are none
	}
}

func set[T any](what *T, to *T) {
	if to != nil {
		*what = *to
	}
}

// Execute carries out o on behalf of by, and returns the agent before and after. was is zero for an
// agent that was made, and is is zero for one that was ended. Making the first agent of a subuser
// also makes the subuser.
func (b *Directory) Execute(ctx context.Context, by participants.Participant, o Order) (was, is Record, err error) {
	if o.Act == earshot.Created {
		is, err = b.made(ctx, by, o)
		return was, is, err
	}
	if err := operates(by, "change an agent"); err != nil {
		return was, is, err // refuse before they learn which agents exist
	}
	if was, err = b.Find(ctx, o.Agent); err != nil {
		return was, is, err
	}
	switch o.Act {
	case earshot.Changed:
		is, err = b.Change(ctx, by, was.ID, o.Edit.apply)
		return was, is, err
	case earshot.Ended:
		return was, is, b.End(ctx, by, was.ID)
	}
	return was, is, participants.Refuse(ErrProfile, fmt.Sprintf("nothing can be %s", participants.OneLine(string(o.Act))), "make, change or end an agent")
}

func (b *Directory) made(ctx context.Context, by participants.Participant, o Order) (Record, error) {
	user := cmp.Or(o.User, participants.Owner)
	if user != participants.Owner {
		gate, err := PathOf(string(participants.Owner), earshot.PathSubuser, string(user))
		if err != nil {
			return Record{}, err
		}
		if _, err := b.Resolve(ctx, gate); errors.Is(err, ErrUnknown) {
			if _, err := b.Subuser(ctx, by, string(user), earshot.Profile{AutoReply: true}); err != nil {
				return Record{}, err
			}
		} else if err != nil {
			return Record{}, err
		}
	}
	p := earshot.Profile{AutoReply: true}
	o.Edit.apply(&p)
	return b.Create(ctx, by, user, p)
}

// Find returns the live agent that text names: by its path, its name, its username, or the label of an agent
// without a name.
func (b *Directory) Find(ctx context.Context, text string) (Record, error) {
	if strings.HasPrefix(text, "/") {
		return b.Resolve(ctx, earshot.Path(text))
	}
	var names []string
	for _, r := range b.List() {
		label := b.Label(r.ID)
		if key := participants.Key(text); text != "" && (participants.Key(label) == key || participants.Key(r.Username) == key) {
			return r, nil
		}
		if r.Name != "" {
			names = append(names, label)
		}
	}
	return Record{}, participants.Refuse(ErrUnknown, fmt.Sprintf("no agent is called %q", participants.OneLine(text)), "call one of "+strings.Join(names, ", ")+", or make it: earshot agents add NAME")
}

// Gone returns the agents that have ended, beginning with the one made last.
func (b *Directory) Gone(ctx context.Context, limit int) (gone []Record, err error) {
	err = b.viewer.Look(ctx, func(v earshot.View) (err error) {
		gone, err = past(ctx, v, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking up the agents that have ended: %w", err)
	}
	return gone, nil
}
