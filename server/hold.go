package server

import (
	"io"
	"net/http"

	"earshot/server/remote"
)

// hold holds the push-to-talk key as long as the connection lasts, so that a client that dies
// releases it. It writes an empty line when the key is held, and signs of life after that.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, who guest) error {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(unwatched(w), r.Body, headerBytes)); err != nil { // net/http notices that the client goes only after the body was read
		return bad("this takes no body")
	}
	release, err := s.Backend.Hold(r.Context(), who.Principal)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	defer release()
	out := &stream{w: w, control: http.NewResponseController(w)}
	for told := 0; ; told++ {
		if told%(int(heartbeat/remote.Look)) == 0 && out.line(nil) != nil {
			return nil
		}
		if !wait(r.Context(), remote.Look, nil) || s.stay(r.Context(), who) != nil {
			return nil
		}
	}
}
