package main

import (
	"context"
	"earshot"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"earshot/config"
	"earshot/internal/logfile"
	"earshot/internal/terminal"
	"earshot/server/attach"
	"earshot/server/client"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], std{os.Stdin, outputTo(os.Stdout), os.Stderr}))
}

// std is where a command reads and writes.
type std struct {
	in  *os.File
	out *output
	err *os.File
}

// The exit codes.
const (
	success    = 0
	failed     = 1 // something went wrong; standard error says what
	misused    = 2 // the command line or the configuration is wrong
	notRunning = 3 // the command needs a running earshot
	notFound   = 4 // nothing was found
	unsighted  = 5 // there is a camera, and nothing can be seen by it
	different  = 6 // a day that was performed again went otherwise
)

// A verdict is an error that has an exit code of its own.
type verdict struct {
	code int
	err  error // nil if all has been said
}

func (v *verdict) Error() string {
	if v.err == nil {
		return ""
	}
	return v.err.Error()
}

func (v *verdict) Unwrap() error { return v.err }

// run is the whole program, so that a test can be the whole program too.
func run(ctx context.Context, args []string, s std) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangups := hangUps(ctx, stop)
	context.AfterFunc(ctx, stop) // from here a second ^C kills, whatever is stuck

	var line commands
	left := -1 // kong ends by itself after --help
	parser, err := kong.New(&line, kong.Vars{"version": versionLine()},
		kong.Name("earshot"),
		kong.Description("An assistant that stays within earshot. Without a command: earshot run."),
		kong.Writers(s.out, s.err), kong.Exit(func(code int) { left = code }),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(fmt.Sprintf("earshot: the table of commands is wrong: %v", err))
	}
	chosen, err := parser.Parse(args)
	if err == nil && left < 0 && line.Help.asked(chosen) {
		err = unknownIn(parser.Model.Node, line.Help.Command, nil)
		if err == nil {
			_, err = parser.Parse(append(line.Help.Command, "--help"))
		}
	} else if err != nil {
		err = unknownIn(parser.Model.Node, args, err)
	}
	switch {
	case left >= 0:
		err = nil
	case err != nil:
		err = &verdict{misused, err}
	default:
		if err = line.elsewhere.fits(chosen.Command()); err == nil {
			err = chosen.Run(&app{ctx: ctx, std: s, file: line.Config, elsewhere: line.elsewhere, hangups: hangups, model: parser.Model})
		}
	}
	return printError(terminal.FoldTo(s.err, s.err), s.out.over(err))
}

// printError says what went wrong, once, and returns the exit code.
func printError(w io.Writer, err error) int {
	var v *verdict
	var wrong *config.Error
	var place *logfile.PlaceError
	if err == nil {
		return success
	}
	text, cure := earshot.Explain(err)
	if errors.Is(err, attach.ErrLost) { // how a socket breaks helps nobody
		text = attach.ErrLost.Error() + "; to start it again: earshot run"
	}
	if text != "" {
		fmt.Fprintf(w, "earshot: %s\n", text)
	}
	if cure != "" {
		fmt.Fprintf(w, "  → %s\n", cure)
	}
	switch {
	case errors.As(err, &v):
		return v.code
	case errors.As(err, &wrong), errors.As(err, &place):
		return misused
	case errors.Is(err, client.ErrNotRunning):
		return notRunning
	}
	return failed
}
