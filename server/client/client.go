// Package client talks to a running daemon: over its socket, or over a port of this machine with a
// token. Every command that needs the daemon is a [Client], and other programs in Go can be one
// too; programs in other languages find the routes in docs/openapi.json.
package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/api"
	"earshot/internal/field"
	"earshot/participants/agents"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/wire"
)

// ErrNotRunning says that nobody answers at the socket.
var ErrNotRunning = errors.New("earshot is not running; start it with: earshot run")

// A Failure says that the daemon could not do what it was asked: it is stopping, something is
// full, or there is too much to do. The refusal says why.
type Failure struct{ *wire.Refusal }

// Unwrap returns the refusal.
func (f *Failure) Unwrap() error { return f.Refusal }

// Refused returns the refusal if err says that the daemon refused and would do so again. After any
// other error, such as a [Failure], the same request may work later, without a change of the
// request or of the caller.
func Refused(err error) (*wire.Refusal, bool) {
	if _, failed := errors.AsType[*Failure](err); failed || errors.Is(err, ErrNotRunning) {
		return nil, false
	}
	return errors.AsType[*wire.Refusal](err)
}

// MoveTries is how often something is tried while a room moves, some second apart: longer than a lease
// lasts whose owner is gone.
const MoveTries = 8

// Moving reports whether err says that a room is between two daemons.
func Moving(err error) bool {
	f, failed := errors.AsType[*Failure](err)
	return failed && f.Error() == wire.ErrMoved.Error()
}

