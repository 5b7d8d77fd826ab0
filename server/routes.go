package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/server/wire"
)

// A right says who may use a route. The zero value is nobody, so that a forgotten right locks
// rather than opens.
type right int

const (
	nobody   right = iota
	resident       // every known participant
	operator       // an operator
	watcher        // an operator, or a person at the desk, where the cameras are
	anybody        // everybody, even unknown: only for the fact that the process is there
	scraper        // an operator, or another system that the daemon knows
)

// A route is one method and path of the API.
type route struct {
	method, path string
	right        right
	serve        func(*Server, http.ResponseWriter, *http.Request, guest) error
}

// routes are all routes.
var routes = []route{
	{"POST", messagesPath, resident, (*Server).post},
	{"GET", "/v1/events", resident, (*Server).events},
	{"GET", "/v1/history", resident, (*Server).history},
	{"GET", "/v1/search", resident, (*Server).search},
	{"GET", "/v1/decisions", resident, (*Server).decisions},
	{"GET", "/v1/live", resident, (*Server).live},
	{"GET", "/v1/state", resident, (*Server).state},
	{"GET", "/v1/context", resident, (*Server).context},
	{"POST", "/v1/commands", resident, (*Server).command},
	{"POST", wire.AttachPath, resident, (*Server).attach},
	{"GET", "/v1/agents", operator, (*Server).agents},
	{"POST", "/v1/agents", operator, (*Server).order},
	{"GET", "/v1/voices", operator, (*Server).voices},
	{"POST", "/v1/voices", operator, (*Server).tell},
	{"POST", "/v1/reload", operator, (*Server).reload},
	{"POST", "/v1/look", watcher, (*Server).look},
	{"POST", "/v1/hold", watcher, (*Server).hold},
	{"POST", "/v1/forget", resident, (*Server).forget},
	{"GET", "/v1/diagnostics", operator, (*Server).diagnostics},
	{"GET", "/livez", anybody, (*Server).alive},
	{"GET", "/readyz", resident, (*Server).ready},
	{"GET", "/metrics", scraper, (*Server).metrics},
	{"GET", "/openapi.json", resident, nil}, // which describes this list, and so cannot be in it
}

// messagesPath is the route that says something.
const messagesPath = "/v1/messages"

// A fault is the reason for refusing a request, with its HTTP status.
type fault struct {
	status int
	err    error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }
func (f *fault) code() int     { return f.status }

// A refusal is a fault, or an error that contains one.
type refusal interface {
	error
	code() int
}

// errEnds refuses a request because the daemon stops.
var errEnds = &api.Refusal{Problem: "earshot is stopping", Mend: "ask again when it is running"}

// An opening is one listener of the server, with its rules.
type opening struct {
	*Server
	rules *rules
	conns sync.WaitGroup // open connections
}

// count counts the connections. A hijacked one counts until its handler returns; see attach.
func (o *opening) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		o.conns.Add(1)
	case http.StateClosed:
		o.conns.Done()
	}
}

// ServeHTTP stands before every route, and is the only way to one.
func (o *opening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wire.Idle)) // otherwise that of the previous request would apply
	seen := o.watch(w, r)
	err := o.dispatch(seen, r)
	if err != nil {
		o.refuse(seen, r, err)
	}
	seen.ended()
}

// refuse answers why a request was refused.
func (o *opening) refuse(w *auditedWriter, r *http.Request, err error) {
	w.shut = true
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) { // otherwise the client is gone, and reads no answer
		err = &fault{http.StatusServiceUnavailable, errEnds}
	}
	status := http.StatusInternalServerError
	if f, ok := errors.AsType[refusal](err); ok {
		status = f.code()
	}
	if b, ok := errors.AsType[*busy](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(b.after)))
	}
	if m, ok := errors.AsType[*wrongMethod](err); ok {
		w.Header().Set("Allow", strings.Join(m.allowed, ", "))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", strings.TrimSpace(wire.Bearer))
	}
	o.log().Debug("refused a request", slog.String("method", verb(r.Method)), slog.Int("status", status), slog.Any("err", err))
	answer(w, status, wire.Explain(err))
}

