package server

import (
	"context"
	"net/http"

	"earshot/api"
)

// reload has the configuration read again.
func (s *Server) reload(w http.ResponseWriter, r *http.Request, _ guest) error {
	is, err := s.Admin.Reload(r.Context())
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, is)
	return nil
}

// Reload has the daemon read its configuration again, and returns what has changed.
func (c *Client) Reload(ctx context.Context) (is api.ReloadResult, err error) {
	err = c.ask(ctx, http.MethodPost, "/v1/reload", http.NoBody, &is)
	return is, err
}
