package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"earshot"
	"earshot/api"
)

// longestCommand is the longest name of a command in bytes.
const longestCommand = 64

// command carries out a command, as if it were typed at a terminal.
func (s *Server) command(w http.ResponseWriter, r *http.Request, who guest) error {
	var in api.CommandRequest
	if err := readBody(w, r, &in); err != nil {
		return err
	}
	if in.Name == "" || len(in.Name) > longestCommand || strings.ContainsAny(in.Name, "/ \n") || len(in.Args) > earshot.MaxText {
		return &fault{http.StatusBadRequest, errors.New("a command needs a name without its slash, such as who, and may have arguments")}
	}
	handle, leave := s.Backend.Join(s.session(who, "command", ""), nil, who.Audience)
	defer leave()
	said, err := s.Backend.Do(r.Context(), earshot.Event{
		ID: s.newID(), At: time.Now(), Room: who.Audience.Room, From: handle(), Body: earshot.Command{Name: in.Name, Args: in.Args},
	})
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, api.CommandAnswer{Answer: said})
	return nil
}

// context returns what is going on.
func (s *Server) context(w http.ResponseWriter, r *http.Request, who guest) error {
	v, err := s.Backend.Context(r.Context(), who.Principal)
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, v)
	return nil
}
