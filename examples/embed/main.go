// Command embed has an assistant within a program of one's own, with a sense and an outlet that
// earshot does not have: it answers each line that is added to a file, and prints what it says.
//
//	touch talk.txt && go run ./examples/embed talk.txt
//	echo 'what time is it?' >> talk.txt
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"earshot/config"
	"earshot/daemon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "embed: say which file to follow, as in: embed talk.txt")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

// run answers what is added to a file, in the configuration of this user, until ctx ends. Replies
// go to w.
func run(ctx context.Context, path string, w io.Writer) error {
	cfg, err := config.Load("")
	if err != nil {
		return err
	}
	d, err := daemon.Open(ctx, cfg, daemon.Options{})
	if err != nil {
		return err
	}
	defer d.AddOutlet(printer{w})()
	err = d.Run(ctx, nil, newGrowingFile(path, d.Account()))
	return errors.Join(err, d.Close())
}
