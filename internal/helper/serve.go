package helper

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// linger is how long a helper process may exist after the daemon is gone, or after its own work is
// done: a second, with the beat before it. A C call that hangs, or a library that does not close,
// does not extend it.
var linger = 500 * time.Millisecond

// hello is the helper's first message.
type hello struct {
	Version int    `json:"version"`
	Name    string `json:"name"` // for people who look into the pipe; the daemon does not use it
}

// A Server is the helper's end of the connection.
type Server struct {
	*Conn

	mu     sync.Mutex
	guards []*guard // as many as were ever needed at once
}

// A guard is one deadline; it has none when it is not in use.
type guard struct {
	until time.Time
	done  func()
}

// Controls is like that of [Conn]. When it returns, for whatever reason, Sounds does too, so that
// a helper that hears only half does not appear healthy.
func (s *Server) Controls(take func(Control) error) error {
	defer s.hangUp()
	return s.Conn.Controls(take)
}

// Sounds is like Controls, for sound.
func (s *Server) Sounds(take func(Sound) error) error {
	defer s.hangUp()
	return s.Conn.Sounds(take)
}

// Guard says that what follows must be done within limit; the function it returns says that it is
// done, and must be called once. If a C call does not return in time, the helper reports that
// instead of beating, and the daemon kills the process, which is the only cure.
func (s *Server) Guard(limit time.Duration) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.idle()
	g.until = time.Now().Add(limit)
	return g.done
}

// idle returns a guard that is not in use. Guards are reused, since there is one around every 20
// ms of sound.
func (s *Server) idle() *guard {
	for _, g := range s.guards {
		if g.until.IsZero() {
			return g
		}
	}
	g := new(guard)
	g.done = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		g.until = time.Time{}
	}
	s.guards = append(s.guards, g)
	return g
}

// stuck reports whether a guarded call takes too long.
func (s *Server) stuck(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guards {
		if !g.until.IsZero() && now.After(g.until) {
			return true
		}
	}
	return false
}

// Serve runs a helper on its end c: it says hello as name, beats, and runs work, which calls
// Controls and Sounds in goroutines of its own. When ctx ends, or the daemon is gone, the context
// of work ends and its readers are closed; a helper ends when its input does, which is not an
// error. Serve returns when work has. With a c of [Stdio] the process then has half a second left;
// so it has if the daemon is gone and work does not return.
func Serve(ctx context.Context, name string, c *Conn, work func(context.Context, *Server) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer c.leave()
	s := &Server{Conn: c}
	if err := s.Send("hello", hello{Version, name}); err != nil {
		return err
	}
	var beats sync.WaitGroup
	beats.Go(func() {
		s.beat(ctx)
		stop()
		c.hangUp()
	})
	err := work(ctx, s)
	stop()
	beats.Wait()
	if c.exit != nil && s.Send("beat", nil) != nil {
		c.exit(1) // the daemon is gone, and cannot end the processes that this one has started
	}
	if errors.Is(err, io.EOF) || errors.Is(err, ErrGone) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// beat sends beats until ctx ends or nobody reads them.
func (s *Server) beat(ctx context.Context) {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			sign := "beat"
			if s.stuck(now) {
				sign = "stuck"
			}
			if s.Send(sign, nil) != nil {
				s.leave()
				return
			}
		}
	}
}

// leave ends the process soon, if it has not ended by then.
func (c *Conn) leave() {
	if c.exit != nil {
		time.AfterFunc(linger, func() { c.exit(1) })
	}
}
