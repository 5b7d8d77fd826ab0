package server

import (
	"net/http"

	"earshot/api"
)

// forget says what would be forgotten, or forgets it.
func (s *Server) forget(w http.ResponseWriter, r *http.Request, who guest) error {
	var f api.EraseRequest
	if err := readBody(w, r, &f); err != nil {
		return err
	}
	came, err := s.Admin.Forget(r.Context(), who.Principal, f)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, came)
	return nil
}
