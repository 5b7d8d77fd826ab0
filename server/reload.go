package server

import (
	"net/http"
)

// reload reads the configuration again.
func (s *Server) reload(w http.ResponseWriter, r *http.Request, _ guest) error {
	is, err := s.Admin.Reload(r.Context())
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, is)
	return nil
}
