package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/internal/english"
	"earshot/internal/logfile"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/token"
	"earshot/speakers"
	"earshot/store"
)

// Configuration tells every fault of the configuration. What is looked at besides is what is
// left of it, with the default of what is wrong.
func Configuration(cfg *config.Config, err error) (all []api.CheckResult) {
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		f := api.CheckResult{Thing: "configuration", Works: err == nil, Text: "every key has its default"}
		switch {
		case err != nil:
			f.Text = err.Error()
		case cfg.File != "":
			f.Text = config.ShortPath(cfg.File)
		}
		return []api.CheckResult{f}
	}
	for _, fault := range wrong.Faults {
		all = append(all, api.CheckResult{Thing: "configuration", Text: fault.String()})
	}
	last := &all[len(all)-1]
	if wrong.More > 0 {
		last.Text += fmt.Sprintf("; and %d more", wrong.More)
	}
	last.Cure = "fix it, and check again: earshot check    (until then earshot does not start, and a running one keeps its configuration)"
	return all
}

// Models tries the models, unless the configuration is wrong in what it says of them: its
// defaults are those of nobody.
func Models(ctx context.Context, cfg *config.Config, err error) (all []api.CheckResult) {
	if wrong, ok := errors.AsType[*config.Error](err); ok && wrong.Concerns("executive.llm.model") {
		return []api.CheckResult{{Thing: "model", Absent: true, Text: "not checked: its configuration cannot be read"}}
	}
	for _, l := range tryEngines(ctx, Engines(ctx, cfg.Executive.LLM)) {
		all = append(all, l.CheckResult)
	}
	return all
}

func Journal(ctx context.Context, cfg *config.Config) api.CheckResult {
	f := api.CheckResult{Thing: "journal", Text: config.ShortPath(cfg.Store.Place())}
	n := 0
	archive, err := store.OpenReader(ctx, cfg.Store)
	if err == nil {
		defer archive.Close()
		for _, err = range archive.Export(ctx) {
			if n++; err != nil || n == 10_000 {
				break // enough to know that it can be read
			}
		}
	}
	switch {
	case err == nil:
		f.Works, f.Text = true, fmt.Sprintf("%s, %s checked", f.Text, english.Count(n, "event"))
	case errors.Is(err, fs.ErrNotExist):
		f.Works, f.Text = true, "none yet; the first run creates it"
	case errors.Is(err, store.ErrOther) || cfg.Store.URL != "":
		f.Text = err.Error() // with what to do
	default:
		f.Text, f.Cure = err.Error(), "earshot run    (it sets a damaged journal aside and saves what can be read)"
	}
	return f
}

// leastDisk is how much room on the disk is little: some years of talking, but
// a disk that is this full has stopped other programs already.
const leastDisk = 100 << 20

