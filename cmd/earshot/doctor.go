package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"earshot/config"
	"earshot/internal/logfile"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/speakers"
	"earshot/store"
)

type doctorCommand struct {
	JSON bool `help:"Print the findings as JSON."`
}

// Run looks at everything that earshot needs.
func (d doctorCommand) Run(a *app) error {
	cfg, err := config.Salvage(a.file)
	placed(cfg)
	findings := append(lookAtConfig(cfg, err), lookAtJournal(a.ctx, cfg), lookAtRoomOnDisk(cfg), lookAtLog(cfg), lookAtSocket(a.ctx, cfg))
	findings = append(findings, lookAtAPI(a.ctx, cfg)...)
	findings = append(findings, lookAtTokens(cfg)...)
	findings = append(findings, lookAtVoices(cfg)...)
	findings = append(findings, lookAtAgents(a.ctx, cfg)...)
	findings = append(findings, lookAtSenses(a.ctx, cfg)...)
	findings = append(findings, a.tryCameras(cfg)...)
	findings = append(findings, lookAtDiscord(a.ctx, cfg)...)
	findings = append(findings, lookAtModels(a.ctx, cfg, err)...)
	err = nil
	if d.JSON {
		err = a.json(findings)
	} else {
		show(a.printed(), findings)
	}
	for _, f := range findings {
		if !f.Works {
			return errors.Join(err, &verdict{code: failed})
		}
	}
	return err
}

// lookAtConfig tells every fault of the configuration. What is looked at besides is what is
// left of it, with the default of what is wrong.
func lookAtConfig(cfg *config.Config, err error) (all []finding) {
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		f := finding{Thing: "configuration", Works: err == nil, Text: "every key has its default"}
		switch {
		case err != nil:
			f.Text = err.Error()
		case cfg.File != "":
			f.Text = short(cfg.File)
		}
		return []finding{f}
	}
	for _, fault := range wrong.Faults {
		all = append(all, finding{Thing: "configuration", Text: fault.String()})
	}
	last := &all[len(all)-1]
	if wrong.More > 0 {
		last.Text += fmt.Sprintf("; and %d more", wrong.More)
	}
	last.Cure = "mend it, and look again: earshot check    (until then earshot does not start, and one that runs goes on as it is)"
	return all
}

// lookAtModels tries the models, unless the configuration is wrong in what it says of them: its
// defaults are those of nobody.
func lookAtModels(ctx context.Context, cfg *config.Config, err error) (all []finding) {
	if wrong, ok := errors.AsType[*config.Error](err); ok && wrong.Concerns("executive.llm.model") {
		return []finding{{Thing: "model", Absent: true, Text: "not looked at: what the configuration says of it cannot be read"}}
	}
	for _, l := range try(ctx, lookAtEngines(ctx, cfg.Executive.LLM)) {
		all = append(all, l.finding)
	}
	return all
}

func lookAtJournal(ctx context.Context, cfg *config.Config) finding {
	f := finding{Thing: "journal", Text: short(cfg.Store.Directory)}
	archive, err := store.OpenReader(ctx, cfg.Store.Directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Works, f.Text = true, "none yet; it begins with the first run"
	case err != nil:
		f.Text, f.Cure = err.Error(), "earshot run    (it sets a damaged journal aside and saves what can be read)"
	default:
		defer archive.Close()
		n := 0
		for _, err = range archive.Export(ctx) {
			if err != nil {
				f.Text, f.Cure = err.Error(), "earshot run    (it sets a damaged journal aside and saves what can be read)"
				return f
			}
			if n++; n == 10_000 {
				break // enough to know that it can be read
			}
		}
		f.Works, f.Text = true, fmt.Sprintf("%s, %s read", f.Text, count(n, "event"))
	}
	return f
}

// leastRoom is how much room on the disk is little: some years of talking, but
// a disk that is this full has stopped other programs already.
const leastRoom = 100 << 20

