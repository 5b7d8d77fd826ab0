package scenetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// cast reads the part people, which lists the people of a scene.
func cast(part []byte) ([]participants.Participant, error) {
	all := []participants.Participant{}
	for l := range strings.Lines(string(part)) {
		words := strings.Fields(l)
		switch {
		case len(words) == 0 || words[0][0] == '#':
			continue
		case len(words) == 1:
			return nil, fmt.Errorf("%q has no type", words[0])
		}
		all = append(all, participants.Participant{
			ID: earshot.ParticipantID(words[0]), Name: words[0], Type: participants.Type(words[1]),
			Description: strings.Join(words[2:], " "),
		})
	}
	if len(all) == 0 {
		return nil, errors.New("nobody is in it")
	}
	return all, nil
}

// Cast returns the people whom s knows, as the section external_actors of the configuration, and the
// agents, with and without a seat.
func (s *Scene) Cast() (participants.Config, []agents.Record) {
	setup, seats := s.setup(), s.seats()
	for _, a := range setup.Agents {
		if !slices.ContainsFunc(seats, func(r agents.Record) bool { return r.ID == a.ID }) {
			seats = append(seats, agents.Record{ID: a.ID, Kind: earshot.PathAgent, Profile: earshot.Profile{Name: a.Name, Description: a.Description, Rooms: []earshot.RoomID{"elsewhere"}}})
		}
	}
	return setup.Actors, seats
}

func (s *Scene) setup() participants.Setup {
	setup := participants.Setup{
		Account: Ann, AccountName: "ann", Actors: participants.DefaultConfig(), Now: time.Now, NewID: counter(),
		Agents: []participants.Participant{{ID: participants.Agent, Name: s.Config.Name}},
	}
	for _, a := range s.Agents {
		setup.Agents = append(setup.Agents, participants.Participant{ID: a.ID, Name: a.Name, Description: a.Description})
	}
	for _, p := range s.People {
		switch {
		case p.Type == participants.Internal:
			setup.Agents = append(setup.Agents, p)
			continue
		case p.Name == Ann.ID:
			p.ID = participants.Owner
		}
		setup.Actors.Actors = append(setup.Actors.Actors, participants.Actor{
			ID: p.ID, Type: p.Type, DisplayName: p.Name, Description: p.Description, Handles: []string{"console:" + p.Name},
		})
	}
	return setup
}
