package server

import (
	"context"
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

// Forget says what would be forgotten or, with the digest of that, has it forgotten.
func (c *Client) Forget(ctx context.Context, r api.EraseRequest) (p api.ErasePreview, err error) {
	err = c.tell(ctx, "/v1/forget", r, &p)
	return p, err
}
