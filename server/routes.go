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
	"reflect"
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
	site         site
	endpoint
	routeDescription
}

// An endpoint serves a route.
type endpoint struct {
	serve  func(*Server, http.ResponseWriter, *http.Request, guest) error
	in     any // the zero value of the body; nil if it takes none
	out    any // the zero value of the answer, if it is JSON
	failed int // the status of an error that has none of its own; 0 for an internal error
}

// asked returns the endpoint that answers with the result of get, as JSON.
func asked[Out any](failed int, get func(s *Server, r *http.Request, who guest) (Out, error)) endpoint {
	return endpoint{out: *new(Out), failed: failed, serve: func(s *Server, w http.ResponseWriter, r *http.Request, who guest) error {
		out, err := get(s, r, who)
		return respond(w, out, failed, err)
	}}
}

// told returns the endpoint that answers with what do makes of the body, as JSON.
func told[In, Out any](failed int, do func(s *Server, r *http.Request, who guest, in In) (Out, error)) endpoint {
	return endpoint{in: *new(In), out: *new(Out), failed: failed, serve: func(s *Server, w http.ResponseWriter, r *http.Request, who guest) error {
		var in In
		if err := readBody(w, r, &in); err != nil {
			return err
		}
		out, err := do(s, r, who, in)
		return respond(w, out, failed, err)
	}}
}

// respond answers with out, or returns the fault that err is: with the status failed, if it has none.
func respond(w http.ResponseWriter, out any, failed int, err error) error {
	if _, has := errors.AsType[*fault](err); err != nil && !has {
		return &fault{failed, err}
	}
	if err == nil {
		answer(w, http.StatusOK, out)
	}
	return err
}

