package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"

	"earshot/config"
	"earshot/internal/terminal"
)

// commands is the command line: the one place that knows every command.
type commands struct {
	Config string `help:"Configuration file to read instead of the usual ones." placeholder:"FILE" type:"path"`
	elsewhere
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Run       runCommand       `cmd:"" default:"withargs" help:"Run earshot here, or attach to the one that is running."`
	Chat      chatCommand      `cmd:"" help:"Attach this terminal to the running earshot."`
	Say       sayCommand       `cmd:"" help:"Say one thing to the running earshot, and print the reply."`
	Mute      modeCommand      `cmd:"" help:"Mute: take in no sound."`
	Unmute    modeCommand      `cmd:"" help:"Unmute: take in sound again."`
	Pause     modeCommand      `cmd:"" help:"Pause: neither hear, see nor answer; what is written is kept."`
	Resume    modeCommand      `cmd:"" help:"Resume: hear, see, answer and keep again."`
	Stop      modeCommand      `cmd:"" help:"Stop the reply. Other work goes on; to stop earshot itself: earshot service stop."`
	Listen    listenCommand    `cmd:"" help:"Hold the talk key for as long as this command runs; works even while muted."`
	Who       whoCommand       `cmd:"" help:"Show who is here."`
	History   historyCommand   `cmd:"" help:"Show what was said recently, and how much of each reply was heard."`
	Search    searchCommand    `cmd:"" help:"Search everything that was said."`
	Why       whyCommand       `cmd:"" help:"Explain why agents recently spoke or kept silent."`
	Context   contextCommand   `cmd:"" help:"Show what is going on, as the model's prompt describes it."`
	Think     thinkCommand     `cmd:"" help:"Show, start or stop thinking beside the conversation."`
	Demo      demoCommand      `cmd:"" help:"See what earshot does in half a minute; needs no model."`
	Replay    replayCommand    `cmd:"" help:"Replay a recorded scene, or a day from the journal, and compare."`
	See       seeCommand       `cmd:"" help:"Look once through a camera, and say what it sees."`
	Monitor   monitorCommand   `cmd:"" help:"Watch what is heard, said and thought, and why; take part."`
	Status    statusCommand    `cmd:"" help:"Show what works, what does not, and whether a camera is open."`
	Today     todayCommand     `cmd:"" help:"Show what answering and thinking have cost, one line per day."`
	Devices   devicesCommand   `cmd:"" help:"List the microphones, loudspeakers and cameras."`
	Audit     auditCommand     `cmd:"" help:"Show who changed something or was refused."`
	Doctor    doctorCommand    `cmd:"" help:"Check everything that earshot needs, and say how to fix it."`
	Reload    reloadCommand    `cmd:"" help:"Make the running earshot reload its configuration."`
	Check     checkCommand     `cmd:"" help:"Check the configuration."`
	Models    modelsCommand    `cmd:"" help:"List, choose and download models."`
	Agents    agentsCommand    `cmd:"" help:"List, add, change and end agents."`
	Speakers  speakersCommand  `cmd:"" help:"List the known voices; name, keep and forget them."`
	Tasks     tasksCommand     `cmd:"" help:"Set, list, follow, steer and cancel work that goes on beside the talk."`
	Memory    memoryCommand    `cmd:"" help:"Show, correct and forget what is remembered of earlier talk."`
	Cron      cronCommand      `cmd:"" help:"List, add, run, pause and remove what is done by the clock."`
	Forget    forgetCommand    `cmd:"" help:"Forget a person, a time span or single events, with everything derived from them."`
	Token     tokenCommand     `cmd:"" help:"Create and revoke the tokens by which people prove who they are."`
	Pair      pairCommand      `cmd:"" help:"Pair satellites: microphones and loudspeakers of other machines."`
	Export    exportCommand    `cmd:"" help:"Export what was said to a file, to read or to import elsewhere."`
	Import    importCommand    `cmd:"" help:"Import an export into the journal here."`
	Backup    backupCommand    `cmd:"" help:"Back up everything that is kept into one file, even while earshot runs."`
	Restore   restoreCommand   `cmd:"" help:"Replace what is kept here by a backup."`
	Store     storeCommand     `cmd:"" help:"Maintain the journal."`
	Satellite satelliteCommand `cmd:"" help:"Be the microphone and the loudspeaker of an earshot on another machine."`
	Cluster   clusterCommand   `cmd:"" help:"Show the daemons that share the rooms, and drain them."`
	Service   serviceCommand   `cmd:"" help:"Run earshot as a service that starts with your session."`
	Help      helpCommand      `cmd:"" help:"Show how to use a command, or list all commands."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	Completion  completionCommand  `cmd:"" help:"Print the script by which a shell completes commands and names."`
	Complete    completeCommand    `cmd:"" hidden:""`
	Diagnostics diagnosticsCommand `cmd:"" help:"Collect what a bug report needs, without anybody's words or names."`
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
		return nil, &verdict{misused, errors.New("earshot is not running, so this command needs a valid configuration")}
	}
	if err != nil {
		return nil, err
	}
	return config.Place(cfg), nil
}

// asking returns the configuration of a command that asks the earshot that runs, for which
// the socket is enough: what is wrong with the rest is told once, and has its default. It is
// an error all the same if it is about one of some keys.
func (a *app) asking(keys ...string) (*config.Config, error) {
	cfg, err := config.Salvage(a.file)
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		return config.Place(cfg), err
	}
	if slices.ContainsFunc(keys, wrong.Concerns) {
		return nil, fmt.Errorf("%w\n  → earshot check", err)
	}
	if a.API == "" && !a.warned {
		a.warned = true
		a.warn(cfg, wrong)
	}
	return config.Place(cfg), nil
}

// warn tells once, on standard error, that a command goes on without a configuration.
func (a *app) warn(cfg *config.Config, wrong *config.Error) {
	text := wrong.Faults[0].String()
	if more := len(wrong.Faults) - 1 + wrong.More; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	w := a.told()
	fmt.Fprintf(w, "! the configuration has faults and is ignored here: %s\n", terminal.Safe(text))
	if wrong.Concerns("server.socket") {
		fmt.Fprintf(w, "  the running earshot is asked at %s; if it has another socket: EARSHOT_SERVER_SOCKET=PATH\n", terminal.Safe(config.ShortPath(cfg.Server.Path())))
	}
	fmt.Fprintln(w, "  → earshot check")
}

// json prints v as JSON, for programs.
func (a *app) json(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
