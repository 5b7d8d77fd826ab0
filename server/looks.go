package server

import (
	"net/http"

	"earshot/api"
)

// look returns what a camera sees.
func (s *Server) look(w http.ResponseWriter, r *http.Request, who guest) error {
	var l api.LookRequest
	if err := readBody(w, r, &l); err != nil {
		return err
	}
	sees, err := s.Backend.Look(r.Context(), who.Principal, l)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, sees)
	return nil
}