// routes are all routes.
var routes = []route{
	{"POST", messagesPath, resident, ofRoom, told(http.StatusServiceUnavailable, (*Server).post), routeDescription{
		says:    "Say something in a room. The message is stored before the answer is sent; one sent again with the same ID is kept once. A text that begins with one slash is a command, and is refused; write two slashes to begin a message with one.",
		changes: "message", faults: []int{409, 422},
	}},
	{"GET", "/v1/events", resident, ofRoom, endpoint{serve: (*Server).events, out: earshot.Event{}, failed: http.StatusServiceUnavailable}, routeDescription{
		says:       "Follow the events: those after a sequence, and then new ones, until the connection ends. Words that are being said come as events of the kind speech, which are not stored and have no sequence: the next one with the same from replaces them, and the stage over says that none are left.",
		parameters: []parameter{{name: "after", says: "The last sequence that you have already; 0 means none.", kind: reflect.TypeFor[int64]()}},
		media:      lines,
	}},
	{"GET", "/v1/history", resident, anyDaemon, asked(http.StatusServiceUnavailable, (*Server).history), routeDescription{
		says:       "Past events, page by page from the end backwards; each page is in the order in which they happened.",
		parameters: []parameter{paramBefore, paramLimit, {name: "kind", says: "Only events of this kind; the parameter may be repeated.", kind: reflect.TypeFor[earshot.Kind](), many: true}},
	}},
	{"GET", "/v1/search", resident, anyDaemon, asked(http.StatusUnprocessableEntity, (*Server).search), routeDescription{
		says:       "Messages that contain all of some words, the newest first, each with the words around the match.",
		parameters: []parameter{{name: "q", says: "The words, in any of their English forms; case and accents make no difference. tid* is the beginning of a word, and \"high tide\" a phrase; from:NAME selects the speaker, and on:2026-11-20, since:yesterday and before:monday the time.", kind: reflect.TypeFor[string](), must: true}, paramBefore, paramLimit},
	}},
	{"GET", "/v1/decisions", resident, anyDaemon, asked(http.StatusUnprocessableEntity, (*Server).decisions), routeDescription{
		says:       "Why agents spoke, or kept silent, page by page from the end backwards.",
		parameters: []parameter{{name: "agent", says: "Only those of the agent with this name.", kind: reflect.TypeFor[string]()}, paramBefore, paramLimit},
	}},
	{"GET", "/v1/live", resident, ofRoom, endpoint{serve: (*Server).live, out: api.LiveView{}, failed: http.StatusServiceUnavailable}, routeDescription{
		says:  "Follow the state of the room: a whole JSON object at once and after each change, at most 20 a second. A slow reader gets only the current state.",
		media: lines,
	}},
	{"GET", "/v1/state", resident, ofRoom, asked(http.StatusServiceUnavailable, (*Server).state), routeDescription{
		says: "The state of the daemon: who is here, what works and what does not, and which rooms you may enter.",
	}},
	{"GET", "/v1/context", resident, ofRoom, asked(http.StatusServiceUnavailable, (*Server).context), routeDescription{
		says: "What is going on, in the words of a prompt, with ages and sources.",
	}},
	{"POST", "/v1/commands", resident, ofRoom, told(http.StatusUnprocessableEntity, (*Server).command), routeDescription{
		says:    "Run a command, as at a terminal, without its slash.",
		changes: "command",
	}},
	{"POST", wire.AttachPath, resident, ofRoom, endpoint{serve: (*Server).attach}, routeDescription{
		says:  "Attach a terminal, for earshot chat. It needs the header Upgrade: " + wire.Protocol + ".",
		media: plain, changes: "terminal", faults: []int{426},
	}},
	{"GET", "/v1/agents", operator, anyDaemon, asked(http.StatusServiceUnavailable, (*Server).agents), routeDescription{
		says:       "The current agents.",
		parameters: []parameter{{name: "all", says: "1 includes former agents.", kind: reflect.TypeFor[string]()}},
	}},
	{"POST", "/v1/agents", operator, ofDesk, told(http.StatusUnprocessableEntity, (*Server).order), routeDescription{
		says:    "Make, change or end an agent.",
		changes: "agent",
	}},
	{"GET", "/v1/voices", operator, ofDesk, asked(http.StatusServiceUnavailable, (*Server).voices), routeDescription{
		says: "The known voices, without their voiceprints.",
	}},
	{"POST", "/v1/voices", operator, ofDesk, told(http.StatusUnprocessableEntity, (*Server).tell), routeDescription{
		says:    "Assign a voice to a person, keep it, or forget it.",
		changes: "voice",
	}},
	{"POST", "/v1/reload", operator, anyDaemon, asked(http.StatusUnprocessableEntity, (*Server).reload), routeDescription{
		says:    "Read the configuration again.",
		changes: "configuration",
	}},
	{"GET", "/v1/cluster", operator, anyDaemon, asked(http.StatusUnprocessableEntity, (*Server).cluster), routeDescription{
		says: "The daemons that share the rooms, which of them has which room, and what the one that answers has not got.",
	}},
	{"POST", "/v1/cluster", operator, anyDaemon, told(http.StatusUnprocessableEntity, (*Server).drain), routeDescription{
		says:    "Have a daemon give its rooms away and take none, or no longer. It does so within a second, and then needs as long as it takes to end each sentence.",
		changes: "cluster",
	}},
	{"POST", "/v1/look", watcher, ofDesk, told(http.StatusUnprocessableEntity, (*Server).look), routeDescription{
		says:    "Look once through a camera.",
		changes: "look",
	}},
	{"POST", "/v1/hold", watcher, ofDesk, endpoint{serve: (*Server).hold, failed: http.StatusUnprocessableEntity}, routeDescription{
		says:  "Hold the push-to-talk key: until the connection ends, what is said at the microphone is for an agent, and a muted room is live. An empty line says that the key is held; further ones are signs of life.",
		media: plain, changes: "microphone",
	}},
	{"POST", "/v1/forget", resident, ofDesk, told(http.StatusUnprocessableEntity, (*Server).forget), routeDescription{
		says:    "Without a digest, say what would be forgotten; with the digest of that answer, forget it. The answer comes when every trace that can be removed is gone.",
		changes: "forget",
	}},
	{"GET", "/v1/diagnostics", operator, anyDaemon, asked(http.StatusServiceUnavailable, (*Server).diagnostics), routeDescription{
		says:       "What a bug report needs, without anything that was said and without names.",
		parameters: []parameter{{name: "goroutines", says: "1 adds the stacks of all goroutines.", kind: reflect.TypeFor[string]()}},
	}},
	{"GET", "/livez", anybody, anyDaemon, endpoint{serve: (*Server).alive}, routeDescription{says: "Whether the process is alive, and nothing else.", media: plain}},
	{"GET", "/readyz", resident, anyDaemon, endpoint{serve: (*Server).ready, out: api.Readiness{}, failed: http.StatusServiceUnavailable}, routeDescription{
		says: "Whether the daemon can do its work: 200, or 503 with what prevents it.",
	}},
	{"GET", "/metrics", scraper, anyDaemon, endpoint{serve: (*Server).metrics}, routeDescription{says: "Metrics, for Prometheus.", media: plain}},
	// The description describes this list, so no function of it can be in it.
	{"GET", "/openapi.json", resident, anyDaemon, endpoint{out: json.RawMessage(nil)}, routeDescription{says: "This description."}},
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

// A headedFault is a fault whose answer has a header.
type headedFault struct {
	*fault
	name, value string
}

func (h *headedFault) Unwrap() error { return h.fault }

// errEnds refuses a request because the daemon stops.
var errEnds = &wire.Refusal{Problem: "earshot is stopping", Mend: "ask again when it is running"}

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
	if f, ok := errors.AsType[*fault](err); ok {
		status = f.status
	}
	if errors.Is(err, wire.ErrMoved) {
		status, err = http.StatusServiceUnavailable, wire.ErrMoved
		w.Header().Set("Retry-After", "1")
	}
	if h, ok := errors.AsType[*headedFault](err); ok {
		w.Header().Set(h.name, h.value)
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
	r, said, err := o.arrive(r)
	if err != nil {
		return err
	}
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
	if to.path != wire.AttachPath && o.rules.account != (earshot.Handle{}) {
		to, missing = route{}, &fault{http.StatusForbidden, errors.New("a terminal can be attached here, and nothing else")}
	}
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
	w.who, w.from = who.ID, v.from
	if err := said.agree(who); err != nil {
		return err
	}
	if missing != nil {
		return missing
	}
	r, end, passed, err := o.locate(to, w, r, who)
	if passed || err != nil {
		return err
	}
	defer end()
	if err := to.right.allows(who); err != nil {
		return &fault{http.StatusForbidden, err}
	}
	if err := fits(to, r); err != nil {
		return err
	}
	if to.serve == nil {
		return o.description(w)
	}
	if err = to.serve(o.Server, w, r, who); err != nil && errors.Is(context.Cause(r.Context()), wire.ErrMoved) {
		return to.interrupted()
	}
	return err
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
	f, refused := errors.AsType[*fault](err)
	if !refused || f.status != http.StatusUnauthorized || r.Header.Get(wire.TokenHeader) == "" {
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
	for name := range r.URL.Query() {
		if !to.takes(name) {
			return bad("this path has no parameter of that name")
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
		return &wire.Refusal{Problem: "only an operator of this earshot, or somebody at its desk, may do that", Mend: "come in at the desk first: earshot chat; or ask an operator"}
	case r == operator, r == scraper:
		return &wire.Refusal{Problem: "only an operator of this earshot may do that", Mend: "ask one, or come in as one: --identity NAME"}
	}
	return errors.New("nobody may do that")
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
	return route{}, &headedFault{&fault{http.StatusMethodNotAllowed, errors.New("this path takes " + strings.Join(others, " and "))}, "Allow", strings.Join(others, ", ")}
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
