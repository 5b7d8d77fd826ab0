package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"earshot"
	"earshot/participants"
	"earshot/server/wire"
)

// A right is who may use a route. The zero value is nobody, so that a forgotten
// one locks rather than opens.
type right int

const (
	nobody   right = iota
	resident       // everybody whom the house knows
	operator       // who may operate it
	watcher        // the same, and who is at its desk, where the cameras are
	anybody        // also who is not known: only that the process is there
	scraper        // who may operate it, and other systems that the house knows
)

// A route is something that can be asked for.
type route struct {
	method, path string
	right        right
	serve        func(*Server, http.ResponseWriter, *http.Request, guest) error
}

// routes are all there are.
var routes = []route{
	{"POST", "/v1/messages", resident, (*Server).post},
	{"GET", "/v1/events", resident, (*Server).events},
	{"GET", "/v1/history", resident, (*Server).history},
	{"GET", "/v1/search", resident, (*Server).search},
	{"GET", "/v1/decisions", resident, (*Server).decisions},
	{"GET", "/v1/live", resident, (*Server).live},
	{"GET", "/v1/state", resident, (*Server).state},
	{"GET", "/v1/context", resident, (*Server).context},
	{"POST", "/v1/commands", resident, (*Server).command},
	{"POST", "/v1/attach", resident, (*Server).attach},
	{"GET", "/v1/agents", operator, (*Server).agents},
	{"POST", "/v1/agents", operator, (*Server).order},
	{"GET", "/v1/voices", operator, (*Server).voices},
	{"POST", "/v1/voices", operator, (*Server).tell},
	{"POST", "/v1/reload", operator, (*Server).reload},
	{"POST", "/v1/look", watcher, (*Server).look},
	{"GET", "/v1/diagnostics", operator, (*Server).diagnostics},
	{"GET", "/livez", anybody, (*Server).alive},
	{"GET", "/readyz", resident, (*Server).ready},
	{"GET", "/metrics", scraper, (*Server).metrics},
}

// A fault is why a request was refused, with its status of HTTP.
type fault struct {
	status int
	err    error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// serve is in front of every route. It finds out who is there before it looks
// at what is asked, so that a stranger learns nothing, not even what exists.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	err := s.dispatch(w, r)
	if err == nil {
		return
	}
	status := http.StatusInternalServerError
	if f, ok := errors.AsType[*fault](err); ok {
		status = f.status
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", strings.TrimSpace(bearer))
	}
	s.log().Debug("refused a request", slog.String("method", r.Method), slog.Int("status", status), slog.Any("err", err))
	answer(w, status, wire.Explain(err))
}

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) error {
	if to, _ := find(r.Method, r.URL.Path); to.right == anybody {
		return to.serve(s, w, r, guest{})
	}
	who, err := s.identify(r)
	if err != nil {
		return err
	}
	to, err := find(r.Method, r.URL.Path)
	if err != nil {
		return err
	}
	if err := to.right.allows(who); err != nil {
		return &fault{http.StatusForbidden, err}
	}
	return to.serve(s, w, r, who)
}

// allows says why somebody may not use a route, or nothing.
func (r right) allows(who guest) error {
	switch {
	case r == resident, (r == operator || r == watcher) && who.Can(participants.Operate):
		return nil
	case r == scraper && (who.Can(participants.Operate) || who.Type.Machine()):
		return nil
	case r == watcher && who.Present && who.Audience.Room == earshot.Desk:
		return nil
	case r == watcher:
		return &wire.Refusal{Problem: "that is for whoever operates this earshot, or is at its desk", Mend: "come in there first: earshot chat; or ask them"}
	case r == operator, r == scraper:
		return &wire.Refusal{Problem: "that is for whoever operates this earshot", Mend: "ask them, or come in as them: --identity NAME"}
	}
	return errors.New("nobody may ask for that")
}

// find returns the route for a request.
func find(method, path string) (route, error) {
	status, problem := http.StatusNotFound, "there is nothing at this path"
	for _, to := range routes {
		switch {
		case to.path == path && to.method == method:
			return to, nil
		case to.path == path:
			status, problem = http.StatusMethodNotAllowed, "this path is asked by "+to.method
		}
	}
	return route{}, &fault{status, errors.New(problem)}
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // whoever has gone does not miss it
}

// bad is the fault of a request that is not as it should be.
func bad(format string, args ...any) error {
	return &fault{http.StatusBadRequest, fmt.Errorf(format, args...)}
}
