package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server/remote"
	"earshot/server/wire"
)

// errOrder refuses to say a command, which may contain a private message.
var errOrder = &wire.Refusal{
	Problem: "a text that begins with a slash is a command, so nothing was said",
	Mend:    `give commands with POST /v1/commands, such as {"name":"msg","args":"NAME text"}; // begins a text with a slash`,
}

// ErrTaken refuses a message whose ID belongs to another.
var ErrTaken error = &wire.Refusal{Problem: "the ID belongs to another message, so this one was not kept", Mend: "send it with a new ID, or without one"}

// post admits a message.
func (s *Server) post(r *http.Request, who guest, in api.MessageRequest) (kept api.MessageReceipt, err error) {
	if err := errors.Join(wire.CheckID(in.ID), wire.CheckText(in.Text)); err != nil {
		return kept, &fault{http.StatusBadRequest, err}
	}
	body := earshot.Typed(string(in.Text))
	if _, is := body.(earshot.Command); is {
		return kept, &fault{http.StatusUnprocessableEntity, errOrder}
	}
	if in.ID == "" {
		in.ID = s.newID()
	}
	if m, _ := body.(earshot.Message); in.To != "" {
		if strings.ContainsFunc(in.To, unicode.IsSpace) {
			return kept, bad("the address in to has a space; must be a path, an ID or a pattern, such as /owner/agent/coder")
		}
		body = earshot.Command{Name: earshot.PostTo, Args: earshot.Text(in.To+" ") + m.Text}
	}
	handle, leave := s.Backend.Join(s.session(who, "post", ""), nil, who.Audience)
	defer leave()
	e := earshot.Event{ID: in.ID, At: time.Now(), Room: who.Audience.Room, From: handle(), Body: body}
	hint, err := s.Backend.Do(r.Context(), e)
	if errors.Is(err, ErrTaken) {
		err = &fault{http.StatusConflict, err}
	} else if in.To != "" && earshot.Cure(err) != "" { // the address was refused
		err = &fault{http.StatusUnprocessableEntity, err}
	}
	return api.MessageReceipt{ID: in.ID, Hint: hint}, err
}

// longestCommand is the longest name of a command in bytes.
const longestCommand = 64

// command carries out a command, as if it were typed at a terminal.
func (s *Server) command(r *http.Request, who guest, in api.CommandRequest) (said api.CommandAnswer, err error) {
	if in.Name == "" || len(in.Name) > longestCommand || strings.ContainsAny(in.Name, "/ \n") || len(in.Args) > earshot.MaxText {
		return said, bad("a command needs a name without its slash, such as who, and may have arguments")
	}
	handle, leave := s.Backend.Join(s.session(who, "command", ""), nil, who.Audience)
	defer leave()
	said.Answer, err = s.Backend.Do(r.Context(), earshot.Event{
		ID: s.newID(), At: time.Now(), Room: who.Audience.Room, From: handle(), Body: earshot.Command{Name: in.Name, Args: in.Args},
	})
	return said, err
}

// state returns the state of the daemon.
func (s *Server) state(r *http.Request, who guest) (api.Status, error) {
	return s.Backend.State(r.Context(), who.Principal)
}

// context returns what is going on.
func (s *Server) context(r *http.Request, who guest) ([]api.SceneEntry, error) {
	return s.Backend.Context(r.Context(), who.Principal)
}

// look returns what a camera sees.
func (s *Server) look(r *http.Request, who guest, in api.LookRequest) (api.CameraView, error) {
	return s.Backend.Look(r.Context(), who.Principal, in)
}

// agents lists the agents.
func (s *Server) agents(r *http.Request, _ guest) ([]api.AgentInfo, error) {
	return s.Admin.Agents(r.Context(), r.URL.Query().Get("all") != "")
}

// order makes, changes or ends an agent.
func (s *Server) order(r *http.Request, who guest, in agents.Order) (api.AgentInfo, error) {
	return s.Admin.Order(r.Context(), who.Participant, in)
}

// voices lists the voices.
func (s *Server) voices(r *http.Request, _ guest) ([]api.VoiceInfo, error) {
	return s.Admin.Voices(r.Context())
}

