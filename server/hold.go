package server

import (
	"io"
	"net/http"

	"earshot/server/remote"
)

// hold holds the key for as long as the connection lasts, so that who has died lets go. It
// writes an empty line when the key is held, and then now and then.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, who guest) error {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(unwatched(w), r.Body, headerBytes)); err != nil { // that they go is only noticed behind it
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
