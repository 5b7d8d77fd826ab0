// Package server is the daemon's API for other processes: HTTP over a unix socket, and over a port
// of this machine if it is configured. Clients can post a message, follow the events, ask for the
// state, or attach a terminal, which is an input and an outlet like the console; [Client] does
// each of these. [Describe] lists the routes; there are no others.
//
// At the socket, the kernel identifies the account: the user of the process that opened the
// connection. The daemon's own user is {"console", "uid<N>"}. The superuser is {"console",
// "uid0"}, and has no rights unless the configuration gives some. Every other user is refused
// before a word is read.
//
// People who share an account say who they are in the headers Earshot-Identity and Earshot-Room,
// and prove it where they must by a token in the header Authorization; see [Claim]. The daemon
// checks the claim for each request. A connection that a token let in ends within seconds when the
// token is revoked.
//
// At the port, no kernel identifies the client: any process of the machine can connect, and any
// web page can cause a connection. So only the token identifies, nothing is served without one,
// and whatever a browser sends on behalf of a foreign page is refused; see [Config] and
// docs/api.md.
//
// Every reader pulls: the event stream reads the journal no faster than its client takes it, and
// resumes where a client says it stopped. After much has happened, it sends a few events at a
// time, so that other clients are answered in between. Everything that a client can send has a
// limit: the number of connections and of requests, the header, the body, a frame, and the time
// for each.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/server/audit"
)

// The limits of a connection. The user has one daemon, a few terminals, and perhaps programs that
// follow the events; these limits stop a runaway script.
const (
	headerBytes = 16 << 10
	headerTime  = 5 * time.Second
	idleTime    = time.Minute
	grace       = 2 * time.Second // for requests that are running when the daemon stops
)

// A Server serves the API to other processes. It may serve several listeners at once.
type Server struct {
	Backend Backend
	Journal Journal
	Admin   Admin
	Metrics http.Handler // the metrics, for Prometheus
	Log     *slog.Logger // nil logs nothing

	// Dropped, if set, receives the number of events that a terminal was not shown since it was
	// slow. It returns at once, and may be called from many goroutines.
	Dropped func(n int)

	NewID func() earshot.EventID // makes the IDs of events and sessions; nil makes ULIDs

	// Audit receives each request that changes something or is refused. It is called from many
	// goroutines, and must return soon. It may be nil.
	Audit func(audit.Entry)

	// Relay passes on requests for rooms that other daemons have. It is nil if there are none.
	Relay *Relay

	// Daemons, if set, returns how many daemons the same clients may ask. Each lets through its part of the
	// requests that the port allows. It returns at once, and may be called from many goroutines.
	Daemons func() int

	tail      tail         // shared by everybody who follows the events
	turns     turns        // the order in which they are sent
	terminals atomic.Int64 // attached so far
}

// Serve answers at l, which [Listen] returned, until ctx ends. It closes l, and returns when every
// connection has ended and nothing runs any more. The end of ctx is not an error.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, socketRules())
}

// ServeTerminals lets terminals attach at l, and answers nothing else: only account may connect there.
func (s *Server) ServeTerminals(ctx context.Context, l net.Listener, account earshot.Handle) error {
	by := socketRules()
	by.account = account
	return s.serve(ctx, l, by)
}

// ServeLoopback is Serve for what [ListenLoopback] returned, by the rules of c.
func (s *Server) ServeLoopback(ctx context.Context, l net.Listener, c Config) error {
	by := loopbackRules(c)
	by.rates.parts = s.Daemons
	return s.serve(ctx, l, by)
}

// serve answers at l by some rules.
func (s *Server) serve(ctx context.Context, l net.Listener, by *rules) error {
	g, gctx := errgroup.WithContext(ctx)
	at := &opening{Server: s, rules: by}
	srv := &http.Server{
		Handler:           at,
		ReadHeaderTimeout: headerTime,

		DisableGeneralOptionsHandler: true, // only our handlers answer
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               headerBytes,
		ErrorLog:                     slog.NewLogLogger(s.log().Handler(), slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return gctx },
		ConnContext:                  at.meet,
		ConnState:                    at.count,
	}
	g.Go(func() error { return srv.Serve(newDoor(l, by)) })
	g.Go(func() error {
		<-gctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(gctx), grace)
		defer cancel()
		_ = srv.Shutdown(last)
		return srv.Close()
	})
	err := g.Wait()
	at.conns.Wait()
	s.Relay.close(s.log())
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

func (s *Server) newID() earshot.EventID {
	if s.NewID == nil {
		return earshot.EventID(ulid.Make().String())
	}
	return s.NewID()
}

// visitorKey is the key of the visitor in the context of a connection. The standard library has no
// other way from a connection to its requests.
type visitorKey struct{}

// meet passes the visitor of a connection to its requests.
func (o *opening) meet(ctx context.Context, c net.Conn) context.Context {
	if v, ok := c.(*visitor); ok {
		v.gone = o.conns.Done
	}
	return context.WithValue(ctx, visitorKey{}, c)
}

// visitorOf returns the visitor that sent r, or nil if the connection was not identified.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey{}).(*visitor)
	return v
}
