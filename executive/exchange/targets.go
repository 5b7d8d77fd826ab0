package exchange

import (
	"slices"
	"strings"

	"earshot"
	"earshot/conversation"
	"earshot/executive/seat"
	"earshot/participants/agents"
)

// Targets are the participants whom a reply calls, besides the one whom it answers.
type Targets struct {
	Agents []*seat.Seat
	Apart  bool                  // one of them belongs to another user, so none is called; see [agents.Reaches]
	Person earshot.ParticipantID // for whom the agents work; called by "@human" or a handover
}

// A Reply is a reply of the agent at a seat that was said to its end.
type Reply struct {
	From   *seat.Seat
	Text   earshot.Text
	Event  earshot.Event // as it will be on record
	Filter *conversation.ReplyFilter
}

// Targets returns whom the words of a reply call, of the seats in its room. A reply that calls
// everybody calls nobody: answers do not spread. A private reply only calls members of its
// conversation.
func (t *Tracker) Targets(names *conversation.Directory, seats []*seat.Seat, r Reply) (c Targets) {
	to := names.Calls(r.Text, r.Event.Author)
	if more := r.Filter.Tags.Calls; len(more) > 0 {
		to = names.Calls(r.Text[min(r.Filter.Call.Put, len(r.Text)):], r.Event.Author) // the model's own call, without the one that was added
		to.To = append(to.To, names.Direct(earshot.Text("TO: "+strings.Join(more, ", ")), r.Event.Author).To...)
	}
	v := r.Event.Visibility
	for _, s := range seats {
		private := v.Scope == earshot.Private && !slices.Contains(v.Members, s.ID)
		if slices.Contains(to.To, s.ID) && s != r.From && !private && !r.Filter.Tags.Passed {
			c.Agents = append(c.Agents, s)
			c.Apart = c.Apart || agents.Reaches(r.From.Record, s.Record) != nil
		}
	}
	if names.Direct(r.Text, r.Event.Author).People {
		c.Person = t.WorksFor(v)
	}
	return c
}

// Address returns the reply addressed to its targets. The called agents may see it, because it
// passes its own words to them. If one of them belongs to another user, a person must look at it
// first, and none of them is called.
func (c Targets) Address(done earshot.Event) earshot.Event {
	if !c.Apart {
		for _, s := range c.Agents {
			done.To = also(done.To, s.ID)
			if done.Visibility.Agents != nil {
				done.Visibility.Agents = also(done.Visibility.Agents, s.ID)
			}
		}
	}
	done.To = also(done.To, c.Person)
	return done
}

// also returns list with id in it; id may be empty.
func also(list []earshot.ParticipantID, id earshot.ParticipantID) []earshot.ParticipantID {
	if id == "" || slices.Contains(list, id) {
		return list
	}
	return append(slices.Clip(list), id)
}
