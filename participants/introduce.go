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
		r.names.leave(r.people[agent.ID])
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
	gone = r.vacate(agent)
	if agent, err = checkAgent(agent); err == nil {
		err = r.unlike(agent)
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

// checkAgent returns an agent with its names as they are shown; see [CheckAgent].
func checkAgent(agent Participant) (_ Participant, err error) {
	if agent.Name, err = CheckAgent(agent.Name); err == nil && agent.Username != "" {
		agent.Username, err = CheckAgent(agent.Username)
	}
	return agent, err
}

// vacate takes away the names of dismissed agents that could be mistaken for an agent, and returns
// these.
func (r *Registry) vacate(agent Participant) (gone []earshot.ParticipantID) {
	for _, name := range agent.names() {
		other, near := r.names.near(name, agent.ID, true)
		for ; near && r.dormant[other]; other, near = r.names.near(name, agent.ID, true) {
			r.names.leave(r.people[other])
			gone = append(gone, other)
		}
	}
	return gone
}

// restore gives dismissed agents their names back.
func (r *Registry) restore(gone []earshot.ParticipantID) {
	for _, id := range gone {
		r.names.enter(r.people[id])
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
	r.names.leave(was)
	r.names.leave(agent)
	r.names.enter(now)
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
	is, err := checkAgent(*agent)
	if err != nil {
		return was, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	was = r.people[agent.ID]
	if was.Type != Internal || r.dormant[agent.ID] {
		return was, nil, Refuse(ErrUnknown, "there is no agent with this ID", "see /who")
	}
	gone = r.vacate(is)
	if err := r.unlike(is); err != nil {
		r.restore(gone)
		return was, nil, err
	}
	*agent = is
	r.names.enter(is)
	return was, gone, nil
}

// unlike refuses names that would make an agent easy to mistake for somebody else.
func (r *Registry) unlike(agent Participant) error {
	for _, name := range agent.names() {
		if other, near := r.names.near(name, agent.ID, true); near {
			return r.tooNear(name, other)
		}
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
