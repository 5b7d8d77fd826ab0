package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/config"
	"earshot/executive/room"
	"earshot/internal/terminal"
	outlet "earshot/outlets/console"
	"earshot/participants"
	sense "earshot/providers/console"
	"earshot/server"
	"earshot/server/attach"
)

type chatCommand struct{}

// Run attaches this terminal.
func (chatCommand) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	return a.attach(cfg)
}

// attach makes this terminal a sense and an outlet of the earshot that runs,
// until the person leaves.
func (a *app) attach(cfg *config.Config) error {
	c := &server.Client{Socket: cfg.Server.Path()}
	names, err := names(a.ctx, c)
	if err != nil {
		return err
	}
	t, err := terminal.Open(a.in, a.out, a.err)
	if err != nil {
		return err
	}
	defer t.Close()
	o := outlet.New(outlet.Config{Outlet: local, Name: names.Name}, t)
	return c.Attach(a.ctx, a.sense(t, identifiers()), o, names)
}

// sense is the console's on t.
func (a *app) sense(t *terminal.Terminal, newID func() earshot.EventID) *sense.Console {
	handle, _ := self()
	return sense.New(sense.Config{Handle: handle, Via: local, NewID: newID}, t)
}

// names asks the daemon what its participants are called.
func names(ctx context.Context, c *server.Client) (*attach.Names, error) {
	s, err := state(ctx, c)
	if err != nil {
		return nil, err
	}
	called := map[earshot.ParticipantID]string{participants.Agent: s.Agent}
	_, called[participants.Owner] = self()
	for _, p := range s.Here {
		called[p.ID] = p.Name
	}
	names := new(attach.Names)
	names.Learn(called)
	return names, nil
}

// state asks the daemon how everything is.
func state(ctx context.Context, c *server.Client) (s room.State, err error) {
	data, err := c.State(ctx)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("asking how everything is: %w", err)
	}
	return s, nil
}

type sayCommand struct {
	Text []string `arg:"" optional:"" help:"What to say; without it, every line of standard input is said."`
	JSON bool     `help:"Print what became of each reply as JSON, for programs."`
}

// Run says something, and prints the reply.
func (s sayCommand) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	c := &server.Client{Socket: cfg.Server.Path()}
	names, err := names(a.ctx, c)
	if err != nil {
		return err
	}
	in, typed, err := s.input(a)
	if err != nil {
		return err
	}
	defer in.Close()
	out := a.out
	if s.JSON {
		if out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return err
		}
		defer out.Close()
	}
	t, err := terminal.Open(in, out, a.err)
	if err != nil {
		return err
	}
	o := &recorder{Console: outlet.New(outlet.Config{Outlet: local, Name: names.Name}, t), newID: identifiers(), own: make(map[earshot.EventID]bool)}
	g, ctx := errgroup.WithContext(a.ctx)
	g.Go(typed)
	g.Go(func() error { return c.Attach(ctx, a.sense(t, o.id), o, names) })
	err = errors.Join(g.Wait(), t.Close())
	return errors.Join(err, s.verdict(a, c, o))
}

// verdict prints the replies for programs, and fails if one of them did.
func (s sayCommand) verdict(a *app, c *server.Client, o *recorder) error {
	code := success
	for _, e := range o.replies {
		if e.Body.(earshot.Reply).Outcome == earshot.Failed {
			code = failed
		}
		if s.JSON {
			if err := json.NewEncoder(a.out).Encode(e); err != nil {
				return err
			}
		}
	}
	if code != success {
		return errors.Join(faults(a.ctx, c, a.err), &verdict{code: code})
	}
	return nil
}

// faults prints what is wrong with the daemon. It was said when it began, to
// whoever was there, and that was perhaps not this terminal.
func faults(ctx context.Context, c *server.Client, w io.Writer) error {
	s, err := state(ctx, c)
	if err != nil {
		return err
	}
	for _, n := range s.Faults {
		fmt.Fprintf(w, "! %s\n", terminal.Safe(n.Text))
		if n.Cure != "" {
			fmt.Fprintf(w, "  → %s\n", terminal.Safe(n.Cure))
		}
	}
	return nil
}

// input is what is said, as a file that a terminal can be opened on, and what
// writes it there.
func (s sayCommand) input(a *app) (*os.File, func() error, error) {
	if len(s.Text) == 0 {
		return a.in, func() error { return nil }, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	// A line is one question, so what was said in several is said in one.
	line := strings.Join(strings.Fields(strings.Join(s.Text, " ")), " ") + "\n"
	return r, func() error {
		_, err := io.WriteString(w, line)
		if errors.Is(err, os.ErrClosed) {
			err = nil
		}
		return errors.Join(err, w.Close())
	}, nil
}

// recorder is a console that remembers what became of the replies to what was
// said here, and shows nothing of what others say meanwhile. Faults are said at
// the end; see [faults].
type recorder struct {
	*outlet.Console
	newID   func() earshot.EventID
	replies []earshot.Event

	mu  sync.Mutex
	own map[earshot.EventID]bool // what was said here
}

// errOthers is why a reply is not printed.
var errOthers = errors.New("this reply is for somebody else")

// id gives what is said here a name, by which the reply is known.
func (r *recorder) id() earshot.EventID {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.newID()
	r.own[id] = true
	return id
}

// here reports whether the event was said here.
func (r *recorder) here(id earshot.EventID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own[id]
}

// Open implements [earshot.Outlet].
func (r *recorder) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	if !r.here(o.About) {
		return nil, errOthers
	}
	return r.Console.Open(ctx, o, heard)
}

// Show implements [earshot.Board].
func (r *recorder) Show(e earshot.Event) {
	switch body := e.Body.(type) {
	case earshot.Message:
		if !r.here(e.ID) {
			return
		}
	case earshot.Utterance:
		return
	case earshot.Decision:
		if !r.here(body.About) {
			return
		}
	case earshot.Reply:
		if !r.here(body.About) {
			return
		}
		r.replies = append(r.replies, e)
	case earshot.Notice:
		if body.Key != "" && !body.Over {
			return
		}
	}
	r.Console.Show(e)
}
