package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/server/wire"
)

// A site says which of several daemons answers requests for a route. The zero value is none, so that
// a route without a site is noticed.
type site int

const (
	nowhere   site = iota
	anyDaemon      // the one that is asked: what it answers is of itself, or follows the journal
	ofRoom         // the one that has the room of the principal
	ofDesk         // the one that has the desk, where the devices are, and which does what is done once for all
)

// A Location says where a room is.
type Location struct {
	Owner string          // the ID of the daemon that has it; empty for this one
	Left  <-chan struct{} // closed when the room is here no more; nil if it stays
}

// A Relay passes requests on to other daemons, of which each has some of the rooms.
type Relay struct {
	// Locate says where a room is. The error is [wire.ErrMoved] while nobody has it.
	Locate func(earshot.RoomID) (Location, error)

	// Dial connects with a daemon, where [Server.ServeRelayed] answers.
	Dial func(ctx context.Context, owner string) (net.Conn, error)

	once      sync.Once
	proxy     *httputil.ReverseProxy
	transport *http.Transport // has connections for each owner, until they end or nobody needs them
}

const (
	// idleRelays and idleRelayTime bound the connections with an owner that wait for another request,
	// which end before those of clients do there.
	idleRelays    = 4
	idleRelayTime = idleTime / 2
)

// ServeRelayed answers requests that other daemons pass on: at l nobody else may connect.
func (s *Server) ServeRelayed(ctx context.Context, l net.Listener) error {
	by := socketRules()
	by.relayed = true
	return s.serve(ctx, l, by)
}

// open makes the proxy.
func (c *Relay) open(log *slog.Logger) {
	c.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			owner, _, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			conn, err := c.Dial(ctx, owner)
			if err != nil {
				err = &unsentError{err}
			}
			return conn, err
		},
		MaxIdleConnsPerHost: idleRelays,
		IdleConnTimeout:     idleRelayTime,
		DisableCompression:  true,
	}
	c.proxy = &httputil.ReverseProxy{
		Transport:     c.transport,
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.Host = "earshot"
			for _, name := range []string{"Origin", "Sec-Fetch-Site", "Expect"} { // which mattered here
				p.Out.Header.Del(name)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			log.Debug("another daemon does not answer", slog.Any("err", err))
			if w, ok := w.(*relayedWriter); ok {
				_, unsent := errors.AsType[*unsentError](err)
				w.failed, w.sent = true, !unsent
			}
		},
	}
}

// close closes the connections that wait.
func (c *Relay) close(log *slog.Logger) {
	if c != nil {
		c.once.Do(func() { c.open(log) }) // requests at other listeners may be at it
		c.transport.CloseIdleConnections()
	}
}

// A relayedWriter is the response writer of a request that is passed on.
type relayedWriter struct {
	*auditedWriter
	failed bool // the owner gave no answer
	sent   bool // but may have the request
}

// An unsentError is the error of a request that nobody got.
type unsentError struct{ error }

// interrupted returns the error of a request that may have been done, or a part of it: what changes nothing
// by being done again can be asked again.
func (r route) interrupted() error {
	switch r.path {
	case "/v1/commands", "/v1/agents", "/v1/voices":
		if r.method == http.MethodPost {
			return &fault{http.StatusBadGateway, wire.ErrUnsure}
		}
	}
	return wire.ErrMoved
}

// WriteHeader implements [http.ResponseWriter].
func (w *relayedWriter) WriteHeader(status int) {
	for _, name := range []string{"Cache-Control", "X-Content-Type-Options"} { // which both have set
		w.Header().Set(name, w.Header().Get(name))
	}
	w.auditedWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter]. What comes may be a stream that lasts for days.
func (w *relayedWriter) Write(p []byte) (int, error) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(wire.Idle))
	return w.auditedWriter.Write(p)
}

// locate passes a request on if another daemon has its room, and returns true then. Otherwise it returns
// the request as it is to be served here, which ends when the room goes; end must be called after it.
func (o *opening) locate(to route, w *auditedWriter, r *http.Request, who guest) (here *http.Request, end func(), passed bool, err error) {
	if o.Relay == nil || to.site == anyDaemon {
		return r, func() {}, false, nil
	}
	room := who.Audience.Room
	if to.site == ofDesk {
		room = earshot.Desk
	}
	at, err := o.Relay.Locate(room)
	switch {
	case err != nil:
		return nil, nil, false, err
	case at.Owner == "":
		ctx, end := whileHere(r.Context(), at.Left)
		return r.WithContext(ctx), end, false, nil
	case o.rules.relayed: // it is not passed on twice
		return nil, nil, false, wire.ErrMoved
	}
	w.to = route{} // the owner records what is done
	if err = o.relay(to, w, r, who, at.Owner); err != nil {
		w.to = to
	}
	return nil, nil, true, err
}

