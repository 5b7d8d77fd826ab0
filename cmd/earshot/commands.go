package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adrg/xdg"
	"github.com/alecthomas/kong"
	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/config"
	"earshot/internal/terminal"
)

// commands is the command line: the one place that knows every command.
type commands struct {
	Config string `help:"Configuration file, instead of those in the usual places." placeholder:"FILE" type:"path"`
	elsewhere
	ShowVersion kong.VersionFlag `name:"version" help:"Say which version this is."`

	Run      runCommand      `cmd:"" default:"withargs" help:"Run earshot here, or attach to the one that runs."`
	Chat     chatCommand     `cmd:"" help:"Attach this terminal to the earshot that runs."`
	Say      sayCommand      `cmd:"" help:"Say one thing to the earshot that runs, and print what comes to it."`
	Mute     muteCommand     `cmd:"" help:"Have the earshot that runs take in no sound."`
	Unmute   unmuteCommand   `cmd:"" help:"Have it take in sound again."`
	Pause    pauseCommand    `cmd:"" help:"Have it neither hear, see nor answer; what is written is kept."`
	Resume   resumeCommand   `cmd:"" help:"Have it hear, see, answer and keep again."`
	Stop     stopCommand     `cmd:"" help:"Have it stop talking. What it does besides goes on; to end it: earshot service stop."`
	Listen   listenCommand   `cmd:"" help:"Talk to the earshot that runs for as long as this runs, as a key that is held; also while it is muted."`
	Who      whoCommand      `cmd:"" help:"Say who is there."`
	History  historyCommand  `cmd:"" help:"Show what was said of late, and how much of it was heard."`
	Search   searchCommand   `cmd:"" help:"Search everything that was said."`
	Why      whyCommand      `cmd:"" help:"Say why agents spoke, or kept silent, of late."`
	Context  contextCommand  `cmd:"" help:"Show what is going on, as a prompt would say it."`
	Think    thinkCommand    `cmd:"" help:"Show what is thought beside the conversation, stop it, or ask for it."`
	Demo     demoCommand     `cmd:"" help:"See in half a minute what this is; needs no model."`
	Replay   replayCommand   `cmd:"" help:"Perform a recorded scene, or a day that is on record, and compare."`
	See      seeCommand      `cmd:"" help:"Look once through a camera, and say what is seen."`
	Monitor  monitorCommand  `cmd:"" help:"Watch what is heard, said and thought, and why; take part."`
	Status   statusCommand   `cmd:"" help:"Say how it stands: what runs, what does not, and whether a camera is open."`
	Today    todayCommand    `cmd:"" help:"Say what answering and thinking have cost, a line a day."`
	Devices  devicesCommand  `cmd:"" help:"List the microphones, loudspeakers and cameras that there are."`
	Audit    auditCommand    `cmd:"" help:"Show who has changed something, or was refused."`
	Doctor   doctorCommand   `cmd:"" help:"Look at everything that earshot needs, and say what mends it."`
	Reload   reloadCommand   `cmd:"" help:"Have the earshot that runs read its configuration again."`
	Check    checkCommand    `cmd:"" help:"Check the configuration."`
	Models   modelsCommand   `cmd:"" help:"See the models that there are; choose and download them."`
	Agents   agentsCommand   `cmd:"" help:"See, make, change and end the agents."`
	Speakers speakersCommand `cmd:"" help:"See whose voices are known; name, keep and forget them."`
	Forget   forgetCommand   `cmd:"" help:"Forget somebody, a time, or single things, with all that came of them."`
	Token    tokenCommand    `cmd:"" help:"Give and take the tokens by which people prove who they are."`
	Export   exportCommand   `cmd:"" help:"Copy what was said into a file, to read or to import elsewhere."`
	Import   importCommand   `cmd:"" help:"Add what an export has to what is kept here."`
	Backup   backupCommand   `cmd:"" help:"Copy everything that is kept into one file, also while earshot runs."`
	Restore  restoreCommand  `cmd:"" help:"Put a backup in the place of what is kept."`
	Store    storeCommand    `cmd:"" help:"Look after what is kept."`
	Service  serviceCommand  `cmd:"" help:"Have earshot start with your session, and look after that."`
	Help     helpCommand     `cmd:"" help:"Show how a command is used; alone, which there are."`
	Version  versionCommand  `cmd:"" help:"Say which version this is."`

	Completion  completionCommand  `cmd:"" help:"Print what a shell is to read so that it completes commands and names."`
	Complete    completeCommand    `cmd:"" hidden:""`
	Diagnostics diagnosticsCommand `cmd:"" help:"Collect what a report of a fault needs, without anybody's words or names."`
}

