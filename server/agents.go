package server

import (
	"context"
	"net/http"

	"earshot/participants"
	"earshot/participants/agents"
)

// An Office makes, changes and ends the agents of a house. Its methods may be
// called from many goroutines. What they return is for encoding/json.
type Office interface {
	// Agents returns those that there are, and if all is set those that were.
	Agents(ctx context.Context, all bool) (any, error)

	// Order carries out what somebody orders who may, and returns the agent that
	// it is about. It takes effect at once.
	Order(ctx context.Context, by participants.Participant, o agents.Order) (any, error)
}

// agents lists the agents.
func (s *Server) agents(w http.ResponseWriter, r *http.Request, _ guest) error {
	list, err := s.House.Agents(r.Context(), r.URL.Query().Get("all") != "")
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, list)
	return nil
}

// order makes, changes or ends one.
func (s *Server) order(w http.ResponseWriter, r *http.Request, who guest) error {
	var o agents.Order
	if err := readBody(w, r, &o); err != nil {
		return err
	}
	agent, err := s.House.Order(r.Context(), who.Participant, o)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, agent)
	return nil
}
