package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"earshot"
	"earshot/api"
)

// A Counter is where one asks something of the program rather than of an agent. Its
// methods may be called from many goroutines.
type Counter interface {
	// Do carries out the command that an event is, and returns the answer, which may
	// be empty.
	Do(ctx context.Context, e earshot.Event) (string, error)

	// Context returns what is going on, as somebody may know it, as a value for
	// encoding/json.
	Context(ctx context.Context, p Principal) (any, error)
}

// longestCommand is the longest name of a command in bytes.
const longestCommand = 64

// command carries out a command, as one that is given at a terminal.
func (s *Server) command(w http.ResponseWriter, r *http.Request, who guest) error {
	var in api.CommandRequest
	if err := readBody(w, r, &in); err != nil {
		return err
	}
	if in.Name == "" || len(in.Name) > longestCommand || strings.ContainsAny(in.Name, "/ \n") || len(in.Args) > earshot.MaxText {
		return &fault{http.StatusBadRequest, errors.New("a command is a name without its slash, such as who, and perhaps arguments")}
	}
	handle, leave := s.House.Join(s.session(who, "command", ""))
	defer leave()
	said, err := s.House.Do(r.Context(), earshot.Event{
		ID: s.newID(), At: time.Now(), Room: who.Audience.Room, From: handle(), Body: earshot.Command{Name: in.Name, Args: in.Args},
	})
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	answer(w, http.StatusOK, api.CommandAnswer{Answer: said})
	return nil
}

// context tells what is going on.
func (s *Server) context(w http.ResponseWriter, r *http.Request, who guest) error {
	v, err := s.House.Context(r.Context(), who.Principal)
	if err != nil {
		return &fault{http.StatusServiceUnavailable, err}
	}
	answer(w, http.StatusOK, v)
	return nil
}
