package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon"
	"earshot/daemon/access"
	"earshot/daemon/console"
	"earshot/internal/firststart"
	"earshot/internal/logfile"
	"earshot/internal/login"
	"earshot/internal/power"
	"earshot/internal/probe"
	"earshot/internal/progress"
	"earshot/internal/sdnotify"
	"earshot/internal/supervise"
	"earshot/providers"
	"earshot/server"
	"earshot/server/socket"
	"earshot/store"
)

type runCommand struct {
	identityFlags
	NoVoice  bool `help:"Neither listen nor speak."`
	NoCamera bool `help:"Do not look."`
}

// Run is the main job: the daemon, and where there is a terminal, the console.
func (r runCommand) Run(a *app) error {
	cfg, wrong := config.Salvage(a.file)
	config.Place(cfg)
	l, err := socket.Listen(cfg.Server.Path())
	if wrong != nil && !errors.Is(err, socket.ErrRunning) { // nobody is there whom this terminal could join
		if err == nil {
			_ = l.Close()
		}
		return wrong
	}
	manager := sdnotify.FromEnvironment(os.Getenv)
	if errors.Is(err, socket.ErrRunning) && manager.Asked() {
		return fmt.Errorf("%w outside this service; stop it first", err) // nobody sits here who could join it
	}
	if errors.Is(err, socket.ErrRunning) {
		if cfg, err = a.asking(); err != nil {
			return err
		}
		fmt.Fprintln(a.told(), "earshot is already running; this terminal joins it.")
		return a.attach(cfg, r.identityFlags, "")
	}
	if err != nil {
		return err
	}
	ask := firststart.Dialog{In: a.in, Out: a.printed, Download: func(model string) *progress.Download { return a.newDownload(model, false) }}
	var allowed func(*config.Config)
	if a.person() && a.console(cfg) && a.file == "" && os.Getenv("EARSHOT_CONFIG") == "" { // a file that was named is as its author wants it
		allowed, err = ask.Permit(a.ctx, cfg, r.unused())
	}
	if err != nil {
		fmt.Fprintf(a.told(), "\nNothing was allowed, so nothing was started.\n")
		return l.Close()
	}
	log, book, err := logfile.Open(cfg.Log, a.err)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer book.Close()
	looks := probe.Engines(a.ctx, cfg.Executive.LLM)
	insists := []func(*config.Config){allowed}
	if a.person() {
		var insist func(*config.Config)
		looks, insist = ask.ChooseModel(a.ctx, cfg, looks)
		insists = append(insists, insist)
	}
	first := firststart.IsFirst(a.ctx, cfg)
	handle, name := access.Self()
	defer a.hurry(log)()
	ready := a.preparation(l, manager, log)
	d, err := daemon.Open(a.ctx, cfg, daemon.Options{
		Log: log, Account: handle, Name: name, Version: version(), Notifier: manager, PowerSupplies: power.Supplies, Restarts: restarts,
		Progress: func(done, all int64) { ready.Step(a.ctx, time.Now(), done, all) }, ForgetName: login.Forget,
		Load: func() (*config.Config, error) {
			next, err := a.config()
			for _, insist := range insists {
				if err == nil && insist != nil {
					insist(next)
				}
			}
			return next, err
		},
		File: a.file, Hangups: a.take(cfg), LogFile: book,
	})
	ready.End()
	if err != nil {
		return errors.Join(owned(err), l.Close())
	}
	port, err := d.InstallAPI(a.ctx)
	if err != nil {
		return errors.Join(err, d.Close(), l.Close())
	}
	if !r.NoCamera {
		d.ExpectCameras()
	}
	err = a.live(d, r.identityFlags, l, func() {
		var senses []api.CheckResult
		if !r.NoVoice {
			senses = d.InstallVoice(a.ctx)
		}
		if !r.NoCamera {
			senses = append(senses, d.InstallCameras(a.ctx)...)
		}
		senses = append(senses, d.InstallDiscord(a.ctx, !r.NoVoice)...)
		senses = append(senses, d.InstallSatellites(a.ctx, !r.NoVoice)...)
		a.open(d, looks, senses, r.unused(), port)
		if first {
			firststart.Forewarn(a.greeted(), d.Config())
		}
		if keys := config.Undecided(cfg); len(keys) > 0 {
			log.Info("this is not allowed, because nobody has decided about it", "keys", strings.Join(keys, " "))
		}
		if h := cfg.Store.Retention.Overheard; h > 0 && !cfg.Says(config.OverheardKey) {
			log.Info("speech that is not meant for an agent is deleted", "after_hours", h, "key", config.OverheardKey)
		}
		log.Info("earshot runs", "version", version(), "engines", len(looks))
	})
	log.Info("earshot ends", "err", err)
	return errors.Join(err, d.Close())
}

// unused returns what this run does without, whatever is allowed.
func (r runCommand) unused() (things []string) {
	if r.NoVoice {
		things = append(things, "microphone")
	}
	if r.NoCamera {
		things = append(things, "camera")
	}
	return things
}

