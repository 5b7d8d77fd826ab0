package server

import (
	"context"
	"encoding/json"
	"net/http"
)

// A Keeper looks after what the house is. Its methods may be called from many
// goroutines.
type Keeper interface {
	// Reload reads the configuration again, and returns what has changed, as a value for
	// encoding/json. An error says all that is wrong with it; nothing has changed then.
	Reload(ctx context.Context) (any, error)

	// Stays reports why somebody who was let in may not stay, where it is known without
	// looking at their token.
	Stays(p Principal) error
}

// reload has the configuration read again.
func (s *Server) reload(w http.ResponseWriter, r *http.Request, _ guest) error {
	is, err := s.House.Reload(r.Context())
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, is)
	return nil
}

// Reload has the daemon read its configuration again, and returns what has changed.
func (c *Client) Reload(ctx context.Context) (is json.RawMessage, err error) {
	err = c.ask(ctx, http.MethodPost, "/v1/reload", http.NoBody, &is)
	return is, err
}
