package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"earshot"
)

// An Oblivion forgets. Its methods may be called from many goroutines.
type Oblivion interface {
	// Forget says what would be forgotten or, if what is asked for has the digest of what
	// somebody was shown, forgets it, and returns when no trace of it is left that can be
	// removed. What it returns is for encoding/json, and has no word of what it is about.
	Forget(ctx context.Context, by Principal, f Forgetting) (any, error)
}

// A Forgetting is what somebody wants forgotten. All that it says must hold. Who does not
// operate the house can have forgotten alone what is theirs.
type Forgetting struct {
	Who        string            `json:"who,omitempty"`        // "me", a name, an ID, or a handle such as discord:80351110224678912
	Events     []earshot.EventID `json:"events,omitempty"`     // these
	Room       earshot.RoomID    `json:"room,omitempty"`       // in which it happened; empty: whichever
	From       time.Time         `json:"from,omitzero"`        // when it began, from then on
	To         time.Time         `json:"to,omitzero"`          // and before then
	Everything bool              `json:"everything,omitempty"` // nothing else needs to be said

	// Digest is that of what was shown. Without it nothing is forgotten.
	Digest string `json:"digest,omitempty"`
}

// forget says what would be forgotten, or forgets it.
func (s *Server) forget(w http.ResponseWriter, r *http.Request, who guest) error {
	var f Forgetting
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
func (c *Client) Forget(ctx context.Context, f Forgetting) (json.RawMessage, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var came json.RawMessage
	err = c.ask(ctx, "POST", "/v1/forget", bytes.NewReader(body), &came)
	return came, err
}
