package scenetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
)

// cast reads the part people.
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

// registry returns a registry of the people of s, and of its agents.
func (s *Scene) registry() (*participants.Registry, error) {
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
	return participants.Open(setup)
}