// AwaitMove calls do, and again for some seconds while a room moves between daemons; waits is called before
// it first waits.
func AwaitMove(ctx context.Context, waits func(), do func() error) error {
	for tries := 1; ; tries++ {
		err := do()
		if !Moving(err) || tries == MoveTries {
			return err
		}
		if tries == 1 {
			waits()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// lineBytes is the longest event that a client reads.
const lineBytes = wire.MaxDown

// A Client talks to the daemon at Socket, or at URL. It may be used from many goroutines, and
// keeps no connection. A refusal is returned as a [*wire.Refusal], inside a [*Failure] if the
// daemon could not do it.
type Client struct {
	Socket string

	// URL is where the daemon listens, such as http://127.0.0.1:8765, to use it instead of the
	// socket, with Token. It must lead to this machine, as a port that ssh forwards does: nothing
	// on the way is encrypted.
	URL string

	// Dial, if set, connects with the daemon instead.
	Dial func(context.Context) (net.Conn, error)

	Identity string         // the claimed identity; empty is the person of the account
	Room     earshot.RoomID // empty is the desk
	Token    field.Secret   // proves Identity, where a name alone is not enough
	New      bool           // Identity may be a new name: something is about to be said
}

// Sign sets the headers that say who asks.
func (c *Client) Sign(req *http.Request) {
	for name, text := range map[string]string{wire.IdentityHeader: c.Identity, wire.RoomHeader: string(c.Room)} {
		if text != "" {
			req.Header.Set(name, url.PathEscape(text))
		}
	}
	if c.New {
		req.Header.Set(wire.NewHeader, "1")
	}
	if c.Token != "" {
		req.Header.Set(wire.TokenHeader, wire.Bearer+c.Token.Reveal())
	}
}

// Post posts a message, and returns its ID once it is kept. A caller may set the ID, a ULID; a
// message posted again after an error is then kept once. Without one, Post makes it. While the room
// moves between daemons, Post tries again for some seconds.
func (c *Client) Post(ctx context.Context, id earshot.EventID, text earshot.Text) (earshot.EventID, error) {
	if id == "" {
		id = earshot.EventID(ulid.Make().String())
	}
	var kept api.MessageReceipt
	err := AwaitMove(ctx, func() {}, func() (err error) {
		kept, err = post[api.MessageReceipt](ctx, c, "/v1/messages", api.MessageRequest{ID: id, Text: text})
		return err
	})
	return kept.ID, err
}

// State returns the state of the daemon.
func (c *Client) State(ctx context.Context) (api.Status, error) {
	return get[api.Status](ctx, c, "/v1/state")
}

// Context returns what is going on.
func (c *Client) Context(ctx context.Context) ([]api.SceneEntry, error) {
	return get[[]api.SceneEntry](ctx, c, "/v1/context")
}

// History returns the newest events before a sequence, or the newest of all if it is 0, in the
// order in which they happened: those of some kinds, or all if kinds is empty.
func (c *Client) History(ctx context.Context, kinds []earshot.Kind, before int64, limit int) (api.HistoryPage, error) {
	q := pageAt(before, limit)
	for _, kind := range kinds {
		q.Add("kind", string(kind))
	}
	return get[api.HistoryPage](ctx, c, "/v1/history?"+q.Encode())
}

// Search returns the newest events before a sequence, or of all if it is 0, that match a query,
// the newest first.
func (c *Client) Search(ctx context.Context, query string, before int64, limit int) (api.HistoryPage, error) {
	q := pageAt(before, limit)
	q.Set("q", query)
	return get[api.HistoryPage](ctx, c, "/v1/search?"+q.Encode())
}

// Decisions returns why agents spoke, or kept silent, before a sequence, or most recently if it is
// 0: the agent with a name, or all if the name is empty.
func (c *Client) Decisions(ctx context.Context, agent string, before int64, limit int) (api.DecisionPage, error) {
	q := pageAt(before, limit)
	if agent != "" {
		q.Set("agent", agent)
	}
	return get[api.DecisionPage](ctx, c, "/v1/decisions?"+q.Encode())
}

// pageAt returns the parameters of a page.
func pageAt(before int64, limit int) url.Values {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	return q
}

// Do gives a command, without its slash, and returns the answer.
func (c *Client) Do(ctx context.Context, name string, args earshot.Text) (string, error) {
	said, err := post[api.CommandAnswer](ctx, c, "/v1/commands", api.CommandRequest{Name: name, Args: args})
	return said.Answer, err
}

// Agents returns the current agents, and the former ones too if all is set.
func (c *Client) Agents(ctx context.Context, all bool) ([]api.AgentInfo, error) {
	path := "/v1/agents"
	if all {
		path += "?all=1"
	}
	return get[[]api.AgentInfo](ctx, c, path)
}

// Order makes, changes or ends an agent, and returns its new state.
func (c *Client) Order(ctx context.Context, o agents.Order) (api.AgentInfo, error) {
	return post[api.AgentInfo](ctx, c, "/v1/agents", o)
}

// Voices returns the known voices.
func (c *Client) Voices(ctx context.Context) ([]api.VoiceInfo, error) {
	return get[[]api.VoiceInfo](ctx, c, "/v1/voices")
}

// Tell sends a request about voices, and returns what changed.
func (c *Client) Tell(ctx context.Context, r api.VoiceRequest) (api.VoiceChange, error) {
	return post[api.VoiceChange](ctx, c, "/v1/voices", r)
}

// Look returns what a camera sees now.
func (c *Client) Look(ctx context.Context, r api.LookRequest) (api.CameraView, error) {
	return post[api.CameraView](ctx, c, "/v1/look", r)
}

// Forget says what would be forgotten or, given the digest of that, has it forgotten.
func (c *Client) Forget(ctx context.Context, r api.EraseRequest) (api.ErasePreview, error) {
	return post[api.ErasePreview](ctx, c, "/v1/forget", r)
}

// Reload has the daemon read its configuration again, and returns what changed.
func (c *Client) Reload(ctx context.Context) (api.ReloadResult, error) {
	return ask[api.ReloadResult](ctx, c, http.MethodPost, "/v1/reload", http.NoBody)
}

// Cluster returns how several daemons share the rooms.
func (c *Client) Cluster(ctx context.Context) (api.Cluster, error) {
	return get[api.Cluster](ctx, c, "/v1/cluster")
}

// Drain has one of several daemons give its rooms away, or no longer, and returns how it is then.
func (c *Client) Drain(ctx context.Context, r api.DrainRequest) (api.Cluster, error) {
	return post[api.Cluster](ctx, c, "/v1/cluster", r)
}

// Ready returns whether the daemon can do its work.
func (c *Client) Ready(ctx context.Context) (is api.Readiness, err error) {
	resp, err := c.request(ctx, "GET", "/readyz", nil)
	if err != nil {
		return is, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable {
		return is, refused(resp)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, lineBytes))
	if err != nil {
		return is, err
	}
	if !bytes.Contains(text, []byte(`"ready"`)) { // refused for another reason
		return is, errors.New("earshot answered " + resp.Status)
	}
	return is, json.Unmarshal(text, &is)
}

// Get requests a path, and returns the raw answer, which the caller closes: for the routes that
// serve other programs, such as /metrics.
func (c *Client) Get(ctx context.Context, path string) (*http.Response, error) {
	return c.request(ctx, "GET", path, nil)
}

// Diagnostics returns what a bug report needs.
func (c *Client) Diagnostics(ctx context.Context, e api.DiagnosisRequest) (api.Diagnosis, error) {
	path := "/v1/diagnostics"
	if e.Goroutines {
		path += "?goroutines=1"
	}
	return get[api.Diagnosis](ctx, c, path)
}

// Attach makes p and o an input and an outlet of the daemon, as [attach.Run] does, until p ends by
// itself. Names learns the names of the participants that are mentioned.
func (c *Client) Attach(ctx context.Context, p providers.Provider, o earshot.Outlet, names *attach.Names) error {
	conn, buffered, err := c.upgrade(ctx)
	if err != nil {
		return err
	}
	return attach.Run(ctx, wire.NewConn(conn, buffered, wire.MaxDown), p, o, names)
}

// upgrade opens a connection and switches it to the terminal protocol.
func (c *Client) upgrade(ctx context.Context) (net.Conn, *bufio.Reader, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	buffered := bufio.NewReader(conn)
	if err := c.handshake(conn, buffered); err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, buffered, nil
}

// handshake requests the terminal protocol.
func (c *Client) handshake(conn net.Conn, r *bufio.Reader) error {
	_ = conn.SetDeadline(time.Now().Add(wire.BodyTime))
	base, err := c.base()
	if err != nil {
		return err
	}
	req, err := http.NewRequest("POST", base.String()+wire.AttachPath, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", wire.Protocol)
	c.Sign(req)
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("attaching: %w", err)
	}
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return fmt.Errorf("attaching: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return refused(resp)
	}
	return conn.SetDeadline(time.Time{})
}

// get returns the decoded answer to a request without a body.
func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	return ask[T](ctx, c, "GET", path, nil)
}

// post posts a body and returns the decoded answer.
func post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return *new(T), err
	}
	return ask[T](ctx, c, "POST", path, bytes.NewReader(text))
}

