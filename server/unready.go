package server

import (
	"context"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/api"
	"earshot/server/socket"
	"earshot/server/wire"
)

// ServeUnready answers at l while the daemon cannot yet: that the process is alive, that it is not
// ready, and to every other request why not, as something that may work later. When ctx ends it
// returns, and l is unchanged. It calls why from many goroutines.
func ServeUnready(ctx context.Context, l *socket.Listener, why func() api.Obstacle) error {
	all := http.NewServeMux()
	all.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) { _ = (*Server)(nil).alive(w, r, guest{}) })
	all.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusServiceUnavailable, api.Readiness{Obstacles: []api.Obstacle{why()}})
	})
	all.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		is := why()
		answer(w, http.StatusServiceUnavailable, wire.Refusal{Problem: is.Text, Mend: is.Cure})
	})
	srv := &http.Server{Handler: all, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes, DisableGeneralOptionsHandler: true}
	srv.SetKeepAlivesEnabled(false) // a client that asks again should reach the daemon
	var g errgroup.Group
	g.Go(func() error {
		if err := srv.Serve(newDoor(borrowed{l.UnixListener}, socketRules())); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	_ = srv.Shutdown(last)
	_ = srv.Close()
	err := g.Wait()
	if again := l.SetDeadline(time.Time{}); err == nil {
		err = again
	}
	return err
}

// borrowed is a socket that is given back, not closed. It accepts whom the daemon would.
type borrowed struct{ *net.UnixListener }

// Accept returns the next visitor who may come in.
func (b borrowed) Accept() (net.Conn, error) {
	for {
		c, err := b.UnixListener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := wire.Peer(c)
		if _, known := handleOf(uid, os.Getuid()); err == nil && known {
			return c, nil
		}
		c.Close()
	}
}

// Close ends waiting for visitors.
func (b borrowed) Close() error { return b.SetDeadline(time.Unix(1, 0)) }
