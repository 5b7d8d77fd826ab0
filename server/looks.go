package server

import (
	"context"
	"net/http"

	"earshot/api"
)

// A Watch has cameras. Its methods may be called from many goroutines.
type Watch interface {
	// See returns what a camera sees now, as a value for encoding/json; that it does not
	// see at the moment is no error. Who asks is told to those who may be in the picture.
	See(ctx context.Context, by Principal, l api.LookRequest) (any, error)
}

// look tells what a camera sees.
func (s *Server) look(w http.ResponseWriter, r *http.Request, who guest) error {
	var l api.LookRequest
	if err := readBody(w, r, &l); err != nil {
		return err
	}
	sees, err := s.House.See(r.Context(), who.Principal, l)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, sees)
	return nil
}