func lookAtRoomOnDisk(cfg *config.Config) finding {
	f := finding{Thing: "disk", Works: true}
	dir := cfg.Store.Directory
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	var about syscall.Statfs_t
	if err := syscall.Statfs(dir, &about); err != nil {
		f.Works, f.Text = false, err.Error()
		return f
	}
	free := about.Bavail * uint64(about.Bsize)
	f.Text = fmt.Sprintf("%.1f GB free", float64(free)/1e9)
	if free < leastRoom {
		f.Works, f.Cure = false, "make room on the disk that holds "+short(dir)
	}
	return f
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func lookAtLog(cfg *config.Config) finding {
	f := finding{Thing: "log", Text: short(cfg.Log.File)}
	if cfg.Log.File == "-" {
		f.Works, f.Text = true, "standard error"
		return f
	}
	_, book, err := logfile.Open(cfg.Log, os.Stderr)
	if err != nil {
		f.Text, f.Cure = err.Error(), logfile.Cure
		return f
	}
	f.Works = book.Close() == nil
	return f
}

// lookAtTokens finds something only where there are tokens: most people have none.
func lookAtTokens(cfg *config.Config) []finding {
	f := finding{Thing: "tokens", Works: true}
	all, err := tokensOf(cfg).List()
	if err != nil {
		f.Works, f.Text = false, err.Error()
		if c, ok := errors.AsType[curable](err); ok {
			f.Cure = c.Cure()
		}
		return []finding{f}
	}
	if len(all) == 0 {
		return nil
	}
	f.Text = count(len(all), "token") + " given; see: earshot token list"
	return []finding{f}
}

// lookAtVoices finds something only where voices are kept: most people keep none.
func lookAtVoices(cfg *config.Config) []finding {
	f := finding{Thing: "voices", Works: true}
	kept, err := speakers.Read(cfg.Store.Directory)
	if err != nil {
		f.Works, f.Text = false, err.Error()
		if c, ok := errors.AsType[curable](err); ok {
			f.Cure = c.Cure()
		}
		return []finding{f}
	}
	if len(kept) == 0 {
		return nil
	}
	f.Text = count(len(kept), "voice") + " kept; see: earshot speakers"
	return []finding{f}
}

// lookAtAgents finds something only where there are several: most people have one.
func lookAtAgents(ctx context.Context, cfg *config.Config) []finding {
	archive, err := store.OpenReader(ctx, cfg.Store.Directory)
	if err != nil {
		return nil // which is said of the journal
	}
	defer archive.Close()
	book, err := agents.Read(ctx, archive)
	if err != nil {
		return []finding{{Thing: "agents", Text: err.Error(), Cure: "earshot store rebuild"}}
	}
	return tellAgents(book)
}

// tellAgents names the agents of a book, if there are several.
func tellAgents(b *agents.Directory) []finding {
	var names []string
	for _, p := range b.Participants() {
		names = append(names, p.Name)
	}
	if len(names) < 2 {
		return nil
	}
	return []finding{{Thing: "agents", Works: true, Text: strings.Join(names, ", ") + "; call one by its name, such as @" + names[1]}}
}

func lookAtSocket(ctx context.Context, cfg *config.Config) finding {
	f := finding{Thing: "daemon", Works: true}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	_, err := (&server.Client{Socket: cfg.Server.Path()}).State(ctx)
	switch {
	case err == nil:
		f.Text = "runs; its socket is " + short(cfg.Server.Path())
	case errors.Is(err, server.ErrNotRunning):
		f.Text = "does not run; it begins with: earshot run"
	default:
		if ctx.Err() != nil {
			err = fmt.Errorf("runs, and has not answered for %v", glance)
		}
		f.Works, f.Text, f.Cure = false, err.Error(), "end the process that holds "+short(cfg.Server.Path())+" and run earshot again"
	}
	return f
}
