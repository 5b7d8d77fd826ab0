package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"earshot/api"
)

// An Oblivion forgets. Its methods may be called from many goroutines.
type Oblivion interface {
	// Forget says what would be forgotten or, if what is asked for has the digest of what
	// somebody was shown, forgets it, and returns when no trace of it is left that can be
	// removed. What it returns is for encoding/json, and has no word of what it is about.
	Forget(ctx context.Context, by Principal, f api.EraseRequest) (any, error)
}

// forget says what would be forgotten, or forgets it.
func (s *Server) forget(w http.ResponseWriter, r *http.Request, who guest) error {
	var f api.EraseRequest
	if err := readBody(w, r, &f); err != nil {
		return err
	}
	came, err := s.House.Forget(r.Context(), who.Principal, f)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, came)
	return nil
}

// Forget says what would be forgotten or, with the digest of that, has it forgotten, as
// JSON.
func (c *Client) Forget(ctx context.Context, f api.EraseRequest) (json.RawMessage, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var came json.RawMessage
	err = c.ask(ctx, "POST", "/v1/forget", bytes.NewReader(body), &came)
	return came, err
}
