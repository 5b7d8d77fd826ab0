// Package server is the door of the daemon for other processes of its user:
// HTTP over a unix socket. Somebody may post a message, follow the events, ask
// for the state, or attach a terminal, which is a sense and an outlet like the
// console; [Client] does each of these.
//
// Whose account it is, the kernel says: the user of the process that opened the
// connection. The daemon's own user is {"console", "uid<N>"}, the superuser is
// {"console", "uid0"} and nobody to the house unless it says otherwise, and
// everybody else is refused before a word is heard.
//
// Who of those that share an account somebody is, they say themselves, in the
// headers Earshot-Identity and Earshot-Room, and prove where they must, by a
// token in the header Authorization; see [Claim]. The house judges it for each
// request. What was let in by a token ends within seconds when the token is
// revoked.
//
// Every reader pulls: the event stream reads the journal no faster than its
// client takes it, and begins again where a client says it stopped. Everything
// that a client can send has a limit: the number of connections, the header,
// the body, a frame, and the time for each.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/server/remote"
)

// The limits of a connection. The user has one daemon and a few terminals;
// these stop a script that ran away.
const (
	connections = 64
	headerBytes = 16 << 10
	headerTime  = 5 * time.Second
	bodyTime    = 10 * time.Second
	idleTime    = time.Minute
	grace       = 2 * time.Second // for requests that are running when the daemon stops
)

// A Journal is what has happened. Its methods may be called from many
// goroutines.
type Journal interface {
	// Events returns up to limit events after a sequence that everybody in a
	// may see, the oldest first.
	Events(ctx context.Context, a earshot.Audience, after int64, limit int) ([]earshot.Event, error)

	// Grown returns a channel that is closed when there is more than now.
	Grown() <-chan struct{}
}

// A House is the daemon as the server knows it. Its methods may be called from
// many goroutines. The text of every error is shown to whoever asked.
type House interface {
	remote.House
	Journal
	Archive
	Office
	Choir
	Watch
	Window
	Infirmary
	Counter
	Keeper

	// Identify returns who somebody is whom the kernel knows by account, when
	// they claim c. An error refuses them everything; [participants.ErrToken]
	// asks for a token. It is asked for each request, and while one that
	// came in by a token lasts, so that a token that was revoked holds no more.
	Identify(ctx context.Context, account earshot.Handle, c Claim) (Principal, error)

	// State returns how everything is for somebody, as a value for
	// encoding/json.
	State(ctx context.Context, p Principal) (any, error)
}

// A Server lets other processes in. It serves once.
type Server struct {
	House House
	Log   *slog.Logger           // nil logs nothing
	NewID func() earshot.EventID // makes the IDs of events and sessions; nil makes ULIDs

	terminals atomic.Int64   // attached so far
	conns     sync.WaitGroup // open connections
}

// Serve answers at l, which [Listen] returns, until ctx ends. It closes l, and
// returns when every connection has ended and nothing runs any more. That ctx
// ended is not an error.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	g, gctx := errgroup.WithContext(ctx)
	srv := &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(s.log().Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return gctx },
		ConnContext:       withVisitor,
		ConnState:         s.count,
	}
	g.Go(func() error { return srv.Serve(&door{l, make(chan struct{}, connections)}) })
	g.Go(func() error {
		<-gctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(gctx), grace)
		defer cancel()
		_ = srv.Shutdown(last)
		return srv.Close()
	})
	err := g.Wait()
	s.conns.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// count counts the connections. One that was hijacked counts until its handler
// returns; see attach.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed:
		s.conns.Done()
	}
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

// visitorKey is where the context of a connection holds its visitor. The
// standard library has no other way from a connection to its requests.
type visitorKey struct{}

func withVisitor(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, c)
}

// visitorOf returns whose request r is, or nil if nobody looked.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey{}).(*visitor)
	return v
}
