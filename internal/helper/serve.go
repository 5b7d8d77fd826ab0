package helper

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// hello is the helper's first message.
type hello struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
}

// A Server is the helper's end of the connection.
type Server struct {
	*Conn
	guards sync.Map // of *guard
	over   atomic.Bool
}

type guard struct{ until time.Time }

// Guard says that what follows must be done within limit; the function that it
// returns says that it is. A call of C that does not come back so stops the
// beat, and the daemon kills the process, which is the only cure.
func (s *Server) Guard(limit time.Duration) (done func()) {
	g := &guard{time.Now().Add(limit)}
	s.guards.Store(g, nil)
	return func() { s.guards.Delete(g) }
}

// stuck reports whether something that was guarded takes too long.
func (s *Server) stuck(now time.Time) (stuck bool) {
	s.guards.Range(func(g, _ any) bool {
		stuck = stuck || now.After(g.(*guard).until)
		return !stuck
	})
	return stuck
}

// Stdio returns the helper's end of the pipes that [Start] made; in and out are
// the standard ones.
func Stdio(in, out *os.File) *Conn {
	return NewConn(os.NewFile(3, "control in"), os.NewFile(4, "control out"), in, out)
}

// Serve is a helper at work on its end c: it says hello as name, beats, and
// runs work, which calls Controls and Sounds in goroutines of its own. The
// context of work ends when ctx does; a helper ends when its input does, which
// is no error. Serve returns when work has.
func Serve(ctx context.Context, name string, c *Conn, work func(context.Context, *Server) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &Server{Conn: c}
	if err := s.Send("hello", hello{Version, name}); err != nil {
		return err
	}
	var beats sync.WaitGroup
	beats.Go(func() { s.beat(ctx) })
	err := work(ctx, s)
	stop()
	beats.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *Server) beat(ctx context.Context) {
	t := time.NewTicker(Beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if !s.stuck(now) && s.Send("beat", nil) != nil {
				return
			}
		}
	}
}