// whileHere returns a context that ends when left is closed, with the cause [wire.ErrMoved].
func whileHere(ctx context.Context, left <-chan struct{}) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-left:
			cancel(wire.ErrMoved)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}

// relay passes a request on.
func (o *opening) relay(route route, w *auditedWriter, r *http.Request, who guest, owner string) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(wire.BodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(unwatched(w), r.Body, wire.MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return &fault{http.StatusRequestEntityTooLarge, errors.New("the body is too long")}
	} else if err != nil {
		return bad("the body did not come")
	}
	o.Relay.once.Do(func() { o.Relay.open(o.log()) })
	on := r.Clone(r.Context())
	on.URL.Scheme, on.URL.Host = "http", owner
	on.Body, on.ContentLength, on.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	if len(body) == 0 {
		on.Body = http.NoBody
	}
	on.Header.Set(wire.PrincipalHeader, assertionOf(who, visitorOf(r)).encode())
	to := &relayedWriter{auditedWriter: w}
	o.Relay.proxy.ServeHTTP(to, on)
	if w.status == http.StatusSwitchingProtocols {
		visitorOf(r).gone() // the connection was hijacked; see count
	}
	var message api.MessageRequest
	switch {
	case to.failed && to.sent && route.path == messagesPath && json.Unmarshal(body, &message) == nil && message.ID == "":
		return &fault{http.StatusBadGateway, wire.ErrUnsure} // with an ID, it is kept once
	case to.failed && to.sent:
		return route.interrupted()
	case to.failed:
		return wire.ErrMoved
	}
	return nil
}

// An assertion is what a daemon that passes a request on says of its author: what it knows besides what
// the author claims, which the owner judges by itself.
type assertion struct {
	ID      earshot.ParticipantID `json:"id"`
	Account earshot.Handle        `json:"account"`
	Own     bool                  `json:"own"`            // the account is that of the daemon
	From    string                `json:"from"`           // for the audit log
	Addr    netip.Addr            `json:"addr,omitzero"`  // only the token vouches for them
	Guest   bool                  `json:"guest,omitzero"` // who has another ID at each daemon
}

// assertionOf returns the assertion for a guest.
func assertionOf(who guest, v *visitor) assertion {
	own, _ := handleOf(os.Getuid(), os.Getuid())
	return assertion{ID: who.ID, Account: v.handle, Own: v.handle == own, From: v.from, Addr: v.addr, Guest: who.Guest()}
}

// encode returns the value of a header.
func (e assertion) encode() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic("server: assertion cannot be encoded: " + err.Error())
	}
	return url.PathEscape(string(text))
}

// parseAssertion reads the header of a request that was passed on.
func parseAssertion(h http.Header) (e assertion, err error) {
	value, _, err := one(h, wire.PrincipalHeader)
	if err != nil {
		return e, err
	}
	text, err := url.PathUnescape(value)
	if err != nil || len(text) > 4*claimBytes || json.Unmarshal([]byte(text), &e) != nil || e.ID == "" || e.Addr.IsValid() == (e.Account.ID != "") {
		return e, bad("the header %s says nobody", wire.PrincipalHeader)
	}
	return e, nil
}

// arrive returns a request with its visitor. At a listener for requests that are passed on, that is the
// one of the daemon that passes them on; elsewhere, nobody may say so.
func (o *opening) arrive(r *http.Request) (*http.Request, assertion, error) {
	v := visitorOf(r)
	if !o.rules.relayed || v == nil {
		r.Header.Del(wire.PrincipalHeader)
		return r, assertion{}, nil
	}
	e, err := parseAssertion(r.Header)
	if err != nil {
		return r, e, err
	}
	if e.Own {
		e.Account, _ = handleOf(os.Getuid(), os.Getuid())
	}
	there := &visitor{Conn: v.Conn, handle: e.Account, known: !e.Addr.IsValid(), from: e.From, addr: e.Addr, met: func() {}, gone: v.gone}
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, net.Conn(there))), e, nil
}

// agree reports whether this daemon takes the author of a request for the one that the other daemon took
// them for. Otherwise one of the two has not heard yet what the other has.
func (e assertion) agree(who guest) error {
	if e.ID != "" && e.ID != who.ID && !(e.Guest && who.Guest()) {
		return wire.ErrMoved
	}
	return nil
}