func Disk(cfg *config.Config) api.CheckResult {
	f := api.CheckResult{Thing: "disk", Works: true}
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
	if free < leastDisk {
		f.Works, f.Cure = false, "make room on the disk that holds "+config.ShortPath(dir)
	}
	return f
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func Log(cfg *config.Config) api.CheckResult {
	f := api.CheckResult{Thing: "log", Text: config.ShortPath(cfg.Log.File)}
	if cfg.Log.File == "-" {
		f.Works, f.Text = true, "standard error"
		return f
	}
	_, book, err := logfile.Open(cfg.Log, nil)
	if err != nil {
		f.Text, f.Cure = err.Error(), logfile.Cure
		return f
	}
	f.Works = book.Close() == nil
	return f
}

// Tokens finds something only where there are tokens: most people have none.
func Tokens(cfg *config.Config) []api.CheckResult {
	all, err := token.In(cfg.Store.Directory).List()
	return countFindings("tokens", len(all), err, english.Count(len(all), "token")+" given; see: earshot token list")
}

// KnownVoices finds something only where voices are kept: most people keep none.
func KnownVoices(cfg *config.Config) []api.CheckResult {
	kept, err := speakers.Read(cfg.Store.Directory)
	return countFindings("voices", len(kept), err, english.Count(len(kept), "voice")+" kept; see: earshot speakers")
}

// countFindings finds that there are n of a thing, which text says, or why they cannot be read.
func countFindings(thing string, n int, err error, text string) []api.CheckResult {
	switch {
	case err != nil:
		return []api.CheckResult{{Thing: thing, Text: err.Error(), Cure: earshot.Cure(err)}}
	case n == 0:
		return nil
	}
	return []api.CheckResult{{Thing: thing, Works: true, Text: text}}
}

// Agents finds something only where there are several: most people have one.
func Agents(ctx context.Context, cfg *config.Config) []api.CheckResult {
	archive, err := store.OpenReader(ctx, cfg.Store)
	if err != nil {
		return nil // which is said of the journal
	}
	defer archive.Close()
	book, err := agents.Read(ctx, archive)
	if err != nil {
		return []api.CheckResult{{Thing: "agents", Text: err.Error(), Cure: "earshot store rebuild"}}
	}
	return AgentFindings(book)
}

// AgentFindings names the agents of a book, if there are several.
func AgentFindings(b *agents.Directory) []api.CheckResult {
	var names []string
	for _, p := range b.Participants() {
		names = append(names, p.Name)
	}
	if len(names) < 2 {
		return nil
	}
	return []api.CheckResult{{Thing: "agents", Works: true, Text: strings.Join(names, ", ") + "; call one by its name, such as @" + names[1]}}
}

func Daemon(ctx context.Context, cfg *config.Config) api.CheckResult {
	f := api.CheckResult{Thing: "daemon", Works: true}
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	_, err := (&client.Client{Socket: cfg.Server.Path()}).State(ctx)
	_, refused := errors.AsType[*client.Failure](err)
	switch {
	case err == nil, refused && cfg.Cluster.Name != "": // nobody has the desk, which is said of the cluster
		f.Text = "is running; its socket is " + config.ShortPath(cfg.Server.Path())
	case errors.Is(err, client.ErrNotRunning):
		f.Text = "not running; to start it: earshot run"
	default:
		if ctx.Err() != nil {
			err = fmt.Errorf("is running but has not answered for %v", AnswerTimeout)
		}
		f.Works, f.Text, f.Cure = false, err.Error(), "stop the process that holds "+config.ShortPath(cfg.Server.Path())+" and start earshot again"
	}
	return f
}

// Cluster finds something only at one of several daemons that runs: what it has not got, or else who is there.
func Cluster(ctx context.Context, cfg *config.Config) (all []api.CheckResult) {
	if cfg.Cluster.Name == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	s, err := (&client.Client{Socket: cfg.Server.Path()}).Cluster(ctx)
	if err != nil { // which is said of the daemon
		return nil
	}
	for _, p := range s.Problems {
		all = append(all, api.CheckResult{Thing: "cluster", Text: p.Text, Cure: p.Cure})
	}
	if len(all) == 0 {
		var names []string
		for _, m := range s.Members {
			names = append(names, m.Name)
		}
		all = []api.CheckResult{{Thing: "cluster", Works: true, Text: strings.Join(names, ", ") + "; which has which room: earshot cluster status"}}
	}
	return all
}

// APIPart is what the port is called where it is told how it stands with it.
const APIPart = "API"

// API finds something only where the daemon is to listen: whether it does, or could.
func API(ctx context.Context, cfg *config.Config) []api.CheckResult {
	if cfg.Server.Listen == "" {
		return nil
	}
	f := api.CheckResult{Thing: APIPart}
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	now, err := (&client.Client{Socket: cfg.Server.Path()}).State(ctx)
	switch {
	case err == nil && now.API != "":
		f.Works, f.Text = true, "listens at "+now.API
	case err == nil:
		f.Text, f.Cure = "the running earshot does not listen at "+cfg.Server.Listen, "see why: earshot status; after a change of the configuration: earshot reload"
	default:
		l, err := server.ListenLoopback(ctx, cfg.Server.Listen)
		if err != nil {
			f.Text, f.Cure = earshot.Explain(err)
			break
		}
		l.Close()
		f.Works, f.Text = true, "will listen at "+cfg.Server.Listen+" when earshot runs"
	}
	return []api.CheckResult{f}
}
