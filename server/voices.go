package server

import (
	"context"
	"net/http"

	"earshot/api"
	"earshot/participants"
)

// A Choir knows whose voices are heard. Its methods may be called from many
// goroutines. What they return is for encoding/json, and holds no print of a voice.
type Choir interface {
	// Voices returns the voices that are known.
	Voices(ctx context.Context) (any, error)

	// Tell carries out what somebody says about voices who may, and returns what
	// became otherwise.
	Tell(ctx context.Context, by participants.Participant, t api.VoiceRequest) (any, error)
}

// voices lists the voices.
func (s *Server) voices(w http.ResponseWriter, r *http.Request, _ guest) error {
	list, err := s.House.Voices(r.Context())
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, list)
	return nil
}

// tell carries out what somebody says about them.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, who guest) error {
	var t api.VoiceRequest
	if err := readBody(w, r, &t); err != nil {
		return err
	}
	change, err := s.House.Tell(r.Context(), who.Participant, t)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, change)
	return nil
}
