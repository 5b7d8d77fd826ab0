package access

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// Recipients returns the agents at an address to which somebody may post a message in a room. At
// least one of them sits there, and no more than agents may say in a row: a reply to a person is
// never held back. A message is not carried to another room, where others would read it; the error
// says in which rooms of theirs the agents sit.
func (g Gate) Recipients(ctx context.Context, book *agents.Directory, by participants.Participant, address string, in earshot.RoomID, most int) ([]agents.Record, error) {
	all, err := book.Recipients(ctx, by, address)
	if err != nil {
		return nil, err
	}
	here := len(slices.DeleteFunc(slices.Clone(all), func(r agents.Record) bool { return !r.SitsIn(in) }))
	if most = max(1, most); here > most {
		return nil, participants.Refuse(agents.ErrFull, fmt.Sprintf("%d agents match the pattern, and each would answer", here),
			fmt.Sprintf("write one that matches at most %d, which is executive.multi_party.turn_limit", most))
	}
	if here > 0 {
		return all, nil
	}
	var rooms []string
	for _, open := range g.OpenRooms(by) {
		if slices.ContainsFunc(all, func(r agents.Record) bool { return r.SitsIn(open.ID) }) {
			rooms = append(rooms, string(open.ID))
		}
	}
	where, cure := ", nor in any other room that you may enter", "let it be seated: earshot agents change "+string(all[0].Path)+" --room ROOM"
	if len(rooms) > 0 {
		where, cure = "; it sits in "+strings.Join(rooms, ", "), "write to it there: earshot say --room "+rooms[0]+" --to "+address+" TEXT"
	}
	return nil, participants.Refuse(agents.ErrTarget, fmt.Sprintf("the agent at %q has no seat in the room %s, and does not answer here%s", participants.OneLine(address), in, where), cure)
}
