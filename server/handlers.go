package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server/remote"
	"earshot/server/wire"
)

// batch is how many events are read from the journal at a time.
const batch = 64

// heartbeat is how often a stream without events sends a sign of life: often enough for a client
// that gives up after [wire.Idle].
const heartbeat = 3 * remote.Look

// errOrder refuses to say a command, which may contain a private message.
var errOrder = &api.Refusal{
	Problem: "a text that begins with a slash is a command, so nothing was said",
	Mend:    `give commands with POST /v1/commands, such as {"name":"msg","args":"NAME text"}; // begins a text with a slash`,
}

// ErrTaken refuses a message whose ID belongs to another.
var ErrTaken error = &api.Refusal{Problem: "the ID belongs to another message, so this one was not kept", Mend: "send it with a new ID, or without one"}

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
	handle, leave := s.Backend.Join(s.session(who, "post", ""), nil, who.Audience)
	defer leave()
	e := earshot.Event{ID: in.ID, At: time.Now(), Room: who.Audience.Room, From: handle(), Body: body}
	hint, err := s.Backend.Do(r.Context(), e)
	if errors.Is(err, ErrTaken) {
		err = &fault{http.StatusConflict, err}
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

// events streams the events after a sequence, one per line, as long as the client reads, and the
// words being said as they change. Those are not stored: a slow client gets the newest of each
// voice. An empty line is a sign of life.
func (s *Server) events(w http.ResponseWriter, r *http.Request, who guest) error {
	after, err := sequence(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	out, limit := &stream{w: w, control: http.NewResponseController(w)}, batch
	var said interims
	var is turn
	defer func() { is.end() }()
	for {
		g, grown, err := s.read(r.Context(), who, after, limit)
		if err != nil && !out.begun {
			return err
		}
		if err != nil || out.write(g.text) != nil {
			return nil // the client asks again from where it stopped
		}
		if g.n > 0 {
			after = g.last
		}
		if g.more {
			is.end()
			limit = min(batch, 2*g.n) // of long events, no more are read than are likely to fit
			continue
		}
		words, changed := s.Journal.Interim(who.Audience)
		if err := out.write(said.lines(words)); err != nil {
			return nil
		}
		is.end()
		if is, err = out.rest(r.Context(), &s.turns, grown, changed, func() error { return s.stay(r.Context(), who) }); err != nil {
			return nil
		}
		limit = batch // everything that has come meanwhile
	}
}

// read returns some events after a sequence, if the reader may still see them; grown is closed
// when there is more. The right is checked after the events have been read, so that nothing is
// sent that happened after a token was revoked.
func (s *Server) read(ctx context.Context, who guest, after int64, limit int) (g *eventBatch, grown <-chan struct{}, err error) {
	if g, grown, err = s.tail.after(ctx, s.Journal, who.Audience, after, limit); err != nil {
		return nil, nil, err
	}
	if err := s.stay(ctx, who); err != nil {
		return nil, nil, shut(err)
	}
	return g, grown, nil
}

// sequence reads the parameter after.
func sequence(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("the parameter after must be a sequence: a number from 0")
	}
	return n, nil
}

// A stream writes lines to a client as fast as the client reads them.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// write sends lines, unless there are none and some were sent before. It blocks while the client
// does not read, but no longer than a live client may take.
func (s *stream) write(lines []byte) error {
	if len(lines) == 0 && s.begun {
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	if _, err := s.w.Write(lines); err != nil {
		return err
	}
	return s.control.Flush()
}

// begin prepares the response for a stream.
func (s *stream) begin() error {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "application/x-ndjson")
		s.w.Header().Set("Connection", "close") // nothing follows a stream
	}
	return s.control.SetWriteDeadline(time.Now().Add(wire.Idle))
}

// rest waits until the journal has grown, or something else has changed, and the stream's turn has
// come. It sends signs of life meanwhile. An error says that the stream has ended, or that the
// reader may not stay.
func (s *stream) rest(ctx context.Context, all *turns, grown, other <-chan struct{}, stay func() error) (turn, error) {
	ask := time.NewTicker(remote.Look)
	defer ask.Stop()
	for quiet := remote.Look; ; quiet += remote.Look {
		if is, ok := all.wait(ctx, grown, other, ask.C); ok {
			return is, nil
		}
		if err := errors.Join(ctx.Err(), stay()); err != nil {
			return turn{}, err
		}
		if quiet%heartbeat == 0 {
			if err := s.write([]byte("\n")); err != nil {
				return turn{}, err
			}
		}
	}
}

// attach serves the terminal protocol on the connection, as long as it lasts.
func (s *Server) attach(w http.ResponseWriter, r *http.Request, who guest) error {
	if r.Header.Get("Upgrade") != wire.Protocol {
		w.Header().Set("Upgrade", wire.Protocol)
		return &fault{http.StatusUpgradeRequired, &api.Refusal{
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
