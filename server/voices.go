package server

import (
	"net/http"

	"earshot/api"
)

// voices lists the voices.
func (s *Server) voices(w http.ResponseWriter, r *http.Request, _ guest) error {
	list, err := s.Admin.Voices(r.Context())
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, list)
	return nil
}

// tell carries out a request about voices.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, who guest) error {
	var t api.VoiceRequest
	if err := readBody(w, r, &t); err != nil {
		return err
	}
	change, err := s.Admin.Tell(r.Context(), who.Participant, t)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, change)
	return nil
}
