// Command earshot-bus is the helper that is a NATS server, for satellites and for other daemons: see
// [earshot/bus/natsserver], which says what it is told over the protocol of package helper. It has no C
// in it; it is a program of its own so that the daemon has no server in itself.
//
// What happens when a reader is slow: a client that does not take what is sent to it is disconnected
// when too much waits for it, or after some seconds. A satellite that sends, connects or subscribes more than one
// could need is kept out for a minute: see [server.guard].
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"earshot/bus/natsserver"
	"earshot/internal/helper"
)

func main() { os.Exit(run(context.Background(), os.Args[1:])) }

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string) int {
	if len(args) > 0 {
		fmt.Fprintf(os.Stderr, "%s: it takes no arguments; earshot starts it\n", helper.BusProgram)
		return 2
	}
	work := func(ctx context.Context, h *helper.Server) error { return serve(ctx, h, os.Stderr) }
	if err := helper.Serve(ctx, helper.BusProgram, helper.Stdio(os.Stdin, os.Stdout), work); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", helper.BusProgram, err)
		return 1
	}
	return 0
}

// serve runs a server as it is told. The server's log goes to log.
func serve(ctx context.Context, h *helper.Server, log io.Writer) error {
	var s *server
	defer func() { s.stop() }()
	var g errgroup.Group
	g.Go(func() error {
		return h.Sounds(func(helper.Sound) error { return fmt.Errorf("%w: sound", helper.ErrProtocol) })
	})
	g.Go(func() error {
		return h.Controls(func(c helper.Control) (err error) {
			switch {
			case c.Name == natsserver.SayStart && s == nil:
				var start natsserver.Start
				if err := c.Decode(&start); err != nil {
					return err
				}
				if s, err = startServer(start, log); err != nil {
					return errors.Join(h.Send(natsserver.SayFault, helper.NewFault(err)), err)
				}
				return h.Send(natsserver.SayStarted, s.started())
			case c.Name == natsserver.SayUsers && s != nil:
				var users []natsserver.User
				if err := c.Decode(&users); err != nil {
					return err
				}
				return s.setUsers(users)
			}
			return fmt.Errorf("%w: %q", helper.ErrProtocol, c.Name)
		})
	})
	return g.Wait()
}