// ask sends a request and returns the decoded answer.
func ask[T any](ctx context.Context, c *Client, method, path string, body io.Reader) (is T, err error) {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return is, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, lineBytes)).Decode(&is); err != nil {
		return is, fmt.Errorf("reading the answer of earshot: %w", err)
	}
	return is, nil
}

// send sends a request and returns the answer if its status is a success.
func (c *Client) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	resp, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, refused(resp)
	}
	return resp, nil
}

// request sends a request and returns the answer, whatever its status.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base.String()+path, body)
	if err != nil {
		return nil, err
	}
	c.Sign(req)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	transport := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) },
		DisableKeepAlives: true,
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, undressed(ctx, err)
	}
	return resp, nil
}

// undressed returns err without the HTTP details, which mean nothing to a user.
func undressed(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrNotRunning):
		return ErrNotRunning
	case errors.Is(err, errElsewhere):
		return errElsewhere
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("asking earshot: %w", err)
}

// refused reads the reason for a refusal.
func refused(resp *http.Response) error {
	r := new(wire.Refusal)
	err := json.NewDecoder(io.LimitReader(resp.Body, wire.MaxBody)).Decode(r)
	if err != nil || r.Problem == "" {
		return fmt.Errorf("earshot answered %s", resp.Status)
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= http.StatusInternalServerError {
		return &Failure{r}
	}
	return r
}

// base returns the beginning of each URL: its protocol and host.
func (c *Client) base() (*url.URL, error) {
	if c.URL == "" {
		return &url.URL{Scheme: "http", Host: "earshot"}, nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &wire.Refusal{Problem: "the address of an earshot must be only protocol, host and port", Mend: "write it like http://127.0.0.1:8765"}
	}
	return &url.URL{Scheme: "http", Host: u.Host}, nil
}

// dial connects to the daemon. It makes sure that the socket belongs to the user, since what is
// sent is not for others; only the superuser talks to anybody's.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	switch {
	case c.Dial != nil:
		return c.Dial(ctx)
	case c.URL != "":
		return c.dialPort(ctx)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", c.Socket)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to earshot: %w", err)
	}
	uid, err := wire.Peer(conn)
	if err != nil || uid != os.Getuid() && os.Getuid() != 0 {
		conn.Close()
		return nil, errors.Join(errors.New("the earshot at this socket belongs to another user"), err)
	}
	return conn, nil
}

// errElsewhere says that a token would be readable on the way.
var errElsewhere = &wire.Refusal{Problem: "this address is not on this machine, and the connection would not be encrypted", Mend: "forward the port: ssh -L 8765:127.0.0.1:8765 HOST, and use http://127.0.0.1:8765"}

// dialPort connects to a port of this machine, whatever address a name resolves to.
func (c *Client) dialPort(ctx context.Context) (net.Conn, error) {
	u, err := c.base()
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().Unmap().IsLoopback() {
			return errElsewhere
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
	switch {
	case errors.Is(err, errElsewhere):
		return nil, errElsewhere
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNotRunning
	case err != nil:
		return nil, fmt.Errorf("connecting to earshot: %w", err)
	}
	return conn, nil
}