// dispatch checks a request and has it answered. It identifies the client before it looks at the
// route, so that a stranger learns nothing, not even what exists.
func (o *opening) dispatch(w *auditedWriter, r *http.Request) error {
	v := visitorOf(r)
	if v == nil {
		return &fault{http.StatusForbidden, errors.New("this listener cannot identify its clients")}
	}
	if err := o.rules.judge(r); err != nil {
		return err
	}
	if answered, err := o.rules.share(w, r); answered || err != nil {
		return err
	}
	to, missing := find(r.Method, r.URL.Path)
	w.to = to
	if to.right == anybody {
		if err := o.rules.rates.take("address "+v.from, time.Now()); err != nil {
			return err
		}
		return to.serve(o.Server, w, r, guest{})
	}
	who, err := o.admit(to, r, v)
	if err != nil {
		return err
	}
	w.who = who.ID
	if missing != nil {
		return missing
	}
	if err := to.right.allows(who); err != nil {
		return &fault{http.StatusForbidden, err}
	}
	if err := fits(to, r); err != nil {
		return err
	}
	if to.serve == nil {
		return o.description(w)
	}
	return to.serve(o.Server, w, r, who)
}

// admit returns the author of r, unless they send too many requests. The answer to a wrong token
// is delayed.
func (o *opening) admit(to route, r *http.Request, v *visitor) (guest, error) {
	now := time.Now()
	if !o.rules.vouched {
		if err := o.rules.rates.take("address "+v.from, now); err != nil && r.Header.Get(wire.TokenHeader) == "" {
			return guest{}, err
		}
	}
	who, err := o.identify(to, r, v)
	if err == nil {
		v.met()
		return who, o.rules.rates.take("person "+string(who.ID), now)
	}
	f, refused := errors.AsType[refusal](err)
	if !refused || f.code() != http.StatusUnauthorized || r.Header.Get(wire.TokenHeader) == "" {
		return guest{}, err
	}
	late, instead := o.rules.knocks.wrong(v.from, now)
	if instead != nil {
		return guest{}, instead
	}
	return guest{}, o.rules.knocks.wait(r.Context(), late, err)
}

// fits reports what a request has that its route does not take.
func fits(to route, r *http.Request) error {
	if r.Header.Get("Upgrade") != "" && to.path != wire.AttachPath {
		return bad("this path cannot switch to another protocol")
	}
	if about, ok := described[to.method+" "+to.path]; ok {
		for name := range r.URL.Query() {
			if !about.takes(name) {
				return bad("this path has no parameter of that name")
			}
		}
	}
	switch {
	case r.ContentLength == 0:
		return nil
	case r.Method == http.MethodGet:
		return bad("a GET request takes no body")
	}
	is, given, err := one(r.Header, "Content-Type")
	if err != nil {
		return err
	}
	kind, _, wrong := mime.ParseMediaType(is)
	if given && (wrong != nil || kind != "application/json") || !given && !vouched(r) {
		return &fault{http.StatusUnsupportedMediaType, errors.New("the body must be JSON, with the header Content-Type: application/json")}
	}
	return nil
}

// vouched reports whether the kernel identified the author of r.
func vouched(r *http.Request) bool {
	v := visitorOf(r)
	return v != nil && !v.addr.IsValid()
}

// allows says why a guest may not use a route, or returns nil.
func (r right) allows(who guest) error {
	switch {
	case r == resident, (r == operator || r == watcher) && who.Can(participants.Operate):
		return nil
	case r == scraper && (who.Can(participants.Operate) || who.Type.Machine()):
		return nil
	case r == watcher && who.Present && who.Audience.Room == earshot.Desk:
		return nil
	case r == watcher:
		return &api.Refusal{Problem: "only an operator of this earshot, or somebody at its desk, may do that", Mend: "come in at the desk first: earshot chat; or ask an operator"}
	case r == operator, r == scraper:
		return &api.Refusal{Problem: "only an operator of this earshot may do that", Mend: "ask one, or come in as one: --identity NAME"}
	}
	return errors.New("nobody may do that")
}

// A wrongMethod is the fault of a request with a method that its path does not have.
type wrongMethod struct {
	fault
	allowed []string
}

// find returns the route for a request.
func find(method, path string) (route, error) {
	var others []string
	for _, to := range routes {
		switch {
		case to.path == path && to.method == method:
			return to, nil
		case to.path == path:
			others = append(others, to.method)
		}
	}
	if len(others) == 0 {
		return route{}, &fault{http.StatusNotFound, errors.New("there is nothing at this path")}
	}
	return route{}, &wrongMethod{fault{http.StatusMethodNotAllowed, errors.New("this path takes " + strings.Join(others, " and "))}, others}
}

// verb returns a method for a log, without anything that a client made up.
func verb(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "other"
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(wire.Idle))    // a client that does not read is gone
	_ = control.SetReadDeadline(time.Now().Add(wire.BodyTime)) // so is one whose body does not come; net/http waits for it before it answers
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that has gone does not miss it
}

// bad is the fault of an invalid request.
func bad(format string, args ...any) error {
	return &fault{http.StatusBadRequest, fmt.Errorf(format, args...)}
}