// An app is what every command is given.
type app struct {
	std
	ctx       context.Context
	file      string // of the configuration, if one was named
	elsewhere        // where the earshot is that is asked, if not at the socket

	model *kong.Application // of the command line

	warned bool // that the configuration has faults

	hangups *hangups // nil in tests that are no program
}

// config returns the configuration, with the places filled in that depend on
// the user.
func (a *app) config() (*config.Config, error) {
	cfg, err := config.Load(a.file)
	if err != nil && a.warned {
		return nil, &verdict{misused, errors.New("no earshot runs that could be asked, and without one the configuration must be right")}
	}
	if err != nil {
		return nil, err
	}
	return placed(cfg), nil
}

// asking returns the configuration of a command that asks the earshot that runs, for which
// the socket is enough: what is wrong with the rest is told once, and has its default. It is
// an error all the same if it is about one of some keys.
func (a *app) asking(keys ...string) (*config.Config, error) {
	cfg, err := config.Salvage(a.file)
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		return placed(cfg), err
	}
	if slices.ContainsFunc(keys, wrong.Concerns) {
		return nil, fmt.Errorf("%w\n  → earshot check", err)
	}
	if a.API == "" && !a.warned {
		a.warned = true
		a.warn(cfg, wrong)
	}
	return placed(cfg), nil
}

// warn tells once, on standard error, that a command goes on without a configuration.
func (a *app) warn(cfg *config.Config, wrong *config.Error) {
	text := wrong.Faults[0].String()
	if more := len(wrong.Faults) - 1 + wrong.More; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	w := a.told()
	fmt.Fprintf(w, "! the configuration is wrong, and left aside here: %s\n", terminal.Safe(text))
	if wrong.Concerns("server.socket") {
		fmt.Fprintf(w, "  the earshot that runs is asked at %s; if that is not its socket: EARSHOT_SERVER_SOCKET=PATH\n", terminal.Safe(config.ShortPath(cfg.Server.Path())))
	}
	fmt.Fprintln(w, "  → earshot check")
}

// placed fills in the places that depend on the user.
func placed(cfg *config.Config) *config.Config {
	if cfg.Store.Directory == "" {
		cfg.Store.Directory = filepath.Join(xdg.StateHome, "earshot", "journal")
	}
	if cfg.Log.File == "" {
		cfg.Log.File = filepath.Join(xdg.StateHome, "earshot", "earshot.log")
	}
	return cfg
}

// json prints v as JSON, for programs.
func (a *app) json(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// self is the person whose account this is.
func self() (h earshot.Handle, name string) {
	u, err := user.Current()
	if err != nil {
		return earshot.Handle{Provider: "console", ID: "uid?"}, ""
	}
	return earshot.Handle{Provider: "console", ID: "uid" + u.Uid}, u.Username
}

// identifiers returns a source of IDs that rise, for many goroutines.
func identifiers() func() earshot.EventID {
	var mu sync.Mutex
	entropy := ulid.DefaultEntropy()
	return func() earshot.EventID {
		mu.Lock()
		defer mu.Unlock()
		return earshot.EventID(ulid.MustNew(ulid.Timestamp(time.Now()), entropy).String())
	}
}