// greeted is where the start is told: what a person at the terminal reads, and else standard error.
func (a *app) greeted() io.Writer {
	if a.person() {
		return a.printed()
	}
	return a.told()
}

// preparation returns who tells how far the journal is; l is the socket at which others ask.
func (a *app) preparation(l *socket.Listener, manager sdnotify.Notifier, log *slog.Logger) *progress.Journal {
	return &progress.Journal{
		W: a.err, Overwrites: term.IsTerminal(int(a.err.Fd())) && os.Getenv("TERM") != "dumb", Status: manager.Status, Began: time.Now(),
		Answer: func(ctx context.Context, why func() api.Obstacle) {
			if err := server.ServeUnready(ctx, l, why); err != nil {
				log.Warn("clients cannot be told that the journal is being prepared", "err", err)
			}
		},
	}
}

// owned explains a journal that another process has.
func owned(err error) error {
	var locked *store.ErrLocked
	if errors.As(err, &locked) {
		return fmt.Errorf("%w\n  → set server.socket to the one that it uses, or stop it", err)
	}
	return err
}

// open prints the opening screen: what works, what does not, what mends it. What is unused is
// not told to be allowed.
func (a *app) open(d *daemon.Daemon, looks []probe.Engine, senses []api.CheckResult, unused []string, port []api.CheckResult) {
	var findings []api.CheckResult
	d.Health().NoteFinding(api.CheckResult{Thing: "journal", Works: true})
	for _, l := range looks {
		findings = append(findings, l.CheckResult)
		d.Health().NoteEngine(l)
	}
	for _, f := range senses {
		findings = append(findings, f)
		d.Health().NoteFinding(f)
		d.AddWorking(f.Thing) // as long as it is not known to be at fault
	}
	findings = append(findings, api.CheckResult{Thing: "journal", Works: true, Text: config.ShortPath(d.Config().Store.Place())})
	d.AddWorking("journal")
	if a.typesHere(d.Config()) {
		findings = append(findings, api.CheckResult{Thing: "console", Works: true, Text: "type here; /help lists what you can ask, /exit leaves"})
		d.AddWorking("console")
		d.Health().NoteFinding(api.CheckResult{Thing: "console", Works: true})
	} else if d.Config().Cluster.Name != "" {
		findings = append(findings, api.CheckResult{Thing: "console", Absent: true, Text: "earshot chat opens one, wherever a room is; ^C ends this daemon"})
	}
	findings = append(findings, probe.Privacy(d.Config(), unused))
	findings = append(append(findings, port...), probe.AgentFindings(d.Agents())...)
	w := a.greeted()
	fmt.Fprintf(w, "%s is running.\n\n", d.Config().Executive.Name)
	probe.PrintFindings(w, probe.Brief(findings))
	if len(looks) > 0 && !slices.ContainsFunc(looks, func(l probe.Engine) bool { return l.Works }) {
		l := looks[0] // who asks something is told again, in the words of then
		d.ShowNotice(earshot.Notice{Key: l.Thing, Text: "no model was available at the start: " + l.Text, Cure: l.Cure})
		fmt.Fprintln(w, "\n  Until a model answers, you can ask: what time is it, what works, what was said, help.")
	}
	fmt.Fprintln(w)
}

// live runs the house with the console of this terminal, where there is one, once settle has
// said how the house is.
func (a *app) live(d *daemon.Daemon, i identityFlags, l net.Listener, settle func()) error {
	here := &console.Console{
		Daemon: d, Says: i.Identity, Person: a.person(), Open: a.watchScreen,
		Enter: func(ctx context.Context, p login.Prompt) error {
			_, _, err := a.enter(ctx, i, p)
			return err
		},
	}
	err := d.RunWith(a.ctx, l, func() []providers.Provider {
		settle()
		if !a.typesHere(d.Config()) {
			return nil
		}
		here.Known = d.Opening()
		return []providers.Provider{here}
	})
	return errors.Join(err, here.Err)
}

// console reports whether there is something to be a console on. A service has
// nothing, or the null device, as its standard input.
func (a *app) console(cfg *config.Config) bool {
	if !cfg.Providers.Console.Enabled && !cfg.Outlets.Console.Enabled {
		return false
	}
	about, err := a.in.Stat()
	if err != nil {
		return false
	}
	return about.Mode()&os.ModeCharDevice == 0 || term.IsTerminal(int(a.in.Fd()))
}

// typesHere reports whether this terminal is a console of the daemon. Of several daemons another may have
// the desk, and "earshot chat" goes where that is.
func (a *app) typesHere(cfg *config.Config) bool { return cfg.Cluster.Name == "" && a.console(cfg) }

// person reports whether somebody sits at the terminal.
func (a *app) person() bool {
	return term.IsTerminal(int(a.in.Fd())) && term.IsTerminal(int(a.out.file.Fd()))
}

// restarts is how patiently parts are started again: as a supervisor is by
// itself, but in tests, which are in a hurry.
var restarts supervise.Config

// quietly is for helpers that are asked and not run.
var quietly = slog.New(slog.DiscardHandler)