// tell carries out a request about voices.
func (s *Server) tell(r *http.Request, who guest, in api.VoiceRequest) (api.VoiceChange, error) {
	return s.Admin.Tell(r.Context(), who.Participant, in)
}

// forget says what would be forgotten, or forgets it.
func (s *Server) forget(r *http.Request, who guest, in api.EraseRequest) (api.ErasePreview, error) {
	return s.Admin.Forget(r.Context(), who.Principal, in)
}

// reload reads the configuration again.
func (s *Server) reload(r *http.Request, _ guest) (api.ReloadResult, error) {
	return s.Admin.Reload(r.Context())
}

// cluster returns how several daemons share the rooms.
func (s *Server) cluster(r *http.Request, _ guest) (api.Cluster, error) {
	return s.Admin.Cluster(r.Context())
}

// drain has a daemon give its rooms away, or no longer.
func (s *Server) drain(r *http.Request, _ guest, in api.DrainRequest) (api.Cluster, error) {
	return s.Admin.Drain(r.Context(), in)
}

// alive tells anybody that the process answers, and nothing else.
func (s *Server) alive(w http.ResponseWriter, _ *http.Request, _ guest) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "alive\n")
	return nil
}

// ready says whether the daemon can do its work, and what prevents it.
func (s *Server) ready(w http.ResponseWriter, r *http.Request, _ guest) error {
	is := s.Admin.Ready(r.Context())
	status := http.StatusOK
	if !is.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, is)
	return nil
}

// metrics serves the metrics.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, _ guest) error {
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// diagnostics serves what a bug report needs.
func (s *Server) diagnostics(r *http.Request, _ guest) (api.Diagnosis, error) {
	var e api.DiagnosisRequest
	switch r.URL.Query().Get("goroutines") {
	case "":
	case "1":
		e.Goroutines = true
	default:
		return api.Diagnosis{}, bad("the parameter goroutines must be 1")
	}
	return s.Admin.Diagnose(r.Context(), e)
}

// readBody reads the JSON object in the body of r.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(wire.BodyTime)); err != nil {
		return err
	}
	defer func() { _ = control.SetReadDeadline(time.Time{}) }() // the room may take longer than the body
	d := json.NewDecoder(http.MaxBytesReader(unwatched(w), r.Body, wire.MaxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &fault{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", wire.MaxBody)}
	}
	if err != nil {
		return bad("the body is not a valid JSON object for this path")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("the body continues after its JSON object")
	}
	return nil
}

// attach serves the terminal protocol on the connection, as long as it lasts.
func (s *Server) attach(w http.ResponseWriter, r *http.Request, who guest) error {
	if r.Header.Get("Upgrade") != wire.Protocol {
		w.Header().Set("Upgrade", wire.Protocol)
		return &fault{http.StatusUpgradeRequired, &wire.Refusal{
			Problem: "this earshot speaks " + wire.Protocol + " and the terminal another version",
			Mend:    "use the same version for both; see: earshot version",
		}}
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer visitorOf(r).gone() // the connection is ours now; see count
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(headerTime))
	if _, err := io.WriteString(conn, switching); err != nil {
		return nil
	}
	t := &remote.Terminal{
		Session:  s.session(who, "terminal", fmt.Sprintf("terminal-%d", s.terminals.Add(1))),
		Audience: who.Audience,
		Backend:  s.Backend,
		Name:     s.Journal.Name,
		Stay:     func(ctx context.Context) error { return s.stay(ctx, who) },
		Log:      s.log(),
		Dropped:  s.Dropped,
	}
	err = t.Serve(r.Context(), wire.NewConn(conn, buffered.Reader, wire.MaxUp))
	if err != nil {
		s.log().Debug("a terminal was lost", slog.String("outlet", t.Session.Outlet), slog.Any("err", err))
	}
	return nil
}

// session returns a session of who, by some kind of connection.
func (s *Server) session(who guest, connection, outlet string) participants.Session {
	return participants.Session{
		ID:          string(s.newID()),
		Room:        who.Audience.Room,
		Participant: who.ID,
		Account:     who.Account,
		Outlet:      outlet,
		Connection:  connection,
		Address:     who.remote,
		Since:       time.Now(),
	}
}

// switching is the answer that turns HTTP into the terminal protocol.
const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + wire.Protocol + "\r\n\r\n"
