package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"earshot"
	"earshot/config"
	"earshot/daemon"
	"earshot/internal/sceneplayer"
	"earshot/internal/terminal"
	"earshot/internal/transcript"
	"earshot/participants"
)

//go:embed demo.txtar
var demoScene []byte

type demoCommand struct {
	Speed float64 `default:"1" help:"Speed: how many seconds of the scene pass in one second."`
}

// Run performs the demonstration.
func (d demoCommand) Run(a *app) error {
	told := a.told()
	fmt.Fprintln(told, "A conversation with a scripted model, in a temporary journal that is deleted afterwards.")
	fmt.Fprintln(told, "The script types what Ann types. ^C stops it.")
	fmt.Fprintln(told)
	events, err := sceneplayer.Play(a.ctx, openDaemon, demoScene, d.Speed, a.watchScreen)
	if err != nil {
		return err
	}
	fmt.Fprintln(told, "\nThe journal says what was heard, who cut in, and what was left unsaid:")
	fmt.Fprintln(told)
	for _, e := range transcript.InOrder(events) {
		transcript.Print(a.printed(), e, called)
	}
	fmt.Fprintln(told, "\nTo talk to it yourself: earshot run")
	return nil
}

// called is what the demonstration calls the two who talk.
func called(id earshot.ParticipantID) string {
	if id == participants.Owner {
		return "Ann"
	}
	return "Earshot"
}

// watchScreen opens the terminal of this command.
func (a *app) watchScreen() (*terminal.Terminal, func() error, error) { return a.terminal(a.in, a.out) }

type replayCommand struct {
	Scene string  `arg:"" optional:"" type:"existingfile" help:"A scene, such as those in testdata/scenes, or a sound file, which is heard as if it were spoken here."`
	Speed float64 `default:"1" help:"Speed: how many seconds of the scene pass in one second."`
	JSON  bool    `help:"Print the resulting events as JSON, one per line; for a day, the comparison."`
	past
}

// Run performs a recorded scene, or a day.
func (r replayCommand) Run(a *app) error {
	switch {
	case r.Day != "" && r.Scene != "" || r.Day == "" && (r.Scene == "" || r.Room != "" || r.Journal != ""):
		return &verdict{misused, errors.New("say what to replay: a scene, a sound file, or a day from the journal, as in: earshot replay --day yesterday")}
	case r.Day != "":
		return r.again(a, r.JSON)
	}
	if !strings.EqualFold(filepath.Ext(r.Scene), ".txtar") {
		return r.listen(a)
	}
	about, err := os.Stat(r.Scene)
	if err != nil {
		return err
	}
	if about.Size() > largestScene {
		return fmt.Errorf("%s has %d bytes; a scene can have at most %d", r.Scene, about.Size(), largestScene)
	}
	archive, err := os.ReadFile(r.Scene)
	if err != nil {
		return err
	}
	screen := a.watchScreen
	if r.JSON {
		screen = nil
	}
	events, err := sceneplayer.Play(a.ctx, openDaemon, archive, r.Speed, screen)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Scene, err)
	}
	return r.print(a, events)
}

// print prints what came of it, for programs.
func (r replayCommand) print(a *app, events []earshot.Event) error {
	if !r.JSON {
		return nil
	}
	return lines(a.out, events)
}

// largestScene is a day of talking, and little enough to read at once.
const largestScene = 4 << 20

// openDaemon opens the daemon in which a scene is performed.
func openDaemon(ctx context.Context, cfg *config.Config, who earshot.Handle) (sceneplayer.Daemon, error) {
	d, err := daemon.Open(ctx, cfg, daemon.Options{Account: who, Name: who.ID})
	if err != nil {
		return nil, err // and not a daemon that is nil
	}
	return d, nil
}
