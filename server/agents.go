package server

import (
	"net/http"

	"earshot/participants/agents"
)

// agents lists the agents.
func (s *Server) agents(w http.ResponseWriter, r *http.Request, _ guest) error {
	list, err := s.Admin.Agents(r.Context(), r.URL.Query().Get("all") != "")
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, list)
	return nil
}

// order makes, changes or ends an agent.
func (s *Server) order(w http.ResponseWriter, r *http.Request, who guest) error {
	var o agents.Order
	if err := readBody(w, r, &o); err != nil {
		return err
	}
	agent, err := s.Admin.Order(r.Context(), who.Participant, o)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, agent)
	return nil
}
