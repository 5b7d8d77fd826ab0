package participants

import (
	"context"
	"slices"
	"strings"

	"earshot"
)

// Introduce adds an agent under a name that must be free, once keep has recorded the agent;
// meanwhile nobody else can take the name. A dismissed agent may get its name back. If keep fails,
// nothing has changed.
func (r *Registry) Introduce(ctx context.Context, agent Participant, keep func() error) error {
	done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	agent.Type = Internal
	gone, err := r.reserve(agent)
	if err != nil {
		return err
	}
	err = keep()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.dormant, agent.ID)
	if err != nil {
		r.names.remove(r.people[agent.ID].Name, agent.ID)
		delete(r.people, agent.ID)
		r.restore(gone)
	}
	r.changed()
	return err
}

// reserve adds an agent that nobody sees yet. It returns those who have lost their names to it.
func (r *Registry) reserve(agent Participant) (gone []earshot.ParticipantID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone = r.vacate(agent.Name, agent.ID)
	if agent.Name, err = CheckAgent(agent.Name); err == nil {
		err = r.unlike(agent.Name, agent.ID)
	}
	if err == nil {
		err = r.add(agent)
	}
	if err != nil {
		r.restore(gone)
		return nil, err
	}
	r.dormant[agent.ID] = true
	return gone, nil
}

// vacate takes away the names of dismissed agents that could be mistaken for who, called name, and
// returns these agents.
func (r *Registry) vacate(name string, who earshot.ParticipantID) (gone []earshot.ParticipantID) {
	for {
		other, near := r.names.near(name, who, true)
		if !near || !r.dormant[other] {
			return gone
		}
		r.names.remove(r.people[other].Name, other)
		gone = append(gone, other)
	}
}

// restore gives dismissed agents their names back.
func (r *Registry) restore(gone []earshot.ParticipantID) {
	for _, id := range gone {
		r.names.add(r.people[id].Name, id, true)
	}
}

// Redescribe gives an introduced agent another name or description, once keep has recorded it;
// meanwhile nobody else can take the name. If keep fails, nothing has changed.
func (r *Registry) Redescribe(ctx context.Context, agent Participant, keep func() error) error {
	done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	agent.Type = Internal
	was, gone, err := r.claimAlso(&agent)
	if err != nil {
		return err
	}
	now := agent
	if err = keep(); err != nil {
		now = was
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names.remove(was.Name, agent.ID)
	r.names.remove(agent.Name, agent.ID)
	r.names.add(now.Name, agent.ID, true)
	r.people[agent.ID] = now
	if err != nil {
		r.restore(gone)
	}
	r.changed()
	return err
}

// claimAlso takes the new name of agent in addition to its present one. It returns the agent as it
// was, and the dismissed agents that have lost their names to it.
func (r *Registry) claimAlso(agent *Participant) (was Participant, gone []earshot.ParticipantID, err error) {
	name, err := CheckAgent(agent.Name)
	if err != nil {
		return was, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	was = r.people[agent.ID]
	if was.Type != Internal || r.dormant[agent.ID] {
		return was, nil, Refuse(ErrUnknown, "there is no agent with this ID", "see /who")
	}
	gone = r.vacate(name, agent.ID)
	if err := r.unlike(name, agent.ID); err != nil {
		r.restore(gone)
		return was, nil, err
	}
	agent.Name = name
	r.names.add(name, agent.ID, true)
	return was, gone, nil
}

// unlike refuses a name that would make an agent easy to mistake for somebody else.
func (r *Registry) unlike(name string, agent earshot.ParticipantID) error {
	if other, near := r.names.near(name, agent, true); near {
		return r.tooNear(name, other)
	}
	return nil
}

// Dismiss removes an agent. Old lines keep its name, and nobody from outside can take that name.
func (r *Registry) Dismiss(agent earshot.ParticipantID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.people[agent].Type == Internal && !r.dormant[agent] {
		r.dormant[agent] = true
		r.changed()
	}
}

// Handles returns the handles that were recorded for somebody, and for those who turned out to be
// the same person, sorted. It leaves out handles of sessions.
func (r *Registry) Handles(id earshot.ParticipantID) []earshot.Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []earshot.Handle
	for h, who := range r.byHandle {
		if r.root(who) == r.root(id) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b earshot.Handle) int { return strings.Compare(a.String(), b.String()) })
	return all
}
